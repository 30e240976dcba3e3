//! Transcripts of Claude Code: records that name their parents.

use std::collections::{BTreeSet, HashMap, HashSet};

use ctx_preset_import::RequestApi;
use serde_json::{Value, json};

use super::rebuilt::RebuiltRequests;
use super::tree::{CompactionFacts, Entry, EntryKind, Tree};
use super::{Found, FoundAgent, MissingPart, RecordLog, ResponseUsage, UnreadReason, take, text};
use crate::usage::Usage;

/// Types of records that hold no message of the model.
const STATE_TYPES: [&str; 37] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "artifact-autoreact-ledger",
    "artifact-comment-monitor",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "dev-mods",
    "ended-by-model",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "history-suppression",
    "isolation-latch",
    "last-prompt",
    "memory-mode",
    "mode",
    "observer-ref",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "summary",
    "system",
    "tag",
    "tools-used",
    "worktree-state",
    "api-request-shape",
    "api-request-blob",
];

/// Returns whether a record is one of Claude Code.
pub(super) fn is_record(record: &Value) -> bool {
    let Some(kind) = text(record, "type") else { return false };
    let is_linked = record.get("parentUuid").is_some() || text(record, "leafUuid").is_some();
    let is_state = STATE_TYPES.contains(&kind) || kind == "api-request";
    is_linked || text(record, "sessionId").is_some() && (is_state || record.get("message").is_some())
}

#[derive(Debug, Default)]
pub(super) struct ClaudeCode {
    id: Option<String>,
    /// The first is the main conversation.
    threads: Vec<Thread>,
    by_agent: HashMap<String, usize>,
    /// The place of each record, by its `uuid`.
    places: HashMap<String, Place>,
    /// The tool call that started an agent.
    calls: HashMap<String, String>,
    responses: HashMap<String, usize>,
    usage: Vec<ResponseUsage>,
    requests: RebuiltRequests,
    /// A boundary whose summary comes next.
    boundary: Option<Boundary>,
    leaf: Option<String>,
    has_system: bool,
    has_tools: bool,
    has_reminders: bool,
}

#[derive(Debug, Default)]
struct Thread {
    agent: Option<String>,
    tree: Tree,
    /// The reply of each response, which has a record for each block.
    replies: HashMap<String, usize>,
    /// The reply that has a tool call.
    callers: HashMap<String, usize>,
    /// The last result of each reply. All results name the record of their call as parent.
    tails: HashMap<usize, usize>,
    /// The reply that a result belongs to.
    owners: HashMap<usize, usize>,
    /// Where the next entry goes after a compaction that kept messages.
    next: HashMap<usize, usize>,
}

/// The entry of a record; if it has none, the entry of its parent.
#[derive(Clone, Copy, Debug)]
struct Place {
    thread: usize,
    entry: Option<usize>,
}

#[derive(Debug)]
struct Boundary {
    uuid: String,
    /// Number of the thread, whose entries `end` and `kept` name.
    thread: usize,
    end: Option<usize>,
    kept: Vec<usize>,
    facts: CompactionFacts,
}

impl Boundary {
    fn of(record: &Value, line: u64) -> Self {
        let trigger = text(&record["compactMetadata"], "trigger").map(str::to_owned);
        let at = text(record, "timestamp").map(str::to_owned);
        let facts = CompactionFacts { line, at, trigger, is_unreadable: false };
        Self { uuid: String::new(), thread: 0, end: None, kept: Vec::new(), facts }
    }
}

impl Thread {
    /// Returns the entry that a child of this one follows.
    fn end_of(&self, entry: usize) -> usize {
        let entry = self.next.get(&entry).copied().unwrap_or(entry);
        let owner = self.owners.get(&entry).copied().unwrap_or(entry);
        self.tails.get(&owner).copied().unwrap_or(entry)
    }
}

impl ClaudeCode {
    pub(super) fn push(&mut self, mut record: Value, log: &mut RecordLog) {
        if self.threads.is_empty() {
            self.threads.push(Thread::default());
        }
        if self.id.is_none() {
            self.id = text(&record, "sessionId").map(str::to_owned);
        }
        let kind = text(&record, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "user" | "assistant" | "attachment" | "system" | "progress" => {
                self.push_linked(&kind, record, log);
            }
            "api-request" => {
                let agent = text(&record, "agentId").map(|agent| format!("/{agent}"));
                let session = text(&record, "sessionId").or(self.id.as_deref()).unwrap_or_default();
                let thread = format!("{session}{}", agent.unwrap_or_default());
                self.requests.add_request(&mut record, Some(thread), log);
            }
            "api-request-shape" => self.requests.add_shape(&mut record),
            "api-request-blob" => self.requests.add_message(&mut record),
            "last-prompt" => self.leaf = text(&record, "leafUuid").map(str::to_owned).or(self.leaf.take()),
            kind if STATE_TYPES.contains(&kind) => {}
            kind => log.report_type(Some(kind)),
        }
    }

