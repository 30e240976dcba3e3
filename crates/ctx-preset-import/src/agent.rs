//! Documents that hold an agent.

mod origin;

use ctx_anchors::AnchorRegistry;
use ctx_types::internal::{Argument, Divider, check_agent_keys, excerpt};
use ctx_types::{Agent, Diagnostic, Persist, Phrase, Reader, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::document::Document;
use crate::error::ImportError;
use crate::format::{self, Format};
use crate::formats::aio_hub::is_of_export;
use crate::groups;
use crate::imported::{Imported, Moved, Moves, relocate};
use crate::kept;
use crate::migrate::migrate_with_moves;
use crate::parameters;

pub use origin::AgentOrigin;

/// Reads an agent from any form that people have one in, and brings it up to date.
///
/// Forms: an agent or preset file of AIO Hub (JSON or YAML), its export (the first agent; others are kept
/// and reported), a bare list of preset entries (seed 000), entries under `messages` (seed 001), also with
/// `groups` beside them. What the form holds beyond an agent is kept under `imported`.
///
/// Old spellings are migrated with [`migrate`](crate::migrate), and each change is an info finding.
/// Only the built-in anchors are known. With other anchors, use [`agent_of`].
///
/// ```
/// use ctx_preset_import::read_agent;
///
/// let yaml = b"version: 2\ngroups: [{id: g, enabled: false}]\nmessages: [{role: system, groupId: g}]\n";
/// let agent = read_agent(yaml, "a.yaml")?.value;
/// assert_eq!(agent.preset_groups[0].enabled, Some(false));
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
pub fn read_agent(bytes: &[u8], name: &str) -> Result<Imported<Agent>, ImportError> {
    agent_of(Document::read(bytes, name)?, name, &AnchorRegistry::system()).map(|(agent, _)| agent)
}

/// Reads an agent from a document, with these anchors. Also returns the way back into the document, for later
/// diagnostics.
pub fn agent_of(
    document: Document,
    name: &str,
    anchors: &AnchorRegistry,
) -> Result<(Imported<Agent>, AgentOrigin), ImportError> {
    let guess = format::weakly_told(&document.value, is_agent)
        .or_else(|| format::messages_as_preset(&document.value));
    let (mut imported, moves) =
        read_value(document.value, anchors).map_err(|error| error.or_invalid_json(document.json_error))?;
    imported.diagnostics.splice(..0, document.diagnostics.into_iter().chain(guess));
    Ok((imported.named(name), AgentOrigin::new(&moves)))
}

/// Returns whether an agent can be read from a format.
const fn is_agent(format: Format) -> bool {
    matches!(
        format,
        Format::Agent | Format::AgentExport | Format::PresetList | Format::PresetFile | Format::ChatMessages
    )
}

/// Reads an agent from the value of a document. Also returns the moved parts.
pub(crate) fn read_value(
    value: Value,
    anchors: &AnchorRegistry,
) -> Result<(Imported<Agent>, Moves), ImportError> {
    let form = Form::of(value)?;
    let mut reader = Reader::new();
    let mut agent = Agent::read(form.agent, &mut reader);
    let mut found = reader.finish();
    found.extend(check_agent_keys(&agent));
    found.extend(agent.parameters.iter().flat_map(parameters::check_types));
    found.extend(agent.parameters.iter().flat_map(parameters::misspelt));
    let (changes, moves) = migrate_with_moves(&mut agent, anchors);
    found.extend(changes);
    found.extend(groups::check(&agent));
    relocate(&mut found, form.moves);
    if !form.envelope.is_empty() {
        let envelope = Value::Object(form.envelope);
        kept::join(&mut agent.kept, Map::from_iter([(kept::ENVELOPE.to_owned(), envelope)]));
    }
    let diagnostics = [form.diagnostics, found].concat();
    let moves = Moves { form: form.moves, ..moves };
    Ok((Imported { value: agent, format: form.format, diagnostics }, moves))
}

/// An agent in the unified form, and what the document held around it.
struct Form {
    format: Format,
    agent: Value,
    envelope: Map<String, Value>,
    moves: &'static [Moved<'static>],
    diagnostics: Vec<Diagnostic>,
}

