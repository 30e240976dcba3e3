//! Requests that Claude Code logged in parts.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{RecordLog, UnreadReason, take, text};
use crate::usage::Usage;

/// Maximum number of messages in all rebuilt requests.
const MAX_LISTED: usize = 50_000_000;

/// Requests, and the parts that they share.
#[derive(Clone, Debug, Default)]
pub(super) struct RebuiltRequests {
    requests: Vec<RebuiltRequest>,
    by_id: HashMap<String, usize>,
    /// System prompts and tools, by their hash.
    shapes: HashMap<String, Value>,
    messages: Vec<Value>,
    by_hash: HashMap<String, usize>,
    listed: usize,
}

#[derive(Clone, Debug)]
struct RebuiltRequest {
    at: Option<String>,
    thread: Option<String>,
    shape: String,
    parameters: Map<String, Value>,
    /// Indexes of the messages.
    list: Vec<usize>,
    /// Cache marks with their paths in the body.
    marks: Vec<Value>,
    /// Blocks of the reply. Each has its own record.
    reply: Vec<Value>,
    usage: Option<Value>,
}

impl RebuiltRequests {
    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn add_shape(&mut self, record: &mut Value) {
        if let Some(hash) = text(record, "shapeHash").map(str::to_owned) {
            self.shapes.entry(hash).or_insert_with(|| take(Some(record), "shape"));
        }
    }

    pub(super) fn add_message(&mut self, record: &mut Value) {
        if let Some(hash) = text(record, "hash").map(str::to_owned) {
            self.by_hash.entry(hash).or_insert_with(|| {
                self.messages.push(take(Some(record), "message"));
                self.messages.len() - 1
            });
        }
    }

    /// Adds a request: the first messages of an earlier request, then other messages.
    pub(super) fn add_request(&mut self, record: &mut Value, thread: Option<String>, log: &mut RecordLog) {
        let base = text(record, "base").and_then(|base| self.by_id.get(base).copied());
        let keep = record["keep"].as_u64().and_then(|keep| usize::try_from(keep).ok()).unwrap_or(0);
        let mut list: Vec<usize> = base
            .map(|base| self.requests[base].list.iter().take(keep).copied().collect())
            .unwrap_or_default();
        let is_known_base = list.len() == keep;
        let tail = record["tail"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut is_complete = is_known_base;
        for hash in tail.iter().filter_map(Value::as_str) {
            // A message without a blob is the reply to the earlier request.
            let index = self.by_hash.get(hash).copied().or_else(|| {
                let reply = std::mem::take(&mut self.requests[base?].reply);
                if reply.is_empty() {
                    return None;
                }
                self.messages.push(json!({ "role": "assistant", "content": reply }));
                self.by_hash.insert(hash.to_owned(), self.messages.len() - 1);
                Some(self.messages.len() - 1)
            });
            is_complete &= index.is_some();
            list.extend(index);
        }
        self.listed += list.len();
        if !is_complete || self.listed > MAX_LISTED {
            log.report(UnreadReason::IncompleteRequest);
            return;
        }
        let mut parameters = match take(Some(record), "params") {
            Value::Object(parameters) => parameters,
            _ => Map::new(),
        };
        // They are sent as a header.
        parameters.shift_remove("betas");
        if let Some(id) = text(record, "id") {
            self.by_id.insert(id.to_owned(), self.requests.len());
        }
        self.requests.push(RebuiltRequest {
            at: text(record, "timestamp").map(str::to_owned),
            thread,
            shape: text(record, "shapeHash").unwrap_or_default().to_owned(),
            parameters,
            list,
            marks: record["cacheControl"].as_array().cloned().unwrap_or_default(),
            reply: Vec::new(),
            usage: None,
        });
    }

    /// Adds blocks of the reply to a request.
    pub(super) fn add_reply(&mut self, request: &str, blocks: &[Value], usage: Option<&Value>) {
        if let Some(index) = self.by_id.get(request).copied() {
            let request = &mut self.requests[index];
            request.reply.extend_from_slice(blocks);
            if usage.and_then(Usage::read).is_some() {
                request.usage = usage.cloned();
            }
        }
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.requests.iter().map(|request| self.line(request).to_string())
    }

    fn line(&self, request: &RebuiltRequest) -> Value {
        let mut body = Value::Object(request.parameters.clone());
        let shape = self.shapes.get(&request.shape);
        for key in ["system", "tools"] {
            if let Some(part) = shape.and_then(|shape| shape.get(key)) {
                body[key] = part.clone();
            }
        }
        body["messages"] = request.list.iter().map(|index| self.messages[*index].clone()).collect();
        for mark in &request.marks {
            let Some(path) = mark["path"].as_array() else { continue };
            let place = path.iter().try_fold(&mut body, |place, step| match step {
                Value::String(key) => place.get_mut(key),
                step => place.get_mut(usize::try_from(step.as_u64()?).ok()?),
            });
            if let Some(Value::Object(block)) = place {
                block.insert("cache_control".to_owned(), mark["value"].clone());
            }
        }
        json!({
            "at": request.at, "api": "anthropic", "thread": request.thread, "request": body, "usage": request.usage,
        })
    }
}
