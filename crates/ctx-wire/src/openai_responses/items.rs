//! Items: messages, calls, results and reasoning, one after the other.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ctx_types::internal::{BlockKind, RequestRules};
use ctx_types::{CacheMark, Content, Diagnostic, Message, Role, phrase};
use serde_json::{Map, Value};

use super::content::{Parts, Side};
use crate::blocks::{
    arrange, custom_input, fields, is_instructions, item_type, lost_fields, lost_fields_in_place, put_fields,
    result_fields,
};
use crate::call_ids::CallIds;
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{self, Json, Object, object};
use crate::reasoning::{self, Origin, Reader};
use crate::request::mark_error;

/// Writes one message after the other.
pub(super) struct Items<'a, 'f> {
    written: Vec<Json<'a>>,
    instructions: Option<Json<'a>>,
    index: usize,
    last: usize,
    ids: CallIds,
    /// The ids of calls of custom tools.
    custom: BTreeSet<Arc<str>>,
    reader: Reader<'f>,
    found: &'f mut Vec<Diagnostic>,
}

impl<'a, 'f> Items<'a, 'f> {
    pub(super) fn new(
        messages: &[Message],
        model: &'f str,
        rules: RequestRules,
        found: &'f mut Vec<Diagnostic>,
    ) -> Self {
        let written = Vec::with_capacity(messages.len());
        let ids = CallIds::new(messages, Dialect::OpenaiResponses, rules.call_ids, found);
        let calls = messages.iter().flat_map(|message| {
            let calls = message.tool_calls.iter().enumerate();
            calls.filter_map(|(position, call)| Some((custom_input(message, position)?, call)))
        });
        let custom = calls.map(|(_, call)| call.id.clone()).collect();
        let reader = Reader { model, state: rules.reasoning_state };
        let last = messages.len().saturating_sub(1);
        Self { written, instructions: None, index: 0, last, ids, custom, reader, found }
    }

    /// Writes the items of a message.
    pub(super) fn add(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        match message.role {
            Role::System if self.instructions.is_none() && is_instructions(message) && mark.is_none() => {
                self.instructions = Some(message.text().into());
            }
            Role::Assistant => self.add_answer(message),
            Role::Tool => self.add_result(message, mark),
            _ => self.add_message(message, mark),
        }
        self.check_rest(message, mark);
        self.index += 1;
    }

    /// Returns the instructions of a client, and the list.
    pub(super) fn finish(self) -> (Option<Json<'a>>, Json<'a>) {
        (self.instructions, self.written.into())
    }

    fn add_message(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        let content = self.input(message, mark);
        if content.as_str() == Some("")
            && matches!(&message.content, Content::Parts(parts) if !parts.is_empty())
        {
            let text = phrase!("message {index} is not sent: it has no text", index = self.index);
            self.found.push(Diagnostic::info(codes::BLANK_NOT_SENT, text).at_pointer("/input"));
            return;
        }
        let mut item = Object::default();
        if let Some(kind) = item_type(message) {
            item.push("type", kind);
        }
        item.push("role", message.role.as_str());
        item.push("content", content);
        put_fields(&mut item, result_fields(message, Dialect::OpenaiResponses));
        self.written.push(item.into());
    }

