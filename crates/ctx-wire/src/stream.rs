//! Answers that come in pieces.

mod halves;

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::internal::{BlockKind, BlockOrder, excerpt};
use ctx_types::{Diagnostic, Phrase, Reasoning, Text, ToolCall, phrase};
use serde_json::{Value, json};

use crate::codes;
use crate::dialect::Dialect;
use crate::failure::Failure;
use crate::reply::{CallIds, Finish, Reply, ReplyUsage};
use crate::{anthropic, completion, gemini, openai_chat, openai_responses};
use halves::Halves;

/// What one answer may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyLimits {
    /// Bytes of text, reasoning and arguments together; 8 MiB by default.
    pub bytes: usize,
    /// Tool calls; 128 by default.
    pub calls: usize,
}

impl ReplyLimits {
    /// Returns whether an answer is within the limits.
    ///
    /// Errors: [`StreamError::TooLarge`].
    pub fn check(&self, reply: &Reply) -> Result<(), StreamError> {
        let reasoning = reply.reasoning.as_ref();
        let thought = reasoning.and_then(|reasoning| reasoning.text.as_ref()).map_or(0, |text| text.len());
        let artifacts = reasoning.map_or(&[][..], |reasoning| &reasoning.artifacts);
        let kept: usize = artifacts.iter().map(|artifact| len(artifact)).sum();
        let calls =
            reply.tool_calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len());
        self.check_figures(reply.text.len() + thought + kept + calls.sum::<usize>(), reply.tool_calls.len())
    }

    fn check_figures(&self, bytes: usize, calls: usize) -> Result<(), StreamError> {
        let too_large = |limit: String| Err(StreamError::TooLarge { limit });
        if bytes > self.bytes {
            return too_large(format!("{} bytes", self.bytes));
        }
        if calls > self.calls {
            return too_large(format!("{} tool calls", self.calls));
        }
        Ok(())
    }
}

/// About how many bytes of JSON a value takes.
fn len(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(list) => list.iter().map(|item| len(item) + 1).sum::<usize>() + 2,
        Value::Object(map) => map.iter().map(|(key, item)| key.len() + len(item) + 4).sum::<usize>() + 2,
    }
}

impl Default for ReplyLimits {
    fn default() -> Self {
        Self { bytes: 8 << 20, calls: 128 }
    }
}

/// Something that came with a piece, for whoever watches.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// Words of the answer.
    Text(String),
    /// Words of the reasoning.
    Reasoning(String),
    /// A call begins; `index` tells the calls of one answer apart.
    Call {
        /// The place of the call among the calls of the answer, from 0.
        index: usize,
        /// The id that the call has in the answer; one is made where the provider gives none, or one that is taken.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the JSON text of a call's arguments.
    Arguments {
        /// The place of the call, as in [`Delta::Call`].
        index: usize,
        /// The piece.
        text: String,
    },
}

/// Why a stream gave no whole answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum StreamError {
    /// A piece is not JSON, or not of the dialect.
    Malformed {
        /// The piece, shortened.
        excerpt: String,
    },
    /// The provider reported an error in the middle.
    Provider(Failure),
    /// The answer is larger than what the caller takes.
    TooLarge {
        /// The limit that was reached, in words.
        limit: String,
    },
    /// The stream ended before the answer did.
    Truncated,
}

impl StreamError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Malformed { excerpt } => {
                phrase!("invalid chunk in the stream: `{excerpt}`", excerpt)
            }
            Self::Provider(error) => {
                phrase!("the provider reported an error: {error}", error = error.phrase())
            }
            Self::TooLarge { limit } => phrase!("the reply is larger than {limit}", limit),
            Self::Truncated => phrase!("the stream ended before the reply was complete"),
        }
    }
}

/// Puts an answer together from the pieces of a stream.
///
/// It takes the data of server-sent events, one after the other; to cut the bytes into events is the
/// transport's work. Whatever happens, [`ReplyStream::partial`] has what came so far.
///
/// ```
/// use ctx_wire::{Delta, Dialect, ReplyLimits, ReplyStream};
///
/// let mut stream = ReplyStream::new(Dialect::OpenaiChat, ReplyLimits::default());
/// let deltas = stream.push(r#"{"choices":[{"delta":{"content":"Hi"}}]}"#)?;
/// assert_eq!(deltas, [Delta::Text("Hi".into())]);
/// stream.push(r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#)?;
/// stream.push("[DONE]")?;
/// assert_eq!(stream.finish()?.text, "Hi");
/// # Ok::<(), ctx_wire::StreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReplyStream {
    dialect: Dialect,
    limits: ReplyLimits,
    building: Building,
}

