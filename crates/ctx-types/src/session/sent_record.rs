//! Requests of an append-only conversation, recorded with their newest messages.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attachment::Attachment;
use crate::content::{Content, ContentPart};
use crate::fingerprint::Fingerprint;
use crate::message::{Message, MessageExtras, Place, Role};
use crate::note::Note;
use crate::session::{Change, Node, NodeEdit, NodeId, NodeMetadata, Session, SessionOp};
use crate::source::{Segment, Source};
use crate::{Phrase, phrase};

/// Metadata key of a record.
const KEY: &str = "sentRequest";

/// Messages of the newest request after a message, stored in the metadata of that message.
///
/// The request consists of the messages of this record, below those of the records of earlier messages up to
/// the record that starts a new prefix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentRecord {
    /// Fingerprint of the preset, if the request starts a new prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins: Option<Arc<str>>,
    /// Messages of the request, in order.
    pub messages: Vec<SentMessage>,
    /// Oldest message of the conversation after which each message is sent or `omitted`. Missing if none is older.
    /// Only in a record that starts a new prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<NodeId>,
    /// Messages of the conversation that the request omits, with their fingerprints.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: BTreeMap<NodeId, Arc<str>>,
    /// Fingerprints of all texts of a source, before processors changed them, if one of them is new.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// Whether text for one turn only followed the messages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_single_turn: bool,
    /// Reason the next request cannot repeat this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<RecordEnd>,
}

/// Reason a recorded request cannot be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecordEnd {
    /// The request was compressed after it was recorded.
    Compressed,
    /// The record cannot be read.
    Damaged,
}

/// A message of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    /// Messages of the conversation that it contains. Empty for an insertion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeId>,
    /// Whether the input of the turn, which was not stored yet, follows `nodes`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_input: bool,
    /// Fingerprint of the messages and the input that it contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Arc<str>>,
    /// Fingerprint of the message with its loaded files, if it has files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Arc<str>>,
    /// The message as sent, if it differs from the only message that it contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Box<SentFields>>,
}

/// The fields of a message that differs from the stored one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SentFields {
    role: Role,
    content: Content,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Arc<Value>>,
    source: Source,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    segments: Vec<Segment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<Arc<Note>>,
    /// Fields of the stored message that were not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    without: Vec<Arc<str>>,
}

/// The messages of the newest request of a conversation, which the next request repeats.
#[derive(Clone, Debug, Default)]
pub struct SentPrefix {
    /// Fingerprint of the preset.
    pub preset: Arc<str>,
    /// Messages, exactly as sent.
    pub messages: Vec<Message>,
    /// The same messages, as recorded.
    pub records: Vec<SentMessage>,
    /// Oldest message of the conversation after which each message is sent or `omitted`. `None` if none is older.
    pub first: Option<NodeId>,
    /// Messages of the conversation that the request omits, with their fingerprints.
    pub omitted: BTreeMap<NodeId, Arc<str>>,
    /// Fingerprints of the newest texts of each source, before processors changed them.
    pub texts: BTreeMap<Arc<str>, Vec<Arc<str>>>,
    /// Messages of the conversation that follow, oldest first.
    pub tail: Vec<NodeId>,
    /// Number of messages in records of messages above the active leaf.
    pub inherited: usize,
    /// The record of the active leaf, without its messages.
    pub own: SentRecord,
    /// Whether text for one turn only followed the messages.
    pub has_single_turn: bool,
    /// Reason later messages of the request cannot be repeated.
    pub ended_by: Option<Phrase>,
}

/// A record and its position in the branch.
struct FoundRecord {
    record: SentRecord,
    /// The next message of the branch. `None` for the active leaf.
    next: Option<NodeId>,
}

/// The texts of a record.
struct RecordTexts {
    /// Number of messages of the request up to the end of the record.
    end: usize,
    texts: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

impl SentRecord {
    /// Reads the record of a message. Returns [`RecordEnd::Damaged`] for an invalid record.
    pub fn from_node(node: &Node) -> Option<Self> {
        let value = node.metadata.as_ref()?.kept.get(KEY)?;
        Some(Self::deserialize(value).unwrap_or_else(|_| Self::ended_by(RecordEnd::Damaged)))
    }

