use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::agent::StoredAttachment;
use crate::attachment::Attachment;
use crate::block::{BlockFields, BlockKind, BlockOrder};
use crate::content::{Content, ContentPart};
use crate::internal::SummaryAppendix;
use crate::message::{Message, MessageExtras, Reasoning, Role, ToolCall};
use crate::note::Note;
use crate::session::{Node, NodeId, StoredToolCall};
use crate::source::{Source, SourceKind, Trust};
use crate::text::Text;

/// Fields for one API dialect: `{"openai": {"prefix": true}}`.
const PROVIDER_FIELDS: &str = "providerFields";

/// Anthropic's cache mark, on a text or, as `LiteLLM` has it, on a message.
const CACHE_CONTROL: &str = "cache_control";

pub(super) const IS_ERROR: &str = "isError";

pub(super) const MODEL: &str = "modelId";

/// State in chat completions, such as Gemini's thought signature.
const EXTRA_CONTENT: &str = "extra_content";

/// AIO Hub's key for the calls that a tool result answers.
pub(super) const ANSWERED_CALLS: &str = "toolCalls";

impl Node {
    /// Converts to a message that shares texts.
    ///
    /// Reads calls and call ids from the node, or else from AIO Hub's metadata. Appends the facts that a
    /// summary omitted ([`SummaryAppendix`]).
    ///
    /// ```
    /// use ctx_types::Role;
    /// use ctx_types::session::Node;
    ///
    /// let message = Node::new(Role::Assistant, "hi").to_message(&"n1".into());
    /// assert_eq!((message.role, message.source.to_string().as_str()), (Role::Assistant, "history:n1"));
    /// ```
    pub fn to_message(&self, id: &NodeId) -> Message {
        let role = self.role.unwrap_or_default();
        let metadata = self.metadata.as_deref();
        let mut source = Source::history(id.clone(), role);
        let note = self.kept.get(Note::KEY).and_then(Note::from_value);
        if self.is_summary() || note.is_some() {
            // A model wrote the text, even if another role speaks it.
            (source.kind, source.trust) = (SourceKind::Summary, Trust::Model);
        }
        let extras = MessageExtras {
            tool_calls: self.message_tool_calls(role),
            tool_call_id: self.message_tool_call_id(role),
            name: self.name.clone(),
            attachments: self.message_attachments(),
            reasoning: self.message_reasoning(),
            note: note.map(Arc::new),
            provider_fields: self
                .kept
                .get(PROVIDER_FIELDS)
                .filter(|fields| fields.is_object())
                .cloned()
                .map(Arc::new),
            is_error: role == Role::Tool && self.is_tool_error(),
            block_order: metadata
                .and_then(|metadata| metadata.kept.get(BlockOrder::KEY))
                .and_then(BlockOrder::from_value),
            block_fields: self.message_block_fields(),
            ..MessageExtras::default()
        };
        let mut message = Message::new(role, Text::default(), source).with_extras(extras);
        if let Some(content) = &self.content {
            message.content = content.sound();
        }
        if let Some(appendix) = SummaryAppendix::from_node(self) {
            message.content = appendix.add_to(message.content.clone());
        }
        if let Some(mark) = self.kept.get(CACHE_CONTROL).filter(|mark| mark.is_object()) {
            mark_last_block(&mut message, mark);
        }
        message.is_continuation_prefix = metadata.and_then(|data| data.is_continuation_prefix) == Some(true);
        // SillyTavern counts such messages for depths but does not send them.
        message.is_silent = self.is_of_silly_tavern() && role != Role::Tool && message.is_blank();
        message
    }

    fn message_block_fields(&self) -> Vec<BlockFields> {
        let mut found = Vec::new();
        if let (Some(Content::Parts(parts)), Some(Value::Array(slots))) =
            (&self.content, self.kept.get("content"))
        {
            let sound = parts.iter().zip(slots).filter(|(part, _)| part.is_sound());
            for (index, (part, slot)) in sound.enumerate() {
                let fields = slot.as_object().filter(|_| matches!(part, ContentPart::Text(_)));
                if let Some(fields) = fields.and_then(text_fields) {
                    found.push(BlockFields { kind: BlockKind::Content, index, fields: Arc::new(fields) });
                }
            }
        }
        let sound = self.tool_calls.iter().filter(|call| !call.kept.is_malformed());
        for (index, call) in sound.enumerate() {
            if let Some(fields) = call.kept.get(PROVIDER_FIELDS).filter(|fields| fields.is_object()) {
                let fields = Arc::new(fields.clone());
                found.push(BlockFields { kind: BlockKind::Call, index, fields });
            }
        }
        found
    }

    fn message_tool_calls(&self, role: Role) -> Vec<ToolCall> {
        let mut calls = Vec::with_capacity(self.tool_calls.len());
        let sound = self.tool_calls.iter().filter(|call| !call.kept.is_malformed());
        calls.extend(sound.map(StoredToolCall::to_call));
        if !calls.is_empty() {
            return calls;
        }
        let requested = self.metadata.as_ref().and_then(|metadata| metadata.tool_calls_requested.as_ref());
        match requested {
            Some(Value::Array(requested)) if role == Role::Assistant => {
                requested.iter().filter(|call| call.is_object()).map(read_tool_call).collect()
            }
            _ => Vec::new(),
        }
    }

    fn message_tool_call_id(&self, role: Role) -> Option<Arc<str>> {
        if self.tool_call_id.is_some() || role != Role::Tool {
            return self.tool_call_id.clone();
        }
        let metadata = self.metadata.as_ref()?;
        let answered =
            [metadata.tool_call.as_ref(), metadata.kept.get(ANSWERED_CALLS).and_then(|calls| calls.get(0))];
        answered.into_iter().flatten().find_map(|call| text(call, "requestId"))
    }

