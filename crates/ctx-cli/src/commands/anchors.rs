//! `ctx anchors`: the anchors that presets may use, and what goes to each.

use std::path::Path;

use anyhow::Result;
use ctx_anchors::{AnchorRegistry, Entry, Preset};
use ctx_engine::Engine;
use ctx_types::{CHAT_HISTORY, Placement};
use serde_json::{Value, json};

use crate::args::{AnchorsArguments, AnchorsCommand};
use crate::commands::inputs;
use crate::exit::Exit;
use crate::show::{self, Sources};

/// Lists anchors.
pub(crate) fn run(arguments: &AnchorsArguments) -> Result<Exit> {
    let AnchorsCommand::List { agent, json } = &arguments.command;
    let engine = Engine::new();
    let rows = match agent {
        None => registered(&engine.anchors),
        Some(path) => of_agent(path, &engine)?,
    };
    match json {
        true => show::json(&Value::Array(rows.iter().map(Row::to_json).collect()))?,
        false => show::result(&table(&rows))?,
    }
    Ok(Exit::Success)
}

/// An anchor, and where it stands in an agent's preset.
struct Row {
    id: String,
    kind: &'static str,
    description: String,
    /// The entry that declares it, if an agent is looked at and has one.
    entry: Option<usize>,
    /// The entries that go to it.
    placed: Vec<String>,
}

impl Row {
    fn to_json(&self) -> Value {
        json!({
            "id": self.id,
            "kind": self.kind,
            "description": self.description,
            "entry": self.entry,
            "placed": self.placed,
        })
    }
}

fn registered(registry: &AnchorRegistry) -> Vec<Row> {
    let row = |definition: &ctx_anchors::AnchorDefinition| Row {
        id: definition.id.to_string(),
        kind: if definition.has_template { "template" } else { "placeholder" },
        description: definition.description.to_string(),
        entry: None,
        placed: Vec::new(),
    };
    registry.definitions().iter().map(row).collect()
}

/// Registered anchors, then those that the agent declares or names itself.
fn of_agent(path: &Path, engine: &Engine) -> Result<Vec<Row>> {
    let mut sources = Sources::default();
    let imported = inputs::agent(path, engine, &mut sources)?;
    sources.show(&imported.diagnostics, Some(imported.format));
    let (preset, _) = Preset::compile(&imported.value, &engine.anchors);
    let mut rows = registered(&engine.anchors);
    for entry in preset.entries().iter().filter(|entry| entry.off_reason().is_none()) {
        if let Some(anchor) = entry.anchor() {
            let row = row_of(&mut rows, anchor, "ad-hoc");
            row.entry.get_or_insert(entry.index);
        }
    }
    for entry in preset.entries().iter().filter(|entry| entry.off_reason().is_none()) {
        if let Placement::Anchor { target, .. } = &entry.placement {
            row_of(&mut rows, target, "missing").placed.push(describe(entry));
        }
    }
    let history_follows = !preset.places_history();
    if history_follows && let Some(row) = rows.iter_mut().find(|row| row.id == CHAT_HISTORY) {
        row.placed.push("(no entry: the history follows the preset)".to_owned());
    }
    Ok(rows)
}

fn row_of<'a>(rows: &'a mut Vec<Row>, id: &str, kind: &'static str) -> &'a mut Row {
    let index = rows.iter().position(|row| row.id == id).unwrap_or(rows.len());
    if index == rows.len() {
        let description = match kind {
            "missing" => "named as a target, declared by no entry",
            _ => "declared by the preset",
        };
        let description = description.to_owned();
        rows.push(Row { id: id.to_owned(), kind, description, entry: None, placed: Vec::new() });
    }
    &mut rows[index]
}

fn describe(entry: &Entry) -> String {
    format!("{} {}", entry.placement, entry.source)
}

fn table(rows: &[Row]) -> String {
    let mut table = show::empty();
    table.set_header(["anchor", "kind", "entry", "what it is for, and what goes there"]);
    for row in rows {
        let entry = row.entry.map_or_else(String::new, |index| index.to_string());
        let lines: Vec<&str> =
            std::iter::once(row.description.as_str()).chain(row.placed.iter().map(String::as_str)).collect();
        table.add_row([row.id.clone(), row.kind.to_owned(), entry, lines.join("\n")]);
    }
    show::text(&table)
}
