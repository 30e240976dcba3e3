//! Agents as files of other applications, with the worldbooks next to them.

use std::path::Path;
use std::sync::Arc;

use ctx_preset_import::{card_book, export_agent, export_card};
use ctx_processors::codes::MISSING_WORLDBOOK;
use ctx_types::internal::excerpt;
use ctx_types::{Agent, Diagnostic, phrase};
use serde_json::Value;

use crate::books::{self, Books};
use crate::error::Result;
use crate::inputs::AgentFile;
use crate::sources::Sources;

/// Makes a SillyTavern card of an agent, with the worldbook that came with its card.
pub fn card(agent: &Agent, path: &Path, sources: &mut Sources) -> Result<Value> {
    let name = card_book(agent);
    let mut books = Books::default();
    if name.is_some() {
        books::add_beside(&mut books, path, agent, sources)?;
    }
    let books = books.loaded();
    let book = books.iter().find(|book| Some(&*book.name) == name);
    Ok(export_card(agent, book.map(|book| &*book.book)))
}

/// Makes an AIO Hub agent, with its worldbooks. Also returns a diagnostic for each missing worldbook.
pub fn aio(file: &AgentFile, path: &Path, sources: &mut Sources) -> Result<(Value, Vec<Diagnostic>)> {
    let mut books = Books::default();
    books::add_beside(&mut books, path, &file.agent, sources)?;
    let books = books.loaded();
    let book = |id: &Arc<str>| {
        let by_id = books.iter().find(|book| book.id == *id);
        by_id.or_else(|| books.iter().find(|book| book.name == *id))
    };
    let asked = &file.agent.worldbook_ids;
    let found: Vec<_> = asked.iter().filter_map(|id| Some((&**id, &*book(id)?.book))).collect();
    let exported = export_agent(&file.agent, &found);
    let brought = exported.pointer("/agents/0/bundledWorldbooks").and_then(Value::as_array);
    let is_there = |id: &str| {
        let mut items = brought.into_iter().flatten();
        items.any(|item| item.get("id").is_some_and(|own| own == id) && item.get("content").is_some())
    };
    let missing = asked.iter().enumerate().filter(|(_, id)| !is_there(id));
    let missing = missing.map(|(index, id)| missing_worldbook(id, index)).collect();
    Ok((exported, file.lead_back(missing)))
}

fn missing_worldbook(id: &str, index: usize) -> Diagnostic {
    let message =
        phrase!("no worldbook `{id}` next to the agent; the export does not include it", id = excerpt(id));
    let help = phrase!("put it into the folder `worldbooks` next to the agent, under this id or name");
    Diagnostic::warning(MISSING_WORLDBOOK, message)
        .at_pointer(format!("/worldbookIds/{index}"))
        .with_help(help)
}
