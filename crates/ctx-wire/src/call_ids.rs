//! Ids of tool calls as a provider accepts them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ctx_types::internal::{CallIdRule, Fingerprint, excerpt};
use ctx_types::{Diagnostic, Message, Role, phrase};

use crate::codes;
use crate::dialect::Dialect;

/// The longest id that providers accept, in bytes.
pub(crate) const MAX_ID: usize = 64;

/// The length of an id for Mistral.
const MISTRAL_ID: usize = 9;

/// The ids of calls and results that are sent in place of those of the messages.
#[derive(Default)]
pub(crate) struct CallIds {
    /// New ids by the index of the message, and of the call within it; results have no second index.
    changed: BTreeMap<(usize, Option<usize>), String>,
}

impl CallIds {
    /// Finds the ids that the provider rejects or that repeat, and replaces them. O(n log n) for n calls and results.
    ///
    /// A result belongs to the first call of its id, in the last message with calls, that has no result yet. Equal
    /// messages get equal ids, and a longer conversation keeps those of its beginning.
    pub(crate) fn new(
        messages: &[Message],
        dialect: Dialect,
        rule: CallIdRule,
        found: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut ids = Self::default();
        let mut taken: BTreeSet<Cow<'_, str>> = BTreeSet::new();
        let calls = messages.iter().filter(|message| message.role == Role::Assistant);
        let given: BTreeSet<&str> =
            calls.flat_map(|message| &message.tool_calls).map(|call| &*call.id).collect();
        // Replacements of each id so far, so that each repetition begins with an unused number.
        let mut replacements: BTreeMap<&str, u64> = BTreeMap::new();
        // The new ids of the last message with calls, by the old ones; none for a call that keeps its id.
        let mut open: BTreeMap<&str, VecDeque<Option<String>>> = BTreeMap::new();
        for (index, message) in messages.iter().enumerate() {
            if message.role == Role::Tool {
                let id = message.tool_call_id.as_deref().unwrap_or_default();
                if let Some(Some(new)) = open.get_mut(id).and_then(VecDeque::pop_front) {
                    ids.changed.insert((index, None), new);
                }
                continue;
            }
            open.clear();
            let calls = message.tool_calls.iter().filter(|_| message.role == Role::Assistant);
            for (position, call) in calls.enumerate().filter(|(_, call)| !call.id.is_empty()) {
                let is_repeated = taken.contains(&*call.id);
                let new = (is_repeated || !is_accepted(&call.id, dialect, rule)).then(|| {
                    let is_taken = |new: &str| taken.contains(new) || given.contains(new);
                    new_id(&call.id, rule, replacements.entry(&call.id).or_default(), is_taken)
                });
                taken.insert(new.clone().map_or(Cow::Borrowed(&*call.id), Cow::Owned));
                if let Some(new) = &new {
                    found
                        .push(rewritten(&call.id, new, is_repeated).at_pointer(format!("/messages/{index}")));
                    ids.changed.insert((index, Some(position)), new.clone());
                }
                open.entry(&call.id).or_default().push_back(new);
            }
        }
        ids
    }

    /// Returns the id of a call.
    pub(crate) fn call<'a>(&self, message: usize, call: usize, id: &'a str) -> Cow<'a, str> {
        self.sent((message, Some(call)), id)
    }

    /// Returns the id of a result.
    pub(crate) fn result<'a>(&self, message: usize, id: &'a str) -> Cow<'a, str> {
        self.sent((message, None), id)
    }

    fn sent<'a>(&self, place: (usize, Option<usize>), id: &'a str) -> Cow<'a, str> {
        self.changed.get(&place).map_or(Cow::Borrowed(id), |new| Cow::Owned(new.clone()))
    }
}

/// Returns whether a provider accepts an id.
pub(crate) fn is_accepted(id: &str, dialect: Dialect, rule: CallIdRule) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let by_dialect = match dialect {
        Dialect::OpenaiChat | Dialect::OpenaiResponses => id.len() <= MAX_ID,
        Dialect::Anthropic => id.len() <= MAX_ID && id.bytes().all(is_word),
        Dialect::Gemini | Dialect::Completion => true,
    };
    by_dialect
        && match rule {
            CallIdRule::NineAlphanumeric => {
                id.len() == MISTRAL_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
            _ => true,
        }
}

