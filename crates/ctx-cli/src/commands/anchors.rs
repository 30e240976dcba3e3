//! `ctx anchors`: the anchors that presets may use, and what goes to each.

use ctx_language::Language;
use std::collections::BTreeMap;
use std::path::Path;

use ctx_anchors::{AnchorDefinition, AnchorRegistry, Preset, internal::Entry};
use ctx_engine::Engine;
use ctx_types::{CHAT_HISTORY, Order, Phrase, Placement, Side, phrase};
use serde_json::{Value, json};

use crate::args::{AnchorsArguments, AnchorsCommand};
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::Result;
use ctx_project::inputs;

/// Lists anchors.
pub(crate) fn run(language: Language, arguments: &AnchorsArguments) -> Result<Exit> {
    let AnchorsCommand::List(arguments) = &arguments.command;
    let engine = Engine::new();
    let mut sources = show::sources(language);
    let config = project::config(language, &arguments.config, &mut sources)?;
    show::findings(language, &sources, &config.found);
    let rows = match config.file("agent", arguments.agent.clone(), &sources)? {
        None => Rows::registered(&engine.anchors),
        Some(path) => of_agent(language, &path, &engine, &mut sources)?,
    };
    let rows = rows.rows;
    let json = || rows.iter().map(Row::to_json).collect::<Value>();
    let text = || show::listing(language, HEADER, rows.iter().map(|row| row.to_cells(language)));
    show::output(arguments.json, json, text)
}

const HEADER: [&str; 4] = ["anchor", "kind", "entry", "purpose and entries"];

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

/// Anchors in the order in which they were met.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    indexes: BTreeMap<String, usize>,
}

impl Rows {
    /// The registered anchors, none of which any entry declares.
    fn registered(registry: &AnchorRegistry) -> Self {
        let mut rows = Self::default();
        for AnchorDefinition { id, description, has_template, .. } in registry.definitions() {
            rows.row(id, if *has_template { "template" } else { "placeholder" }, description);
        }
        rows
    }

    /// Returns the row of an anchor; one that is new gets this kind and description.
    fn row(&mut self, id: &str, kind: &'static str, description: &str) -> &mut Row {
        let index = *self.indexes.entry(id.to_owned()).or_insert(self.rows.len());
        if index == self.rows.len() {
            self.rows.push(Row::new(id, kind, description));
        }
        &mut self.rows[index]
    }
}

/// Registered anchors, then those that the agent declares itself, then those that it only names.
fn of_agent(language: Language, path: &Path, engine: &Engine, sources: &mut Sources) -> Result<Rows> {
    let file = inputs::agent(path, engine, sources)?;
    show::findings(language, sources, &file.found);
    let (preset, _) = Preset::compile(&file.agent, &engine.anchors);
    let mut rows = Rows::registered(&engine.anchors);
    let entries = || preset.entries().iter().filter(|entry| entry.off_reason().is_none());
    for entry in entries() {
        if let Some(anchor) = entry.anchor() {
            rows.row(anchor, "ad-hoc", "declared by the preset").entry.get_or_insert(entry.index);
        }
    }
    for entry in entries() {
        if let Placement::Anchor { target, side, order } = &entry.placement {
            let row = rows.row(target, "missing", "target of an entry, but not declared");
            row.placed.push(Placed::new(entry, *side, *order));
        }
    }
    if !preset.places_history() {
        let note = "not declared; the history follows the preset";
        rows.row(CHAT_HISTORY, "placeholder", "").note = Some(note);
    }
    Ok(rows)
}

impl Row {
    fn new(id: &str, kind: &'static str, description: &str) -> Self {
        let (id, description) = (id.to_owned(), description.to_owned());
        Self { id, kind, description, entry: None, placed: Vec::new(), note: None }
    }

    fn to_cells(&self, language: Language) -> [String; 4] {
        let entry = self.entry.map_or_else(String::new, |index| index.to_string());
        let word = |english| lang::word(language, english).into_owned();
        let placed = self.placed.iter().map(|placed| lang::say(language, &placed.phrase()));
        let lines = [word(&self.description)].into_iter().chain(placed).chain(self.note.map(word));
        [self.id.clone(), word(self.kind), entry, lines.collect::<Vec<_>>().join("\n")]
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

    fn phrase(&self) -> Phrase {
        let source = &self.source;
        let line = match self.side {
            Side::Before => phrase!("before: {source}", source),
            Side::After => phrase!("after: {source}", source),
        };
        if self.order == Order::DEFAULT {
            line
        } else {
            phrase!("{line} (order {order})", line, order = self.order.0)
        }
    }
}
