//! The one list of operations.

use ctx_engine::Engine;
use ctx_engine::inspect::{Comparison, SavedContext};
use serde_json::{Map, Value, json};

use crate::agent::{AGENT_OPTIONS, Agent};
use crate::conversation::Conversation;
use crate::error::OperationError;
use crate::given::{finish, need, take};
use crate::{files, texts_operations, wire};

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
        about: "Compiles an agent and tells what is wrong with it; `Agent::compile` has its options.",
        run: compile,
    },
    Operation {
        name: "assemble",
        about: "Makes the context of a turn: the options of `compile`, `conversation`, and those of `Agent::assemble`.",
        run: assemble,
    },
    Operation {
        name: "explain",
        about: "Explains a context, or the life of its `message`; other options are those of `assemble`.",
        run: explain,
    },
    Operation {
        name: "diff",
        about: "Compares `first` with `second`: contexts, or agents that are assembled with the other options.",
        run: diff,
    },
    Operation {
        name: "fit",
        about: "Fits `conversation` into `budget` tokens; `Conversation::fit` has its options.",
        run: fit,
    },
    Operation {
        name: "check",
        about: "Tells what `document` is and what is wrong with it, each finding with its place.",
        run: files::check,
    },
    Operation {
        name: "import",
        about: "Makes an agent, worldbooks and conversations of `files` of other applications; `format` names theirs.",
        run: files::import,
    },
    Operation {
        name: "export",
        about: "Writes `agent` as `to`: `st-preset`, `st-card`, `st-regex` or `aio`, with its `worldbooks`.",
        run: files::export,
    },
    Operation {
        name: "migrate",
        about: "Writes old spellings of `document` as today's, and tells what changes.",
        run: files::migrate,
    },
    Operation {
        name: "macros.expand",
        about: "Expands the macros of `text` in an `environment`, in a `dialect`, `at` a time in `tz`, with `seed`.",
        run: texts_operations::expand,
    },
    Operation {
        name: "macros.list",
        about: "Lists the macros of a `dialect`.",
        run: texts_operations::macros,
    },
    Operation {
        name: "worldbook.scan",
        about: "Tells which entries of `worldbooks` a `conversation` activates; other options are those of `assemble`.",
        run: texts_operations::scan,
    },
    Operation {
        name: "compress",
        about: "Fits `conversation` into `budget` tokens with notes; `strategy`, `model`, `loopStart`, `plan` (no messages).",
        run: texts_operations::compress,
    },
    Operation {
        name: "recall",
        about: "Finds what `conversation` says about `query`, in `budget` tokens of `model`, with other `branches` if asked.",
        run: texts_operations::recall,
    },
    Operation {
        name: "count",
        about: "Counts the tokens of `text`, or of each message of `conversation`, as `model` does.",
        run: texts_operations::count,
    },
    Operation {
        name: "model",
        about: "Tells what is known about a `model`: whose encoding it has, and its window; `models` may know more.",
        run: texts_operations::model,
    },
    Operation {
        name: "encode",
        about: "Writes `messages` as the request body of a `dialect` for `model`, with `tools`, `parameters`, `template`.",
        run: wire::encode,
    },
    Operation { name: "decode", about: "Reads `body`, a whole reply in a `dialect`.", run: wire::decode },
    Operation {
        name: "stream.read",
        about: "Reads `events`, the data of the events of a streamed reply in a `dialect`.",
        run: wire::read_stream,
    },
    Operation {
        name: "lint",
        about: "Tells what a provider would refuse in `body`, a request in a `dialect` (found out if absent).",
        run: wire::lint,
    },
    Operation {
        name: "schemas",
        about: "Writes the JSON Schema of a `name`; without one, lists them.",
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
        OperationError::usage(format!("there is no operation `{name}`; there are {}", names.join(", ")))
    })?;
    match input {
        Value::Object(input) => (operation.run)(input),
        _ => Err(OperationError::usage("the input of an operation is an object of options")),
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
        SavedContext::read(&made).ok_or_else(|| OperationError::usage("nothing was assembled"))
    };
    let [first, second] = sides.map(context);
    Ok(json!(Comparison::of(&first?, &second?)))
}
