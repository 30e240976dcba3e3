//! Conversations in the forms that other applications read.

mod message;
mod silly_tavern;

use ctx_types::internal::excerpt;
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Persist as _, Phrase, count_of, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::conversation::linear::TREE_KEYS;

/// A form in which a conversation is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConversationForm {
    /// A session of AIO Hub, which is our own form too: everything has its place in it.
    #[default]
    Session,
    /// A list of messages, as `OpenAI` takes them and seed 004 stores them in `messages.json`.
    Messages,
    /// The same messages, one a line.
    MessageLines,
    /// A chat of `SillyTavern`: a header line, then one message a line.
    SillyTavernChat,
}

/// A conversation in one of the forms.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenConversation {
    /// The file: UTF-8 with a line feed at its end.
    pub bytes: Vec<u8>,
    /// What the form has no place for.
    pub diagnostics: Vec<Diagnostic>,
}

/// Writes a conversation; what the form has no place for is left out and reported. O(nodes).
///
/// [`read_conversation`](crate::read_conversation) reads all of it again. A session comes back as it was, with the
/// log of its operations. Lists hold the active path alone; its messages come back with everything that stands
/// beside them, and those that had no id before have the one that the session gave them. A chat of `SillyTavern`
/// holds what people said and what was switched off, but no tools.
///
/// ```
/// use ctx_preset_import::{ConversationForm, read_conversation, write_conversation};
///
/// let chat = br#"[{"id":"a","role":"user","content":"Hoo?","createdAt":"2026-01-01T00:00:00Z","mode":"chat"}]"#;
/// let session = read_conversation(chat, "owls.json")?.value;
/// let written = write_conversation(&session, ConversationForm::Messages);
/// let again: serde_json::Value = serde_json::from_slice(&written.bytes)?;
/// assert_eq!(again, serde_json::from_slice::<serde_json::Value>(chat)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_conversation(session: &Session, form: ConversationForm) -> WrittenConversation {
    let messages = || session.path().into_iter().map(message::write).collect::<Vec<Value>>();
    match form {
        ConversationForm::Session => {
            WrittenConversation { bytes: document(&session.write()), diagnostics: Vec::new() }
        }
        ConversationForm::Messages => {
            let bytes = document(&Value::Array(messages()));
            WrittenConversation { bytes, diagnostics: left_of_tree(session, false) }
        }
        ConversationForm::MessageLines => {
            WrittenConversation { bytes: lines(&messages()), diagnostics: left_of_tree(session, false) }
        }
        ConversationForm::SillyTavernChat => {
            let (chat, found) = silly_tavern::write(session);
            let diagnostics = [left_of_tree(session, true), found].concat();
            WrittenConversation { bytes: lines(&chat), diagnostics }
        }
    }
}

fn document(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

fn lines(values: &[Value]) -> Vec<u8> {
    let lines: Vec<String> = values.iter().map(|value| format!("{value}\n")).collect();
    lines.concat().into_bytes()
}

/// The key of a session's header under which its operations are logged.
const LOG: &str = "operationLog";

/// Returns what a session's file says beside its tree and its log, without what is null.
fn header(session: &Session) -> Map<String, Value> {
    let Value::Object(mut header) = session.header.write() else { return Map::new() };
    header.retain(|key, value| !value.is_null() && key != LOG && !TREE_KEYS.contains(&key.as_str()));
    header
}

/// Reports what a list of messages has no place for: other branches, steps, and unless there is a line for it, what
/// stands beside the tree.
fn left_of_tree(session: &Session, has_header: bool) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let whole = session.write();
    let nodes = whole.get("nodes").and_then(Value::as_object).map_or(0, Map::len);
    let others = nodes.saturating_sub(session.path().len() + 1);
    if others > 0 {
        let message = phrase!(
            "not exported: {messages} outside the active branch",
            messages = count_of!(others, "message")
        );
        found.push(Diagnostic::warning(codes::BRANCHES_LEFT_OUT, message).with_help(use_aio_hub()));
    }
    let steps =
        ["undo", "redo"].iter().filter_map(|list| session.header.kept.get(LOG)?.get(*list)?.as_array());
    let steps: usize = steps.map(Vec::len).sum();
    if steps > 0 {
        let message = phrase!("not exported: the undo log of {steps}", steps = count_of!(steps, "step"));
        found.push(Diagnostic::info(codes::FILE_LEFT_OUT, message).with_help(use_aio_hub()));
    }
    // The name of the file is the id.
    let keys: Vec<String> =
        header(session).into_iter().map(|(key, _)| key).filter(|key| key != "id").collect();
    if !has_header && !keys.is_empty() {
        let message = phrase!("not exported: fields outside messages ({keys})", keys = names(&keys));
        found.push(Diagnostic::warning(codes::FILE_LEFT_OUT, message).with_help(use_aio_hub()));
    }
    found
}

/// What people can do about what is left out.
fn use_aio_hub() -> Phrase {
    phrase!("to keep everything, export an AIO Hub session")
}

/// How many keys are named.
const SHOWN_KEYS: usize = 8;

/// Names the first keys.
fn names(keys: &[String]) -> String {
    let shown: Vec<String> = keys.iter().take(SHOWN_KEYS).map(|key| format!("`{}`", excerpt(key))).collect();
    let more = if keys.len() > SHOWN_KEYS { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}
