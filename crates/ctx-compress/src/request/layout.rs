//! Protected and removable parts of a request.

use std::fmt;
use std::ops::Range;

use ctx_types::{Message, Phrase, Place, Role, SourceKind, groups, phrase};
use serde::Serialize;

use crate::request::meter::Meter;

/// The messages that are being answered, which change only if nothing else helps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// From the last user message, with user messages directly before it, to the end, unless a response follows.
    #[default]
    PendingTurn,
    /// The messages of a tool loop from this index on, and the last user message.
    CurrentLoop(usize),
    /// The last user message alone, otherwise the newest group.
    LastUserMessage,
}

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Part {
    /// Leading system messages.
    Instructions,
    /// Messages of a preset, a worldbook or a plug-in. With several positions, they are part of the following history.
    Placed,
    /// A pinned message.
    Pinned,
    /// A summary that replaces older messages.
    Summary,
    /// The messages that are being answered, see [`Protection`]; otherwise the newest group.
    Current,
    /// Removable history, with older tool rounds of a running turn that exceeds the budget.
    History,
}

impl Part {
    pub(crate) fn is_history(self) -> bool {
        self == Self::History
    }

    /// Returns the name used in diagnostics.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::Instructions => phrase!("leading system messages"),
            Self::Placed => phrase!("placed messages"),
            Self::Pinned => phrase!("pinned messages"),
            Self::Summary => phrase!("summaries"),
            Self::Current => phrase!("current turn"),
            Self::History => phrase!("history"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// A request split into groups.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) groups: Vec<LaidGroup>,
    pub(crate) last_user: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct LaidGroup {
    pub(crate) range: Range<usize>,
    pub(crate) part: Part,
    pub(crate) tokens: u64,
}

impl Layout {
    /// Splits paired messages. O(messages), and the counts of new texts.
    pub(crate) fn of(messages: &[Message], protection: Protection, meter: &Meter<'_>) -> Self {
        let last_user = messages.iter().rposition(is_user);
        let current = current_start(messages, protection, last_user);
        let leading = messages.iter().take_while(|message| is_leading(message)).count();
        let part = |index: usize, message: &Message| match message.place {
            Place::Pinned if index >= leading => Part::Pinned,
            _ if index < leading => Part::Instructions,
            // Also in the current turn, where it is never shortened.
            Place::History | Place::Pinned if is_summary(message) => Part::Summary,
            Place::History | Place::Pinned if index >= current || Some(index) == last_user => Part::Current,
            Place::History | Place::Pinned if message.is_continuation_prefix => Part::Current,
            Place::History | Place::Pinned => Part::History,
            _ => Part::Placed,
        };
        let group = |range: Range<usize>| {
            let members = messages.get(range.clone()).unwrap_or_default();
            // One protected member protects the whole group.
            let parts = range.clone().zip(members).map(|(index, message)| part(index, message));
            LaidGroup { part: parts.min().unwrap_or(Part::History), tokens: meter.messages(members), range }
        };
        let mut laid: Vec<LaidGroup> = groups(messages).into_iter().map(group).collect();
        let mut all = messages.iter().enumerate();
        // Checks messages, not groups: a current message may be in a pinned group.
        if !all.any(|(index, message)| part(index, message) == Part::Current) {
            keep_newest(&mut laid);
        }
        let is_point = |group: &LaidGroup| messages.get(group.range.start).is_some_and(is_point);
        Self { groups: with_points(laid, is_point), last_user }
    }

    /// Makes older tool rounds of a running turn removable.
    pub(crate) fn release_older_rounds(&mut self, older: &Range<usize>) {
        for group in self.groups.iter_mut().filter(|group| group.is_current_in(older)) {
            group.part = Part::History;
        }
    }

    /// Returns the tokens without history.
    pub(crate) fn fixed_tokens(&self) -> u64 {
        self.groups.iter().filter(|group| group.part != Part::History).map(|group| group.tokens).sum()
    }

    pub(crate) fn tokens(&self) -> u64 {
        self.groups.iter().map(|group| group.tokens).sum()
    }

    pub(crate) fn history(&self) -> impl Iterator<Item = &LaidGroup> {
        self.groups.iter().filter(|group| group.part == Part::History)
    }
}

impl LaidGroup {
    /// Returns whether it is current and begins in a range of messages.
    pub(crate) fn is_current_in(&self, range: &Range<usize>) -> bool {
        self.part == Part::Current && range.contains(&self.range.start)
    }
}

/// The newest tool rounds of a running turn, which no digest replaces.
const NEWEST_ROUNDS: usize = 2;

/// Returns the messages of a running turn that a digest may replace if the turn exceeds the budget.
///
/// These are the messages between the last user message and the newest 2 tool rounds. O(messages).
pub fn older_rounds(messages: &[Message]) -> Range<usize> {
    let start = messages.iter().rposition(is_user).map_or(0, |user| user + 1);
    let rounds =
        messages.iter().enumerate().skip(start).filter(|(_, message)| !message.tool_calls.is_empty());
    let newest = rounds.rev().nth(NEWEST_ROUNDS - 1);
    start..newest.map_or(start, |(newest, _)| newest)
}

/// Protects the newest group of history: a request without a user message must not lose all messages.
fn keep_newest(laid: &mut [LaidGroup]) {
    if let Some(newest) = laid.iter_mut().rfind(|group| group.part == Part::History) {
        newest.part = Part::Current;
    }
}

/// Joins messages of an entry with several positions to the following group of history.
fn with_points(groups: Vec<LaidGroup>, is_point: impl Fn(&LaidGroup) -> bool) -> Vec<LaidGroup> {
    let mut laid: Vec<LaidGroup> = Vec::with_capacity(groups.len());
    for mut group in groups {
        // A group that already has such messages is history, and begins with one.
        let is_loose = |last: &mut LaidGroup| last.part != Part::History && is_point(last);
        while let Some(point) = laid.pop_if(|last| group.part == Part::History && is_loose(last)) {
            group.range.start = point.range.start;
            group.tokens += point.tokens;
        }
        laid.push(group);
    }
    laid
}

/// Returns whether a message belongs to an entry with several positions.
pub(crate) fn is_point(message: &Message) -> bool {
    message.place == Place::Gap { multiple: true }
}

/// Returns the start of the current messages.
fn current_start(messages: &[Message], protection: Protection, last_user: Option<usize>) -> usize {
    let start = match protection {
        Protection::CurrentLoop(start) => return start,
        Protection::LastUserMessage => return messages.len(),
        Protection::PendingTurn => last_user.unwrap_or(messages.len()),
    };
    let is_answer = |message: &Message| message.is_finished_answer() && is_said(message);
    if messages.iter().skip(start).any(is_answer) {
        return messages.len();
    }
    let before = messages.get(..start).unwrap_or_default().iter().rev();
    start - before.take_while(|message| is_user(message)).count()
}

/// Returns whether a message is part of the conversation, not placed, a note or a summary.
pub(crate) fn is_said(message: &Message) -> bool {
    message.place == Place::History && message.note.is_none() && !is_summary(message)
}

/// Returns whether a message is a turn of the user.
pub(crate) fn is_user(message: &Message) -> bool {
    message.role == Role::User && is_said(message)
}

/// Returns whether a leading message is placed or an instruction, not a note or a summary.
fn is_leading(message: &Message) -> bool {
    let is_placed = !matches!(message.place, Place::History | Place::Pinned);
    is_placed || (message.role.is_instruction() && message.note.is_none() && !is_summary(message))
}

/// Words at the beginning of a summary in logs of other applications.
const SUMMARY_MARKS: [&str; 2] = ["CONVERSATION_SUMMARY", "SUMMARY"];

/// Returns whether a message is a summary, by its source or, for a system message, by the first word `SUMMARY` or
/// `CONVERSATION_SUMMARY`. Notes are not summaries.
pub fn is_summary(message: &Message) -> bool {
    if message.note.is_some() {
        return false;
    }
    let is_marked = || {
        let text = message.text();
        let text = text.trim_start();
        let rest = SUMMARY_MARKS.iter().find_map(|mark| text.strip_prefix(mark));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    message.source.kind == SourceKind::Summary || (message.role.is_instruction() && is_marked())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ctx_types::{Content, Note};

    use super::*;
    use crate::request::testing::messages;

    /// Parts as letters, one for each message: i, p, s, c, h.
    #[track_caller]
    fn check(words: &str, protection: Protection, expected: &str) {
        let layout = Layout::of(&messages(words), protection, &Meter::estimate());
        let letters = layout.groups.iter().flat_map(|group| {
            let letter = group.part.to_string().chars().next().unwrap_or_default();
            group.range.clone().map(move |_| letter)
        });
        assert_eq!(
            letters.map(|letter| if letter == 'l' { 'i' } else { letter }).collect::<String>(),
            expected
        );
    }

    #[test]
    fn the_pending_turn_reaches_to_the_end() {
        check("s u a u a:x t:x", Protection::PendingTurn, "ihhccc");
        check("s u a u u", Protection::PendingTurn, "ihhcc");
    }

    #[test]
    fn of_an_answered_turn_only_the_last_user_message_is_safe() {
        check("s u a u a:x t:x a", Protection::PendingTurn, "ihhchhh");
        check("u a", Protection::PendingTurn, "ch");
    }

    #[test]
    fn what_is_placed_or_sums_up_is_neither_question_nor_answer() {
        let mut all = messages("s u a u a:x t:x a u");
        all[6].place = Place::Skeleton;
        all[7].source.kind = SourceKind::Summary;
        let layout = Layout::of(&all, Protection::PendingTurn, &Meter::estimate());
        let parts: Vec<Part> = layout.groups.iter().map(|group| group.part).collect();
        let expected = [
            Part::Instructions,
            Part::History,
            Part::History,
            Part::Current,
            Part::Current,
            Part::Placed,
            Part::Summary,
        ];
        assert_eq!((parts.as_slice(), layout.last_user), (&expected[..], Some(3)));
    }

    #[test]
    fn a_loop_protects_what_it_added_and_the_last_user_message() {
        check("u a u a:x t:x a:y t:y", Protection::CurrentLoop(5), "hhchhcc");
        check("u a u a:x t:x a:y t:y", Protection::CurrentLoop(4), "hhccccc");
        check("u a u", Protection::CurrentLoop(3), "hhc");
    }

    #[test]
    fn without_a_loop_only_the_last_user_message_is_safe() {
        check("s s u a u a:x t:x", Protection::LastUserMessage, "iihhchh");
    }

    #[test]
    fn without_a_user_the_newest_group_is_current() {
        check("s a a", Protection::PendingTurn, "ihc");
        check("s a a:x t:x", Protection::LastUserMessage, "ihcc");
        check("a a", Protection::CurrentLoop(2), "hc");
        check("", Protection::PendingTurn, "");
    }

    #[test]
    fn a_summary_is_nobodys_turn() {
        check("s a a:x t:x SUMMARY", Protection::CurrentLoop(4), "ihccs");
        check("s u a:x t:x SUMMARY a:y t:y", Protection::PendingTurn, "icccscc");
        check("s u a SUMMARY", Protection::CurrentLoop(3), "ichs");
    }

    #[test]
    fn points_of_a_placement_go_with_the_group_that_follows() {
        let mut all = messages("u s s a:x t:x s u s");
        for (index, multiple) in [(1, true), (2, true), (5, false), (7, true)] {
            all[index].place = Place::Gap { multiple };
        }
        let layout = Layout::of(&all, Protection::PendingTurn, &Meter::estimate());
        let found: Vec<_> = layout.groups.iter().map(|group| (group.range.clone(), group.part)).collect();
        let expected = [
            (0..1, Part::History),
            (1..5, Part::History),
            (5..6, Part::Placed),
            (6..7, Part::Current),
            (7..8, Part::Placed),
        ];
        assert_eq!(found, expected);
        assert_eq!(layout.groups[1].tokens, Meter::estimate().messages(&all[1..5]));
    }

    #[test]
    fn only_one_group_takes_a_point() {
        let mut all = messages("u s u a:x t:x a s u u");
        for index in [1, 6] {
            all[index].place = Place::Gap { multiple: true };
        }
        let layout = Layout::of(&all, Protection::LastUserMessage, &Meter::estimate());
        let found: Vec<_> = layout.groups.iter().map(|group| group.range.clone()).collect();
        assert_eq!(found, [0..1, 1..3, 3..5, 5..6, 6..8, 8..9]);
    }

    #[test]
    fn summaries_are_told_by_their_source_or_of_instructions_by_a_mark() {
        let check = |word: &str, text: &str, expected: bool| {
            let message =
                messages(word).remove(0).with(|message| message.content = Content::Text(text.into()));
            assert_eq!(is_summary(&message), expected, "{word} {text}");
            let summary = message.clone().with(|message| message.source.kind = SourceKind::Summary);
            assert!(is_summary(&summary), "{word} {text}");
            let note = summary.with(|message| message.note = Some(Arc::new(Note::default())));
            assert!(!is_summary(&note), "{word} {text}");
        };
        for text in ["SUMMARY", "  SUMMARY\nof it", "CONVERSATION_SUMMARY: so", "SUMMARY-1"] {
            check("s", text, true);
            check("u", text, false);
        }
        for text in ["SUMMARYX", "SUMMARY_X", "SUMMARY1", "A SUMMARY", "summary", ""] {
            check("s", text, false);
        }
    }

    #[test]
    fn what_leads_is_placed_or_instructs() {
        let change = |word: &str, set: &dyn Fn(&mut Message)| {
            let mut all = messages("s u");
            all[0] = messages(word).remove(0);
            set(&mut all[0]);
            Layout::of(&all, Protection::PendingTurn, &Meter::estimate()).groups[0].part
        };
        let pin = |message: &mut Message| message.place = Place::Pinned;
        assert_eq!(change("s", &|_| {}), Part::Instructions);
        assert_eq!(change("s", &pin), Part::Instructions);
        assert_eq!(change("a", &|_| {}), Part::History);
        assert_eq!(change("a", &pin), Part::Pinned);
        for place in [Place::Skeleton, Place::Anchored, Place::AroundHistory, Place::Gap { multiple: false }]
        {
            assert_eq!(change("a", &|message| message.place = place), Part::Instructions);
        }
        let note = |message: &mut Message| message.note = Some(Arc::new(Note::default()));
        assert_eq!(change("s", &note), Part::History);
        assert_eq!(change("s", &|message| message.source.kind = SourceKind::Summary), Part::Summary);
    }

    #[test]
    fn what_the_model_is_to_go_on_with_stays() {
        let mut all = messages("u a u a a");
        all[1].is_continuation_prefix = true;
        let layout = Layout::of(&all, Protection::LastUserMessage, &Meter::estimate());
        let parts: Vec<Part> = layout.groups.iter().map(|group| group.part).collect();
        assert_eq!(parts, [Part::History, Part::Current, Part::Current, Part::History, Part::History]);
    }

    #[test]
    fn parts_have_names() {
        let parts =
            [Part::Instructions, Part::Placed, Part::Pinned, Part::Summary, Part::Current, Part::History];
        let names = [
            "leading system messages",
            "placed messages",
            "pinned messages",
            "summaries",
            "current turn",
            "history",
        ];
        assert_eq!(parts.map(|part| part.to_string()), names);
    }

    #[test]
    fn a_marked_summary_stays_wherever_it_stands() {
        let mut all = messages("u s s u a u");
        all[1].content = ctx_types::Content::Text("SUMMARY\nof it".into());
        all[2].content = ctx_types::Content::Text("SUMMARYX".into());
        let layout = Layout::of(&all, Protection::PendingTurn, &Meter::estimate());
        assert_eq!((layout.groups[1].part, layout.groups[2].part), (Part::Summary, Part::History));
    }
}