    /// The content of what goes in; most is nothing but text.
    fn input(&mut self, message: &'a Message, mark: Option<CacheMark>) -> Json<'a> {
        match &message.content {
            Content::Text(text) if mark.is_none() && message.attachments.is_empty() => text.as_str().into(),
            _ => Parts::of(message, Side::Input, self.index, self.found).finish(mark),
        }
    }

    /// Reasoning, words and calls in the order in which the model made them.
    fn add_answer(&mut self, message: &'a Message) {
        let (own, loss) = reasoning::of(message, &[Origin::Responses], self.reader);
        let is_message = |artifact: &&Value| artifact.get("type").is_some_and(|kind| kind == "message");
        let (known, reasoning): (Vec<&Value>, Vec<&Value>) = own.into_iter().partition(is_message);
        if let Some(loss) = loss {
            // About what is written next.
            let next = self.written.len() + reasoning.len();
            self.found.push(loss.diagnostic().at_pointer(format!("/input/{next}")));
        }
        let (content, homeless) = Parts::of(message, Side::Output, self.index, self.found).into_lists();
        let items = self.outputs(message, &known, content, !reasoning.is_empty());
        let calls = message.tool_calls.iter().enumerate().map(|(position, call)| {
            let id = self.ids.call(self.index, position, &call.id).into();
            let custom = custom_input(message, position);
            let (kind, key) = match custom {
                Some(_) => ("custom_tool_call", "input"),
                None => ("function_call", "arguments"),
            };
            let input = custom.map_or_else(|| call.arguments.as_str().into(), Json::from);
            let name = ("name", (&*call.name).into());
            let mut item = object([("type", kind.into()), ("call_id", id), name, (key, input)]);
            if let Some(item) = item.as_object_mut() {
                put_fields(item, fields(message, BlockKind::Call, position, Dialect::OpenaiResponses));
            }
            Some(item)
        });
        let reasoning = reasoning.into_iter().map(|item| Some(item.into())).collect();
        self.written.append(&mut arrange(message, reasoning, items, calls.collect()));
        if !homeless.is_empty() {
            let text =
                phrase!("assistant messages cannot have media; they are sent in the following user message");
            self.report(Diagnostic::info(codes::MESSAGE_MOVED, text));
            self.written.push(object([("role", "user".into()), ("content", homeless.into())]));
        }
    }

    /// Returns the item of each part of a reply's content; parts of one message are in the item of the first.
    fn outputs(
        &self,
        message: &Message,
        known: &[&'a Value],
        content: Vec<Option<Json<'a>>>,
        has_reasoning: bool,
    ) -> Vec<Option<Json<'a>>> {
        // The known messages are in the order of their parts.
        let owner = |index: usize| {
            let after = known.partition_point(|item| parts_of(item).start <= index);
            after.checked_sub(1).filter(|owner| parts_of(known[*owner]).contains(&index))
        };
        let is_item = |index: usize, part: &Json<'_>| {
            let kind = part.get("type").and_then(Json::as_str);
            !matches!(kind, Some("output_text" | "refusal")) && owner(index).is_none()
        };
        let parts = content.iter().enumerate();
        let texts =
            parts.filter_map(|(index, part)| part.as_ref().filter(|part| !is_item(index, part))).count();
        // In an order of its own, or with as many known items, each part is an item.
        let is_split = message.block_order.is_some() || known.len() > 1 && known.len() == texts;
        let mut items: Vec<Option<Json<'_>>> = Vec::with_capacity(content.len());
        // The words of each message, with the known item that they are of and the place of their item.
        let mut messages: Vec<(Option<usize>, usize, Vec<Json<'_>>)> = Vec::new();
        let mut is_open = false;
        for (index, part) in content.into_iter().enumerate() {
            let Some(part) = part else {
                items.push(None);
                continue;
            };
            if is_item(index, &part) {
                items.push(Some(part));
                is_open = false;
                continue;
            }
            let owner = owner(index);
            match messages.last_mut() {
                Some((open, _, parts)) if is_open && *open == owner && (owner.is_some() || !is_split) => {
                    parts.push(part);
                }
                _ => messages.push((owner, index, vec![part])),
            }
            is_open = true;
            items.push(None);
        }
        let is_nothing = items.iter().all(Option::is_none) && messages.is_empty();
        // Reasoning needs an item after it.
        if is_nothing && message.tool_calls.is_empty() && (items.is_empty() || has_reasoning) {
            messages.push((None, items.len(), Vec::new()));
            items.push(None);
        }
        let is_single = messages.len() == 1;
        for (number, (owner, place, parts)) in messages.into_iter().enumerate() {
            let known = match owner {
                Some(owner) => known.get(owner),
                None if is_single => known.last(),
                None => known.get(number).filter(|item| parts_of(item).is_empty()),
            };
            let known = known.and_then(|item| item.as_object());
            items[place] = Some(self.output(known, number, parts));
        }
        items
    }

    /// An earlier answer: an item as a client sent it, or as the API returned it, with its own id if that is known.
    fn output(
        &self,
        known: Option<&'a Map<String, Value>>,
        number: usize,
        mut content: Vec<Json<'a>>,
    ) -> Json<'a> {
        if let Some((known, form)) = known.and_then(|known| Some((known, known.get("form")?.as_str()?))) {
            let content = match content.as_mut_slice() {
                [] if form == "text" => "".into(),
                [part] if form == "text" => part.take_field("text"),
                _ => content.into(),
            };
            let mut item = Object::default();
            // The API calls messages without a type easy.
            if !known.contains_key("easy") {
                item.push("type", "message");
            }
            item.push("role", "assistant");
            item.push("content", content);
            let is_field = |key: &str| !matches!(key, "type" | "easy" | "form" | "part" | "parts");
            put_fields(&mut item, json::fields(known).filter(|(key, _)| is_field(key)));
            return item.into();
        }
        if content.is_empty() {
            let no_annotations = ("annotations", Vec::new().into());
            content.push(object([("type", "output_text".into()), ("text", "".into()), no_annotations]));
        }
        let id = known.and_then(|item| item.get("id")).map(Json::from);
        let own = || match number {
            0 => format!("msg_{}", self.index),
            number => format!("msg_{}_{number}", self.index),
        };
        let id = id.unwrap_or_else(|| own().into());
        let mut item = object([
            ("type", "message".into()),
            ("id", id),
            ("role", "assistant".into()),
            (
                "status",
                known.and_then(|item| item.get("status")).map_or_else(|| "completed".into(), Json::from),
            ),
            ("content", content.into()),
        ]);
        if let Some(phase) = known.and_then(|item| item.get("phase")) {
            item.set("phase", phase);
        }
        item
    }

