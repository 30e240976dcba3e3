//! One message after the other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ctx_types::internal::{BlockKind, ReasoningState, RequestRules, excerpt};
use ctx_types::{CacheMark, Content, Diagnostic, Message, Role, ToolCall, phrase};
use serde_json::Value;

use super::content::Parts;
use super::homeless::Homeless;
use crate::blocks::{custom_input, fields, lost_fields, put_fields, reasoning_field, result_fields};
use crate::call_ids::CallIds;
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{Json, Object, object};
use crate::reasoning::{self, Echo, Loss, Origin, Reader};
use crate::request::{Options, Request, mark_error};

/// The longest speaker name that the API takes, in characters.
const MAX_NAME: usize = 64;

/// How many fields most messages have.
const USUAL_FIELDS: usize = 3;

/// The reasoning state that chat completions have fields for.
const ORIGINS: [Origin; 3] = [Origin::Details, Origin::Extra, Origin::Gemini];

/// Writes one message after the other.
pub(super) struct Writer<'a, 'f> {
    written: Vec<Json<'a>>,
    /// How many of the given messages were begun.
    begun: usize,
    homeless: Homeless<'a>,
    last: usize,
    /// Where the running turn begins.
    turn: usize,
    ids: CallIds,
    reader: Reader<'f>,
    echo: Echo,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Writer<'a, 'f> {
    pub(super) fn new(
        messages: &[Message],
        request: &Request<'f>,
        options: &Options<'_>,
        found: &'f mut Vec<Diagnostic>,
    ) -> Self {
        let RequestRules { reasoning_state: state, call_ids, .. } = options.rules;
        Self {
            turn: reasoning::running_turn(messages),
            ids: CallIds::new(messages, Dialect::OpenaiChat, call_ids, found),
            reader: Reader { model: request.model, state },
            echo: Echo::new(state, request.parameters),
            written: Vec::with_capacity(messages.len()),
            begun: 0,
            homeless: Homeless::default(),
            last: messages.len().saturating_sub(1),
            found,
        }
    }

    /// Writes a message.
    pub(super) fn add(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        if message.role != Role::Tool {
            self.settle();
        }
        self.begun += 1;
        let first_found = self.found.len();
        let mut map = Object::with_capacity(USUAL_FIELDS);
        map.push("role", message.role.as_str());
        self.put_call_id(message, &mut map);
        self.put_name(message, &mut map);
        let content = self.content(message, mark);
        if !(content.as_str() == Some("") && has_audio(message)) {
            map.push("content", content);
        }
        self.put_reasoning(message, &mut map);
        self.put_calls(message, &mut map);
        self.put_own_fields(message, &mut map);
        self.check_continuation(message);
        if let Some(lost) = lost_fields(message, Dialect::OpenaiChat) {
            self.report(lost);
        }
        if is_dropped(message, &map) {
            let text = phrase!("message {index} is not sent: it has no text", index = self.index());
            self.report(Diagnostic::info(codes::BLANK_NOT_SENT, text));
            for finding in self.found.iter_mut().skip(first_found) {
                finding.location.pointer = Some("/messages".to_owned());
            }
        } else {
            self.written.push(map.into());
        }
        // What follows calls are their results, between which nothing may stand.
        if message.role != Role::Tool && message.tool_calls.is_empty() {
            self.settle();
        }
    }

    /// Returns the messages of the body.
    pub(super) fn finish(mut self) -> Vec<Json<'a>> {
        self.settle();
        self.written
    }

    /// Writes the message of media that had no place where they were, if there are any.
    fn settle(&mut self) {
        self.written.extend(self.homeless.take());
    }