    fn push_linked(&mut self, kind: &str, mut record: Value, log: &mut RecordLog) {
        let uuid = text(&record, "uuid").map(str::to_owned);
        if uuid.as_ref().is_some_and(|uuid| self.places.contains_key(uuid)) {
            return log.report(UnreadReason::Repeated);
        }
        let parent = self.parent_of(&record, log);
        let thread = parent.thread;
        let entry = match kind {
            "user" => self.push_user(parent, &mut record, uuid.as_deref(), log),
            "assistant" => Some(self.push_reply(parent, &mut record, uuid.as_deref())),
            "attachment" => self.push_attachment(parent, &record, uuid.as_deref()),
            _ => {
                if text(&record, "subtype") == Some("compact_boundary") {
                    self.open_boundary(parent, &record, uuid.as_deref(), log.line);
                }
                None
            }
        };
        if let Some(uuid) = uuid {
            self.places.insert(uuid, Place { thread, entry: entry.or(parent.entry) });
        }
    }

    /// Returns the place that a record follows.
    fn parent_of(&mut self, record: &Value, log: &mut RecordLog) -> Place {
        let named = ["parentUuid", "logicalParentUuid"].iter().find_map(|key| text(record, key));
        let known = named.and_then(|uuid| self.places.get(uuid).copied());
        let is_side = record["isSidechain"] == true;
        let thread = match (text(record, "agentId").filter(|_| is_side), known) {
            (Some(agent), _) => self.thread_of(agent),
            (None, Some(place)) if is_side && place.thread > 0 => place.thread,
            (None, _) if is_side => self.thread_of(&format!("line-{}", log.line)),
            _ => 0,
        };
        let known = known.filter(|place| place.thread == thread);
        let tree = &self.threads[thread];
        if known.is_none() && named.is_some() && !is_side {
            log.report(UnreadReason::UnknownParent);
        }
        let before = known.map_or_else(|| tree.tree.last(), |place| place.entry);
        let entry = before.map(|entry| tree.end_of(entry));
        Place { thread, entry }
    }

    fn thread_of(&mut self, agent: &str) -> usize {
        if let Some(thread) = self.by_agent.get(agent) {
            return *thread;
        }
        self.threads.push(Thread { agent: Some(agent.to_owned()), ..Thread::default() });
        self.by_agent.insert(agent.to_owned(), self.threads.len() - 1);
        self.threads.len() - 1
    }

    fn push_user(
        &mut self,
        mut parent: Place,
        record: &mut Value,
        uuid: Option<&str>,
        log: &mut RecordLog,
    ) -> Option<usize> {
        let content = take(record.get_mut("message"), "content");
        let mut results = content.as_array().into_iter().flatten();
        let result = results.find_map(|block| text(block, "tool_use_id")).map(str::to_owned);
        // Older versions name the agent of the result beside the message.
        let older = text(record, "agentId").filter(|_| record["isSidechain"] != true);
        let agent = record["toolUseResult"]["agentId"].as_str().or(older);
        if let (Some(agent), Some(call)) = (agent, &result) {
            self.calls.insert(agent.to_owned(), call.clone());
        }
        let mut entry = entry(record, uuid, json!({ "role": "user", "content": content }));
        let thread = &mut self.threads[parent.thread];
        let is_summary = record["isCompactSummary"] == true;
        let number = parent.thread;
        let boundary = self.boundary.take_if(|boundary| {
            let follows = || text(record, "parentUuid").is_some_and(|parent| parent == boundary.uuid);
            boundary.thread == number && (is_summary || follows())
        });
        let old = || Boundary { end: parent.entry, ..Boundary::of(record, log.line) };
        if let Some(boundary) = boundary.or_else(|| is_summary.then(old)) {
            let next = thread.tree.compact(entry, boundary.end, boundary.kept, boundary.facts);
            let summary = thread.tree.last()?;
            if next != summary {
                thread.next.insert(summary, next);
            }
            return Some(summary);
        }
        let caller = result.and_then(|call| thread.callers.get(&call).copied());
        if let Some(caller) = caller {
            let end = thread.tails.get(&caller).copied().unwrap_or(caller);
            if parent.entry.is_none_or(|parent| parent == caller || parent == end) {
                parent.entry = Some(end);
            }
        }
        entry.parent = parent.entry;
        let index = thread.tree.push(entry);
        if let Some(caller) = caller {
            thread.tails.insert(caller, index);
            thread.owners.insert(index, caller);
        }
        Some(index)
    }

