//! Repairs unpaired calls and results, which providers reject.

use std::collections::{HashMap, HashSet};

use ctx_types::internal::excerpt;
use ctx_types::{Code, Diagnostic, Message, Phrase, Role, Source, phrase};

use crate::codes;

/// Messages with paired calls and results, and the changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Repaired {
    /// The messages: each call has exactly one result, before the next other message.
    pub messages: Vec<Message>,
    /// The changes, with pointers into the original list of messages.
    pub diagnostics: Vec<Diagnostic>,
    /// Indexes of removed messages, ascending.
    pub left_out: Vec<usize>,
    /// The new index of each original message, and of the end.
    places: Vec<usize>,
}

impl Repaired {
    /// Returns the new index of an original message; for a removed one, that of the next message.
    pub fn place(&self, index: usize) -> usize {
        self.places.get(index).or(self.places.last()).copied().unwrap_or(0)
    }
}

/// The placeholder result of a call without a result.
const INTERRUPTED: &str = "[interrupted: this call has no result]";

/// Pairs calls and results; `None` if they are paired already. O(messages).
///
/// Moves a late result to its call, removes a second result and one without a call, and adds a placeholder to a call
/// without a result. A result whose call the provider stores keeps its place.
///
/// ```
/// use ctx_compress::request::repair;
/// use ctx_types::{Message, Role, Source, ToolCall};
///
/// let call = ToolCall { id: "c1".into(), name: "look".into(), arguments: "{}".into() };
/// let asking = Message::new(Role::Assistant, "", Source::history("n1", Role::Assistant));
/// let repaired = repair(&[asking.with(|message| message.tool_calls = vec![call])]).unwrap();
/// assert_eq!(repaired.messages.len(), 2);
/// assert_eq!(repaired.diagnostics[0].code, ctx_compress::codes::UNANSWERED_CALL);
/// ```
pub fn repair(messages: &[Message]) -> Option<Repaired> {
    if is_paired(messages) {
        return None;
    }
    let mut pairing = Pairing {
        messages,
        calls: Vec::new(),
        by_id: HashMap::new(),
        open_from: 0,
        of_stored_calls: HashSet::new(),
        found: Vec::new(),
    };
    for index in 0..messages.len() {
        pairing.add(index);
    }
    Some(pairing.finish())
}

/// Returns whether each call has exactly one result, before the next other message.
pub(crate) fn is_paired(messages: &[Message]) -> bool {
    let mut open: HashSet<&str> = HashSet::new();
    for message in messages {
        let may_call = message.role == Role::Assistant;
        if !message.tool_calls.is_empty() && !may_call {
            return false;
        }
        if message.role == Role::Tool {
            let has_call = message.tool_call_id.as_deref().is_some_and(|id| open.remove(id));
            if !has_call && !message.answers_stored_call() {
                return false;
            }
            continue;
        }
        let mut calls = message.tool_calls.iter();
        if !open.is_empty() || !calls.all(|call| !call.id.is_empty() && open.insert(&call.id)) {
            return false;
        }
    }
    open.is_empty()
}

/// The pairs of calls and results.
struct Pairing<'a> {
    messages: &'a [Message],
    calls: Vec<Call<'a>>,
    /// The newest call with an id, as a position in `calls`.
    by_id: HashMap<&'a str, usize>,
    /// The first call that a result without an id may belong to.
    open_from: usize,
    /// The results whose calls the provider stores.
    of_stored_calls: HashSet<usize>,
    found: Vec<Diagnostic>,
}

struct Call<'a> {
    /// The index of its message.
    owner: usize,
    /// Its position among the calls of that message.
    position: usize,
    id: &'a str,
    /// The index of its result.
    result: Option<usize>,
}

impl<'a> Pairing<'a> {
    fn add(&mut self, index: usize) {
        let messages = self.messages;
        let message = &messages[index];
        if message.role != Role::Assistant && !message.tool_calls.is_empty() {
            let text = phrase!(
                "role `{role}` cannot have tool calls; they are removed",
                role = message.role.to_string()
            );
            self.report(codes::MISPLACED_CALL, text, format!("/{index}/tool_calls"));
        }
        match message.role {
            Role::Tool => self.add_result(index, message),
            Role::Assistant => self.add_calls(index, message),
            _ => self.open_from = self.calls.len(),
        }
    }

    fn add_calls(&mut self, owner: usize, message: &'a Message) {
        self.open_from = self.calls.len();
        for (position, call) in message.tool_calls.iter().enumerate() {
            let earlier = self.by_id.get(&*call.id).is_some_and(|at| *at >= self.open_from);
            if earlier || call.id.is_empty() {
                let text = if earlier {
                    phrase!(
                        "duplicate call id `{call}`; the second call is removed",
                        call = excerpt(&call.id)
                    )
                } else {
                    phrase!("a call of `{call}` has no id; it is removed", call = excerpt(&call.name))
                };
                self.report(codes::DUPLICATE_CALL, text, format!("/{owner}/tool_calls/{position}"));
                continue;
            }
            self.by_id.insert(&call.id, self.calls.len());
            self.calls.push(Call { owner, position, id: &call.id, result: None });
        }
    }