    /// Creates a record that the next request does not repeat.
    pub fn ended_by(reason: RecordEnd) -> Self {
        Self { ended_by: Some(reason), ..Self::default() }
    }

    /// Returns the operation that stores the record with a message. `metadata`: metadata of the message at that
    /// time.
    pub fn to_op(&self, id: &NodeId, metadata: Option<&NodeMetadata>) -> SessionOp {
        let mut metadata = metadata.cloned().unwrap_or_default();
        let value = serde_json::to_value(self).expect("a record has only texts as keys");
        metadata.kept.set(KEY, value);
        let edit = NodeEdit { metadata: Change::Set(Box::new(metadata)), ..NodeEdit::default() };
        SessionOp::Edit { id: id.clone(), edit: Box::new(edit) }
    }
}

impl RecordEnd {
    fn phrase(self) -> Phrase {
        match self {
            Self::Compressed => phrase!("the previous request was compressed"),
            Self::Damaged => phrase!("the record of the previous request is damaged"),
        }
    }
}

impl SentMessage {
    /// Records a message that contains `nodes` of the conversation, and then maybe the input of the turn.
    pub fn new(message: &Message, nodes: &[(NodeId, Message)], input: Option<&Message>) -> Self {
        let parts = || nodes.iter().map(|(_, stored)| stored).chain(input);
        let hash = parts().next().is_some().then(|| fingerprint(parts()));
        let mut only = parts();
        let is_same = match (only.next(), only.next()) {
            (Some(stored), None) => is_same_request(stored, message),
            _ => false,
        };
        Self {
            nodes: nodes.iter().map(|(id, _)| id.clone()).collect(),
            has_input: input.is_some(),
            hash,
            files: None,
            sent: (!is_same).then(|| Box::new(SentFields::new(message, parts().next()))),
        }
    }

    /// Records the message with its files, as loaded for the request.
    pub fn set_files(&mut self, loaded: &Message) {
        let is_loaded = loaded.attachments.iter().all(|file| file.loaded.is_some());
        self.files = is_loaded.then(|| fingerprint_of(loaded));
    }

    /// Returns whether the files of the message are as sent. Files that are not loaded are not compared.
    pub fn has_same_files(&self, loaded: &Message) -> bool {
        let is_loaded = loaded.attachments.iter().all(|file| file.loaded.is_some());
        let sum = self.files.as_ref().filter(|_| is_loaded);
        sum.is_none_or(|sum| *sum == fingerprint_of(loaded))
    }

    /// Returns whether the message was inserted, so is not from the conversation.
    pub fn is_insertion(&self) -> bool {
        self.nodes.is_empty() && !self.has_input
    }

    /// Returns the message as sent; `None` if the messages that it contains changed.
    fn restore(&self, stored: &[Message]) -> Option<Message> {
        if self.hash != (!stored.is_empty()).then(|| fingerprint(stored.iter())) {
            return None;
        }
        match &self.sent {
            None => stored.first().cloned(),
            Some(fields) => Some(fields.restore(stored.first())),
        }
    }
}

impl SentFields {
    fn new(message: &Message, stored: Option<&Message>) -> Self {
        let without = stored.into_iter().flat_map(|stored| {
            EXTRAS.iter().filter(|extra| (extra.is_set)(stored) && !(extra.is_set)(message))
        });
        Self {
            role: message.role,
            content: message.content.clone(),
            name: message.name.clone(),
            attachments: message.attachments.iter().map(|file| file.kept.clone()).collect(),
            source: message.source.clone(),
            segments: message.written.clone(),
            note: message.note.clone(),
            without: without.map(|extra| Arc::from(extra.name)).collect(),
        }
    }

