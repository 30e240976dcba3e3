//! The content blocks of one message.

use ctx_types::internal::{BlockKind, PartOwner, ReasoningState, excerpt};
use ctx_types::{Content, ContentPart, Diagnostic, MediaKind, Message, Role, ToolCall, phrase};
use serde_json::Value;

use super::{is_of, system, whole};
use crate::Dialect;
use crate::blocks::{
    arrange, fields, is_from, lost_fields, lost_fields_in_place, not_sent, put_fields, refusal, result_fields,
};
use crate::call_ids::CallIds;
use crate::codes;
use crate::json::{Field, Json, object};
use crate::media::{Data, Media, takes};
use crate::reasoning::{self, Loss, Origin, Reader};
use crate::request::nothing_loaded;

/// What the messages of a request have in common.
pub(super) struct Context<'f> {
    pub(super) ids: CallIds,
    pub(super) reader: Reader<'f>,
}

/// Writes the blocks of a message and reports what has none.
pub(super) struct Blocks<'a, 'f> {
    index: usize,
    context: &'f Context<'f>,
    written: Vec<Json<'a>>,
    homeless: Vec<Json<'a>>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Blocks<'a, 'f> {
    /// Starts for the message at a place of the context.
    pub(super) fn new(index: usize, context: &'f Context<'f>, found: &'f mut Vec<Diagnostic>) -> Self {
        Self { index, context, written: Vec::new(), homeless: Vec::new(), found }
    }

    /// Adds what a message of the user, the assistant or a tool says and calls.
    pub(super) fn add(&mut self, message: &'a Message) {
        if let Some(lost) = lost_fields_in_place(message, Dialect::Anthropic) {
            self.report(lost);
        }
        if message.role == Role::Tool {
            self.add_result(message);
        } else {
            self.add_words(message);
        }
        self.check_blank();
    }

    /// Adds the words of a system message, as the user's if they are to be wrapped; its files follow.
    pub(super) fn add_instruction(&mut self, message: &'a Message, is_wrapped: bool) {
        let lost = if is_wrapped {
            lost_fields(message, Dialect::Anthropic)
        } else {
            lost_fields_in_place(message, Dialect::Anthropic)
        };
        if let Some(lost) = lost {
            self.report(lost);
        }
        let text = message.text();
        if !is_wrapped {
            self.written.extend(system::texts(message));
        } else if !text.trim().is_empty() {
            let last = message.block_fields.iter().rfind(|given| given.kind == BlockKind::Content);
            let last = last.map_or(0, |given| given.index);
            let fields = fields(message, BlockKind::Content, last, Dialect::Anthropic);
            self.written.push(with_fields(format!("<system>\n{text}\n</system>").into(), fields));
        }
        if is_wrapped {
            let media = self.media_of(message);
            self.written.extend(media);
        } else {
            self.put_media_aside(message);
        }
        self.check_blank();
    }

    /// Adds the media of a leading system message to those that need another place.
    pub(super) fn add_files(&mut self, message: &'a Message) {
        if let Some(lost) = lost_fields(message, Dialect::Anthropic) {
            self.report(lost);
        }
        self.put_media_aside(message);
    }

    /// Puts the media of a system message aside. Those of a client of this dialect stay in their place.
    fn put_media_aside(&mut self, message: &'a Message) {
        let is_own = is_from(message, Dialect::Anthropic);
        let media = if is_own { self.attachments(message) } else { self.media_of(message) };
        self.put_aside(message.role, media);
    }

    /// Returns the blocks, and those that need another place.
    pub(super) fn finish(self) -> (Vec<Json<'a>>, Vec<Json<'a>>) {
        (self.written, self.homeless)
    }

    fn check_blank(&mut self) {
        if self.written.is_empty() && self.homeless.is_empty() {
            let text = phrase!("message {index} is not sent: it has no text", index = self.index);
            self.report(Diagnostic::info(codes::BLANK_NOT_SENT, text));
        }
    }