    fn add_result(&mut self, index: usize, message: &'a Message) {
        let pointer = format!("/{index}");
        let at = if let Some(id) = message.tool_call_id.as_deref().filter(|id| !id.is_empty()) {
            self.by_id.get(id).copied()
        } else {
            // A result without an id belongs to the next open call directly above.
            while self.calls.get(self.open_from).is_some_and(|call| call.result.is_some()) {
                self.open_from += 1;
            }
            (self.open_from < self.calls.len()).then_some(self.open_from)
        };
        let Some(at) = at else {
            if message.answers_stored_call() {
                self.of_stored_calls.insert(index);
                return;
            }
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            let text = phrase!("no earlier call has id `{id}`; the result is removed", id = excerpt(id));
            return self.report(codes::ORPHAN_RESULT, text, pointer);
        };
        let call = &mut self.calls[at];
        let id = excerpt(call.id);
        let written = interrupted_id(call.id);
        // A real result replaces the placeholder of an earlier repair.
        let is_real = |at: usize| self.messages[at].source.id.as_deref() != Some(written.as_str());
        if call.result.is_some_and(is_real) {
            let text = phrase!("call `{id}` already has a result; the second one is removed", id);
            return self.report(codes::DUPLICATE_RESULT, text, pointer);
        }
        call.result = Some(index);
        if at < self.open_from {
            let text = phrase!("the result of call `{id}` does not follow its call; it is moved there", id);
            self.report(codes::LATE_RESULT, text, pointer);
        }
    }

    fn report(&mut self, code: Code, message: Phrase, pointer: String) {
        self.found.push(Diagnostic::warning(code, message).at_pointer(pointer));
    }

    fn finish(mut self) -> Repaired {
        for call in self.calls.iter().filter(|call| call.result.is_none()) {
            let text =
                phrase!("call `{id}` has no result; a placeholder result is added", id = excerpt(call.id));
            let pointer = format!("/{}/tool_calls/{}", call.owner, call.position);
            self.found.push(Diagnostic::warning(codes::UNANSWERED_CALL, text).at_pointer(pointer));
        }
        let (mut messages, mut places) = (Vec::new(), Vec::new());
        for (index, message) in self.messages.iter().enumerate() {
            places.push(messages.len());
            let is_of_stored_call = self.of_stored_calls.contains(&index);
            match message.role {
                Role::Tool if is_of_stored_call => messages.push(message.clone()),
                Role::Tool => {}
                Role::Assistant => self.write_group(index, message, &mut messages),
                _ => messages.push(message.clone().with(|message| message.tool_calls = Vec::new())),
            }
        }
        places.push(messages.len());
        let results = self.calls.iter().filter_map(|call| call.result);
        let kept: HashSet<usize> = results.chain(self.of_stored_calls).collect();
        let is_left_out = |index: &usize| self.messages[*index].role == Role::Tool && !kept.contains(index);
        let left_out = (0..self.messages.len()).filter(is_left_out).collect();
        Repaired { messages, diagnostics: self.found, left_out, places }
    }

