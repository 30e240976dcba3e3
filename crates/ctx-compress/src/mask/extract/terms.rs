//! Names and terms of a conversation.

use std::collections::HashMap;

use ctx_types::Role;

use crate::mask::extract::unpack::Unpacked;
use crate::mask::parts::prefix;
use crate::quality::{FactKind, Form, find_facts};
use crate::request::quarters;

/// Limit of the bytes of a message.
const MAX_BYTES: usize = 16 * 1024;

/// Limit of a term in characters.
const LONGEST: usize = 40;

/// Returns the terms of earlier summaries and messages, the most frequent first.
///
/// A term is a name in at least two messages, a quoted title, or code between backticks. O(text).
pub(super) fn terms(material: &Unpacked) -> Vec<String> {
    let mut terms = TermList::default();
    for (at, message) in material.messages.iter().enumerate().filter(|(_, one)| one.role != Role::Tool) {
        let text = message.text();
        let text = prefix(&text, MAX_BYTES);
        for found in find_facts(text, Form::Prose).into_iter().filter(|found| !found.is_weak) {
            let is_marked = found.kind == FactKind::Quote || text[..found.bytes.start].ends_with('`');
            let term = text[found.bytes].trim_matches(['"', '“', '”', '「', '」', '『', '』', '《', '》']);
            let is_sentence = term.ends_with(['.', '!', '?', ',', '。', '！', '？', '，']);
            let is_term = is_marked || found.kind == FactKind::Name;
            if is_term && !is_sentence && term.chars().count() <= LONGEST {
                terms.add(term, at, is_marked);
            }
        }
    }
    material.terms.iter().for_each(|term| terms.add(term, material.messages.len(), true));
    let mut terms = terms.terms;
    terms.retain(|term| term.messages >= 2 || term.is_marked);
    // A stable sort: equal counts stay in their order.
    terms.sort_by_key(|term| std::cmp::Reverse(term.messages));
    terms.into_iter().map(|term| term.text).collect()
}

/// Joins as many terms as fit into a number of tokens of the estimate.
pub(super) fn join_terms(terms: &[String], limit: u64, separator: &str) -> String {
    let mut line = String::new();
    for term in terms {
        let separator = if line.is_empty() { "" } else { separator };
        if quarters(&line) + quarters(separator) + quarters(term) <= limit * 4 {
            line.push_str(separator);
            line.push_str(term);
        }
    }
    line
}

/// Terms in the order of their first use.
#[derive(Debug, Default)]
struct TermList {
    terms: Vec<Term>,
    indexes: HashMap<String, usize>,
}

#[derive(Debug)]
struct Term {
    text: String,
    /// Number of messages with the term.
    messages: usize,
    last_message: usize,
    /// Whether it was quoted.
    is_marked: bool,
}

impl TermList {
    fn add(&mut self, text: &str, message: usize, is_marked: bool) {
        let terms = &mut self.terms;
        let index = *self.indexes.entry(text.to_owned()).or_insert_with(|| {
            let text = text.to_owned();
            terms.push(Term { text, messages: 0, last_message: usize::MAX, is_marked: false });
            terms.len() - 1
        });
        let term = &mut self.terms[index];
        term.is_marked |= is_marked;
        term.messages += usize::from(term.last_message != message);
        term.last_message = message;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctx_types::{Message, Source};

    use crate::mask::extract::unpack::unpack;

    #[track_caller]
    fn check(texts: &[&str], limit: u64, expected: &str) {
        let message = |text: &&str| Message::new(Role::User, *text, Source::history("n", Role::User));
        let messages: Vec<Message> = texts.iter().map(message).collect();
        assert_eq!(join_terms(&terms(&unpack(&messages)), limit, ", "), expected);
    }

    #[test]
    fn takes_names_of_two_messages() {
        check(&["Is Ada Bell there?", "No, Ada Bell's train is late, and I'm off."], 20, "Ada Bell");
        check(&["Is Ada there?", "No."], 20, "");
    }

    #[test]
    fn skips_first_words_of_sentences_and_months() {
        check(&["Room 12. Room 14.", "Room 12: Yes"], 20, "");
        check(&["on 3 May", "before 3 May"], 20, "");
    }

    #[test]
    fn takes_quoted_titles_and_code() {
        let text = "Call `read_all` as in “Blue Note”, he said \"no, never.\"";
        check(&[text], 20, "read_all, Blue Note");
        check(&["看《红楼梦》"], 20, "红楼梦");
    }

    #[test]
    fn puts_most_frequent_terms_first() {
        check(&["so Bo and Ada", "so Ada", "so Ada and Bo"], 20, "Ada, Bo");
        check(&["so Bo and Ada", "so Ada", "so Ada and Bo"], 1, "Ada");
    }
}
