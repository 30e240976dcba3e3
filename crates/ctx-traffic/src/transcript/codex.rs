//! Transcripts of Codex: items of `OpenAI`'s responses, and events.

use std::collections::{BTreeSet, HashMap};

use ctx_preset_import::RequestApi;
use serde_json::{Value, json};

use super::tree::{CompactionFacts, Entry, EntryKind, Tree};
use super::{Found, MissingPart, RecordLog, ResponseUsage, take, text};
use crate::blocks::hash_of;
use crate::usage::Usage;

const TYPES: [&str; 7] = [
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "world_state",
    "token_usage_record",
];

/// Bytes of the newest user messages that an old compaction keeps: 20,000 tokens.
const KEPT_BYTES: usize = 80_000;

/// Returns whether a record is one of Codex.
pub(super) fn is_record(record: &Value) -> bool {
    record.get("payload").is_some_and(Value::is_object)
        && text(record, "type").is_some_and(|kind| TYPES.contains(&kind))
}

#[derive(Debug, Default)]
pub(super) struct Codex {
    id: Option<String>,
    model: Option<String>,
    tree: Tree,
    /// The entry that the next one follows.
    tip: Option<usize>,
    /// The reply that further items of the model belong to.
    reply: Option<usize>,
    /// The last entry before each turn.
    turns: Vec<Option<usize>>,
    is_turn_open: bool,
    /// User messages by their text.
    users: HashMap<u64, usize>,
    fork: Option<Fork>,
    usage: Vec<ResponseUsage>,
    /// Usage that older versions wrote, often twice.
    counts: Vec<ResponseUsage>,
    total: Option<Value>,
    missing: BTreeSet<MissingPart>,
    has_system: bool,
    has_tools: bool,
}

/// Records of the parent that a forked transcript repeats.
#[derive(Debug)]
struct Fork {
    before: Option<u64>,
    at: Option<String>,
}

impl Codex {
    pub(super) fn push(&mut self, mut record: Value, log: &mut RecordLog) {
        let at = text(&record, "timestamp").map(str::to_owned);
        let kind = text(&record, "type").unwrap_or_default().to_owned();
        let is_inherited =
            self.fork.as_ref().is_some_and(|fork| match (fork.before, record["ordinal"].as_u64()) {
                (Some(before), Some(ordinal)) => ordinal < before,
                _ => at.is_some() && fork.at.is_some() && at < fork.at,
            });
        let payload = take(Some(&mut record), "payload");
        match kind.as_str() {
            "session_meta" if self.id.is_none() => self.begin(&payload, at),
            "session_meta" | "world_state" => {}
            "turn_context" => self.model = text(&payload, "model").map(str::to_owned).or(self.model.take()),
            "response_item" => self.push_item(payload, at.as_deref()),
            "event_msg" => self.push_event(&payload, at.as_deref(), is_inherited),
            "compacted" => self.compact(payload, at.as_deref(), log.line),
            "token_usage_record" if is_inherited => {}
            "token_usage_record" => {
                let found = self.response(&payload["usage"], text(&payload, "response_id"), at.as_deref());
                self.usage.extend(found);
            }
            kind => log.report_type(Some(kind)),
        }
    }

    fn begin(&mut self, meta: &Value, at: Option<String>) {
        self.id = Some(text(meta, "id").unwrap_or_default().to_owned());
        self.has_system = meta.pointer("/base_instructions/text").is_some();
        if meta.get("history_base").is_some_and(Value::is_object) {
            self.missing.insert(MissingPart::History);
        }
        if text(meta, "forked_from_id").is_some() {
            self.fork = Some(Fork { before: meta["forked_from_ordinal_exclusive"].as_u64(), at });
        }
    }

    fn push_item(&mut self, mut item: Value, at: Option<&str>) {
        let kind = text(&item, "type").unwrap_or_default();
        let role = text(&item, "role").map(str::to_owned);
        match kind {
            "ghost_snapshot" | "compaction_trigger" => return,
            "additional_tools" => {
                self.has_tools = true;
                return;
            }
            _ => {}
        }
        let is_result = matches!(kind, "function_call_output" | "custom_tool_call_output");
        if is_result && let Some(output) = item.get_mut("output").filter(|output| !output.is_array()) {
            let said = ["content", "text"].iter().find_map(|key| text(output, key)).or(output.as_str());
            *output = said.map_or_else(|| json!(output.to_string()), |said| json!(said));
        }
        let is_output = !is_result && role.as_deref().is_none_or(|role| role == "assistant");
        if is_output && let Some(reply) = self.reply {
            self.tree.entries[reply].items.push(item);
            return;
        }
        let user = (role.as_deref() == Some("user")).then(|| hash_of(&item["content"].to_string()));
        if user.is_some() && !self.is_turn_open {
            self.turns.push(self.tip);
        }
        let id = text(&item, "id").map(str::to_owned);
        let mut entry = Entry::new(RequestApi::Responses, vec![item]).with(id.as_deref(), at);
        entry.parent = self.tip;
        let index = self.tree.push(entry);
        self.users.extend(user.map(|hash| (hash, index)));
        self.tip = Some(index);
        self.reply = is_output.then_some(index);
    }