    /// Returns whether the node is the result of a tool that failed.
    pub fn is_tool_error(&self) -> bool {
        let metadata = self.metadata.as_ref();
        metadata.is_some_and(|metadata| metadata.kept.get(IS_ERROR) == Some(&Value::Bool(true)))
    }

    fn message_reasoning(&self) -> Option<Reasoning> {
        let metadata = self.metadata.as_deref();
        let text = metadata.and_then(|metadata| metadata.reasoning_content.clone());
        let text = text.filter(|text| !text.is_empty());
        let mut artifacts = metadata.map(|metadata| metadata.reasoning_artifacts.clone()).unwrap_or_default();
        let sound = self.tool_calls.iter().filter(|call| !call.kept.is_malformed());
        let extras = sound.enumerate().filter_map(|(position, call)| {
            let extra = call.kept.get(EXTRA_CONTENT).filter(|extra| extra.is_object())?;
            Some(Arc::new(json!({ "call": position, EXTRA_CONTENT: extra })))
        });
        artifacts.extend(extras);
        if text.is_none() && artifacts.is_empty() {
            return None;
        }
        let model = metadata.and_then(|metadata| metadata.kept.get(MODEL)?.as_str()).map(Arc::from);
        Some(Reasoning { text, artifacts, model })
    }

    fn message_attachments(&self) -> Vec<Attachment> {
        let sound = self.attachments.iter().filter(|stored| !stored.kept.is_malformed());
        sound.map(StoredAttachment::to_attachment).collect()
    }
}

impl StoredToolCall {
    /// Converts to a message's call. A missing name or missing arguments come from OpenAI's `function`.
    pub(crate) fn to_call(&self) -> ToolCall {
        let function = self.kept.get("function").unwrap_or(&Value::Null);
        ToolCall {
            id: self.id.clone().unwrap_or_default(),
            name: self.name.clone().or_else(|| text(function, "name")).unwrap_or_default(),
            arguments: self.arguments.clone().unwrap_or_else(|| arguments(function.get("arguments"))),
        }
    }
}

fn text_fields(slot: &Map<String, Value>) -> Option<Value> {
    const OWNERS: [(&str, &str); 3] =
        [(CACHE_CONTROL, "anthropic"), ("citations", "anthropic"), ("prompt_cache_breakpoint", "openai")];
    let mut fields = slot.get(PROVIDER_FIELDS).and_then(Value::as_object).cloned().unwrap_or_default();
    for (key, owner) in OWNERS {
        if let Some(value) = slot.get(key).filter(|value| !value.is_null()) {
            let own = fields.entry(owner).or_insert_with(|| json!({}));
            if let Some(own) = own.as_object_mut() {
                own.entry(key).or_insert_with(|| value.clone());
            }
        }
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// Puts the cache mark of a message on its last block, unless the block has one. The block of a tool message is its
/// result.
fn mark_last_block(message: &mut Message, mark: &Value) {
    let Some((kind, index)) = last_block(message) else { return };
    let marked = |fields: Option<&Value>| {
        let mut fields = fields.cloned().unwrap_or_else(|| json!({}));
        let own = fields.as_object_mut().map(|fields| fields.entry("anthropic").or_insert_with(|| json!({})));
        put_mark(own, mark);
        Arc::new(fields)
    };
    if message.role == Role::Tool {
        message.provider_fields = Some(marked(message.provider_fields.as_deref()));
        return;
    }
    if kind == BlockKind::Content {
        match &mut message.content {
            Content::Text(text) => message.content = Content::Parts(vec![ContentPart::Text(text.clone())]),
            Content::Parts(parts) => {
                if let Some(ContentPart::Other(part)) = parts.get_mut(index) {
                    put_mark(Some(Arc::make_mut(part)), mark);
                    return;
                }
            }
        }
    }
    match message.block_fields.binary_search_by_key(&(kind, index), |given| (given.kind, given.index)) {
        Ok(place) => {
            let fields = marked(Some(&message.block_fields[place].fields));
            message.block_fields[place].fields = fields;
        }
        Err(place) => {
            let fields = marked(None);
            message.block_fields.insert(place, BlockFields { kind, index, fields });
        }
    }
}

/// Returns the last block of a message that is not blank.
fn last_block(message: &Message) -> Option<(BlockKind, usize)> {
    if let Some(call) = message.tool_calls.len().checked_sub(1).filter(|_| message.role == Role::Assistant) {
        return Some((BlockKind::Call, call));
    }
    let has_text = |text: &str| !text.trim().is_empty();
    let part = match &message.content {
        Content::Text(text) => (message.role == Role::Tool || has_text(text)).then_some(0),
        Content::Parts(parts) => parts.iter().rposition(|part| part.as_text().is_none_or(has_text)),
    };
    Some((BlockKind::Content, part?))
}

fn put_mark(block: Option<&mut Value>, mark: &Value) {
    if let Some(block) = block.and_then(Value::as_object_mut) {
        block.entry(CACHE_CONTROL).or_insert_with(|| mark.clone());
    }
}

fn read_tool_call(call: &Value) -> ToolCall {
    ToolCall {
        id: text(call, "requestId").unwrap_or_default(),
        name: text(call, "toolName").unwrap_or_default(),
        arguments: arguments(call.get("args")),
    }
}

fn arguments(value: Option<&Value>) -> Text {
    match value {
        None | Some(Value::Null) => Text::from("{}"),
        Some(Value::String(text)) => Text::from(text.as_str()),
        Some(value) => Text::from(value.to_string()),
    }
}

fn text(value: &Value, key: &str) -> Option<Arc<str>> {
    value.get(key).and_then(Value::as_str).map(Arc::from)
}
