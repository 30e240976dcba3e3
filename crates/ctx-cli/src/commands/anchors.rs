//! `ctx anchors`: the anchors that presets may use, and what goes to each.

use std::path::Path;
use std::slice::from_ref;

use anyhow::Result;
use ctx_anchors::{AnchorDefinition, AnchorRegistry, Entry, Preset};
use ctx_engine::Engine;
use ctx_types::{CHAT_HISTORY, Order, Placement, Side};
use serde_json::{Value, json};

use crate::args::{AnchorsArguments, AnchorsCommand};
use crate::commands::inputs::AgentFile;
use crate::exit::Exit;
use crate::show::{self, Sources};

/// Lists anchors.
pub(crate) fn run(arguments: &AnchorsArguments) -> Result<Exit> {
    let AnchorsCommand::List(arguments) = &arguments.command;
    let engine = Engine::new();
    let rows = match &arguments.agent {
        None => registered(&engine.anchors),
        Some(path) => of_agent(path, &engine)?,
    };
    match arguments.json {
        true => show::json(&Value::Array(rows.iter().map(Row::to_json).collect()))?,
        false => show::result(&show::listing(HEADER, rows.iter().map(Row::to_cells)))?,
    }
    Ok(Exit::Success)
}

const HEADER: [&str; 4] = ["anchor", "kind", "entry", "what it is for, and what goes there"];

/// An anchor, and where it stands in an agent's preset.
struct Row {
    id: String,
    kind: &'static str,
    description: String,
    /// The index of the entry that declares it, if an agent is looked at and has one.
    entry: Option<usize>,
    /// What goes there, in the order of the preset.
    placed: Vec<Placed>,
    note: Option<&'static str>,
}

/// An entry that goes to an anchor.
struct Placed {
    entry: usize,
    source: String,
    side: Side,
    order: Order,
}

/// Registered anchors, none of which any entry declares.
fn registered(registry: &AnchorRegistry) -> Vec<Row> {
    let row = |definition: &AnchorDefinition| {
        let kind = if definition.has_template { "template" } else { "placeholder" };
        Row::new(&definition.id, kind, &definition.description)
    };
    registry.definitions().iter().map(row).collect()
}

/// Registered anchors, then those that the agent declares itself, then those that it only names.
fn of_agent(path: &Path, engine: &Engine) -> Result<Vec<Row>> {
    let mut sources = Sources::default();
    let file = AgentFile::read(path, engine, &mut sources)?;
    sources.show(&file.found);
    let (preset, _) = Preset::compile(&file.agent, &engine.anchors);
    let mut rows = registered(&engine.anchors);
    let entries = || preset.entries().iter().filter(|entry| entry.off_reason().is_none());
    for entry in entries() {
        if let Some(anchor) = entry.anchor() {
            let row = row_of(&mut rows, anchor, "ad-hoc", "declared by the preset");
            row.entry.get_or_insert(entry.index);
        }
    }
    for entry in entries() {
        if let Placement::Anchor { target, side, order } = &entry.placement {
            let row = row_of(&mut rows, target, "missing", "named as a target, declared by no entry");
            row.placed.push(Placed::new(entry, *side, *order));
        }
    }
    if !preset.places_history() {
        let row = row_of(&mut rows, CHAT_HISTORY, "placeholder", "");
        row.note = Some("no entry declares it: the conversation follows the preset");
    }
    Ok(rows)
}

fn row_of<'a>(rows: &'a mut Vec<Row>, id: &str, kind: &'static str, description: &str) -> &'a mut Row {
    let index = rows.iter().position(|row| row.id == id).unwrap_or(rows.len());
    if index == rows.len() {
        rows.push(Row::new(id, kind, description));
    }
    &mut rows[index]
}

impl Row {
    fn new(id: &str, kind: &'static str, description: &str) -> Self {
        let (id, description) = (id.to_owned(), description.to_owned());
        Self { id, kind, description, entry: None, placed: Vec::new(), note: None }
    }

    fn to_cells(&self) -> [String; 4] {
        let entry = self.entry.map_or_else(String::new, |index| index.to_string());
        let placed = self.placed.iter().map(ToString::to_string);
        let notes = self.note.into_iter().map(str::to_owned);
        let lines: Vec<String> =
            from_ref(&self.description).iter().cloned().chain(placed).chain(notes).collect();
        [self.id.clone(), self.kind.to_owned(), entry, lines.join("\n")]
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "kind": self.kind,
            "description": self.description,
            "entry": self.entry,
            "placed": self.placed.iter().map(Placed::to_json).collect::<Vec<_>>(),
        })
    }
}

impl Placed {
    fn new(entry: &Entry, side: Side, order: Order) -> Self {
        Self { entry: entry.index, source: entry.source.to_string(), side, order }
    }

    fn to_json(&self) -> Value {
        let Self { entry, source, side, order } = self;
        json!({ "entry": entry, "source": source, "side": side.to_string(), "order": order.0 })
    }
}

impl std::fmt::Display for Placed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.side, self.source)?;
        match self.order == Order::DEFAULT {
            true => Ok(()),
            false => write!(f, " (order {})", self.order.0),
        }
    }
}
