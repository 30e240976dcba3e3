//! A conversation that fits a budget, without an agent.

use std::sync::OnceLock;

use ctx_engine::{Compile, CompiledAgent, Context, Engine, Ports, Switches};
use ctx_processors::internal::ids;
use ctx_types::ports::Deadline;
use ctx_types::{Agent, Message, SourceKind, TurnInput};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::conversation::Conversation;
use crate::ending::Ending;
use crate::error::OperationError;
use crate::given::options;
use crate::messages::{message_to_json, tool_of};

/// What a conversation is fitted with.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct FitOptions {
    budget: Option<u32>,
    model: Option<String>,
    tools: Vec<Value>,
    reserve: u32,
    compress: bool,
}

/// What is sent of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// The message of this number, as it was given.
    Whole(usize),
    /// A message that was written or shortened.
    Written(Box<Value>),
}

/// A conversation that fits.
#[derive(Debug)]
pub struct Fitted {
    /// What is sent, in order.
    pub kept: Vec<Kept>,
    /// How many tokens it costs.
    pub tokens: u64,
    /// How it came about.
    pub context: Context,
}

/// What fits conversations: compiled once for each, since what it counts is kept in it.
#[derive(Debug, Default)]
pub(crate) struct Fitters {
    plain: OnceLock<CompiledAgent>,
    compressing: OnceLock<CompiledAgent>,
}

impl Fitters {
    fn get(&self, compresses: bool) -> &CompiledAgent {
        let cell = if compresses { &self.compressing } else { &self.plain };
        cell.get_or_init(|| {
            // Every message stays by itself, so that those that were given come back.
            let disable =
                [ids::MERGE_SYSTEM_TO_HEAD, ids::MERGE_CONSECUTIVE_ROLES].map(str::to_owned).to_vec();
            let enable = if compresses { vec![ids::REQUEST_COMPRESSOR.to_owned()] } else { Vec::new() };
            let with = Compile::default().with(|compile| compile.switches = Switches { enable, disable });
            Engine::new().compile(&Agent::default(), &with)
        })
    }
}

impl Conversation {
    /// Fits the conversation into a budget: leading instructions and what is being answered stay, of the rest the
    /// newest messages; a call and its results stay or go together.
    ///
    /// Options: `budget` (tokens that messages and tools may cost; the model's window if absent), `model` (whose tokens
    /// are counted; estimated without one), `tools` (definitions, part of the budget), `reserve` (tokens kept free for
    /// the answer; 0 by default), `compress` (write notes in place of what does not fit). Errors: what must stay is more
    /// than the budget, or the `deadline` is over.
    pub fn fit(
        &self,
        given: Map<String, Value>,
        deadline: Option<&dyn Deadline>,
    ) -> Result<Fitted, OperationError> {
        let given: FitOptions = options(given)?;
        let turn = TurnInput::default().with(|turn| {
            turn.context_tokens = given.budget.map(Into::into);
            turn.reserve = Some(given.reserve);
            turn.model = given.model.as_deref().map(Into::into);
            turn.tools = given.tools.iter().map(tool_of).collect();
        });
        let ending = deadline.map(Ending::of);
        let ports = Ports::default().with(|ports| {
            ports.memory = Some(&self.memory);
            ports.cancel = ending.as_ref().map(|ending| &ending.cancel);
            ports.deadline = ending.as_ref().map(|ending| ending as &dyn Deadline);
        });
        let assembly = self.fitters.get(given.compress).assemble_with(&self.session, &turn, ports);
        let context = pollster::block_on(assembly)?;
        let kept = context.messages.iter().map(|message| self.kept(message)).collect();
        let tokens = context.tokens().into_iter().map(u64::from).sum();
        Ok(Fitted { kept, tokens, context })
    }

    fn kept(&self, message: &Message) -> Kept {
        self.whole(message).map_or_else(|| Kept::Written(Box::new(message_to_json(message))), Kept::Whole)
    }

    /// The number of a message that is sent as it was given.
    fn whole(&self, message: &Message) -> Option<usize> {
        let id = message.source.id.as_deref().filter(|_| message.source.kind == SourceKind::History)?;
        let node = self.session.node(id)?;
        let own = node.to_message(&id.into());
        let is_same = own.role == message.role
            && own.content == message.content
            && own.tool_calls == message.tool_calls
            && own.tool_call_id == message.tool_call_id;
        self.number(id).filter(|_| is_same)
    }
}

impl Fitted {
    /// Writes the messages, the numbers of those that are as they were given (null for others), their tokens, and the
    /// report.
    pub fn to_json(&self) -> Value {
        let numbers = self.kept.iter().map(|kept| match kept {
            Kept::Whole(number) => json!(number),
            Kept::Written(_) => Value::Null,
        });
        json!({
            "messages": self.context.messages.iter().map(message_to_json).collect::<Vec<_>>(),
            "numbers": numbers.collect::<Vec<_>>(),
            "tokens": self.tokens,
            "report": self.context.report,
        })
    }
}
