//! The one list of operations.

use ctx_engine::Engine;
use ctx_engine::inspect::{Comparison, SavedContext};
use serde_json::{Map, Value, json};

use crate::agent::{AGENT_OPTIONS, Agent};
use crate::conversation::Conversation;
use crate::error::OperationError;
use crate::given::{finish, need, take};
use crate::{files, plan, texts_operations, wire};

/// Something that a program may ask for: an object of options in, a value out.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The name by which it is called.
    pub name: &'static str,
    /// What it does, in one sentence, with its options.
    pub about: &'static str,
    run: fn(Map<String, Value>) -> Result<Value, OperationError>,
}

/// All operations.
pub const OPERATIONS: &[Operation] = &[
    Operation { name: "operations", about: "Lists the operations.", run: operations },
    Operation {
        name: "compile",
        about: "Compiles an agent and reports diagnostics. For the options, see `Agent::compile`.",
        run: compile,
    },
    Operation {
        name: "assemble",
        about: "Assembles the context of a turn. Takes the options of `compile`, a `conversation`, and the options of `Agent::assemble`.",
        run: assemble,
    },
    Operation {
        name: "explain",
        about: "Explains a context, or traces one `message`. Also takes the options of `assemble`.",
        run: explain,
    },
    Operation {
        name: "diff",
        about: "Compares `first` with `second`: two contexts, or two agents that are assembled with the other options.",
        run: diff,
    },
    Operation {
        name: "fit",
        about: "Fits `conversation` into `budget` tokens. For the options, see `Conversation::fit`.",
        run: fit,
    },
    Operation {
        name: "plan",
        about: "Chooses which `messages` of a growing conversation to send within `budget` tokens; removes old ones in large steps, for the prompt cache. Takes `model`, `tools`, `reserve`, `low`, `pinned`, `recall`, and the `state` of the call before.",
        run: plan::plan,
    },
    Operation {
        name: "check",
        about: "Detects the type of `document` and reports diagnostics with their positions.",
        run: files::check,
    },
    Operation {
        name: "import",
        about: "Converts `files` of other applications to an agent, worldbooks, and conversations. `format` sets their format.",
        run: files::import,
    },
    Operation {
        name: "export",
        about: "Exports `agent` and its `worldbooks` to the format `to`: `st-preset`, `st-card`, `st-regex`, or `aio`.",
        run: files::export,
    },
    Operation {
        name: "migrate",
        about: "Migrates an old `document` to the current form and reports the changes.",
        run: files::migrate,
    },
    Operation {
        name: "macros.expand",
        about: "Expands the macros in `text`. Takes an `environment`, a macro syntax (`dialect`), a time (`at`, `tz`), and a `seed`.",
        run: texts_operations::expand,
    },
    Operation {
        name: "macros.list",
        about: "Lists the macros of a macro syntax (`dialect`).",
        run: texts_operations::macros,
    },
    Operation {
        name: "worldbook.scan",
        about: "Reports the entries of `worldbooks` that a `conversation` activates. Also takes the options of `assemble`.",
        run: texts_operations::scan,
    },
    Operation {
        name: "compress",
        about: "Fits `conversation` into `budget` tokens with digests. Takes `strategy`, `model`, `loopStart`, and `plan` (returns no messages).",
        run: texts_operations::compress,
    },
    Operation {
        name: "recall",
        about: "Finds the passages of `conversation` about `query`, within `budget` tokens of `model`. `branches` includes other branches.",
        run: texts_operations::recall,
    },
    Operation {
        name: "count",
        about: "Counts the tokens of `text`, or of each message of `conversation`, for `model`.",
        run: texts_operations::count,
    },
    Operation {
        name: "model",
        about: "Describes a `model`: its tokenizer and context window. `models` adds custom models.",
        run: texts_operations::model,
    },
    Operation {
        name: "encode",
        about: "Encodes `messages` as a request body for `model` in an API `dialect`. Takes `tools`, `parameters`, and `template`.",
        run: wire::encode,
    },
    Operation {
        name: "decode",
        about: "Decodes `body`, a complete response in an API `dialect`.",
        run: wire::decode,
    },
    Operation {
        name: "stream.read",
        about: "Decodes `events`, the data of the events of a streaming response in an API `dialect`.",
        run: wire::read_stream,
    },
    Operation {
        name: "lint",
        about: "Reports the problems that make a provider reject `body`, a request in an API `dialect` (detected if missing).",
        run: wire::lint,
    },
    Operation {
        name: "schemas",
        about: "Returns the JSON Schema `name`. Without `name`, lists all schemas.",
        run: files::schemas,
    },
];

/// Carries out an operation.
///
/// Errors: there is none of this name, the input is no object, an option is wrong, or a document cannot be read.
pub fn call(name: &str, input: Value) -> Result<Value, OperationError> {
    let found = OPERATIONS.iter().find(|operation| operation.name == name);
    let operation = found.ok_or_else(|| {
        let names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
        OperationError::usage(format!("unknown operation `{name}`; use one of {}", names.join(", ")))
    })?;
    match input {
        Value::Object(input) => (operation.run)(input),
        _ => Err(OperationError::usage("the input of an operation must be an object")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "every operation takes its options")]
fn operations(input: Map<String, Value>) -> Result<Value, OperationError> {
    finish(&input)?;
    Ok(OPERATIONS
        .iter()
        .map(|operation| json!({ "name": operation.name, "about": operation.about }))
        .collect())
}

fn compile(input: Map<String, Value>) -> Result<Value, OperationError> {
    Ok(Agent::compile(Engine::new(), input)?.to_json())
}

/// Takes the agent and the conversation out of the options; what is left is about the turn.
pub(crate) fn parts(
    engine: Engine,
    input: &mut Map<String, Value>,
) -> Result<(Agent, Conversation), OperationError> {
    let agent = Agent::compile(engine, take(input, &AGENT_OPTIONS))?;
    let conversation = input.shift_remove("conversation");
    let conversation = conversation.map(|given| Conversation::of_given(&given)).transpose()?;
    Ok((agent, conversation.unwrap_or_default()))
}

fn assemble(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let (agent, conversation) = parts(Engine::new(), &mut input)?;
    agent.assemble(&conversation, input, None)
}

fn explain(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let (agent, conversation) = parts(Engine::new(), &mut input)?;
    agent.explain(&conversation, input, None)
}

fn fit(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let conversation = Conversation::of_given(&need(&mut input, "conversation")?)?;
    Ok(conversation.fit(input, None)?.to_json())
}

fn diff(mut input: Map<String, Value>) -> Result<Value, OperationError> {
    let sides = [need(&mut input, "first")?, need(&mut input, "second")?];
    // Options are about agents: where none is assembled, none is taken.
    if sides.iter().all(|side| SavedContext::read(side).is_some()) {
        finish(&input)?;
    }
    let context = |side: Value| {
        if let Some(saved) = SavedContext::read(&side) {
            return Ok(saved);
        }
        let mut input = input.clone();
        input.insert("agent".to_owned(), side);
        let made = assemble(input)?;
        SavedContext::read(&made).ok_or_else(|| OperationError::usage("the agent has no context"))
    };
    let [first, second] = sides.map(context);
    Ok(json!(Comparison::new(&first?, &second?)))
}
