//! Contents: adjacent messages of the user or of the model.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::{BlockKind, ReasoningState, excerpt};
use ctx_types::{Content, ContentPart, Diagnostic, Message, Role, ToolCall, phrase};
use serde_json::Value;

use super::part;
use crate::blocks::{
    arrange, fields, has_added_id, is_from, is_separate, lost_fields, lost_fields_in_place, message_fields,
    not_sent, put_fields, refusal, result_fields,
};
use crate::call_ids::CallIds;
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{Field, Json, Object, object};
use crate::media::Media;
use crate::reasoning::{self, Origin, Reader};
use crate::request::{OPENING, Options, nothing_loaded};

/// Builds the list of contents. Adjacent messages of one role become one content.
pub(super) struct Contents<'a, 'f> {
    messages: &'a [Message],
    /// Names of called tools by call id.
    names: BTreeMap<Cow<'a, str>, &'a str>,
    /// Ids that were added to Gemini's calls without ids.
    added_ids: BTreeSet<Cow<'a, str>>,
    sides: Vec<Side<'a>>,
    /// Media of assistant messages, for the next user content.
    homeless: Vec<Json<'a>>,
    index: usize,
    /// Start of the running turn.
    turn: usize,
    ids: CallIds,
    reader: Reader<'f>,
    found: &'f mut Vec<Diagnostic>,
}

struct Side<'a> {
    role: &'static str,
    parts: Vec<Json<'a>>,
    /// Further fields of a client of this dialect.
    fields: Vec<Field<'a>>,
    /// Whether the next message is not joined with it.
    is_closed: bool,
}

impl<'a, 'f> Contents<'a, 'f> {
    pub(super) fn new(
        messages: &'a [Message],
        model: &'f str,
        options: &'f Options<'f>,
        found: &'f mut Vec<Diagnostic>,
    ) -> Self {
        Self {
            messages,
            names: BTreeMap::new(),
            added_ids: BTreeSet::new(),
            sides: Vec::new(),
            homeless: Vec::new(),
            index: 0,
            turn: reasoning::running_turn(messages),
            ids: CallIds::new(messages, Dialect::Gemini, options.rules.call_ids, found),
            reader: Reader { model, state: options.rules.reasoning_state },
            found,
        }
    }

    /// Adds a message of the context.
    pub(super) fn add(&mut self, index: usize) {
        let Some(message) = self.messages.get(index) else { return };
        self.index = index;
        let first_homeless = self.homeless.len();
        let parts = match message.role {
            Role::System | Role::Developer => return self.add_instruction(message),
            Role::Assistant => self.answer(message),
            Role::Tool => vec![self.result(message)],
            _ => self.content(message),
        };
        if parts.is_empty() && self.homeless.len() == first_homeless {
            let text = phrase!("message {index} is not sent: it has no text", index);
            self.report(Diagnostic::info(codes::BLANK_NOT_SENT, text));
        }
        self.check_rest(message);
        if is_separate(message)
            && let Some(side) = self.sides.last_mut()
        {
            side.is_closed = true;
        }
        let role = if message.role == Role::Assistant { "model" } else { "user" };
        self.push(role, parts, message_fields(message, Dialect::Gemini));
    }

    /// Returns the contents, and the instruction with the first `leading` messages.
    pub(super) fn finish(mut self, leading: usize) -> (Json<'a>, Option<Json<'a>>) {
        let (mut instructions, mut own) = (Vec::new(), Vec::new());
        for (index, message) in self.messages.iter().enumerate().take(leading) {
            self.index = index;
            self.check_fields(message);
            own.extend(message_fields(message, Dialect::Gemini));
            let is_own = is_from(message, Dialect::Gemini);
            let parts = self.content(message);
            let (words, media): (Vec<Json<'_>>, Vec<Json<'_>>) =
                parts.into_iter().partition(|part| is_own || part.get("text").is_some());
            instructions.extend(words);
            self.put_first(media);
        }
        if !self.homeless.is_empty() {
            self.push("user", Vec::new(), Vec::new());
        }
        self.open();
        let contents = self.sides.into_iter().map(Side::into_json).collect();
        let instruction = (!instructions.is_empty())
            .then(|| with_fields(object([("parts", instructions.into())]), own.into_iter()));
        (contents, instruction)
    }

