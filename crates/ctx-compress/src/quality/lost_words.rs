//! Finds the sentences around lost facts, for callers that restore them.

use std::collections::BTreeMap;
use std::ops::Range;

use ctx_types::{Message, Role};

use crate::quality::fact::{Fact, FactKind, Place};
use crate::quality::report::QualityReport;

/// Words of a message with lost facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWords {
    /// The place of the words.
    pub place: Place,
    /// The words, unchanged except that they are on one line.
    pub text: String,
    /// The number of lost facts in them.
    pub facts: usize,
}

/// The maximum bytes of the words around a fact.
const LONGEST: usize = 240;

impl QualityReport {
    /// Returns the sentences or JSON members with lost facts: those with the most important facts for their length
    /// first, and messages of people before tool results. O(lost facts × their sentences).
    ///
    /// ```
    /// use ctx_compress::quality::QualityReport;
    /// use ctx_types::{Message, Role, Source};
    ///
    /// let said = "Thanks a lot! Never call before 9 am. It was fun to hear all of that, and Bob says hello.";
    /// let original = [Message::new(Role::User, said, Source::history("n1", Role::User))];
    /// let report = QualityReport::of_summary(&original, "They say thanks.");
    /// let words: Vec<String> = report.lost_words(&original).into_iter().map(|words| words.text).collect();
    /// assert_eq!(words, ["Never call before 9 am.", "It was fun to hear all of that, and Bob says hello."]);
    /// ```
    pub fn lost_words(&self, original: &[Message]) -> Vec<LostWords> {
        let mut found: BTreeMap<Spot, (LostWords, u32)> = BTreeMap::new();
        for fact in &self.lost {
            let Some((place, text)) = words_around(fact, original) else { continue };
            let key = (place.message, place.call, place.start, place.end);
            let weight = weight(fact.kind) * speaker_weight(original, &place);
            let (words, sum) = found.entry(key).or_insert((LostWords { place, text, facts: 0 }, 0));
            (words.facts, *sum) = (words.facts + 1, *sum + weight);
        }
        let mut sorted: Vec<(LostWords, u32)> = found.into_values().collect();
        // A constant is added to the length, so that a bare value is not preferred to a sentence.
        let value =
            |(words, sum): &(LostWords, u32)| u64::from(*sum) * 10_000 / (words.text.len() as u64 + 40);
        sorted.sort_by_key(|words| std::cmp::Reverse(value(words)));
        sorted.into_iter().map(|(words, _)| words).collect()
    }
}

/// Message, call and bytes: the order of words in the conversation.
type Spot = (usize, Option<usize>, usize, usize);

fn words_around(fact: &Fact, original: &[Message]) -> Option<(Place, String)> {
    let place = fact.places.first()?;
    let message = original.get(place.message)?;
    let text = match place.call {
        Some(call) => message.tool_calls.get(call)?.arguments.as_str().into(),
        None => message.text(),
    };
    let is_data = place.call.is_some() || message.role == Role::Tool;
    let bytes = around(&text, place.start..place.end, is_data);
    let words: Vec<&str> = text.get(bytes.clone())?.split_whitespace().collect();
    let place = Place { start: bytes.start, end: bytes.end, ..place.clone() };
    (!words.is_empty()).then(|| (place, words.join(" ")))
}

/// The importance of a fact by its kind.
const fn weight(kind: FactKind) -> u32 {
    match kind {
        FactKind::Date | FactKind::Number | FactKind::Identifier => 5,
        FactKind::Name | FactKind::Path => 4,
        FactKind::Quote => 3,
    }
}

/// User messages are the most important; tool results contain much that nobody needs.
fn speaker_weight(original: &[Message], place: &Place) -> u32 {
    match original.get(place.message).map(|message| message.role) {
        _ if place.call.is_some() => 2,
        Some(Role::User) => 4,
        Some(Role::Tool) => 1,
        _ => 3,
    }
}

/// Finds the sentence or JSON member around a range of bytes.
fn around(text: &str, bytes: Range<usize>, is_data: bool) -> Range<usize> {
    let ends = |c: char, next: Option<char>| match c {
        '\n' | '。' | '！' | '？' | '…' => true,
        '.' | '!' | '?' => !is_data && next.is_none_or(char::is_whitespace),
        ',' | '{' | '}' | '[' | ']' => is_data,
        _ => false,
    };
    let reach = LONGEST.saturating_sub(bytes.len()) / 2;
    let first = boundary(text, bytes.start.saturating_sub(reach));
    let last = boundary(text, (bytes.end + reach).min(text.len()));
    let before = text.get(first..bytes.start).unwrap_or_default();
    let start = before
        .char_indices()
        .rfind(|(at, c)| ends(*c, text.get(first + at + c.len_utf8()..).and_then(|rest| rest.chars().next())))
        .map_or_else(|| word_start(text, first, bytes.start), |(at, c)| first + at + c.len_utf8());
    let behind = text.get(bytes.end..last).unwrap_or_default();
    let is_ended =
        text.get(bytes.clone()).is_some_and(|fact| fact.ends_with(['.', '!', '?', '。', '！', '？']));
    let mut signs = behind.char_indices().filter(|(at, c)| {
        ends(*c, text.get(bytes.end + at + c.len_utf8()..).and_then(|rest| rest.chars().next()))
    });
    let end = match signs.next() {
        _ if is_ended => bytes.end,
        Some((at, '\n' | ',' | '{' | '}' | '[' | ']')) => bytes.end + at,
        Some((at, c)) => bytes.end + at + c.len_utf8(),
        None => word_end(text, bytes.end, last),
    };
    start..end
}

/// Returns the nearest character boundary at or before a byte.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Moves a start that is inside a word to the end of that word.
fn word_start(text: &str, first: usize, end: usize) -> usize {
    if first == 0 {
        return 0;
    }
    let space = text.get(first..end).and_then(|text| text.find(char::is_whitespace));
    space.map_or(first, |space| first + space + 1)
}

/// Moves an end that is inside a word to the start of that word.
fn word_end(text: &str, start: usize, last: usize) -> usize {
    if last == text.len() {
        return last;
    }
    let space = text.get(start..last).and_then(|text| text.rfind(char::is_whitespace));
    space.map_or(last, |space| start + space)
}
