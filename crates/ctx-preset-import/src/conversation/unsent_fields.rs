//! Fields of messages and texts that are not sent to any API.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use ctx_types::internal::{Argument, Divider, excerpt};
use ctx_types::{Diagnostic, Note, Role, count_of, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::kept::IMPORTED;
use crate::loose::get;

/// Fields that are sent, describe the message, or belong to known applications.
static KNOWN: LazyLock<HashSet<&str>> =
    LazyLock::new(|| KNOWN_NAMES.split(' ').chain([IMPORTED, Note::KEY]).collect());

const KNOWN_NAMES: &str = "_id annotations attachments audio cache_control content context_management container created \
    createdAt created_at date finish_reason id includeInContext index isEnabled metadata model name \
    object parts pinned prefix partial providerFields reasoning reasoning_content reasoning_details \
    refusal role stop_details stop_reason stop_sequence swipe_id swipe_info swipes time timestamp \
    toolCallId toolCalls tool_call_id tool_calls type updatedAt updated_at usage weight";

/// Fields of a text.
const KNOWN_OF_TEXT: [&str; 8] = [
    "annotations",
    "cache_control",
    "citations",
    "id",
    "prompt_cache_breakpoint",
    "providerFields",
    "text",
    "type",
];

/// Fields that other applications store with each message.
const STORED: [&str; 5] = ["parentId", "childrenIds", "isEnabled", "is_user", "mes"];

/// Names of the fields that are not sent.
#[derive(Debug, Default)]
pub(super) struct UnsentFields {
    first: Option<usize>,
    last: Option<usize>,
    messages: usize,
    names: BTreeSet<String>,
}

impl UnsentFields {
    /// Returns whether an application stored a message; its fields are not for an API.
    pub(super) fn is_stored(item: &Value) -> bool {
        STORED.into_iter().any(|key| item.get(key).is_some())
    }

    /// Adds the fields of a message, except for a field reported as misspelled.
    pub(super) fn add(&mut self, index: usize, message: &Map<String, Value>, misspelled: Option<&str>) {
        let is_result = get(message, "role").and_then(Value::as_str) == Some(Role::Tool.as_str());
        let is_progress =
            |value: &Value| !is_result || matches!(value.as_str(), Some("complete" | "generating"));
        let is_unsent = |key: &str, value: &Value| match key {
            "status" => !is_progress(value),
            key => !KNOWN.contains(key) && Some(key) != misspelled,
        };
        let fields = message.iter().filter(|(key, value)| has_value(value) && is_unsent(key, value));
        let parts = get(message, "content").and_then(Value::as_array).into_iter().flatten();
        let texts = parts.filter_map(Value::as_object).filter(|part| {
            get(part, "type").and_then(Value::as_str) == Some("text")
                && get(part, "text").is_some_and(Value::is_string)
        });
        let of_texts = texts.flatten();
        let of_texts =
            of_texts.filter(|(key, value)| has_value(value) && !KNOWN_OF_TEXT.contains(&key.as_str()));
        let mut names = fields.chain(of_texts).map(|(key, _)| key).peekable();
        if names.peek().is_some() && self.last != Some(index) {
            self.first.get_or_insert(index);
            self.last = Some(index);
            self.messages += 1;
        }
        let free = MAX_NAMES.saturating_sub(self.names.len());
        self.names.extend(names.take(free).cloned());
    }

    /// Returns the diagnostic, with the index of the first message that has such fields.
    pub(super) fn finish(self) -> Option<(usize, Diagnostic)> {
        let text = phrase!(
            "fields of {messages} are not sent: {names}",
            messages = count_of!(self.messages, "message"),
            names = Argument::names(self.names.iter().map(|name| excerpt(name)), Divider::Comma)
        );
        Some((self.first?, Diagnostic::info(codes::UNSENT_FIELDS, text)))
    }
}

/// Names in the diagnostic.
const MAX_NAMES: usize = 64;

fn has_value(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}