    fn restore(&self, stored: Option<&Message>) -> Message {
        let mut message = stored.cloned().unwrap_or_else(|| {
            let place = Place::Gap { multiple: false };
            Message::new(self.role, "", self.source.clone()).with(|message| message.place = place)
        });
        message.role = self.role;
        message.content = self.content.clone();
        message.source = self.source.clone();
        message.name.clone_from(&self.name);
        message.written.clone_from(&self.segments);
        message.note.clone_from(&self.note);
        message.attachments = self.attachments.iter().map(|file| Attachment::from_value(file)).collect();
        for extra in EXTRAS.iter().filter(|extra| self.without.iter().any(|name| **name == *extra.name)) {
            (extra.clear)(&mut message);
        }
        message
    }
}

/// A field that only stored messages have.
struct Extra {
    name: &'static str,
    is_set: fn(&MessageExtras) -> bool,
    clear: fn(&mut MessageExtras),
}

const EXTRAS: [Extra; 7] = [
    Extra {
        name: "toolCalls",
        is_set: |extras| !extras.tool_calls.is_empty(),
        clear: |extras| extras.tool_calls.clear(),
    },
    Extra {
        name: "toolCallId",
        is_set: |extras| extras.tool_call_id.is_some(),
        clear: |extras| extras.tool_call_id = None,
    },
    Extra {
        name: "reasoning",
        is_set: |extras| extras.reasoning.is_some(),
        clear: |extras| extras.reasoning = None,
    },
    Extra {
        name: "providerFields",
        is_set: |extras| extras.provider_fields.is_some(),
        clear: |extras| extras.provider_fields = None,
    },
    Extra { name: "isError", is_set: |extras| extras.is_error, clear: |extras| extras.is_error = false },
    Extra {
        name: "blockOrder",
        is_set: |extras| extras.block_order.is_some(),
        clear: |extras| extras.block_order = None,
    },
    Extra {
        name: "blockFields",
        is_set: |extras| !extras.block_fields.is_empty(),
        clear: |extras| extras.block_fields.clear(),
    },
];

/// Compares what a request contains.
fn is_same_request(stored: &Message, sent: &Message) -> bool {
    let files =
        |message: &Message| message.attachments.iter().map(|file| file.kept.clone()).collect::<Vec<_>>();
    stored.role == sent.role
        && stored.content == sent.content
        && stored.name == sent.name
        && stored.tool_calls == sent.tool_calls
        && stored.tool_call_id == sent.tool_call_id
        && stored.reasoning == sent.reasoning
        && stored.provider_fields == sent.provider_fields
        && stored.is_error == sent.is_error
        && stored.block_order == sent.block_order
        && stored.block_fields == sent.block_fields
        && files(stored) == files(sent)
}

/// Fingerprint of the sent fields of messages, without cache marks, which clients move. O(bytes).
fn fingerprint<'m>(messages: impl Iterator<Item = &'m Message>) -> Arc<str> {
    let sum = messages.fold(Fingerprint::default(), |mut sum, message| {
        sum = sum.text(message.role.as_str()).text(message.name.as_deref().unwrap_or_default());
        match &message.content {
            Content::Text(text) => sum = sum.text(text),
            Content::Parts(parts) => {
                for part in parts {
                    sum = match part {
                        ContentPart::Text(text) => sum.text(text),
                        ContentPart::Other(value) => sum.text(&without_marks(value).to_string()),
                    };
                }
            }
        }
        for call in &message.tool_calls {
            sum = sum.text(&call.id).text(&call.name).text(&call.arguments);
        }
        sum = sum.text(message.tool_call_id.as_deref().unwrap_or_default());
        for file in &message.attachments {
            sum = sum.text(&file.kept.to_string());
            sum = file.loaded.iter().fold(sum, |sum, asset| sum.bytes(&asset.bytes));
        }
        if let Some(reasoning) = &message.reasoning {
            sum = sum.text(reasoning.text.as_deref().unwrap_or_default());
            sum = reasoning.artifacts.iter().fold(sum, |sum, state| sum.text(&state.to_string()));
        }
        if let Some(fields) = message.provider_fields.as_deref().and_then(unmarked_fields) {
            sum = sum.text(&fields);
        }
        for block in &message.block_fields {
            if let Some(fields) = unmarked_fields(&block.fields) {
                sum = sum.number(block.index as u64).text(&fields);
            }
        }
        sum.number(u64::from(message.is_error)).text(&format!("{:?}", message.block_order))
    });
    sum.to_string().into()
}

