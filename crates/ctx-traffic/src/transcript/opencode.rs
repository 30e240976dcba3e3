//! Transcripts of opencode: an export, or the rows or files of its storage.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ctx_preset_import::RequestApi;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::tree::{CompactionFacts, Entry, Tree};
use super::{Found, FoundAgent, MissingPart, RecordLog, ResponseUsage, text};
use crate::usage::Usage;

/// Types of parts. The others are reported.
const PARTS: [&str; 12] = [
    "agent",
    "compaction",
    "file",
    "patch",
    "reasoning",
    "retry",
    "snapshot",
    "step-finish",
    "step-start",
    "subtask",
    "text",
    "tool",
];

/// Returns whether a record is an export, a list of its messages, a session, a message or a part.
pub(super) fn is_record(record: &Value) -> bool {
    let is_message = |message: &Value| message["info"].is_object() && message["parts"].is_array();
    let messages = record.get("messages").and_then(Value::as_array);
    match record {
        Value::Array(list) => list.first().is_some_and(is_message),
        _ if record["info"].is_object() && messages.is_some() => true,
        _ => is_message(record) || text(record, "sessionID").is_some() && text(record, "id").is_some(),
    }
}

#[derive(Debug, Default)]
pub(super) struct OpenCode {
    /// Sessions, each with the one that started it.
    sessions: BTreeMap<String, Option<String>>,
    first: Option<String>,
    /// Messages by session, in the order of their ids.
    messages: HashMap<String, BTreeMap<String, Value>>,
    parts: HashMap<String, BTreeMap<String, Value>>,
    lines: HashMap<String, u64>,
    responses: Vec<ResponseUsage>,
    /// The tool call that started a session.
    calls: HashMap<String, String>,
}

impl OpenCode {
    pub(super) fn push(&mut self, record: Value, log: &mut RecordLog) {
        match record {
            Value::Array(messages) => messages.into_iter().for_each(|message| self.push(message, log)),
            Value::Object(mut record) => {
                if let Some(Value::Array(parts)) = record.shift_remove("parts") {
                    let info = record.shift_remove("info").unwrap_or_default();
                    let id = text(&info, "id").map_or_else(|| self.fresh_id(), str::to_owned);
                    self.push_message(id.clone(), info, log);
                    for part in parts {
                        self.push_part(id.clone(), part, log);
                    }
                } else if let Some(Value::Array(messages)) = record.shift_remove("messages") {
                    let info = record.shift_remove("info").unwrap_or_default();
                    self.push_session(&info);
                    self.push(Value::Array(messages), log);
                } else {
                    self.push_row(record, log);
                }
            }
            _ => {}
        }
    }

    fn push_row(&mut self, row: Map<String, Value>, log: &mut RecordLog) {
        let row = Value::Object(row);
        let id = text(&row, "id").map_or_else(|| self.fresh_id(), str::to_owned);
        if let Some(message) = text(&row, "messageID").map(str::to_owned) {
            self.push_part(message, row, log);
        } else if text(&row, "role").is_some() {
            self.push_message(id, row, log);
        } else if row.get("projectID").is_some() || row.get("directory").is_some() {
            self.push_session(&row);
        } else {
            log.report_type(text(&row, "type"));
        }
    }

    fn fresh_id(&self) -> String {
        format!("line-{:08}", self.lines.len())
    }

    fn push_session(&mut self, session: &Value) {
        if let Some(id) = text(session, "id") {
            self.first.get_or_insert_with(|| id.to_owned());
            self.sessions.insert(id.to_owned(), text(session, "parentID").map(str::to_owned));
        }
    }

    fn push_message(&mut self, id: String, message: Value, log: &RecordLog) {
        let session = text(&message, "sessionID").unwrap_or_default().to_owned();
        self.lines.insert(id.clone(), log.line);
        self.messages.entry(session).or_default().insert(id, message);
    }

    fn push_part(&mut self, message: String, part: Value, log: &mut RecordLog) {
        if text(&part, "type").is_none_or(|kind| !PARTS.contains(&kind)) {
            log.report_type(text(&part, "type"));
        }
        let parts = self.parts.entry(message).or_default();
        let id = text(&part, "id").map_or_else(|| format!("part-{:08}", parts.len()), str::to_owned);
        parts.insert(id, part);
    }

    pub(super) fn finish(mut self) -> Found {
        let first = self.first.take().or_else(|| self.messages.keys().min().cloned());
        let main = first.unwrap_or_default();
        let mut found = Found { id: Some(main.clone()), main: self.read(&main, true), ..Found::default() };
        let sessions = std::mem::take(&mut self.sessions);
        for (id, _) in sessions.iter().filter(|(_, parent)| parent.as_deref() == Some(&*main)) {
            let tree = self.read(id, false);
            found.agents.push(FoundAgent { id: id.clone(), tool_call: self.calls.get(id).cloned(), tree });
        }
        found.responses = self.responses;
        found.missing = BTreeSet::from([
            MissingPart::SystemPrompt,
            MissingPart::ToolSchemas,
            MissingPart::Reminders,
            MissingPart::Parameters,
            MissingPart::Headers,
        ]);
        found
    }