    /// Inserts a user message before a leading tool call.
    fn open(&mut self) {
        let is_call = |side: &Side<'_>| side.parts.iter().any(|part| part.get("functionCall").is_some());
        if self.sides.first().is_some_and(|side| side.role == "model" && is_call(side)) {
            let text =
                phrase!("the API rejects a leading assistant message; a user message is inserted before it");
            self.found.push(Diagnostic::info(codes::MESSAGE_MOVED, text).at_pointer("/contents/0"));
            self.sides.insert(0, Side::of_user(vec![text_part(OPENING)]));
        }
    }

    /// Moves media of the leading system messages to the first user content: `systemInstruction` accepts only text.
    fn put_first(&mut self, media: Vec<Json<'a>>) {
        if media.is_empty() {
            return;
        }
        match self.sides.first_mut().filter(|side| side.role == "user") {
            Some(side) => drop(side.parts.splice(..0, media)),
            None => self.sides.insert(0, Side::of_user(media)),
        }
    }

    fn add_instruction(&mut self, message: &'a Message) {
        if let Some(lost) = lost_fields(message, Dialect::Gemini) {
            self.report(lost);
        }
        let text = message.text();
        let mut media = self.content(message);
        media.retain(|part| part.get("text").is_none());
        if text.trim().is_empty() && media.is_empty() {
            let text = phrase!("message {index} is not sent: it has no text", index = self.index);
            self.report(Diagnostic::info(codes::BLANK_NOT_SENT, text));
            return;
        }
        let found =
            phrase!("a system message in the conversation is sent as a user message in `<system>` tags");
        self.report(Diagnostic::info(codes::MESSAGE_MOVED, found));
        media.insert(0, text_part(format!("<system>\n{text}\n</system>")));
        self.push("user", media, Vec::new());
    }

    /// Adds a message, or joins it with the previous content.
    fn push(&mut self, role: &'static str, mut parts: Vec<Json<'a>>, fields: Vec<Field<'a>>) {
        if role == "user" && !self.homeless.is_empty() {
            parts.splice(..0, self.homeless.drain(..));
        }
        match self.sides.last_mut() {
            Some(side) if side.role == role && side.may_have(&fields) => {
                side.parts.extend(parts);
                side.fields = fields;
            }
            _ if parts.is_empty() => {}
            _ => self.sides.push(Side { role, parts, fields, is_closed: false }),
        }
    }