/// Makes an id from another one and the next number that gives an unused id.
fn new_id(id: &str, rule: CallIdRule, next: &mut u64, is_taken: impl Fn(&str) -> bool) -> String {
    let written = |number: u64| {
        let sum = Fingerprint::default().text(id).number(number);
        match rule {
            CallIdRule::NineAlphanumeric => base_36(sum.as_u64()),
            _ => format!("call_{sum}"),
        }
    };
    loop {
        let new = written(*next);
        *next += 1;
        if !is_taken(&new) {
            return new;
        }
    }
}

/// Writes a number as an id for Mistral.
fn base_36(number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // Each digit is made of 8 bits, of which neighbors share one: 9 digits take 64 bits.
    let digit = |place: usize| {
        let [byte, ..] = (number >> (7 * place)).to_le_bytes();
        char::from(DIGITS[usize::from(byte) % DIGITS.len()])
    };
    (0..MISTRAL_ID).map(digit).collect()
}

fn rewritten(id: &str, new: &str, is_repeated: bool) -> Diagnostic {
    let id = excerpt(id);
    let text = if is_repeated {
        phrase!("call id `{id}` is sent as `{new}`: an earlier call has the same id", id, new)
    } else {
        phrase!("call id `{id}` is sent as `{new}`: the provider does not accept it", id, new)
    };
    Diagnostic::info(codes::CALL_ID_CHANGED, text)
}

#[cfg(test)]
mod tests {
    use ctx_types::{Source, ToolCall};

    use super::*;

    fn call(id: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into() };
        let source = Source::history("n", Role::Assistant);
        Message::new(Role::Assistant, "", source).with(|message| message.tool_calls = vec![call])
    }

    fn result(id: &str) -> Message {
        let source = Source::history("n", Role::Tool);
        Message::new(Role::Tool, "", source).with(|message| message.tool_call_id = Some(id.into()))
    }

    /// Returns the sent ids of the calls and results.
    fn sent(messages: &[Message], dialect: Dialect, rule: CallIdRule) -> Vec<String> {
        let ids = CallIds::new(messages, dialect, rule, &mut Vec::new());
        let sent = messages.iter().enumerate().map(|(index, message)| match message.tool_calls.first() {
            Some(call) => ids.call(index, 0, &call.id),
            None => ids.result(index, message.tool_call_id.as_deref().unwrap_or_default()),
        });
        sent.map(Cow::into_owned).collect()
    }

    #[test]
    fn replaces_repeated_ids() {
        let messages = [call("c"), result("c"), call("c"), result("c"), call("c"), result("c")];
        let ids = sent(&messages, Dialect::Gemini, CallIdRule::Any);
        assert_eq!(&ids[..2], ["c", "c"]);
        assert_eq!((&ids[2], &ids[4]), (&ids[3], &ids[5]));
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(sent(&messages[..4], Dialect::Gemini, CallIdRule::Any), ids[..4]);
    }

    /// Each repetition that began with the first number again would take 200 million attempts.
    #[test]
    fn replaces_many_repeated_ids() {
        let messages = vec![call("c"); 20_000];
        let ids = sent(&messages, Dialect::Gemini, CallIdRule::Any);
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    }

    #[test]
    fn replaces_rejected_ids() {
        let long = "c".repeat(65);
        for (id, dialect, rule) in [
            ("a.b", Dialect::Anthropic, CallIdRule::Any),
            (&*long, Dialect::OpenaiChat, CallIdRule::Any),
            (&*long, Dialect::OpenaiResponses, CallIdRule::Any),
            ("call_1", Dialect::OpenaiChat, CallIdRule::NineAlphanumeric),
        ] {
            assert!(!is_accepted(id, dialect, rule));
            let ids = sent(&[call(id), result(id)], dialect, rule);
            assert!(is_accepted(&ids[0], dialect, rule), "{ids:?}");
            assert_eq!(ids[0], ids[1]);
        }
        let kept = [call("a.b"), result("a.b")];
        assert_eq!(sent(&kept, Dialect::OpenaiChat, CallIdRule::Any), ["a.b", "a.b"]);
    }
}
