//! Transcripts of Gemini CLI: messages that later lines overwrite.

use std::collections::{BTreeSet, HashMap, HashSet};

use ctx_preset_import::RequestApi;
use serde_json::{Value, json};

use super::tree::{CompactionFacts, Entry, EntryKind, Tree};
use super::{Found, MissingPart, RecordLog, ResponseUsage, take, text};
use crate::usage::Usage;

/// Returns whether a record is a header, a whole session, or a change of one.
pub(super) fn is_record(record: &Value) -> bool {
    let is_header = text(record, "sessionId").is_some()
        && record.get("type").is_none()
        && ["startTime", "projectHash", "lastUpdated"].iter().any(|key| record.get(*key).is_some());
    is_header || record["$set"].is_object()
}

#[derive(Debug, Default)]
pub(super) struct GeminiCli {
    id: Option<String>,
    tree: Tree,
    /// The current entries, oldest first.
    path: Vec<usize>,
    is_sent: HashSet<usize>,
    by_id: HashMap<String, usize>,
    responses: Vec<ResponseUsage>,
    by_response: HashMap<String, usize>,
}

impl GeminiCli {
    pub(super) fn push(&mut self, mut record: Value, log: &mut RecordLog) {
        if let Some(id) = text(&record, "$rewindTo") {
            let entry = self.by_id.get(id).copied();
            let left = entry.and_then(|entry| self.path.iter().rposition(|index| *index == entry));
            for entry in self.path.drain(left.unwrap_or(0)..) {
                self.is_sent.remove(&entry);
            }
            return;
        }
        if let Some(set) = record.get_mut("$set") {
            if let Value::Array(messages) = take(Some(set), "messages") {
                self.replace(messages, log);
            }
            return;
        }
        if self.id.is_none() {
            self.id = text(&record, "sessionId").map(str::to_owned);
        }
        if let Some(Value::Array(messages)) = record.get_mut("messages").map(Value::take) {
            for message in messages {
                self.push_message(&message, EntryKind::Message, log);
            }
        } else if text(&record, "type").is_some() {
            self.push_message(&record, EntryKind::Message, log);
        } else if !is_record(&record) {
            log.report_type(None);
        }
    }

    /// Adds a message, or replaces the one with its id.
    fn push_message(&mut self, message: &Value, kind: EntryKind, log: &mut RecordLog) {
        let id = text(message, "id").map(str::to_owned);
        let at = text(message, "timestamp").map(str::to_owned);
        self.add_usage(message, id.as_deref(), at.as_deref());
        let items = match text(message, "type") {
            Some("user") => vec![json!({ "role": "user", "parts": parts_of(&message["content"]) })],
            Some("gemini") => reply(message),
            // Notices are only shown.
            Some("info" | "warning" | "error") => return,
            other => return log.report_type(other),
        };
        let known = id.as_ref().and_then(|id| self.by_id.get(id).copied());
        if let Some(known) = known.filter(|known| self.is_sent.contains(known)) {
            self.tree.entries[known].items = items;
            return;
        }
        let mut entry = Entry::new(RequestApi::Gemini, items).with(id.as_deref(), at.as_deref());
        (entry.parent, entry.kind) = (self.path.last().copied(), kind);
        let index = self.tree.push(entry);
        self.by_id.extend(id.map(|id| (id, index)));
        self.path.push(index);
        self.is_sent.insert(index);
    }