/// Fields that ask a provider to cache.
const MARKS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

/// Returns a part, or the fields of one provider, without its cache mark.
pub fn without_marks(part: &Value) -> Cow<'_, Value> {
    if !MARKS.iter().any(|key| part.get(*key).is_some()) {
        return Cow::Borrowed(part);
    }
    let mut part = part.clone();
    if let Some(fields) = part.as_object_mut() {
        fields.retain(|key, _| !MARKS.contains(&key.as_str()));
    }
    Cow::Owned(part)
}

/// Returns whether a block of a message has a cache mark.
pub fn has_marks(message: &Message) -> bool {
    let is_marked = |block: &Value| MARKS.iter().any(|key| block.get(*key).is_some_and(Value::is_object));
    let parts = match &message.content {
        Content::Parts(parts) => parts.as_slice(),
        Content::Text(_) => &[],
    };
    let is_marked_part = |part: &ContentPart| matches!(part, ContentPart::Other(block) if is_marked(block));
    let fields = message.block_fields.iter().map(|block| &block.fields).chain(&message.provider_fields);
    let mut by_provider = fields.filter_map(|fields| fields.as_object()).flat_map(|fields| fields.values());
    parts.iter().any(is_marked_part) || by_provider.any(is_marked)
}

/// Removes the cache marks of a message, of its blocks, and of its calls.
pub fn remove_marks(node: &mut Node) {
    if let Some(Content::Parts(parts)) = &mut node.content {
        for part in parts {
            let ContentPart::Other(value) = part else { continue };
            let Cow::Owned(unmarked) = without_marks(value) else { continue };
            *value = Arc::new(unmarked);
        }
    }
    let calls = node.tool_calls.iter_mut().map(|call| &mut call.kept);
    for kept in std::iter::once(&mut node.kept).chain(calls) {
        for key in MARKS {
            kept.remove(key);
        }
        for key in ["content", "providerFields"] {
            if kept.get_mut(key).is_some_and(clear_marks) {
                kept.remove(key);
            }
        }
    }
}

/// Removes marks at all levels. Returns whether a value had only marks.
fn clear_marks(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let count = fields.len();
            fields.retain(|key, value| !MARKS.contains(&key.as_str()) && !clear_marks(value));
            fields.is_empty() && count > 0
        }
        Value::Array(items) => {
            for item in items {
                clear_marks(item);
            }
            false
        }
        _ => false,
    }
}

/// Returns fields by provider as JSON; `None` if they contain only cache marks.
fn unmarked_fields(fields: &Value) -> Option<String> {
    let fields = fields.as_object()?.iter().map(|(provider, fields)| (provider, without_marks(fields)));
    let kept = fields.filter(|(_, fields)| fields.as_object().is_none_or(|map| !map.is_empty()));
    let kept: Vec<String> = kept.map(|(provider, fields)| format!("{provider}{fields}")).collect();
    (!kept.is_empty()).then(|| kept.concat())
}