    fn add_words(&mut self, message: &'a Message) {
        let reasoning = self.reasoning(message);
        let mut content = self.content(message);
        let files = self.attachments(message);
        if message.role == Role::Assistant && !is_from(message, Dialect::Anthropic) {
            // The assistant has words alone.
            let is_medium = |block: &mut Json<'_>| is_of(block, "image") || is_of(block, "document");
            let media = content.iter_mut().filter_map(|block| block.take_if(is_medium));
            let media = media.chain(files).collect();
            self.put_aside(message.role, media);
        } else {
            content.extend(files.into_iter().map(Some));
        }
        let calls = self.calls(message);
        self.written.append(&mut arrange(message, reasoning, content, calls));
        if message.name.is_some() {
            let text = phrase!("its name is not sent: this API dialect does not support names");
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text));
        }
    }

    fn calls(&mut self, message: &'a Message) -> Vec<Option<Json<'a>>> {
        if message.role == Role::Assistant {
            let calls = message.tool_calls.iter().enumerate();
            let write = |(position, call): (usize, &'a ToolCall)| {
                let block = self.call(position, call);
                let fields = fields(message, BlockKind::Call, position, Dialect::Anthropic);
                Some(with_fields(block, fields))
            };
            return calls.map(write).collect();
        }
        if !message.tool_calls.is_empty() {
            let text = phrase!(
                "its tool calls are not sent: role `{role}` cannot have any",
                role = message.role.to_string()
            );
            self.report(Diagnostic::error(codes::CALLS_NOT_SENT, text));
        }
        Vec::new()
    }

    /// Reasoning is replayed as it came. Claude rejects unsigned reasoning, other models want it back.
    fn reasoning(&mut self, message: &'a Message) -> Vec<Option<Json<'a>>> {
        let (own, loss) = reasoning::of(message, &[Origin::Anthropic], self.context.reader);
        if let Some(loss) = loss {
            self.report(loss.diagnostic());
        }
        let is_claude = self.context.reader.state == ReasoningState::Thinking;
        let is_signed = |block: &Value| {
            let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
            !text("signature").is_empty() || !text("data").is_empty()
        };
        if is_claude && !own.iter().all(|block| is_signed(block)) {
            self.report(Loss::Text.diagnostic());
        }
        own.into_iter().map(|block| (!is_claude || is_signed(block)).then(|| block.into())).collect()
    }

    fn add_result(&mut self, message: &'a Message) {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let mut blocks: Vec<Json<'_>> = self.content(message).into_iter().flatten().collect();
        blocks.extend(self.attachments(message));
        let content = match blocks.as_mut_slice() {
            [] if !is_from(message, Dialect::Anthropic) => "".into(),
            [text @ Json::Text(_)] => text.take(),
            _ => blocks.into_iter().map(whole).collect(),
        };
        let mut block = object([
            ("type", "tool_result".into()),
            ("tool_use_id", self.context.ids.result(self.index, id).into()),
            ("content", content),
        ]);
        if message.is_error {
            block.set("is_error", true);
        }
        let block = with_fields(block, result_fields(message, Dialect::Anthropic));
        self.written.push(block);
    }

    /// The media of a message, from its parts and its files.
    fn media_of(&mut self, message: &'a Message) -> Vec<Json<'a>> {
        let mut blocks: Vec<Json<'_>> = self.content(message).into_iter().flatten().collect();
        blocks.retain(|block| !is_of(block, "text"));
        blocks.extend(self.attachments(message));
        blocks
    }

    fn attachments(&mut self, message: &'a Message) -> Vec<Json<'a>> {
        let files = message.attachments.iter();
        let blocks = files.filter_map(|file| {
            if let Some(media) = Media::of_attachment(file) {
                return self.medium(&media);
            }
            self.report(nothing_loaded(file));
            None
        });
        blocks.collect()
    }

    /// Writes each part; `None` for one that is blank or not accepted. A list of a client of this dialect stays one.
    fn content(&mut self, message: &'a Message) -> Vec<Option<Json<'a>>> {
        let is_own = is_from(message, Dialect::Anthropic);
        let text = |text: &'a str| {
            let block = Json::from(text);
            (!text.trim().is_empty()).then(|| if is_own { whole(block) } else { block })
        };
        match &message.content {
            Content::Text(words) => vec![text(words)],
            Content::Parts(parts) => parts
                .iter()
                .enumerate()
                .map(|(index, part)| match part {
                    ContentPart::Text(words) => {
                        let fields = fields(message, BlockKind::Content, index, Dialect::Anthropic);
                        text(words).map(|block| with_fields(block, fields))
                    }
                    ContentPart::Other(part) if is_own => Some(Json::from(&**part)),
                    ContentPart::Other(part) => self.part(part),
                })
                .collect(),
        }
    }

    /// A medium of another dialect becomes a block of this one; its own blocks stay as they are.
    fn part(&mut self, part: &'a Value) -> Option<Json<'a>> {
        let kind = part.get("type").and_then(Value::as_str);
        let is_medium = part.get("source").is_some() && matches!(kind, Some("image" | "document"));
        if is_medium || PartOwner::of(part) == PartOwner::Anthropic {
            return Some(part.into());
        }
        if let Some(text) = refusal(part) {
            return (!text.trim().is_empty()).then(|| text.into());
        }
        let Some(media) = Media::of_part(part) else {
            self.report(not_sent(part));
            return None;
        };
        self.medium(&media)
    }

    /// Writes a medium, or reports that this dialect has no block for it.
    fn medium(&mut self, media: &Media<'a>) -> Option<Json<'a>> {
        let block = block(media);
        if block.is_none() {
            let text =
                phrase!("{label} is not sent: this API dialect does not support it", label = media.label());
            self.report(Diagnostic::error(codes::ATTACHMENT_NOT_SENT, text));
        }
        block
    }

    fn put_aside(&mut self, role: Role, media: Vec<Json<'a>>) {
        if !media.is_empty() {
            let text = phrase!(
                "role `{role}` cannot have media; they are sent with the next user message",
                role = role.to_string()
            );
            self.report(Diagnostic::info(codes::MESSAGE_MOVED, text));
            self.homeless.extend(media);
        }
    }

    /// The API wants an object; other arguments are wrapped, so that nothing of them is lost.
    fn call(&mut self, position: usize, call: &'a ToolCall) -> Json<'a> {
        let input: Option<Value> = serde_json::from_str(&call.arguments).ok();
        let wrapped = || {
            let text = phrase!(
                "arguments of call `{call}` are not a JSON object; they are wrapped in one",
                call = excerpt(&call.id)
            );
            self.report(Diagnostic::warning(codes::ARGUMENTS, text));
            object([("arguments", call.arguments.as_str().into())])
        };
        let input = input.filter(Value::is_object).map_or_else(wrapped, Json::from);
        object([
            ("type", "tool_use".into()),
            ("id", self.context.ids.call(self.index, position, &call.id).into()),
            ("name", (&*call.name).into()),
            ("input", input),
        ])
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic.at_pointer(format!("/messages/{}", self.index)));
    }
}

/// Adds fields to a block.
pub(super) fn with_fields<'a>(block: Json<'a>, fields: impl Iterator<Item = Field<'a>>) -> Json<'a> {
    let mut fields = fields.peekable();
    if fields.peek().is_none() {
        return block;
    }
    let mut block = whole(block);
    if let Some(block) = block.as_object_mut() {
        put_fields(block, fields);
    }
    block
}

/// Writes a medium as a block: pictures, PDF and plain text have one.
fn block<'a>(media: &Media<'a>) -> Option<Json<'a>> {
    if !takes(Dialect::Anthropic, &media.mime_type) {
        return None;
    }
    if let Some(text) = media.text() {
        let source = [("type", "text".into()), ("media_type", "text/plain".into()), ("data", text.into())];
        return Some(document(media, object(source)));
    }
    let source = match &media.data {
        Data::Url(url) => object([("type", "url".into()), ("url", (*url).into())]),
        // An id of this provider stands in a block of its own.
        Data::FileId(_) => return None,
        _ => object([
            ("type", "base64".into()),
            ("media_type", media.mime_type.clone().into()),
            ("data", media.base64()?),
        ]),
    };
    match media.kind {
        MediaKind::Image => Some(object([("type", "image".into()), ("source", source)])),
        MediaKind::Document if media.mime_type == "application/pdf" => Some(document(media, source)),
        _ => None,
    }
}

fn document<'a>(media: &Media<'a>, source: Json<'a>) -> Json<'a> {
    let mut block = object([("type", "document".into()), ("source", source)]);
    if !media.name.is_empty() {
        block.set("title", media.name);
    }
    block
}