    fn push_event(&mut self, event: &Value, at: Option<&str>, is_inherited: bool) {
        match text(event, "type").unwrap_or_default() {
            "task_started" => {
                self.turns.push(self.tip);
                (self.is_turn_open, self.reply) = (true, None);
            }
            "task_complete" | "turn_aborted" => (self.is_turn_open, self.reply) = (false, None),
            "thread_rolled_back" => {
                let turns = event["num_turns"].as_u64().and_then(|turns| usize::try_from(turns).ok());
                let left = self.turns.len().saturating_sub(turns.unwrap_or(1));
                if let Some(tip) = self.turns.get(left) {
                    (self.tip, self.reply, self.is_turn_open) = (*tip, None, false);
                    self.turns.truncate(left);
                }
            }
            "token_count" if !is_inherited => {
                let total = event.pointer("/info/total_token_usage").filter(|total| total.is_object());
                let is_new = total.is_none() || total != self.total.as_ref();
                self.total = total.cloned();
                let last = event.pointer("/info/last_token_usage").filter(|_| is_new);
                let found = last.and_then(|last| self.response(last, None, at));
                self.counts.extend(found);
            }
            _ => {}
        }
    }

    fn response(&self, usage: &Value, id: Option<&str>, at: Option<&str>) -> Option<ResponseUsage> {
        let usage = Usage::read(usage)?;
        let model = self.model.as_deref().map(Into::into);
        Some(ResponseUsage { id: id.map(Into::into), model, at: at.map(Into::into), usage })
    }

    /// Replaces the history by the items of the record. Some repeat earlier messages.
    fn compact(&mut self, mut payload: Value, at: Option<&str>, line: u64) {
        let message = text(&payload, "message").unwrap_or_default().trim().to_owned();
        let (mut kept, mut added, mut summary) = (Vec::new(), Vec::new(), None);
        if let Value::Array(items) = take(Some(&mut payload), "replacement_history") {
            for item in items {
                let user = (text(&item, "role") == Some("user"))
                    .then(|| self.users.get(&hash_of(&item["content"].to_string())).copied())
                    .flatten();
                let is_opaque = text(&item, "type").is_some_and(|kind| kind.starts_with("compaction"));
                let has_text = || !message.is_empty() && item.to_string().contains(&quoted(&message));
                if let Some(user) = user {
                    kept.push(user);
                } else if is_opaque && message.is_empty() || has_text() {
                    summary = Some(item);
                } else {
                    added.push(item);
                }
            }
        } else {
            kept = self.newest_users();
        }
        let is_unreadable = message.is_empty();
        if is_unreadable && summary.is_none() && !added.is_empty() {
            // Without a message, the summary is the last item.
            summary = added.pop();
        }
        let is_opaque = |item: &Value| text(item, "type").is_some_and(|kind| kind.starts_with("compaction"));
        let is_unreadable = is_unreadable && summary.as_ref().is_none_or(is_opaque);
        let item =
            summary.unwrap_or_else(|| json!({ "type": "message", "role": "user", "content": message }));
        let entry = Entry::new(RequestApi::Responses, vec![item]).with(None, at);
        kept.sort_unstable();
        kept.dedup();
        let facts = CompactionFacts { line, at: at.map(str::to_owned), trigger: None, is_unreadable };
        let next = self.tree.compact(entry, self.tip, kept, facts);
        (self.tip, self.reply) = (Some(next), None);
        for item in added {
            let mut entry = Entry::new(RequestApi::Responses, vec![item]).with(None, at);
            (entry.parent, entry.kind) = (self.tip, EntryKind::Reminder);
            self.tip = Some(self.tree.push(entry));
        }
    }

    /// Returns the user messages that versions without a replacement history keep.
    fn newest_users(&self) -> Vec<usize> {
        let (mut found, mut left) = (Vec::new(), KEPT_BYTES);
        let mut at = self.tip.filter(|_| !self.tree.is_over_limit);
        while let Some(index) = at {
            let entry = &self.tree.entries[index];
            at = entry.parent.filter(|_| !entry.is_summary());
            if entry.items.first().and_then(|item| text(item, "role")) == Some("user") {
                let size = entry.items[0]["content"].to_string().len();
                if size > left {
                    break;
                }
                left -= size;
                found.push(index);
            }
        }
        found
    }

    pub(super) fn finish(mut self) -> Found {
        self.missing.extend([MissingPart::Headers, MissingPart::Parameters]);
        self.missing.extend((!self.has_system).then_some(MissingPart::SystemPrompt));
        self.missing.extend((!self.has_tools).then_some(MissingPart::ToolSchemas));
        self.tree.leaf = self.tip;
        let responses = if self.usage.is_empty() { self.counts } else { self.usage };
        Found { id: self.id, main: self.tree, responses, missing: self.missing, ..Found::default() }
    }
}

/// Returns a text as it is in JSON, without the quotation marks.
fn quoted(text: &str) -> String {
    let json = json!(text).to_string();
    json[1..json.len() - 1].to_owned()
}