impl Session {
    /// Returns the messages of the newest recorded request that the next request can repeat. `None` without a
    /// record. `input` is the user message that the next request adds, if it is not stored yet.
    ///
    /// It ends at the first message that was edited, hidden, disabled or enabled since. O(messages of the
    /// request, and later ones).
    pub fn sent_prefix(&self, input: Option<&Message>) -> Option<SentPrefix> {
        let mut found: Vec<FoundRecord> = Vec::new();
        let mut newer: Option<NodeId> = None;
        let root = self.node(self.root_id()).map(|root| (self.root_id(), root));
        for (id, node) in self.ancestors(self.active_leaf_id()).chain(root) {
            if let Some(record) = SentRecord::from_node(node) {
                let is_first = record.begins.is_some() || record.ended_by.is_some();
                found.push(FoundRecord { record, next: newer.clone() });
                if is_first {
                    break;
                }
            }
            newer = Some(id.clone());
        }
        found.reverse();
        let oldest = &found.first()?.record;
        let end = oldest.ended_by.or(oldest.begins.is_none().then_some(RecordEnd::Damaged));
        if let Some(end) = end {
            return Some(SentPrefix { ended_by: Some(end.phrase()), ..SentPrefix::default() });
        }
        let preset = oldest.begins.clone().unwrap_or_default();
        let mut prefix = SentPrefix { preset, first: oldest.first.clone(), ..SentPrefix::default() };
        let mut texts = Vec::with_capacity(found.len());
        for FoundRecord { mut record, next } in found {
            prefix.omitted.extend(record.omitted.clone());
            prefix.has_single_turn = record.has_single_turn;
            for mut sent in std::mem::take(&mut record.messages) {
                if let Some(next) = next.as_ref().filter(|_| sent.has_input) {
                    sent.nodes.push(next.clone());
                    sent.has_input = false;
                }
                prefix.records.push(sent);
            }
            texts.push(RecordTexts { end: prefix.records.len(), texts: record.texts.clone() });
            match next {
                Some(_) => prefix.inherited = prefix.records.len(),
                None => prefix.own = record,
            }
        }
        self.verify(&mut prefix, input);
        prefix.add_texts(texts);
        Some(prefix)
    }

    /// Restores the messages of a request up to the first one that changed, and finds the messages below.
    fn verify(&self, prefix: &mut SentPrefix, input: Option<&Message>) {
        let mut range = self.sent_len()..self.sent_len();
        let mut positions: HashMap<&NodeId, usize> = HashMap::new();
        while let Some((id, _)) = range.start.checked_sub(1).and_then(|at| self.sent_node(at)) {
            range.start -= 1;
            positions.insert(id, range.start);
            if prefix.first.as_ref() == Some(id) {
                break;
            }
        }
        let early: Vec<usize> = self.early_positions().filter(|at| *at < range.start).collect();
        for at in &early {
            positions.extend(self.sent_node(*at).map(|(id, _)| (id, *at)));
        }
        let is_omitted = |at: usize| {
            let sum = self.sent_node(at).and_then(|(id, _)| prefix.omitted.get(id));
            sum.is_some_and(|sum| {
                self.sent_message(at).is_some_and(|message| *sum == fingerprint_of(message))
            })
        };
        let mut recorded: HashSet<&NodeId> = HashSet::new();
        let is_unique = prefix.records.iter().flat_map(|sent| &sent.nodes).all(|id| recorded.insert(id));
        let is_new =
            |at: usize| !self.sent_node(at).is_some_and(|(id, _)| recorded.contains(id)) && !is_omitted(at);
        let new_early = early.iter().copied().find(|at| is_new(*at));
        let (mut kept, mut last, mut new) = (0, range.start, new_early);
        for sent in prefix.records.iter().take_while(|_| is_unique && new_early.is_none()) {
            let input = input.filter(|_| sent.has_input).map(|input| Some(input.clone()));
            let stored = sent.nodes.iter().map(|id| self.sent_message(*positions.get(id)?).cloned());
            let stored: Option<Vec<Message>> = stored.chain(input).collect();
            let Some(message) = stored.and_then(|stored| sent.restore(&stored)) else { break };
            // A message that another one came before is no longer at its place.
            let own: HashSet<usize> = sent.nodes.iter().filter_map(|id| positions.get(id)).copied().collect();
            let end = own.iter().copied().max().unwrap_or(last);
            new = (last..end).find(|at| !own.contains(at) && !is_omitted(*at));
            if new.is_some() {
                break;
            }
            last = last.max(own.iter().copied().max().map_or(0, |place| place + 1));
            prefix.messages.push(message);
            kept += 1;
        }
        let kept_ids: HashSet<&NodeId> = prefix.records[..kept].iter().flat_map(|sent| &sent.nodes).collect();
        let later =
            early.into_iter().chain(last..range.end).filter_map(|at| Some((at, self.sent_node(at)?.0)));
        let later = later.filter(|(at, id)| !kept_ids.contains(*id) && !is_omitted(*at));
        prefix.tail = later.map(|(_, id)| id.clone()).collect();
        if let Some(changed) = prefix.records.get(kept) {
            let new = new.and_then(|at| self.sent_node(at)).map(|(id, _)| id);
            prefix.ended_by = Some(match new.or(changed.nodes.first()) {
                Some(id) if is_unique => phrase!("the conversation changed at `{id}`", id = id.to_string()),
                None if changed.has_input => phrase!("the input changed"),
                _ => RecordEnd::Damaged.phrase(),
            });
        }
        prefix.records.truncate(kept);
    }

