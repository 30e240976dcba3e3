//! Items: messages, calls, results and reasoning, one after the other.

use ctx_types::{BlockKind, CacheMark, Content, Diagnostic, Message, RequestRules, Role, phrase};
use serde_json::{Map, Value};

use super::content::{Parts, Side, output_text};
use crate::blocks::{arrange, fields, lost_fields, put_fields};
use crate::call_ids::CallIds;
use crate::codes;
use crate::dialect::Dialect;
use crate::json::{Json, object};
use crate::reasoning::{self, Origin, Reader};
use crate::request::mark_error;

/// Writes one message after the other.
pub(super) struct Items<'a, 'f> {
    written: Vec<Json<'a>>,
    index: usize,
    last: usize,
    ids: CallIds,
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
        let reader = Reader { model, state: rules.reasoning_state };
        Self { written, index: 0, last: messages.len().saturating_sub(1), ids, reader, found }
    }

    /// Writes the items of a message.
    pub(super) fn add(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        match message.role {
            Role::Assistant => self.add_answer(message),
            Role::Tool => self.add_result(message, mark),
            _ => self.add_message(message, mark),
        }
        self.check_rest(message, mark);
        self.index += 1;
    }

    /// Returns the list.
    pub(super) fn finish(self) -> Json<'a> {
        self.written.into()
    }

    fn add_message(&mut self, message: &'a Message, mark: Option<CacheMark>) {
        let content = self.input(message, mark);
        let role = message.role.as_str();
        self.written.push(object([("type", "message".into()), ("role", role.into()), ("content", content)]));
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
        let has_words = !content.is_empty() || message.tool_calls.is_empty();
        // In an order of its own, or with as many known items, each part is an item.
        let is_split = message.block_order.is_some() || known.len() > 1 && known.len() == content.len();
        let items = match (has_words, is_split) {
            (true, true) => content.into_iter().map(|part| vec![part]).collect(),
            (true, false) => vec![content],
            (false, _) => Vec::new(),
        };
        let is_single = items.len() == 1;
        let items = items.into_iter().enumerate().map(|(number, content)| {
            let known = if is_single { known.last() } else { known.get(number) };
            Some(self.output(known.and_then(|item| item.as_object()), number, content))
        });
        let items = items.collect();
        let calls = message.tool_calls.iter().enumerate().map(|(position, call)| {
            let mut item = object([
                ("type", "function_call".into()),
                ("call_id", self.ids.call(self.index, position, &call.id).into()),
                ("name", (&*call.name).into()),
                ("arguments", call.arguments.as_str().into()),
            ]);
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
            self.written.push(object([
                ("type", "message".into()),
                ("role", "user".into()),
                ("content", homeless.into()),
            ]));
        }
    }

    /// An earlier answer: an item as the API returned it, with its own id if that is known.
    fn output(
        &self,
        known: Option<&'a Map<String, Value>>,
        number: usize,
        mut content: Vec<Json<'a>>,
    ) -> Json<'a> {
        if content.is_empty() {
            content.push(output_text(""));
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
            ("status", "completed".into()),
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
        self.written.push(object([
            ("type", "function_call_output".into()),
            ("call_id", self.ids.result(self.index, id).into()),
            ("output", output),
        ]));
        if let Some(finding) = marked {
            self.report(finding);
        }
    }

    /// Reports what a message has beside its words and calls, for all of which the dialect has no field.
    fn check_rest(&mut self, message: &Message, mark: Option<CacheMark>) {
        if let Some(lost) = lost_fields(message, Dialect::OpenaiResponses) {
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