impl ReplyStream {
    /// Starts with nothing.
    pub fn new(dialect: Dialect, limits: ReplyLimits) -> Self {
        Self { dialect, limits, building: Building::default() }
    }

    /// Takes the data of the next event and returns what it brought; comments and pings bring nothing.
    pub fn push(&mut self, data: &str) -> Result<Vec<Delta>, StreamError> {
        let data = data.trim();
        if data.is_empty() || self.building.is_done {
            return Ok(Vec::new());
        }
        if data == "[DONE]" {
            self.building.is_done = true;
            return Ok(Vec::new());
        }
        let malformed = || StreamError::Malformed { excerpt: excerpt(data).into_owned() };
        let value: Value = serde_json::from_str(data)
            .or_else(|error| match self.building.halves.join(data) {
                Some(joined) => serde_json::from_str(&joined),
                None => Err(error),
            })
            .map_err(|_| malformed())?;
        if !value.is_object() {
            return Err(malformed());
        }
        if let Some(failure) = Failure::within(&value) {
            return Err(StreamError::Provider(failure));
        }
        let deltas = match self.dialect {
            Dialect::OpenaiChat => openai_chat::stream::read(&value, &mut self.building),
            Dialect::OpenaiResponses => openai_responses::stream::read(&value, &mut self.building),
            Dialect::Anthropic => anthropic::stream::read(&value, &mut self.building),
            Dialect::Gemini => gemini::stream::read(&value, &mut self.building),
            Dialect::Completion => completion::stream::read(&value, &mut self.building),
        };
        if let Some(failure) = self.building.failure.take() {
            return Err(StreamError::Provider(failure));
        }
        self.limits.check_figures(self.building.bytes, self.building.calls.len())?;
        Ok(deltas)
    }

    /// Returns whether the provider said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.building.is_done
    }

    /// Returns whether the provider said why the answer ended; counts may still follow.
    pub fn is_complete(&self) -> bool {
        self.building.finish.is_some()
    }

    /// Returns whether anything of the answer has come; from then on a request must not be sent again.
    pub fn has_begun(&self) -> bool {
        self.building.bytes > 0 || !self.building.calls.is_empty()
    }

    /// Returns what came so far, as an answer that was cut off.
    pub fn partial(&self) -> Reply {
        let mut reply = self.built().into_reply();
        if self.building.finish.is_none() {
            reply.finish = Finish::Other("interrupted".to_owned());
        }
        reply
    }

    /// Returns the answer; an error if the provider never said why it ended.
    pub fn finish(self) -> Result<Reply, StreamError> {
        if self.building.finish.is_none() {
            return Err(StreamError::Truncated);
        }
        let built = self.built();
        self.limits.check_figures(built.bytes, built.calls.len())?;
        Ok(built.into_reply())
    }

    fn built(&self) -> Building {
        let mut building = self.building.clone();
        if self.dialect == Dialect::Completion {
            building.take_written_calls();
        }
        building
    }
}

/// An answer while it is put together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Building {
    pub(crate) id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: Option<ReplyUsage>,
    pub(crate) is_done: bool,
    /// Why the provider broke off, if the last piece says so.
    pub(crate) failure: Option<Failure>,
    text: String,
    /// Where in the text each block of text begins.
    text_starts: Vec<usize>,
    /// What each block is, where the dialect has blocks.
    kinds: Vec<BlockKind>,
    reasoning: String,
    /// Signed reasoning by the place of its block.
    thoughts: BTreeMap<u64, Thought>,
    /// Further state that goes back, as it goes back.
    artifacts: Vec<Value>,
    /// The items of `reasoning_details`.
    details: Vec<Value>,
    /// Calls in the order in which they began.
    calls: Vec<Call>,
    /// The latest call of each of the provider's numbers.
    places: BTreeMap<u64, usize>,
    ids: CallIds,
    /// What was odd about ids.
    findings: Vec<Diagnostic>,
    bytes: usize,
    /// Characters of which one half came.
    halves: Halves,
}

#[derive(Clone, Debug, Default)]
struct Call {
    /// The id that the provider gives it, if it does.
    given: String,
    /// The id that it has, once whoever watches knows of the call.
    id: Option<String>,
    name: String,
    arguments: String,
}

/// A block of reasoning as the provider began it, and what came after.
#[derive(Clone, Debug)]
struct Thought {
    block: Value,
    thinking: String,
    signature: String,
}