    /// Writes a message with its kept calls, then their results in their order.
    fn write_group(&self, index: usize, message: &Message, into: &mut Vec<Message>) {
        let begin = self.calls.partition_point(|call| call.owner < index);
        let end = self.calls.partition_point(|call| call.owner <= index);
        let calls = &self.calls[begin..end];
        if calls.len() == message.tool_calls.len() {
            into.push(message.clone());
        } else {
            let kept = calls.iter().map(|call| message.tool_calls[call.position].clone()).collect();
            into.push(message.clone().with(|message| message.tool_calls = kept));
        }
        let mut answered: Vec<(usize, &Call<'_>)> =
            calls.iter().filter_map(|call| Some((call.result?, call))).collect();
        answered.sort_unstable_by_key(|(result, _)| *result);
        into.extend(answered.into_iter().map(|(result, call)| clean(&self.messages[result], call.id)));
        into.extend(calls.iter().filter(|call| call.result.is_none()).map(interrupted));
    }
}

/// Returns a result with the id of its call, and without calls.
fn clean(result: &Message, id: &str) -> Message {
    if result.tool_call_id.as_deref() == Some(id) && result.tool_calls.is_empty() {
        return result.clone();
    }
    result.clone().with(|message| {
        message.tool_call_id = Some(id.into());
        message.tool_calls = Vec::new();
    })
}

/// Returns the id of the placeholder result of a call.
fn interrupted_id(call: &str) -> String {
    format!("interrupted-{call}")
}

fn interrupted(call: &Call<'_>) -> Message {
    let source = Source::history(interrupted_id(call.id), Role::Tool);
    Message::new(Role::Tool, INTERRUPTED, source).with(|message| message.tool_call_id = Some(call.id.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::testing::{messages, words};

    /// Messages in and out as words: `u`, `a:x,y` with calls, `t:x` a result.
    #[track_caller]
    fn check(given: &str, expected: &str, codes: &[u16]) {
        let given = messages(given);
        let repaired = repair(&given);
        let after = repaired.as_ref().map_or(&given, |repaired| &repaired.messages);
        assert_eq!(words(after), expected);
        assert!(is_paired(after));
        let found = repaired.as_ref().map_or(&[][..], |repaired| &repaired.diagnostics);
        let found: Vec<u16> = found.iter().map(|found| found.code.number()).collect();
        assert_eq!(found, codes);
        if let Some(repaired) = &repaired {
            let added = after.iter().filter(|message| message.text() == INTERRUPTED).count();
            assert_eq!(given.len() - repaired.left_out.len() + added, after.len());
        }
    }

    #[test]
    fn what_pairs_is_left_alone() {
        check("s u a:x,y t:y t:x a u", "s u a:x,y t:y t:x a u", &[]);
        assert!(repair(&messages("u a:x t:x")).is_none());
    }

    #[test]
    fn a_call_without_a_result_gets_one() {
        check("u a:x", "u a:x t:x", &[800]);
        check("u a:x,y t:y u", "u a:x,y t:y t:x u", &[800]);
    }

    #[test]
    fn a_result_without_a_call_is_left_out() {
        check("t:x u", "u", &[801]);
        check("u t", "u", &[801]);
        check("a:x t:x t:z", "a:x t:x", &[801]);
    }

    #[test]
    fn keeps_results_of_stored_calls() {
        let mut all = messages("u t:z a:x t:x");
        all[1].provider_fields = Some(std::sync::Arc::new(serde_json::json!({ "answers": "storedCall" })));
        assert!(repair(&all).is_none());
        all.extend(messages("a:y"));
        let repaired = repair(&all).unwrap();
        assert_eq!(words(&repaired.messages), "u t:z a:x t:x a:y t:y");
        assert!(repaired.left_out.is_empty());
    }

    #[test]
    fn a_second_result_is_left_out() {
        check("a:x t:x t:x u", "a:x t:x u", &[802]);
    }

    #[test]
    fn what_an_earlier_repair_wrote_gives_way_to_the_real_result() {
        let mut all = repair(&messages("u a:x")).unwrap().messages;
        all.extend(messages("t:x"));
        let again = repair(&all).unwrap();
        assert_eq!(words(&again.messages), "u a:x t:x");
        assert_eq!(again.messages[2].text(), "t:x");
    }

    #[test]
    fn a_late_result_is_moved_to_its_call() {
        check("a:x u t:x", "a:x t:x u", &[803]);
        check("a:x a:y t:x t:y", "a:x t:x a:y t:y", &[803]);
    }

    #[test]
    fn an_id_that_comes_again_later_is_another_call() {
        check("a:x t:x a:x t:x", "a:x t:x a:x t:x", &[]);
        check("a:x a:x t:x", "a:x t:x a:x t:x", &[800]);
    }

    #[test]
    fn calls_with_one_id_are_one_call() {
        check("a:x,x t:x", "a:x t:x", &[804]);
    }

    #[test]
    fn a_result_that_names_no_call_answers_the_next_one() {
        check("a:x,y t t u", "a:x,y t:x t:y u", &[]);
    }

    #[test]
    fn an_empty_id_is_none() {
        let mut all = messages("a:x t u");
        all[1] = all[1].clone().with(|message| message.tool_call_id = Some("".into()));
        assert_eq!(words(&repair(&all).unwrap().messages), "a:x t:x u");
        let mut all = messages("a:x,y t:y u");
        all[0] = all[0].clone().with(|message| message.tool_calls[0].id = "".into());
        let repaired = repair(&all).unwrap();
        assert_eq!((words(&repaired.messages).as_str(), repaired.diagnostics.len()), ("a:y t:y u", 1));
        assert_eq!(repaired.diagnostics[0].message, "a call of `f` has no id; it is removed");
    }

    #[test]
    fn a_result_makes_no_calls() {
        let mut all = messages("a:x t:x u");
        let calls = all[0].tool_calls.clone();
        all[1] = all[1].clone().with(|message| message.tool_calls = calls);
        let repaired = repair(&all).unwrap();
        assert_eq!(words(&repaired.messages), "a:x t:x u");
        assert!(is_paired(&repaired.messages) && repaired.messages[1].tool_calls.is_empty());
    }

    #[test]
    fn only_assistants_call() {
        check("u:x t:x u", "u u", &[805, 801]);
    }

    #[test]
    fn places_follow_the_messages() {
        let repaired = repair(&messages("a:x u t:x u")).unwrap();
        assert_eq!([0, 1, 2, 3, 4, 9].map(|index| repaired.place(index)), [0, 2, 3, 3, 4, 4]);
    }
}
