//! Tool calls and their results: the pairs that providers insist on.
//!
//! Providers refuse a request in which an assistant message with calls is not directly followed by one result
//! for each call, and a result that follows no call.

use std::collections::BTreeMap;

use ctx_types::internal::excerpt;
use ctx_types::{Code, Diagnostic, Message, Phrase, Role, ToolCall, phrase};

use crate::codes;

/// Checks that every tool call has one result directly behind it, and every result a call before it.
///
/// Changes nothing. Findings are in the order of the messages, with pointers into the request body.
/// O(n log n) for n calls and results.
///
/// ```
/// use ctx_types::{Message, Role, Source};
/// use ctx_wire::{codes, pairing};
///
/// let mut result = Message::new(Role::Tool, "42", Source::history("n1", Role::Tool));
/// result.tool_call_id = Some("call_1".into());
/// let found = pairing::check(&[result]);
/// assert_eq!(found[0].code, codes::ORPHAN_RESULT);
/// ```
pub fn check(messages: &[Message]) -> Vec<Diagnostic> {
    let mut pairing = Pairing::default();
    for (index, message) in messages.iter().enumerate() {
        match message.role {
            Role::Tool => pairing.add_result(index, message.tool_call_id.as_deref()),
            Role::Assistant => pairing.add_calls(index, &message.tool_calls),
            _ => pairing.add_calls(index, &[]),
        }
    }
    pairing.finish()
}

#[derive(Default)]
struct Pairing<'a> {
    calls: Vec<Call<'a>>,
    /// The latest call with an id, as a position in `calls`.
    by_id: BTreeMap<&'a str, usize>,
    /// Where in `calls` those begin that a result may answer now.
    open_from: usize,
    found: Vec<(usize, Diagnostic)>,
}

struct Call<'a> {
    id: &'a str,
    message: usize,
    position: usize,
    is_answered: bool,
}

impl<'a> Pairing<'a> {
    /// Ends the group of calls before and begins one with the calls of this message, if any.
    fn add_calls(&mut self, message: usize, calls: &'a [ToolCall]) {
        self.open_from = self.calls.len();
        for (position, call) in calls.iter().enumerate() {
            self.add_call(Call { id: &call.id, message, position, is_answered: false });
        }
    }

    fn add_call(&mut self, call: Call<'a>) {
        if call.id.is_empty() {
            let pointer = format!("/messages/{}/tool_calls/{}", call.message, call.position);
            let found = refused(codes::NO_CALL_ID, phrase!("the tool call has no id"));
            self.report(call.message, found.at_pointer(pointer));
            return;
        }
        if let Some(&earlier) = self.by_id.get(call.id) {
            let is_same_message = earlier >= self.open_from;
            self.report(call.message, duplicate(&call, is_same_message));
            if is_same_message {
                return;
            }
        }
        self.by_id.insert(call.id, self.calls.len());
        self.calls.push(call);
    }

    fn add_result(&mut self, message: usize, id: Option<&str>) {
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            let found = refused(codes::NO_CALL_ID, phrase!("the tool result has no call id"));
            self.report(message, found.at_pointer(format!("/messages/{message}")));
            return;
        };
        if let Some(found) = self.answer(id) {
            self.report(message, found.at_pointer(format!("/messages/{message}/tool_call_id")));
        }
    }

    /// Marks the call with this id as answered, and returns what is wrong with a result here.
    fn answer(&mut self, id: &str) -> Option<Diagnostic> {
        let at = self.by_id.get(id).copied();
        let shown = excerpt(id);
        let (code, text) = match at.and_then(|at| self.calls.get_mut(at)) {
            None => (codes::ORPHAN_RESULT, phrase!("no earlier call has id `{id}`", id = shown)),
            Some(call) if call.is_answered => {
                (codes::DUPLICATE_RESULT, phrase!("call `{id}` already has a result", id = shown))
            }
            Some(call) => {
                call.is_answered = true;
                if at >= Some(self.open_from) {
                    return None;
                }
                (
                    codes::SEPARATED_RESULT,
                    phrase!("the result of call `{id}` must follow the call directly", id = shown),
                )
            }
        };
        Some(refused(code, text))
    }

    fn report(&mut self, message: usize, diagnostic: Diagnostic) {
        self.found.push((message, diagnostic));
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        for call in self.calls.iter().filter(|call| !call.is_answered) {
            let text = phrase!("call `{call}` has no result", call = excerpt(call.id));
            let found = refused(codes::UNANSWERED_CALL, text).at_pointer(call.pointer());
            self.found.push((call.message, found));
        }
        self.found.sort_by_key(|(message, _)| *message);
        self.found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}

impl Call<'_> {
    fn pointer(&self) -> String {
        format!("/messages/{}/tool_calls/{}/id", self.message, self.position)
    }
}

fn duplicate(call: &Call<'_>, is_same_message: bool) -> Diagnostic {
    let id = excerpt(call.id);
    let found = if is_same_message {
        refused(codes::DUPLICATE_CALL, phrase!("duplicate call id `{id}` in one message", id))
    } else {
        let text = phrase!("duplicate call id `{id}`, also in an earlier message", id);
        Diagnostic::warning(codes::DUPLICATE_CALL, text)
            .with_help(phrase!("give each call a unique id; some providers require it"))
    };
    found.at_pointer(call.pointer())
}

/// Reports a request that the provider rejects, with the fix for the code.
pub(crate) fn refused(code: Code, message: Phrase) -> Diagnostic {
    Diagnostic::error(code, message).with_help(match code {
        codes::NO_MESSAGES => phrase!("add a message"),
        codes::PART_NOT_ACCEPTED => phrase!("move the part to a user message, or send it as text"),
        codes::CALLS_NOT_SENT => phrase!("put tool calls on an assistant message"),
        codes::NO_CALL_ID => phrase!("give the call an id, and use the same id in the result"),
        codes::ORPHAN_RESULT => phrase!("restore the call, or delete the result"),
        codes::UNANSWERED_CALL => phrase!("add a result after the call, or delete the call"),
        codes::DUPLICATE_CALL => phrase!("give each call a unique id"),
        codes::DUPLICATE_RESULT => phrase!("delete one of the results"),
        codes::SEPARATED_RESULT => phrase!("move the result directly after its call"),
        codes::ROLE_ORDER => phrase!("start with a user message, and put system messages first"),
        codes::EMPTY_CONTENT => phrase!("add text, or delete it"),
        codes::DIALECT_LIMIT => phrase!("reduce the value to the limit"),
        codes::TOOL_DEFINITION => phrase!("correct the definition of the tool"),
        codes::THINKING => phrase!("change the setting, and return thinking blocks unchanged"),
        codes::REJECTED_PARAMETER => phrase!("delete the parameter"),
        _ => phrase!("correct the field; the provider rejects the request"),
    })
}