impl Building {
    /// Begins a block. A text that follows a text belongs to the same block.
    pub(crate) fn begin_block(&mut self, kind: BlockKind) {
        if kind == BlockKind::Content {
            if self.kinds.last() == Some(&kind) {
                return;
            }
            self.text_starts.push(self.text.len());
        }
        self.kinds.push(kind);
    }

    pub(crate) fn add_text(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.bytes += text.len();
            self.text += text;
            deltas.push(Delta::Text(text.to_owned()));
        }
    }

    pub(crate) fn add_reasoning(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.bytes += text.len();
            self.reasoning += text;
            deltas.push(Delta::Reasoning(text.to_owned()));
        }
    }

    /// Notes the id and name of a call, as far as a piece has them. Another id with a name under the same number is
    /// another call: some servers number all calls alike.
    pub(crate) fn open_call(&mut self, number: u64, id: &str, name: &str, deltas: &mut Vec<Delta>) {
        let mut index = self.index_of(number);
        let known = &self.calls[index].given;
        if !name.is_empty() && !id.is_empty() && !known.is_empty() && known != id {
            index = self.add_call(number);
        }
        let call = &mut self.calls[index];
        if call.given.is_empty() {
            self.bytes += id.len();
            id.clone_into(&mut call.given);
        }
        if !name.is_empty() && call.name.is_empty() {
            self.bytes += name.len();
            name.clone_into(&mut call.name);
            self.tell_call(index, deltas);
        }
    }

    /// Tells of a call, whose id is settled from now on, and of what has come of its arguments.
    fn tell_call(&mut self, index: usize, deltas: &mut Vec<Delta>) {
        let call = &mut self.calls[index];
        let (id, finding) = self.ids.settle(index, &call.given);
        self.findings.extend(finding);
        call.id = Some(id.clone());
        deltas.push(Delta::Call { index, id, name: call.name.clone() });
        if !call.arguments.is_empty() {
            deltas.push(Delta::Arguments { index, text: call.arguments.clone() });
        }
    }

    /// Adds to the arguments of a call; those that come before its name are told with it.
    pub(crate) fn add_arguments(&mut self, number: u64, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            let index = self.index_of(number);
            self.bytes += text.len();
            let call = &mut self.calls[index];
            call.arguments += text;
            if call.id.is_some() {
                deltas.push(Delta::Arguments { index, text: text.to_owned() });
            }
        }
    }

    /// Returns whether a call has begun.
    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Returns how many calls have begun.
    pub(crate) fn call_count(&self) -> usize {
        self.calls.len()
    }

    /// Returns whether anything of the arguments of a call has come.
    pub(crate) fn has_arguments(&self, number: u64) -> bool {
        self.places.get(&number).is_some_and(|index| !self.calls[*index].arguments.is_empty())
    }

    /// Adds state that the provider wants back unchanged.
    pub(crate) fn add_artifact(&mut self, artifact: Value) {
        self.bytes += artifact.to_string().len();
        self.artifacts.push(artifact);
    }

    /// Adds state that belongs to a call.
    pub(crate) fn add_call_state(&mut self, number: u64, extra: &Value) {
        let call = self.index_of(number);
        self.add_artifact(json!({ "call": call, "extra_content": extra }));
    }

    /// Adds an item of `reasoning_details`, or the next piece of the last one: pieces of one item have one index.
    pub(crate) fn add_detail(&mut self, detail: &Value) {
        self.bytes += len(detail);
        let is_same = |last: &&mut Value| {
            let is_equal = |key: &str| last.get(key) == detail.get(key);
            detail.get("index").is_some() && is_equal("index") && is_equal("type")
        };
        let last = self.details.last_mut().filter(is_same).and_then(Value::as_object_mut);
        let (Some(last), Some(pieces)) = (last, detail.as_object()) else {
            self.details.push(detail.clone());
            return;
        };
        for (key, piece) in pieces.iter().filter(|(_, piece)| !piece.is_null()) {
            match (last.get_mut(key), piece) {
                (Some(Value::String(text)), Value::String(piece))
                    if matches!(key.as_str(), "text" | "summary" | "data") =>
                {
                    text.push_str(piece);
                }
                (Some(former), piece) => *former = piece.clone(),
                (None, piece) => {
                    last.insert(key.clone(), piece.clone());
                }
            }
        }
    }

    /// Begins a block of reasoning that the provider wants back unchanged.
    pub(crate) fn open_thought(&mut self, number: u64, block: &Value) {
        self.bytes += block.to_string().len();
        self.thought(number).block = block.clone();
    }

    /// Adds to the words and the signature of a block of reasoning.
    pub(crate) fn add_thought(&mut self, number: u64, thinking: &str, signature: &str) {
        self.bytes += signature.len();
        let thought = self.thought(number);
        thought.thinking += thinking;
        thought.signature += signature;
    }

    fn thought(&mut self, number: u64) -> &mut Thought {
        self.thoughts.entry(number).or_insert_with(|| Thought {
            block: serde_json::json!({ "type": "thinking", "thinking": "" }),
            thinking: String::new(),
            signature: String::new(),
        })
    }

    fn index_of(&mut self, number: u64) -> usize {
        let known = self.places.get(&number).copied();
        known.unwrap_or_else(|| self.add_call(number))
    }

    fn add_call(&mut self, number: u64) -> usize {
        let index = self.calls.len();
        self.calls.push(Call::default());
        self.places.insert(number, index);
        index
    }

    /// Takes calls out of the words that were written as text.
    pub(crate) fn take_written_calls(&mut self) {
        let (words, calls) = completion::take_calls(&self.text);
        if calls.is_empty() {
            return;
        }
        self.text = words;
        let calls = calls.into_iter().map(|(name, arguments)| Call { name, arguments, ..Call::default() });
        self.calls.extend(calls);
        if self.finish == Some(Finish::Stop) {
            self.finish = Some(Finish::ToolCalls);
        }
    }

    pub(crate) fn into_reply(mut self) -> Reply {
        let thoughts = self.thoughts.into_values().map(Thought::into_block);
        let details = (!self.details.is_empty())
            .then(|| json!({ "type": "reasoning_details", "details": self.details }));
        let artifacts = thoughts.chain(self.artifacts).chain(details).map(Arc::new).collect();
        let block_order = BlockOrder::new(self.kinds);
        let ends = self.text_starts.iter().skip(1).copied().chain([self.text.len()]);
        let blocks = self.text_starts.iter().zip(ends).filter_map(|(start, end)| self.text.get(*start..end));
        let is_split = block_order.is_some() && self.text_starts.len() > 1;
        let text_blocks = if is_split { blocks.map(Text::from).collect() } else { Vec::new() };
        let mut reply = Reply {
            id: self.id,
            model: self.model,
            text_blocks,
            block_order,
            text: self.text.into(),
            reasoning: reasoning(&self.reasoning, artifacts),
            finish: self.finish.unwrap_or_default(),
            usage: self.usage,
            diagnostics: self.halves.finding().into_iter().collect(),
            ..Reply::default()
        };
        for (index, call) in self.calls.into_iter().enumerate() {
            let id = call.id.unwrap_or_else(|| {
                let (id, finding) = self.ids.settle(index, &call.given);
                self.findings.extend(finding);
                id
            });
            push_call(&mut reply, &id, &call.name, call.arguments);
        }
        reply.diagnostics.extend(self.findings);
        reply
    }
}

