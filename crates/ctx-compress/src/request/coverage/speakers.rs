//! Speakers: names at the beginning of all messages of a role, written only once.

use std::collections::BTreeMap;

use ctx_types::{Message, NoteLineKind, Place, Role, Speaker};

use crate::request::layout::is_summary;

/// The names of the user and the assistant in a note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Speakers {
    pub(super) names: Vec<Speaker>,
}

/// The minimum number of messages of a role with a name.
const FEWEST: usize = 4;

/// The minimum number of messages in ten that begin with the name.
const OF_TEN: usize = 8;

/// The maximum bytes of a name.
const LONGEST: usize = 40;

impl Speakers {
    /// Finds the names; those of earlier notes are kept unless newer messages contradict.
    pub(super) fn of(messages: &[Message]) -> Self {
        let names = [Role::User, Role::Assistant].into_iter();
        Self {
            names: names
                .filter_map(|role| Some(Speaker { role, name: name(messages, role)?.into() }))
                .collect(),
        }
    }

    /// Returns the name of a line's speaker.
    pub(super) fn name(&self, kind: NoteLineKind) -> Option<&str> {
        let role = match kind {
            NoteLineKind::User => Role::User,
            NoteLineKind::Assistant => Role::Assistant,
            NoteLineKind::System | NoteLineKind::Call | NoteLineKind::Result => return None,
        };
        self.names.iter().find(|speaker| speaker.role == role).map(|speaker| &*speaker.name)
    }
}

/// Finds the name at the beginning of the messages of a role.
fn name(messages: &[Message], role: Role) -> Option<&str> {
    let notes = messages.iter().filter_map(|message| message.note.as_deref());
    let earlier = notes.flat_map(|note| &note.speakers).find(|speaker| speaker.role == role);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = 0;
    let is_said =
        |message: &&Message| message.role == role && matches!(message.place, Place::History | Place::Pinned);
    let is_turn = |message: &&Message| message.note.is_none() && !is_summary(message);
    for message in messages.iter().filter(is_said).filter(is_turn) {
        let ctx_types::Content::Text(text) = &message.content else { continue };
        if !text.trim().is_empty() {
            all += 1;
            *counts.entry(first_name(text).unwrap_or_default()).or_default() += 1;
        }
    }
    if let Some(speaker) = earlier {
        let agree = counts.get(&*speaker.name).copied().unwrap_or(0);
        return (agree * 10 >= all * OF_TEN).then_some(&*speaker.name);
    }
    let (name, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (!name.is_empty() && all >= FEWEST && count * 10 >= all * OF_TEN).then_some(name)
}

/// Returns the text before the first colon if it can be a name.
pub(crate) fn first_name(text: &str) -> Option<&str> {
    let end = (0..=LONGEST + 2).rev().find(|end| text.is_char_boundary(*end))?;
    let (name, _) = text.get(..end)?.split_once(": ")?;
    let is_name = !name.is_empty() && !name.contains(['\n', '.', '=', ',']);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ctx_types::{Note, Source, SourceKind, Trust};

    use super::*;

    fn messages(texts: &[&str]) -> Vec<Message> {
        let message = |text: &&str| Message::new(Role::User, *text, Source::history("n", Role::User));
        texts.iter().map(message).collect()
    }

    #[track_caller]
    fn check(texts: &[&str], expected: Option<&str>) {
        assert_eq!(Speakers::of(&messages(texts)).name(NoteLineKind::User), expected);
    }

    #[test]
    fn a_name_must_begin_nearly_all_messages() {
        check(&["Lin: a", "Lin: b", "Lin: c", "Lin: d"], Some("Lin"));
        check(&["Lin: a", "Lin: b", "Lin: c", "Lin: d", "so"], Some("Lin"));
        check(&["Lin: a", "Lin: b", "Lin: c", "so"], None);
        check(&["Lin: a", "Lin: b", "Lin: c"], None);
        check(&["a", "b", "c", "d"], None);
        check(&["a. b: c", "a. b: c", "a. b: c", "a. b: c"], None);
    }

    #[test]
    fn a_name_is_short_and_no_sentence() {
        let begun = |name: &str| [1, 2, 3, 4].map(|number| format!("{name}: {number}"));
        let check = |name: &str, is_name: bool| {
            let texts = begun(name);
            check(&texts.each_ref().map(String::as_str), is_name.then_some(name));
        };
        check(&"x".repeat(40), true);
        check(&"x".repeat(41), false);
        check("Lin Ada", true);
        check("林", true);
        for name in ["", "a\nb", "a.b", "a=b", "a, b"] {
            check(name, false);
        }
    }

    #[test]
    fn only_what_the_role_says_counts() {
        let mut all = messages(&["Lin: a", "Lin: b", "Lin: c", "Lin: d", "so", "so", "so", " "]);
        let note = Arc::new(Note::default());
        all[4].place = Place::Skeleton;
        all[5].note = Some(note);
        all[6].role = Role::Assistant;
        let speakers = Speakers::of(&all);
        assert_eq!(speakers.name(NoteLineKind::User), Some("Lin"));
        for kind in [NoteLineKind::Assistant, NoteLineKind::System, NoteLineKind::Call, NoteLineKind::Result]
        {
            assert_eq!(speakers.name(kind), None);
        }
        all[0].place = Place::Pinned;
        assert_eq!(Speakers::of(&all), speakers);
        all[0].place = Place::Skeleton;
        assert_eq!(Speakers::of(&all).name(NoteLineKind::User), None, "three are too few");
    }

    #[test]
    fn each_role_has_its_name() {
        let mut all = messages(&["Lin: a", "Lin: b", "Lin: c", "Lin: d", "Bo: a", "Bo: b", "Bo: c", "Bo: d"]);
        all[4..].iter_mut().for_each(|message| message.role = Role::Assistant);
        let speakers = Speakers::of(&all);
        assert_eq!(
            [NoteLineKind::User, NoteLineKind::Assistant].map(|kind| speakers.name(kind)),
            [Some("Lin"), Some("Bo")]
        );
    }

    #[test]
    fn a_summary_that_the_user_speaks_is_none_of_the_users_messages() {
        let mut all = messages(&["They met.", "They ate.", "Lin: a", "Lin: b", "Lin: c", "Lin: d"]);
        for summary in &mut all[..2] {
            summary.source = Source::new(SourceKind::Summary, Trust::Model);
        }
        assert_eq!(Speakers::of(&all).name(NoteLineKind::User), Some("Lin"));
    }

    #[test]
    fn the_name_of_an_earlier_note_holds_on() {
        let speaker = Speaker { role: Role::User, name: "Lin".into() };
        let note = Arc::new(Note { speakers: vec![speaker], ..Note::default() });
        let mut all = messages(&["note", "Lin: a"]);
        all[0].note = Some(note);
        assert_eq!(Speakers::of(&all).name(NoteLineKind::User), Some("Lin"));
        all.push(messages(&["no name"]).remove(0));
        assert_eq!(Speakers::of(&all).name(NoteLineKind::User), None);
        // Eight of ten are enough, as for a new name.
        all.extend(messages(&["Lin: b", "Lin: c", "Lin: d"]));
        assert_eq!(Speakers::of(&all).name(NoteLineKind::User), Some("Lin"));
        assert_eq!(Speakers::of(&all).name(NoteLineKind::Assistant), None);
    }
}
