//! Nodes as the lines of a chat of `SillyTavern`: the way back of the reader beside `write.rs`.

use std::collections::BTreeSet;

use ctx_types::internal::{Argument, Divider};
use ctx_types::session::{Node, Session};
use ctx_types::{Content, ContentPart, Diagnostic, Persist as _, Phrase, Role, count_of, phrase};
use serde_json::{Map, Value, json};

use crate::codes;
use crate::conversation::silly_tavern::FOREIGN_KEYS;
use crate::conversation::write::{header, names};
use crate::formats::sillytavern::note;
use crate::kept::IMPORTED;

/// The name that `SillyTavern` writes into a header where there is none.
const UNUSED: &str = "unused";

/// Writes the header line and a line for each message that the form has a place for.
pub(super) fn write(session: &Session) -> (Vec<Value>, Vec<Diagnostic>) {
    let header = header_line(session);
    let speakers = Speakers::of(&header);
    let mut lost = Lost::default();
    let mut lines = vec![Value::Object(header)];
    lines.extend(session.path().into_iter().filter_map(|node| line(node, &speakers, &mut lost)));
    (lines, lost.finish())
}

fn header_line(session: &Session) -> Map<String, Value> {
    let mut line = header(session);
    // The name of the file is the id.
    line.shift_remove("id");
    // The reader made it of the metadata, which say it still.
    if line.get(note::KEY).is_some_and(|own| note::of_header(&line).as_ref() == Some(own)) {
        line.shift_remove(note::KEY);
    }
    if !line.contains_key("chat_metadata") {
        for name in ["user_name", "character_name"] {
            line.entry(name).or_insert_with(|| json!(UNUSED));
        }
        line.insert("chat_metadata".to_owned(), json!({}));
    }
    line
}

/// Who speaks where a message does not say it.
struct Speakers {
    user: String,
    character: String,
}

impl Speakers {
    fn of(header: &Map<String, Value>) -> Self {
        let name = |key: &str, otherwise: &str| {
            let name = header.get(key).and_then(Value::as_str).filter(|name| *name != UNUSED);
            name.unwrap_or(otherwise).to_owned()
        };
        Self { user: name("user_name", "User"), character: name("character_name", "Assistant") }
    }
}

/// Writes a message; nothing for one that the form has no place for.
fn line(node: &Node, speakers: &Speakers, lost: &mut Lost) -> Option<Value> {
    let text = node.content.as_ref().map(Content::text).unwrap_or_default();
    let role = node.role.unwrap_or_default();
    lost.note(node);
    let says_nothing = text.trim().is_empty() && !node.tool_calls.is_empty();
    if role == Role::Tool || node.is_summary() || says_nothing {
        return None;
    }
    let Value::Object(mut rest) = node.write() else { return None };
    let displaced = rest.shift_remove(IMPORTED);
    rest.retain(|key, _| !FOREIGN_KEYS.contains(&key.as_str()) && key != "name" && key != "includeInContext");
    let is_foreign = !rest.contains_key("is_user");
    let mut line = Map::new();
    match (&node.name, is_foreign, role) {
        (Some(name), _, _) => drop(line.insert("name".to_owned(), json!(name))),
        (None, true, Role::User) => drop(line.insert("name".to_owned(), json!(speakers.user))),
        (None, true, _) => drop(line.insert("name".to_owned(), json!(speakers.character))),
        (None, false, _) => {}
    }
    line.insert("is_user".to_owned(), json!(role == Role::User));
    if is_foreign || !node.is_enabled() || rest.contains_key("is_system") {
        line.insert("is_system".to_owned(), json!(!node.is_enabled()));
    }
    if let Some(at) = &node.timestamp {
        line.insert("send_date".to_owned(), json!(at));
    }
    if node.content.is_some() {
        line.insert("mes".to_owned(), json!(text));
        choose_swipe(&mut rest, &text);
    }
    extra(&mut rest, node, role);
    let displaced = displaced.and_then(|displaced| displaced.as_object().cloned()).unwrap_or_default();
    for (key, value) in rest.into_iter().chain(displaced) {
        line.entry(key).or_insert(value);
    }
    Some(Value::Object(line))
}

/// The selected swipe is the text, also after that was edited.
fn choose_swipe(rest: &mut Map<String, Value>, text: &str) {
    let chosen = rest.get("swipe_id").and_then(Value::as_u64).and_then(|id| usize::try_from(id).ok());
    let swipes = rest.get_mut("swipes").and_then(Value::as_array_mut);
    if let Some(swipe) = swipes.zip(chosen).and_then(|(swipes, chosen)| swipes.get_mut(chosen)) {
        *swipe = json!(text);
    }
}

/// Notes reasoning, and that a message is spoken by nobody.
fn extra(rest: &mut Map<String, Value>, node: &Node, role: Role) {
    let reasoning = node.metadata.as_ref().and_then(|metadata| metadata.reasoning_content.as_ref());
    let is_narrated = role.is_instruction();
    if reasoning.is_none() && !is_narrated {
        return;
    }
    let extra = rest.entry("extra").or_insert_with(|| json!({}));
    let Value::Object(extra) = extra else { return };
    if let Some(text) = reasoning {
        extra.insert("reasoning".to_owned(), json!(text.as_str()));
    }
    if is_narrated {
        extra.insert("type".to_owned(), json!("narrator"));
    }
}

/// What the form has no place for.
#[derive(Default)]
struct Lost {
    calls: usize,
    results: usize,
    summaries: usize,
    files: usize,
    notes: BTreeSet<String>,
}

impl Lost {
    fn note(&mut self, node: &Node) {
        self.calls += node.tool_calls.len();
        self.results += usize::from(node.role == Some(Role::Tool));
        self.summaries += usize::from(node.is_summary());
        let parts = match &node.content {
            Some(Content::Parts(parts)) => parts.as_slice(),
            _ => &[],
        };
        let pictures = parts.iter().filter(|part| !matches!(part, ContentPart::Text(_))).count();
        self.files += node.attachments.len() + pictures;
        let written = node.metadata.as_ref().map(ctx_types::Persist::write);
        let keys = written.as_ref().and_then(Value::as_object).into_iter().flat_map(Map::keys);
        self.notes.extend(keys.filter(|key| *key != "reasoningContent").cloned());
    }

    fn finish(self) -> Vec<Diagnostic> {
        let summaries = match self.summaries {
            1 => phrase!("1 summary"),
            count => phrase!("{count} summaries", count),
        };
        let counted = [
            (self.calls, count_of!(self.calls, "tool call")),
            (self.results, count_of!(self.results, "tool result")),
            (self.summaries, summaries),
            (self.files, count_of!(self.files, "attachment")),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let counted: Vec<Phrase> = counted.map(|(_, counted)| counted).collect();
        let mut found = Vec::new();
        if !counted.is_empty() {
            let message = phrase!(
                "not exported: a SillyTavern chat cannot store {counted}",
                counted = Argument::list(counted, Divider::Comma)
            );
            let help = phrase!("to keep them, export `messages` or `jsonl`");
            found.push(Diagnostic::warning(codes::CONTENT_LEFT_OUT, message).with_help(help));
        }
        if !self.notes.is_empty() {
            let keys: Vec<String> = self.notes.into_iter().collect();
            let message = phrase!("not exported: fields of messages ({keys})", keys = names(&keys));
            found.push(Diagnostic::info(codes::CONTENT_LEFT_OUT, message));
        }
        found
    }
}