impl Thought {
    fn into_block(self) -> Value {
        let mut block = self.block;
        for (key, added) in [("thinking", self.thinking), ("signature", self.signature)] {
            let before = block.get(key).and_then(Value::as_str).unwrap_or_default();
            let joined = format!("{before}{added}");
            if !added.is_empty()
                && let Some(fields) = block.as_object_mut()
            {
                fields.insert(key.to_owned(), Value::from(joined));
            }
        }
        block
    }
}

/// Returns reasoning if there is any.
pub(crate) fn reasoning(text: &str, artifacts: Vec<Arc<Value>>) -> Option<Reasoning> {
    let text = (!text.is_empty()).then(|| Text::from(text));
    (text.is_some() || !artifacts.is_empty()).then_some(Reasoning { text, artifacts, model: None })
}

/// How many calls a whole reply may have at all; callers usually allow far fewer.
const MOST_CALLS: usize = 4_096;

/// Checks that a whole reply has no more calls than anybody means.
pub(crate) fn check_count(calls: usize) -> Result<(), Failure> {
    if calls > MOST_CALLS {
        Err(Failure::unreadable(format!("the body has more than {MOST_CALLS} tool calls")))
    } else {
        Ok(())
    }
}

/// Adds a call to a reply; blank arguments mean none, and are written as an empty object.
pub(crate) fn push_call(reply: &mut Reply, id: &str, name: &str, arguments: String) {
    let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
    if name.is_empty() {
        let text = phrase!("call {index} of the reply has no tool name", index = reply.tool_calls.len());
        reply.diagnostics.push(Diagnostic::warning(codes::REPLY_REPAIRED, text));
    }
    reply.tool_calls.push(ToolCall { id: id.into(), name: name.into(), arguments: arguments.into() });
}