    fn content(&mut self, message: &'a Message, mark: Option<CacheMark>) -> Json<'a> {
        let mut parts = Parts::new(message, self.written.len(), self.found);
        parts.add_all();
        let (mut content, homeless) = parts.finish(mark);
        if message.role == Role::Tool && message.is_error {
            let finding = mark_error(&mut content, "text");
            self.report(finding);
        }
        self.homeless.add(message, homeless);
        content
    }

    fn put_call_id(&mut self, message: &'a Message, map: &mut Object<'a>) {
        let Some(id) = &message.tool_call_id else { return };
        if message.role == Role::Tool {
            map.push("tool_call_id", self.ids.result(self.index(), id));
        } else {
            let text = phrase!(
                "call id `{id}` is not sent: role `{role}` cannot have one",
                id = excerpt(id),
                role = message.role.to_string()
            );
            self.report(Diagnostic::warning(codes::CALLS_NOT_SENT, text));
        }
    }

    fn put_name(&mut self, message: &'a Message, map: &mut Object<'a>) {
        let Some(name) = &message.name else { return };
        if message.role == Role::Tool {
            let text =
                phrase!("name `{name}` is not sent: role `tool` cannot have one", name = excerpt(name));
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text));
        } else if is_valid_name(name) {
            map.push("name", &**name);
        } else {
            let text = phrase!("name `{name}` is not sent", name = excerpt(name));
            let help = phrase!("use 1 to 64 ASCII letters, digits, `_`, and `-`");
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text).with_help(help));
        }
    }

    fn put_calls(&mut self, message: &'a Message, map: &mut Object<'a>) {
        if message.tool_calls.is_empty() {
            return;
        }
        if message.role == Role::Assistant {
            let calls = self.calls(message);
            map.push("tool_calls", calls);
        } else {
            let text = phrase!(
                "its tool calls are not sent: role `{role}` cannot have any",
                role = message.role.to_string()
            );
            let help = phrase!("remove the tool calls; only the assistant can have them");
            self.report(Diagnostic::error(codes::CALLS_NOT_SENT, text).with_help(help));
        }
    }

    /// Returns the index of the current message.
    fn index(&self) -> usize {
        self.begun.saturating_sub(1)
    }

    /// Writes the calls, each with the state that belongs to it.
    fn calls(&mut self, message: &'a Message) -> Json<'a> {
        let extras = self.extras(message);
        let mut calls = Vec::with_capacity(message.tool_calls.len());
        for (position, call) in message.tool_calls.iter().enumerate() {
            let id = self.ids.call(self.index(), position, &call.id);
            let mut written = match custom_input(message, position) {
                Some(input) => write_custom_call(call, id, input),
                None => write_call(call, id),
            };
            if let Some(extra) = extras.get(&Some(position)) {
                written.set("extra_content", extra.clone());
            }
            if let Some(written) = written.as_object_mut() {
                put_fields(written, fields(message, BlockKind::Call, position, Dialect::OpenaiChat));
            }
            calls.push(written);
        }
        let is_unsigned = self.reader.state == ReasoningState::SignatureRequired
            && self.index() >= self.turn
            && !extras.contains_key(&Some(0));
        if let Some(first) = calls.first_mut().filter(|_| is_unsigned) {
            first.set("extra_content", signed(reasoning::SKIPPED_SIGNATURE));
            self.report(reasoning::skipped_signature());
        }
        calls.into()
    }

    /// Returns `extra_content` of the message and its calls, by the position of the call.
    fn extras(&self, message: &'a Message) -> BTreeMap<Option<usize>, Json<'a>> {
        let (own, _) = reasoning::of(message, &[Origin::Extra, Origin::Gemini], self.reader);
        let extra = |artifact: &'a Value| match artifact.get("extra_content") {
            Some(extra) => Some(Json::from(extra)),
            None if self.reader.state.is_signature() => reasoning::signature(artifact).map(signed),
            None => None,
        };
        let by_call = reasoning::by_call(own).into_iter();
        by_call.filter_map(|(call, artifact)| Some((call, extra(artifact)?))).collect()
    }

    /// Writes the reasoning that the model needs; without a reply nothing is left.
    fn put_reasoning(&mut self, message: &'a Message, map: &mut Object<'a>) {
        self.put_reasoning_content(message, map);
        let Some(reasoning) = &message.reasoning else { return };
        let (own, loss) = reasoning::of(message, &ORIGINS, self.reader);
        if let Some(details) = own.iter().find_map(|artifact| artifact.get("details")) {
            map.push("reasoning_details", details);
        }
        if let Some(extra) = self.extras(message).remove(&None) {
            map.push("extra_content", extra);
        }
        let is_blank = message.content.is_blank() && message.tool_calls.is_empty();
        let is_sent = map.get(reasoning_field(message).unwrap_or("reasoning_content")).is_some();
        let is_lost = |artifact: &&Value| {
            artifact.get("thoughtSignature").is_some() && !self.reader.state.is_signature()
        };
        let is_content = self.reader.state.is_content() && reasoning.text.is_some();
        let is_silent = if message.tool_calls.is_empty() || !reasoning::is_foreign_to_chat(message) {
            is_sent || is_content
        } else {
            self.reader.state == ReasoningState::Unknown && is_sent
        };
        match own.iter().any(is_lost).then_some(Loss::Provider).or(loss) {
            None => {}
            // These models need it with tool calls only; of a message of nothing else it is said below.
            Some(Loss::Text) if is_sent || self.reader.state.is_content() || is_blank => {}
            Some(loss @ (Loss::Model | Loss::Text)) => self.report(loss.diagnostic()),
            Some(Loss::Provider) if is_silent => {}
            Some(Loss::Provider) => {
                let text = phrase!("its reasoning state is not sent: this API dialect does not support it");
                self.report(Diagnostic::info(codes::REASONING_NOT_SENT, text));
            }
        }
        if is_blank {
            let text = phrase!("it is sent without text: this API dialect cannot carry its reasoning");
            let help = phrase!("disable the message or add text; some servers reject empty messages");
            self.report(Diagnostic::warning(codes::REASONING_NOT_SENT, text).with_help(help));
        }
    }

    /// Writes `reasoning_content`, or a space if the model requires it and it is missing (as `LiteLLM` does). Reasoning
    /// from a client of this dialect keeps its field.
    fn put_reasoning_content(&mut self, message: &'a Message, map: &mut Object<'a>) {
        let given = message.reasoning.as_ref().and_then(|reasoning| reasoning.text.as_ref());
        if let (Some(field), Some(text)) = (reasoning_field(message), given) {
            return map.push(field, text.as_str());
        }
        let has_calls = !message.tool_calls.is_empty();
        let is_wanted = if has_calls { self.echo.with_calls } else { self.echo.without_calls };
        if message.role != Role::Assistant || !is_wanted {
            return;
        }
        // The state of an unknown server may be that of any model.
        let is_foreign =
            self.reader.state != ReasoningState::Unknown && reasoning::is_foreign_to_chat(message);
        let reasoning = message.reasoning.as_ref().filter(|_| !is_foreign);
        match reasoning.and_then(|reasoning| reasoning.text.as_ref()) {
            Some(text) => map.push("reasoning_content", text.as_str()),
            None if has_calls && self.echo.is_required => {
                map.push("reasoning_content", " ");
                let text = phrase!("the model requires reasoning with tool calls; a space is sent");
                self.report(Diagnostic::info(codes::REASONING_ADDED, text));
            }
            None => {}
        }
    }

    /// Adds what the message has for this dialect alone, unless a field of that name is written already.
    fn put_own_fields(&mut self, message: &'a Message, map: &mut Object<'a>) {
        if message.provider_fields.is_none() {
            return;
        }
        let is_accepted = self.reader.state == ReasoningState::ContentEncrypted;
        let (lost, own): (Vec<_>, Vec<_>) = result_fields(message, Dialect::OpenaiChat)
            .partition(|(name, value)| name == ENCRYPTED_CONTENT && !is_accepted && !value.is_null());
        put_fields(map, own);
        if !lost.is_empty() {
            self.report(Loss::Model.diagnostic());
        }
    }

    fn check_continuation(&mut self, message: &Message) {
        if !message.is_continuation_prefix {
            return;
        }
        let found = if self.begun == self.last + 1 {
            let text = phrase!("the prefill is sent as the last message, without a mark");
            let help = phrase!(
                "check the reply; some servers start a new one, as this API dialect has no prefill mark"
            );
            Diagnostic::info(codes::CONTINUATION, text).with_help(help)
        } else {
            let text = phrase!("the prefill is not the last message; it will not be continued");
            Diagnostic::warning(codes::CONTINUATION, text)
        };
        self.report(found);
    }

    /// Reports a finding about the current message.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}", self.written.len())));
    }
}

