//! What a stage changed in a text, word by word.

use ctx_language::Language;
use ctx_types::phrase;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::lang;
use crate::page::text::{Room, missing, shown};

/// How many bytes of both texts are compared word by word; longer ones are compared line by line.
const MAX_WORDS: usize = 8 * 1024;

/// How many characters of a stretch that did not change are shown at each of its ends.
const CONTEXT: usize = 120;

/// A stretch of text, which both have or one of them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Run {
    /// `same`, `gone`, `new`, or `note` for what the page says itself.
    tag: &'static str,
    text: String,
}

/// Compares two texts, as far as there is room for them.
///
/// No clock ends the search, so that equal texts give equal runs; their sizes bound it.
pub(super) fn runs(language: Language, before: &str, after: &str, room: &mut Room) -> Vec<Run> {
    let (before, after) = (room.take(before), room.take(after));
    let diff = if before.text.len() + after.text.len() > MAX_WORDS {
        TextDiff::from_lines(before.text, after.text)
    } else {
        TextDiff::from_words(before.text, after.text)
    };
    let mut runs: Vec<(ChangeTag, String)> = Vec::new();
    for change in diff.iter_all_changes() {
        match runs.last_mut().filter(|(tag, _)| *tag == change.tag()) {
            Some((_, text)) => text.push_str(change.value()),
            None => runs.push((change.tag(), change.value().to_owned())),
        }
    }
    let last = runs.len().saturating_sub(1);
    let run = |(at, (tag, text)): (usize, (ChangeTag, String))| match tag {
        ChangeTag::Delete => vec![Run { tag: "gone", text: shown(&text) }],
        ChangeTag::Insert => vec![Run { tag: "new", text: shown(&text) }],
        ChangeTag::Equal => {
            let note = |count| lang::say(language, &phrase!("{count} unchanged characters", count));
            same(&text, note, at == 0, at == last)
        }
    };
    let mut runs: Vec<Run> = runs.into_iter().enumerate().flat_map(run).collect();
    runs.extend(missing(language, before.missing.max(after.missing)).map(|text| Run { tag: "note", text }));
    runs
}

/// Shows a text that nothing is compared with; of a long one its ends.
pub(super) fn whole(language: Language, text: &str, room: &mut Room) -> Vec<Run> {
    let cut = room.take(text);
    let note = |count| lang::say(language, &phrase!("{count} characters in between", count));
    let mut runs = same(cut.text, note, false, false);
    runs.extend(missing(language, cut.missing).map(|text| Run { tag: "note", text }));
    runs
}

/// A stretch that both have; of a long one the middle is left out, or the end that touches no change.
fn same(text: &str, note: impl Fn(usize) -> String, is_first: bool, is_last: bool) -> Vec<Run> {
    let count = text.chars().count();
    let whole = |text: &str| Run { tag: "same", text: shown(text) };
    if count <= 3 * CONTEXT {
        return vec![whole(text)];
    }
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    let (head, tail) = match (is_first, is_last) {
        (true, false) => (0, CONTEXT),
        (false, true) => (CONTEXT, 0),
        _ => (CONTEXT, CONTEXT),
    };
    let (head_end, tail_start) = (byte(head), byte(count - tail));
    let note = format!(" … {} … ", note(count - head - tail));
    let ends = [text.get(..head_end), text.get(tail_start..)].map(Option::unwrap_or_default);
    let [head, tail] = ends.map(whole);
    vec![head, Run { tag: "note", text: note }, tail]
}

#[cfg(test)]
mod tests {
    use ctx_language::Language;

    use super::{Run, runs};
    use crate::page::text::Room;

    #[track_caller]
    fn check(before: &str, after: &str, expected: &[(&'static str, &str)]) {
        let expected: Vec<Run> =
            expected.iter().map(|(tag, text)| Run { tag, text: (*text).to_owned() }).collect();
        assert_eq!(runs(Language::En, before, after, &mut Room::default()), expected);
    }

    #[test]
    fn words_that_differ_are_told_apart() {
        check("Say it please.", "Say it now.", &[("same", "Say it "), ("gone", "please."), ("new", "now.")]);
        check("a", "a", &[("same", "a")]);
        check("", "a\u{1b}", &[("new", "a\u{fffd}")]);
    }

    #[test]
    fn of_a_long_stretch_without_changes_the_ends_are_shown() {
        let long = "word ".repeat(200);
        let (before, after) = (format!("{long}old"), format!("{long}new"));
        let tail = "word ".repeat(24);
        let expected = [
            ("same", ""),
            ("note", " … 880 unchanged characters … "),
            ("same", tail.as_str()),
            ("gone", "old"),
            ("new", "new"),
        ];
        check(&before, &after, &expected);
    }
}