    fn push_reply(&mut self, parent: Place, record: &mut Value, uuid: Option<&str>) -> usize {
        let mut message = take(Some(record), "message");
        let blocks = match take(Some(&mut message), "content") {
            Value::Array(blocks) => blocks,
            Value::String(text) => vec![json!({ "type": "text", "text": text })],
            _ => Vec::new(),
        };
        let id = text(&message, "id").map(str::to_owned);
        let usage = message.get("usage").filter(|usage| usage.is_object());
        if let Some(request) = text(record, "requestRef") {
            self.requests.add_reply(request, &blocks, usage);
        }
        if let Some(usage) =
            usage.and_then(Usage::read).filter(|_| text(&message, "model") != Some("<synthetic>"))
        {
            let found = ResponseUsage {
                id: id.as_deref().map(Into::into),
                model: text(&message, "model").map(Into::into),
                at: text(record, "timestamp").map(Into::into),
                usage,
            };
            let known = id.as_ref().and_then(|id| self.responses.get(id).copied());
            if let Some(known) = known {
                self.usage[known].usage = usage;
            } else {
                self.responses.extend(id.clone().map(|id| (id, self.usage.len())));
                self.usage.push(found);
            }
        }
        let thread = &mut self.threads[parent.thread];
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        let calls: Vec<String> = calls.filter_map(|call| text(call, "id").map(str::to_owned)).collect();
        let open = id.as_ref().and_then(|id| thread.replies.get(id).copied());
        let index = if let Some(open) = open {
            if let Some(Value::Array(known)) = thread.tree.entries[open].items[0].get_mut("content") {
                known.extend(blocks);
            }
            open
        } else {
            let mut entry = entry(record, uuid, json!({ "role": "assistant", "content": blocks }));
            entry.parent = parent.entry;
            if record["isApiErrorMessage"] == true {
                entry.kind = EntryKind::Notice;
            }
            let index = thread.tree.push(entry);
            thread.replies.extend(id.map(|id| (id, index)));
            index
        };
        thread.callers.extend(calls.into_iter().map(|call| (call, index)));
        index
    }

    fn push_attachment(&mut self, parent: Place, record: &Value, uuid: Option<&str>) -> Option<usize> {
        let attachment = &record["attachment"];
        self.has_system |= attachment.get("systemPrompt").is_some();
        self.has_tools |= attachment["type"] == "prompt_snapshot" && attachment.get("tools").is_some();
        let rendered = record.get("rendered")?.as_array()?;
        let mut blocks = Vec::new();
        for part in rendered.iter().map(|part| &part["content"]) {
            match part {
                Value::Array(parts) => blocks.extend_from_slice(parts),
                Value::String(text) => blocks.push(json!({ "type": "text", "text": text })),
                _ => {}
            }
        }
        if blocks.is_empty() {
            return None;
        }
        self.has_reminders = true;
        let mut entry = entry(record, uuid, json!({ "role": "user", "content": blocks }));
        (entry.parent, entry.kind) = (parent.entry, EntryKind::Reminder);
        Some(self.threads[parent.thread].tree.push(entry))
    }

    fn open_boundary(&mut self, parent: Place, record: &Value, uuid: Option<&str>, line: u64) {
        let about = &record["compactMetadata"];
        let kept = about.pointer("/preservedMessages/uuids").and_then(Value::as_array);
        let kept = kept.into_iter().flatten().filter_map(|uuid| self.places.get(uuid.as_str()?));
        let mut kept: Vec<usize> =
            kept.filter(|place| place.thread == parent.thread).filter_map(|place| place.entry).collect();
        // The records of a reply are one entry.
        let mut seen = HashSet::new();
        kept.retain(|entry| seen.insert(*entry));
        let uuid = uuid.unwrap_or_default().to_owned();
        let thread = parent.thread;
        self.boundary =
            Some(Boundary { uuid, thread, end: parent.entry, kept, ..Boundary::of(record, line) });
    }

    pub(super) fn finish(mut self, log: &mut RecordLog) -> Found {
        if let Some(boundary) = self.boundary.take() {
            // The summary of the last compaction is not written yet.
            log.report(UnreadReason::UnknownType(format!(
                "compact_boundary of line {}",
                boundary.facts.line
            )));
        }
        let leaf =
            self.leaf.as_ref().and_then(|leaf| self.places.get(leaf)).filter(|place| place.thread == 0);
        let leaf = leaf.and_then(|place| place.entry);
        let mut threads = self.threads.into_iter();
        let mut main = threads.next().unwrap_or_default();
        main.tree.leaf = leaf.map(|leaf| main.end_of(leaf));
        let calls = &self.calls;
        let mut agents: Vec<FoundAgent> = threads
            .map(|thread| {
                let id = thread.agent.unwrap_or_default();
                FoundAgent { tool_call: calls.get(&id).cloned(), id, tree: thread.tree }
            })
            .collect();
        // The file of a sub-agent has no other conversation.
        let tree =
            if main.tree.last().is_none() && !agents.is_empty() { agents.remove(0).tree } else { main.tree };
        let mut missing = BTreeSet::from([MissingPart::Headers]);
        if self.requests.is_empty() {
            missing.insert(MissingPart::Parameters);
            missing.extend((!self.has_system).then_some(MissingPart::SystemPrompt));
            missing.extend((!self.has_tools).then_some(MissingPart::ToolSchemas));
            missing.extend((!self.has_reminders).then_some(MissingPart::Reminders));
        } else {
            missing.insert(MissingPart::BillingBlock);
        }
        Found { id: self.id, main: tree, agents, responses: self.usage, missing, requests: self.requests }
    }
}

fn entry(record: &Value, uuid: Option<&str>, message: Value) -> Entry {
    Entry::new(RequestApi::Anthropic, vec![message]).with(uuid, text(record, "timestamp"))
}