    fn add_result(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let mut output = self.input(message, mark);
        let marked = message.is_error.then(|| mark_error(&mut output, "input_text"));
        // The call may be in an earlier request.
        let is_custom = self.custom.contains(id)
            || result_fields(message, Dialect::OpenaiResponses).any(|(key, _)| key == "type");
        let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
        let mut item = object([
            ("type", kind.into()),
            ("call_id", self.ids.result(self.index, id).into()),
            ("output", output),
        ]);
        if let Some(item) = item.as_object_mut() {
            put_fields(item, result_fields(message, Dialect::OpenaiResponses));
        }
        self.written.push(item);
        if let Some(finding) = marked {
            self.report(finding);
        }
    }

    /// Reports what a message has beside its words and calls, for all of which the dialect has no field.
    fn check_rest(&mut self, message: &Message, mark: Option<CacheMark>) {
        let lost = if message.role == Role::Assistant {
            lost_fields(message, Dialect::OpenaiResponses)
        } else {
            lost_fields_in_place(message, Dialect::OpenaiResponses)
        };
        if let Some(lost) = lost {
            self.report(lost);
        }
        if message.role != Role::Assistant && !message.tool_calls.is_empty() {
            let text = phrase!(
                "its tool calls are not sent: role `{role}` cannot have any",
                role = message.role.to_string()
            );
            self.report(Diagnostic::error(codes::CALLS_NOT_SENT, text));
        }
        if message.name.is_some() {
            let text = phrase!("its name is not sent: this API dialect does not support names");
            self.report(Diagnostic::info(codes::NAME_NOT_SENT, text));
        }
        if message.role == Role::Assistant && mark.is_some() {
            let text = phrase!("its cache mark is not sent: replies cannot have one in this API dialect");
            self.report(Diagnostic::info(codes::CACHE_MARK, text));
        }
        if message.is_continuation_prefix && self.index == self.last {
            let text = phrase!("the prefill is sent as the last message, without a mark");
            let help = phrase!("expect a new reply; this API dialect has no prefill mark");
            self.report(Diagnostic::info(codes::CONTINUATION, text).with_help(help));
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let place = format!("/input/{}", self.written.len().saturating_sub(1));
        self.found.push(diagnostic.at_pointer(place));
    }
}

/// Returns the parts of a reply's content that a known message has; none if that is not known.
fn parts_of(known: &Value) -> Range<usize> {
    let number =
        |key: &str| known.get(key).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
    let first = number("part").unwrap_or_default();
    first..first.saturating_add(number("parts").unwrap_or_default())
}