    /// Positions of messages that stay when older ones are cut: leading instructions and pinned messages.
    fn early_positions(&self) -> impl Iterator<Item = usize> {
        let is_leading = |at: &usize| self.sent_node(*at).is_some_and(|(_, node)| is_instruction(node));
        let leading = (0..self.sent_len()).take_while(is_leading);
        let end = leading.clone().count();
        leading.chain(self.sent_pinned().iter().copied().filter(move |at| *at >= end))
    }

    /// Sets `first` and `omitted` of a record that starts a new prefix with the messages of `contained`.
    pub fn set_omitted(&self, record: &mut SentRecord, contained: &HashSet<NodeId>) {
        let early: HashSet<usize> = self.early_positions().collect();
        let is_contained = |at: &usize| self.sent_node(*at).is_some_and(|(id, _)| contained.contains(id));
        let all = 0..self.sent_len();
        let first = all.clone().find(|at| !early.contains(at) && is_contained(at)).unwrap_or(all.end);
        let is_cut = (0..first).any(|at| !early.contains(&at));
        let oldest = self.sent_node(first.min(all.end.saturating_sub(1))).map(|(id, _)| id.clone());
        record.first = oldest.filter(|_| is_cut);
        let omitted = all.filter(|at| (*at >= first || early.contains(at)) && !is_contained(at));
        let omitted = omitted.filter_map(|at| Some((self.sent_node(at)?.0.clone(), self.sent_message(at)?)));
        record.omitted = omitted.map(|(id, message)| (id, fingerprint_of(message))).collect();
    }

    /// Returns fingerprints of messages that a request omits.
    pub fn omit<'i>(&self, ids: impl Iterator<Item = &'i NodeId>) -> BTreeMap<NodeId, Arc<str>> {
        let stored = ids.filter_map(|id| Some((id.clone(), self.node(id)?.to_message(id))));
        stored.map(|(id, message)| (id, fingerprint_of(&message))).collect()
    }
}

impl SentPrefix {
    /// Adds texts of records, oldest first, if a repeated message contains the source.
    fn add_texts(&mut self, records: Vec<RecordTexts>) {
        let mut start = 0;
        for RecordTexts { end, texts } in records {
            let end = end.min(self.messages.len());
            let sources: HashSet<String> =
                self.messages.get(start..end).unwrap_or_default().iter().flat_map(source_names).collect();
            self.texts.extend(texts.into_iter().filter(|(source, _)| sources.contains(&**source)));
            start = end;
        }
    }
}

/// Returns the names of all sources of a message.
fn source_names(message: &Message) -> Vec<String> {
    let parts = message.written.iter().flat_map(|segment| segment.via.iter().chain([&segment.source]));
    std::iter::once(&message.source).chain(parts).map(ToString::to_string).collect()
}

/// Returns the fingerprint of the sent fields of a message, without cache marks.
pub fn fingerprint_of(message: &Message) -> Arc<str> {
    fingerprint(std::iter::once(message))
}

fn is_instruction(node: &Node) -> bool {
    node.role.is_some_and(Role::is_instruction)
}