    /// Replaces the current messages: a rewind if all are known, a compaction if others take their place.
    fn replace(&mut self, messages: Vec<Value>, log: &mut RecordLog) {
        let place = |message: &Value| self.by_id.get(text(message, "id")?).copied();
        let known: Vec<Option<usize>> = messages.iter().map(place).collect();
        let same = self.path.iter().zip(&known).take_while(|(old, new)| Some(**old) == **new).count();
        let is_sent = |message: &Value| matches!(text(message, "type"), Some("user" | "gemini"));
        let first_new =
            messages.iter().zip(&known).position(|(message, known)| known.is_none() && is_sent(message));
        let Some(first_new) = first_new.filter(|_| same < self.path.len()) else {
            if same < self.path.len() {
                self.path = known.iter().filter_map(|known| *known).collect();
                self.is_sent = self.path.iter().copied().collect();
            }
            for message in messages.into_iter().skip(same) {
                self.push_message(&message, EntryKind::Message, log);
            }
            return;
        };
        let mut kept: Vec<usize> =
            known.iter().filter_map(|known| known.filter(|old| self.is_sent.contains(old))).collect();
        kept.sort_unstable();
        kept.dedup();
        let facts = CompactionFacts { line: log.line, at: None, trigger: None, is_unreadable: false };
        let mut summary = None;
        let mut added = Vec::new();
        for (index, message) in messages.into_iter().enumerate() {
            if index == first_new {
                let items = vec![json!({ "role": "user", "parts": parts_of(&message["content"]) })];
                summary = Some(
                    Entry::new(RequestApi::Gemini, items)
                        .with(text(&message, "id"), text(&message, "timestamp")),
                );
            } else if known[index].is_none() {
                added.push(message);
            }
        }
        let summary = summary.expect("the index is one of the messages");
        let id = summary.id.clone();
        let index = self.tree.entries.len();
        let next = self.tree.compact(summary, self.path.last().copied(), kept.clone(), facts);
        self.by_id.extend(id.map(|id| (id, index)));
        self.path = kept;
        self.path.retain(|entry| *entry != next);
        if next != index {
            self.path.push(index);
        }
        self.path.push(next);
        self.is_sent = self.path.iter().copied().collect();
        for message in added {
            self.push_message(&message, EntryKind::Reminder, log);
        }
    }

    fn add_usage(&mut self, message: &Value, id: Option<&str>, at: Option<&str>) {
        let tokens = &message["tokens"];
        let number = |key: &str| tokens[key].as_u64().unwrap_or(0);
        if !tokens.is_object() {
            return;
        }
        let usage = Usage {
            input: number("input"),
            cached: number("cached"),
            output: number("output").saturating_add(number("thoughts")),
            ..Usage::default()
        };
        let known = id.and_then(|id| self.by_response.get(id).copied());
        if let Some(known) = known {
            self.responses[known].usage = usage;
            return;
        }
        self.by_response.extend(id.map(|id| (id.to_owned(), self.responses.len())));
        let model = text(message, "model").map(Into::into);
        self.responses.push(ResponseUsage { id: id.map(Into::into), model, at: at.map(Into::into), usage });
    }

    pub(super) fn finish(mut self) -> Found {
        self.tree.leaf = self.path.last().copied();
        let missing = BTreeSet::from([
            MissingPart::SystemPrompt,
            MissingPart::ToolSchemas,
            MissingPart::Parameters,
            MissingPart::Headers,
        ]);
        Found { id: self.id, main: self.tree, responses: self.responses, missing, ..Found::default() }
    }
}

/// Returns a content as parts: it is a text, a part, or a list of both.
fn parts_of(content: &Value) -> Vec<Value> {
    let part = |part: &Value| match part {
        Value::String(text) => json!({ "text": text }),
        part => part.clone(),
    };
    match content {
        Value::Array(parts) => parts.iter().map(part).collect(),
        Value::Null => Vec::new(),
        content => vec![part(content)],
    }
}

/// Returns the reply and the results of its tool calls.
fn reply(message: &Value) -> Vec<Value> {
    let calls = message["toolCalls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut parts = Vec::new();
    for thought in message["thoughts"].as_array().into_iter().flatten() {
        let said = ["subject", "description"].iter().filter_map(|key| text(thought, key));
        parts.push(json!({ "text": said.collect::<Vec<_>>().join(": "), "thought": true }));
    }
    // The calls are also in the content in some versions.
    let said = parts_of(&message["content"]).into_iter();
    parts.extend(said.filter(|part| calls.is_empty() || part.get("functionCall").is_none()));
    let mut results = Vec::new();
    for call in calls {
        parts.push(
            json!({ "functionCall": { "id": call["id"], "name": call["name"], "args": call["args"] } }),
        );
        results.extend(parts_of(&call["result"]));
    }
    let mut items = vec![json!({ "role": "model", "parts": parts })];
    if !results.is_empty() {
        items.push(json!({ "role": "user", "parts": results }));
    }
    items
}
