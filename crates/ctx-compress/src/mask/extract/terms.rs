//! Names and terms that a conversation speaks of.

use std::collections::HashMap;

use ctx_types::Role;

use crate::calendar;
use crate::mask::extract::unpack::Unpacked;
use crate::mask::language::Language;
use crate::request::quarters;

/// How many bytes of each message are looked at.
const LOOKED_AT: usize = 16 * 1024;

/// How many characters a term may have.
const LONGEST: usize = 40;

/// Returns one line with the terms of earlier summaries and those that most messages use, within so many tokens of
/// the estimate; none for none.
///
/// A term is a capitalised name within a sentence, or what stands between backticks or in quotation marks; names
/// count if two messages have them. O(text).
pub(super) fn terms(material: &Unpacked, room: u64, language: Language) -> Option<String> {
    let mut found = TermList::default();
    for (at, message) in material.messages.iter().enumerate().filter(|(_, one)| one.role != Role::Tool) {
        let text = message.text();
        let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= LOOKED_AT).unwrap_or(text.len());
        let text = text.get(..end).unwrap_or_default();
        each_term(text, &mut |term, is_marked| found.add(term, at, is_marked));
    }
    material.terms.iter().for_each(|term| found.add(term, material.messages.len(), true));
    let mut found = found.terms;
    found.retain(|term| term.messages >= 2 || term.is_marked);
    // Stable: equal counts stay in the order in which they came up.
    found.sort_by_key(|term| std::cmp::Reverse(term.messages));
    let separator = if language == Language::Chinese { "、" } else { ", " };
    let mut line = String::new();
    for term in found {
        let separator = if line.is_empty() { "" } else { separator };
        if quarters(&line) + quarters(separator) + quarters(&term.text) <= room * 4 {
            line.push_str(separator);
            line.push_str(&term.text);
        }
    }
    Some(line).filter(|line| !line.is_empty())
}

/// Terms in the order in which they came up.
#[derive(Debug, Default)]
struct TermList {
    terms: Vec<Term>,
    known: HashMap<String, usize>,
}

impl TermList {
    /// Counts a term of the message at an index.
    fn add(&mut self, term: &str, message: usize, is_marked: bool) {
        let terms = &mut self.terms;
        let index = *self.known.entry(term.to_owned()).or_insert_with(|| {
            terms.push(Term { text: term.to_owned(), messages: 0, last: usize::MAX, is_marked: false });
            terms.len() - 1
        });
        if let Some(term) = terms.get_mut(index) {
            term.is_marked |= is_marked;
            term.messages += usize::from(term.last != message);
            term.last = message;
        }
    }
}

#[derive(Debug)]
struct Term {
    text: String,
    /// In how many messages it stands.
    messages: usize,
    /// The last of them.
    last: usize,
    /// Whether it was marked as a term by who wrote it.
    is_marked: bool,
}

/// Calls `visit` for each term, with whether it stands between marks.
fn each_term(text: &str, visit: &mut dyn FnMut(&str, bool)) {
    for line in text.lines().filter(|line| !line.trim_start().starts_with("```")) {
        for (open, close) in [('`', '`'), ('“', '”'), ('《', '》'), ('「', '」'), ('"', '"')] {
            each_marked(line, open, close, &mut |term| visit(term, true));
        }
        each_name(line, &mut |term| visit(term, false));
    }
}

/// Visits what stands between two marks, if it is short and no sentence.
fn each_marked(line: &str, open: char, close: char, visit: &mut dyn FnMut(&str)) {
    let mut rest = line;
    while let Some((_, after)) = rest.split_once(open) {
        let Some((inner, after)) = after.split_once(close) else { return };
        let inner = inner.trim();
        let is_sentence = inner.ends_with(['.', '!', '?', ',', '。', '！', '？', '，']);
        let letters = inner.chars().filter(|c| c.is_alphanumeric()).count();
        if letters >= 2 && inner.chars().count() <= LONGEST && !is_sentence {
            visit(inner);
        }
        rest = after;
    }
}

/// Visits runs of capitalised words within sentences.
fn each_name(line: &str, visit: &mut dyn FnMut(&str)) {
    let mut run: Vec<&str> = Vec::new();
    let mut is_start = true;
    for word in line.split_whitespace() {
        let core = word.trim_matches(|c: char| !c.is_alphanumeric());
        let core = core.strip_suffix("'s").or_else(|| core.strip_suffix("’s")).unwrap_or(core);
        let begins = core.chars().next().is_some_and(char::is_uppercase);
        let is_name = begins
            && !is_start
            && core.chars().count() >= 2
            && !core.starts_with("I'")
            && !core.starts_with("I’");
        let opens = word.starts_with(|c: char| !c.is_alphanumeric());
        if !is_name || opens {
            finish(&mut run, visit);
        }
        if is_name {
            run.push(core);
        }
        is_start =
            word.ends_with(['.', '!', '?', ':', '…', '"', '”', '*']) || !core.contains(char::is_alphanumeric);
        if is_start || word.ends_with([',', ';', ')', ']']) {
            finish(&mut run, visit);
        }
    }
    finish(&mut run, visit);
}

fn finish(run: &mut Vec<&str>, visit: &mut dyn FnMut(&str)) {
    /// More words than this are a heading.
    const MOST: usize = 4;
    if !run.is_empty() && run.len() <= MOST {
        let name = run.join(" ");
        // A month or a day says nothing by itself.
        if name.chars().count() <= LONGEST && !calendar::is_name(&name) {
            visit(&name);
        }
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::{Message, Source};

    use crate::mask::extract::unpack::unpack;

    #[track_caller]
    fn check(texts: &[&str], room: u64, expected: Option<&str>) {
        let message = |text: &&str| Message::new(Role::User, *text, Source::history("n", Role::User));
        let messages: Vec<Message> = texts.iter().map(message).collect();
        assert_eq!(terms(&unpack(&messages), room, Language::English).as_deref(), expected);
    }

    #[test]
    fn names_that_two_messages_have_are_terms() {
        check(&["Is Ada Bell there?", "No, Ada Bell's train is late, and I'm off."], 20, Some("Ada Bell"));
        check(&["Is Ada there?", "No."], 20, None);
    }

    #[test]
    fn the_first_word_of_a_sentence_is_no_name() {
        check(&["Room 12. Room 14.", "Room 12: Yes"], 20, None);
        check(&["on 3 May", "before 3 May"], 20, None);
    }

    #[test]
    fn what_is_marked_is_a_term() {
        check(
            &["Call `read_all` as in “Blue Note”, he said \"no, never.\""],
            20,
            Some("read_all, Blue Note"),
        );
        check(&["看《红楼梦》"], 20, Some("红楼梦"));
    }

    #[test]
    fn the_most_frequent_come_first_while_there_is_room() {
        check(&["so Bo and Ada", "so Ada", "so Ada and Bo"], 20, Some("Ada, Bo"));
        check(&["so Bo and Ada", "so Ada", "so Ada and Bo"], 1, Some("Ada"));
    }
}
