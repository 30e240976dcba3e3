//! JSON Schemas of files and reports, for editors.
//!
//! Includes the engine's anchors, processors, settings and macro syntaxes. Schemas follow draft 07, which
//! editors support best.

mod describe;
mod files;
mod refine;

use ctx_preset_import::ImportReport;
use ctx_types::UserProfile;
use ctx_types::report::Report;
use ctx_types::worldbook::Worldbook;
#[doc(hidden)]
pub use files::Parameters;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::inspect::message_trace::TracedMessage;

/// A kind of file or report with a schema.
#[derive(Clone, Copy, Debug)]
pub struct FileSchema {
    /// Name of the kind, as in `agent.schema.json`.
    pub name: &'static str,
    /// Description of the files in one phrase.
    pub about: &'static str,
    /// Writes the schema.
    pub write: fn(&Engine) -> Value,
}

/// File kinds and reports that an engine reads and writes.
///
/// ```
/// use ctx_engine::{Engine, schema::FILE_SCHEMAS};
///
/// let agent = FILE_SCHEMAS.iter().find(|schema| schema.name == "agent").unwrap();
/// let schema = (agent.write)(&Engine::new());
/// assert_eq!(schema["properties"]["name"]["description"], "Name that `{{char}}` inserts.");
/// ```
pub const FILE_SCHEMAS: [FileSchema; 8] = [
    FileSchema {
        name: "agent",
        about: "an agent: a model and the preset that it receives",
        write: file_schema::<files::AgentFile>,
    },
    FileSchema {
        name: "preset",
        about: "a preset without an agent: a list of entries, or `messages` with `groups`",
        write: file_schema::<files::PresetFile>,
    },
    FileSchema {
        name: "session",
        about: "a conversation: a tree of messages, or a list of chat messages",
        write: file_schema::<files::SessionFile>,
    },
    FileSchema {
        name: "profile",
        about: "a user profile: a description of the user",
        write: file_schema::<UserProfile>,
    },
    FileSchema {
        name: "worldbook",
        about: "a worldbook (lorebook): entries added when the conversation mentions them",
        write: file_schema::<Worldbook>,
    },
    FileSchema {
        name: "report",
        about: "the report of a context, as written by `explain --json` and `assemble --report`",
        write: report_schema::<Report>,
    },
    FileSchema {
        name: "life",
        about: "the trace of one message, as written by `explain MSG --json`",
        write: report_schema::<TracedMessage>,
    },
    FileSchema {
        name: "import-report",
        about: "the report of an import, as written by `import --report`",
        write: report_schema::<ImportReport>,
    },
];

/// Writes the schema of a file that is deserialized as `T`.
///
/// Adds the processor settings and preset entries of the engine, if `T` contains them.
#[doc(hidden)]
pub fn file_schema<T: JsonSchema>(engine: &Engine) -> Value {
    let mut schema = schema_of::<T>(SchemaSettings::draft07().for_deserialize());
    refine::refine(&mut schema, &T::schema_name(), engine);
    schema
}

/// Writes the schema of the JSON that `T` serializes to.
fn report_schema<T: JsonSchema>(_engine: &Engine) -> Value {
    schema_of::<T>(SchemaSettings::draft07().for_serialize())
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let generator = settings.with_transform(describe::plain as fn(&mut Schema)).into_generator();
    in_order(generator.into_root_schema_for::<T>())
}

fn in_order(schema: Schema) -> Value {
    let Value::Object(mut rest) = Value::from(schema) else { return Value::Bool(true) };
    let definitions = rest.shift_remove_entry("definitions");
    let front =
        ["$schema", "title", "description"].into_iter().filter_map(|key| rest.shift_remove_entry(key));
    let mut ordered: Map<String, Value> = front.collect();
    ordered.extend(rest);
    ordered.extend(definitions);
    Value::Object(ordered)
}