impl Form {
    fn of(value: Value) -> Result<Self, ImportError> {
        let shape = format::shape(&value);
        match (shape, value) {
            (Some(Format::Agent), agent) => Ok(Self::plain(Format::Agent, agent, &[])),
            (Some(Format::AgentExport), Value::Object(export)) => Self::export(export),
            (Some(Format::PresetList | Format::ChatMessages), Value::Array(entries)) => {
                let agent = Map::from_iter([("presetMessages".to_owned(), Value::Array(entries))]);
                let moves = &[Moved { ours: "/presetMessages", theirs: "" }];
                Ok(Self::plain(Format::PresetList, Value::Object(agent), moves))
            }
            (Some(Format::PresetFile | Format::ChatMessages), Value::Object(file)) => {
                Ok(Self::plain(Format::PresetFile, Value::Object(renamed(file)), PRESET_FILE_MOVES))
            }
            (_, value) => Err(unknown_shape(shape, Some(&value), format::describe(&value))),
        }
    }

    fn plain(format: Format, agent: Value, moves: &'static [Moved<'static>]) -> Self {
        Self { format, agent, envelope: Map::new(), moves, diagnostics: Vec::new() }
    }

    /// Takes the first agent out of an export and leaves all else in the envelope, but for what every export says.
    fn export(mut export: Map<String, Value>) -> Result<Self, ImportError> {
        let agents = match export.get_mut("agents") {
            Some(Value::Array(agents)) if agents.first().is_some_and(Value::is_object) => agents,
            _ => return Err(unknown_shape(None, None, phrase!("an export without an agent"))),
        };
        let agent = agents.remove(0);
        let diagnostics = several(agents).into_iter().collect();
        if agents.is_empty() {
            export.shift_remove("agents");
        }
        export.retain(|key, value| !is_of_export(key, value));
        let moves = &[Moved { ours: "", theirs: "/agents/0" }];
        Ok(Self { envelope: export, diagnostics, ..Self::plain(Format::AgentExport, agent, moves) })
    }
}

const PRESET_FILE_MOVES: &[Moved<'static>] = &[
    Moved { ours: "/presetMessages", theirs: "/messages" },
    Moved { ours: "/presetGroups", theirs: "/groups" },
];

/// Gives the lists of a preset file the names that they have in an agent, each in its place.
fn renamed(file: Map<String, Value>) -> Map<String, Value> {
    let groups = !file.contains_key("presetGroups") && file.get("groups").is_some_and(Value::is_array);
    let rename = |(key, value): (String, Value)| match key.as_str() {
        "messages" => ("presetMessages".to_owned(), value),
        "groups" if groups => ("presetGroups".to_owned(), value),
        _ => (key, value),
    };
    file.into_iter().map(rename).collect()
}

/// How many of the agents that are not read are named.
const SHOWN_AGENTS: usize = 10;

/// Reports the agents of an export that are not read.
fn several(others: &[Value]) -> Option<Diagnostic> {
    if others.is_empty() {
        return None;
    }
    let shown = others.iter().take(SHOWN_AGENTS).map(|agent| {
        let name = agent.get("name").or_else(|| agent.get("id")).and_then(Value::as_str);
        excerpt(name.unwrap_or("without a name"))
    });
    let (count, names) = (others.len() + 1, Argument::names(shown, Divider::Comma));
    let message = if others.len() > SHOWN_AGENTS {
        phrase!("only the first of {count} agents is read; {names} and more are not", count, names)
    } else {
        phrase!("only the first of {count} agents is read; {names} not", count, names)
    };
    let help = phrase!("split the export into one file per agent; the others are kept under `imported`");
    Some(Diagnostic::warning(codes::SEVERAL_AGENTS, message).at_pointer("/agents/1").with_help(help))
}

fn unknown_shape(shape: Option<Format>, value: Option<&Value>, found: Phrase) -> ImportError {
    let help = match shape {
        Some(format) if format.is_conversation() => {
            Some(phrase!("use this file as a conversation, not as an agent"))
        }
        Some(Format::Profile) => Some(phrase!("use this file as a user profile, not as an agent")),
        None if value.is_some_and(format::is_foreign) => {
            Some(phrase!("convert it to an agent with `ctx import`"))
        }
        _ => value.and_then(format::help_for_text),
    };
    ImportError::UnknownShape {
        expected: "an agent (an object with `presetMessages` or `messages`, a list of messages, or an `AIO_Agent_Export`)",
        found,
        help,
    }
}