/// Returns whether a message had only parts of other API dialects.
fn is_dropped(message: &Message, map: &Object<'_>) -> bool {
    let is_sent = |field: &(Cow<'_, str>, Json<'_>)| !matches!(&*field.0, "role" | "name" | "content");
    let has_parts = matches!(&message.content, Content::Parts(parts) if !parts.is_empty());
    has_parts && map.get("content").and_then(Json::as_str) == Some("") && !map.iter().any(is_sent)
}

fn write_custom_call<'a>(call: &'a ToolCall, id: Cow<'a, str>, input: String) -> Json<'a> {
    let custom = [("name", Json::from(&*call.name)), ("input", input.into())];
    object([("id", id.into()), ("type", "custom".into()), ("custom", object(custom))])
}

fn write_call<'a>(call: &'a ToolCall, id: Cow<'a, str>) -> Json<'a> {
    let function = [("name", Json::from(&*call.name)), ("arguments", call.arguments.as_str().into())];
    object([("id", id.into()), ("type", "function".into()), ("function", object(function))])
}

/// Writes a thought signature as Gemini's chat completions have it.
fn signed(signature: &str) -> Json<'_> {
    object([("google", object([("thought_signature", signature.into())]))])
}

/// Qwen 4's reasoning state, which other models reject.
const ENCRYPTED_CONTENT: &str = "encrypted_content";

/// Returns whether the reply is a recording.
fn has_audio(message: &Message) -> bool {
    message.role == Role::Assistant
        && result_fields(message, Dialect::OpenaiChat)
            .any(|(name, value)| name == "audio" && !value.is_null())
}

fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_valid)
}