    /// Writes a reply: its parts in the model's order, each with its thought signature.
    fn answer(&mut self, message: &'a Message) -> Vec<Json<'a>> {
        let Thoughts { whole, signatures } = self.thoughts(message);
        let mut content = self.parts(message);
        let mut files = self.attachments(message);
        self.put_media_aside(message, &mut content, &mut files);
        for (index, part) in content.iter_mut().enumerate() {
            if let (Some(part), Some(signature)) = (part, signatures.get(&PartPlace::Content(index))) {
                put_signature(part, signature);
            }
        }
        if let Some(signature) = signatures.get(&PartPlace::Unknown) {
            let is_text = |part: &&mut Json<'_>| part.get("text").is_some();
            if let Some(last) = content.iter_mut().flatten().rfind(is_text) {
                put_signature(last, signature);
            } else {
                // A signature can be in a part with an empty text, and is returned unchanged.
                let mut empty = text_part("");
                put_signature(&mut empty, signature);
                content.push(Some(empty));
            }
        }
        let mut calls = Vec::with_capacity(message.tool_calls.len());
        for (position, call) in message.tool_calls.iter().enumerate() {
            let id = self.ids.call(self.index, position, &call.id);
            self.names.insert(id.clone(), &call.name);
            let id = if has_added_id(message, position) {
                self.added_ids.insert(id);
                Cow::Borrowed("")
            } else {
                id
            };
            let part = self.call(call, id);
            let fields = fields(message, BlockKind::Call, position, Dialect::Gemini);
            let mut part = with_fields(part, fields);
            let signature = signatures.get(&PartPlace::Call(position)).copied();
            let is_skipped = self.reader.state == ReasoningState::SignatureRequired
                && self.index >= self.turn
                && position == 0
                && signature.is_none();
            if is_skipped {
                self.report(reasoning::skipped_signature());
            }
            if let Some(signature) = signature.or(is_skipped.then_some(reasoning::SKIPPED_SIGNATURE)) {
                put_signature(&mut part, signature);
            }
            calls.push(Some(part));
        }
        arrange(message, whole, content, calls)
    }

    /// Moves media out of a reply, except media that Gemini generates.
    fn put_media_aside(
        &mut self,
        message: &Message,
        content: &mut [Option<Json<'a>>],
        files: &mut Vec<Json<'a>>,
    ) {
        let given = if let Content::Parts(parts) = &message.content { parts.as_slice() } else { &[] };
        let is_own = |index: usize| match given.get(index) {
            Some(ContentPart::Other(part)) => is_from(message, Dialect::Gemini) || part::is_own(part),
            _ => false,
        };
        let foreign = content.iter_mut().enumerate().filter(|(index, _)| !is_own(*index));
        let foreign = foreign.filter_map(|(_, part)| part.take_if(|part| part.get("text").is_none()));
        let media: Vec<Json<'_>> = foreign.chain(files.drain(..)).collect();
        if !media.is_empty() {
            let text =
                phrase!("assistant messages cannot have media; they are sent with the next user message");
            self.report(Diagnostic::info(codes::MESSAGE_MOVED, text));
            self.homeless.extend(media);
        }
    }

    /// Returns a response's thoughts. The first signature of each part is used.
    fn thoughts(&mut self, message: &'a Message) -> Thoughts<'a> {
        let (own, loss) = reasoning::of(message, &[Origin::Gemini], self.reader);
        if let Some(loss) = loss {
            self.report(loss.diagnostic());
        }
        let mut thoughts = Thoughts::default();
        for artifact in own {
            if artifact.get("text").is_some() {
                thoughts.whole.push(Some(artifact.into()));
            } else if let Some(signature) = reasoning::signature(artifact) {
                thoughts.signatures.entry(PartPlace::new(artifact)).or_insert(signature);
            }
        }
        thoughts
    }

    fn call(&mut self, call: &'a ToolCall, id: Cow<'a, str>) -> Json<'a> {
        let args: Option<Value> = serde_json::from_str(&call.arguments).ok();
        let wrapped = || {
            let text = phrase!(
                "arguments of call `{call}` are not a JSON object; they are wrapped in one",
                call = excerpt(&call.id)
            );
            self.report(Diagnostic::warning(codes::ARGUMENTS, text));
            object([("arguments", call.arguments.as_str().into())])
        };
        let args = args.filter(Value::is_object).map_or_else(wrapped, Json::from);
        let mut function = Object::default();
        if !id.is_empty() {
            function.push("id", id);
        }
        function.push("name", &*call.name);
        function.push("args", args);
        object([("functionCall", function.into())])
    }

    /// Writes a tool result: the name of the called function, and an object.
    fn result(&mut self, message: &'a Message) -> Json<'a> {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let id = self.ids.result(self.index, id);
        let name = self.names.get(&id).copied().or(message.name.as_deref()).unwrap_or_default();
        let is_sent = !id.is_empty() && !self.added_ids.contains(&id);
        let text = message.text();
        let response: Option<Value> = serde_json::from_str(&text).ok();
        let response = response.filter(Value::is_object).map(Json::from);
        let response = match response {
            Some(response) if !message.is_error || response.get("error").is_some() => response,
            Some(response) => object([("error", response)]),
            None => object([(if message.is_error { "error" } else { "output" }, text.into())]),
        };
        let mut function = Object::default();
        if is_sent {
            function.push("id", id);
        }
        function.push("name", name);
        function.push("response", response);
        let mut media = self.content(message);
        media.retain(|part| part.get("text").is_none());
        if !media.is_empty() {
            function.push("parts", media);
        }
        let part = object([("functionResponse", function.into())]);
        with_fields(part, result_fields(message, Dialect::Gemini))
    }

    /// Writes the text and media of a message.
    fn content(&mut self, message: &'a Message) -> Vec<Json<'a>> {
        let mut written: Vec<Json<'_>> = self.parts(message).into_iter().flatten().collect();
        written.extend(self.attachments(message));
        written
    }

    /// Writes each part of the content; `None` for a blank or rejected part.
    fn parts(&mut self, message: &'a Message) -> Vec<Option<Json<'a>>> {
        let text = |text: &'a str| (!text.trim().is_empty()).then(|| text_part(text));
        match &message.content {
            Content::Text(words) => vec![text(words)],
            Content::Parts(parts) => parts
                .iter()
                .enumerate()
                .map(|(index, part)| match part {
                    ContentPart::Text(words) => {
                        let fields = fields(message, BlockKind::Content, index, Dialect::Gemini);
                        text(words).map(|part| with_fields(part, fields))
                    }
                    ContentPart::Other(part) if is_from(message, Dialect::Gemini) => {
                        Some(Json::from(&**part))
                    }
                    ContentPart::Other(part) => self.part(part),
                })
                .collect(),
        }
    }

    fn attachments(&mut self, message: &'a Message) -> Vec<Json<'a>> {
        let mut written = Vec::new();
        for file in &message.attachments {
            match Media::of_attachment(file) {
                Some(media) => written.extend(self.medium(&media)),
                None => self.report(nothing_loaded(file)),
            }
        }
        written
    }

    fn part(&mut self, value: &'a Value) -> Option<Json<'a>> {
        if part::is_own(value) {
            return Some(value.into());
        }
        if let Some(text) = refusal(value) {
            return (!text.trim().is_empty()).then(|| text_part(text));
        }
        let Some(media) = Media::of_part(value) else {
            self.report(not_sent(value));
            return None;
        };
        self.medium(&media)
    }

    fn medium(&mut self, media: &Media<'a>) -> Option<Json<'a>> {
        let part = part::of_media(media);
        if part.is_none() {
            let text = phrase!(
                "{label} is not sent: this API dialect does not accept its type",
                label = media.label()
            );
            self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
        }
        part
    }

    fn check_fields(&mut self, message: &Message) {
        if let Some(lost) = lost_fields_in_place(message, Dialect::Gemini) {
            self.report(lost);
        }
    }

    fn check_rest(&mut self, message: &Message) {
        self.check_fields(message);
        if message.role != Role::Assistant && !message.tool_calls.is_empty() {
            let text = phrase!(
                "its tool calls are not sent: role `{role}` cannot have any",
                role = message.role.to_string()
            );
            self.report(Diagnostic::error(codes::CALLS_NOT_SENT, text));
        }
        if message.role != Role::Tool && message.name.is_some() {
            let text = phrase!("its name is not sent: this API dialect does not support names");
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text));
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}", self.index)));
    }
}

/// Thoughts and signatures of a reply.
#[derive(Default)]
struct Thoughts<'a> {
    /// Separate thought parts.
    whole: Vec<Option<Json<'a>>>,
    /// Signatures by part.
    signatures: BTreeMap<PartPlace, &'a str>,
}

/// The part with a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PartPlace {
    Call(usize),
    Content(usize),
    Unknown,
}

impl PartPlace {
    fn new(artifact: &Value) -> Self {
        let call = reasoning::call_of(artifact).map(Self::Call);
        call.or_else(|| reasoning::part_of(artifact).map(Self::Content)).unwrap_or(Self::Unknown)
    }
}

impl<'a> Side<'a> {
    fn of_user(parts: Vec<Json<'a>>) -> Self {
        Self { role: "user", parts, fields: Vec::new(), is_closed: false }
    }

    /// Returns whether a message with these fields can be joined with the content. A message has its fields in its last
    /// part, after its tool results.
    fn may_have(&self, fields: &[Field<'a>]) -> bool {
        let is_result = |part: &Json<'_>| part.get("functionResponse").is_some();
        let is_one = self.fields == fields || self.fields.is_empty() && self.parts.iter().all(is_result);
        !self.is_closed && is_one
    }

    /// Writes tool results first, directly after the calls.
    fn into_json(mut self) -> Json<'a> {
        let is_user = self.role == "user";
        if is_user && self.parts.len() > 1 {
            self.parts.sort_by_key(|part| u8::from(part.get("functionResponse").is_none()));
        }
        with_fields(
            object([("role", self.role.into()), ("parts", self.parts.into())]),
            self.fields.into_iter(),
        )
    }
}

fn text_part<'a>(text: impl Into<Json<'a>>) -> Json<'a> {
    object([("text", text.into())])
}

fn with_fields<'a>(mut part: Json<'a>, fields: impl Iterator<Item = Field<'a>>) -> Json<'a> {
    if let Some(part) = part.as_object_mut() {
        put_fields(part, fields);
    }
    part
}

fn put_signature<'a>(part: &mut Json<'a>, signature: &'a str) {
    part.set("thoughtSignature", signature);
}