    fn read(&mut self, session: &str, is_main: bool) -> Tree {
        let mut tree = Tree::default();
        let mut tip = None;
        let mut entries: HashMap<String, usize> = HashMap::new();
        let mut pending = None;
        for (id, message) in self.messages.remove(session).unwrap_or_default() {
            let parts = self.parts.remove(&id).unwrap_or_default();
            let at = message.pointer("/time/created").and_then(Value::as_i64).and_then(time_of);
            let role = text(&message, "role").unwrap_or("user").to_owned();
            let read = self.read_parts(parts.into_values());
            if is_main && role == "assistant" {
                self.add_usage(&id, &message, &read.steps, at.as_deref());
            }
            if let Some(part) = read.compaction {
                let trigger = if part["auto"] == true { "auto" } else { "manual" };
                let line = self.lines.get(&id).copied().unwrap_or(0);
                let facts = CompactionFacts {
                    line,
                    at: at.clone(),
                    trigger: Some(trigger.to_owned()),
                    is_unreadable: false,
                };
                pending = Some((facts, text(&part, "tail_start_id").map(str::to_owned)));
            }
            let mut items = Vec::new();
            if !read.blocks.is_empty() {
                items.push(json!({ "role": role, "content": read.blocks }));
            }
            if !read.results.is_empty() {
                items.push(json!({ "role": "user", "content": read.results }));
            }
            if items.is_empty() {
                continue;
            }
            let mut entry = Entry::new(RequestApi::Anthropic, items).with(Some(&id), at.as_deref());
            if message["summary"] == true
                && let Some((facts, tail)) = pending.take()
            {
                let tail = tail.and_then(|tail| entries.get(&tail).copied());
                let kept = tail.map_or_else(Vec::new, |tail| (tail..tree.entries.len()).collect());
                tip = Some(tree.compact(entry, tip, kept, facts));
                continue;
            }
            entry.parent = tip;
            let index = tree.push(entry);
            entries.insert(id, index);
            tip = Some(index);
        }
        tree.leaf = tip;
        tree
    }

    fn read_parts(&mut self, parts: impl Iterator<Item = Value>) -> ReadParts {
        let mut read = ReadParts::default();
        for part in parts {
            match text(&part, "type") {
                Some("text") => read.blocks.push(json!({ "type": "text", "text": part["text"] })),
                Some("reasoning") => {
                    read.blocks.push(json!({ "type": "thinking", "thinking": part["text"] }));
                }
                Some("subtask") => read.blocks.push(json!({ "type": "text", "text": part["prompt"] })),
                Some("tool") => {
                    let (id, state) = (&part["callID"], &part["state"]);
                    let input = state.get("input").cloned().unwrap_or_else(|| json!({}));
                    read.blocks
                        .push(json!({ "type": "tool_use", "id": id, "name": part["tool"], "input": input }));
                    let error = state.get("error").filter(|error| error.is_string());
                    if let Some(said) = error.or_else(|| state.get("output")) {
                        read.results.push(json!({ "type": "tool_result", "tool_use_id": id, "content": said,
                            "is_error": error.is_some() }));
                    }
                    let agent = ["/metadata/sessionId", "/metadata/sessionID"];
                    let agent = agent.iter().find_map(|place| state.pointer(place)?.as_str());
                    if let (Some(agent), Some(id)) = (agent, id.as_str()) {
                        self.calls.insert(agent.to_owned(), id.to_owned());
                    }
                }
                Some("step-finish") => read.steps.push(part["tokens"].clone()),
                Some("compaction") => read.compaction = Some(part),
                Some("step-start" | "patch" | "snapshot" | "retry" | "agent") => {}
                // Files and unknown parts.
                _ => read.blocks.push(part),
            }
        }
        read
    }

    /// Adds the tokens of each step, or of the message if there are no steps.
    fn add_usage(&mut self, id: &str, message: &Value, steps: &[Value], at: Option<&str>) {
        let whole = message.get("tokens").into_iter();
        let tokens: Vec<&Value> = if steps.is_empty() { whole.collect() } else { steps.iter().collect() };
        for tokens in tokens {
            let number = |place: &str| tokens.pointer(place).and_then(Value::as_u64).unwrap_or(0);
            let (cached, written) = (number("/cache/read"), number("/cache/write"));
            let input = number("/input").saturating_add(cached).saturating_add(written);
            let output = number("/output").saturating_add(number("/reasoning"));
            let usage = Usage { input, cached, written, written_long: 0, output };
            let model = text(message, "modelID").map(Into::into);
            let at = at.map(Into::into);
            self.responses.push(ResponseUsage { id: Some(id.into()), model, at, usage });
        }
    }
}

#[derive(Default)]
struct ReadParts {
    blocks: Vec<Value>,
    results: Vec<Value>,
    steps: Vec<Value>,
    compaction: Option<Value>,
}

fn time_of(millis: i64) -> Option<String> {
    Timestamp::from_millisecond(millis).ok().map(|time| time.to_string())
}
