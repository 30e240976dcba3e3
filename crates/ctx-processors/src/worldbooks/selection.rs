use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_pipeline::PrepareContext;
use ctx_types::internal::{excerpt, nearest};
use ctx_types::session::Session;
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Agent, Diagnostic, Fix, phrase};
use ctx_worldbook::Level;
use serde_json::Value;

use crate::codes;

/// Missing names that get a suggestion. Untrusted files may contain lists of any length.
const MAX_GUESSED: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Selection {
    library: Vec<LoadedWorldbook>,
    /// Worldbooks of every conversation, by position in `library`.
    fixed: Vec<(Level, usize)>,
}

impl Selection {
    pub(crate) fn new(agent: &Agent, books: &[String], cx: &mut PrepareContext) -> Self {
        let library = with_own_names(cx.worldbooks());
        let profile = cx.profile().map(|profile| profile.worldbook_ids.clone()).unwrap_or_default();
        let mut selection = Self { library, fixed: Vec::new() };
        let global = selection.library.iter().enumerate().filter(|(_, book)| book.is_global);
        selection.fixed = global.map(|(index, _)| (Level::Global, index)).collect();
        let mut missing = Vec::new();
        for id in books {
            let found = selection.add(Level::Global, id, missing.len());
            missing.extend(found.map(|missing| missing.in_document("settings of `worldbook-processor`")));
        }
        for (index, id) in agent.worldbook_ids.iter().enumerate() {
            let found = selection.add(Level::Character, id, missing.len());
            missing.extend(found.map(|missing| missing.at_pointer(format!("/worldbookIds/{index}"))));
        }
        for (index, id) in profile.iter().enumerate() {
            let found = selection.add(Level::Profile, id, missing.len());
            let place = format!("/worldbookIds/{index}");
            missing.extend(found.map(|missing| missing.at_pointer(place).in_document("profile")));
        }
        for finding in missing {
            cx.report(finding);
        }
        selection
    }

    /// `missing` is the number of earlier diagnostics.
    fn add(&mut self, level: Level, id: &str, missing: usize) -> Option<Diagnostic> {
        let Some(index) = self.find(id) else { return Some(self.missing(id, missing)) };
        if !self.fixed.contains(&(level, index)) {
            self.fixed.push((level, index));
        }
        None
    }

    fn missing(&self, id: &str, before: usize) -> Diagnostic {
        let message = phrase!("worldbook `{id}` is not loaded", id = excerpt(id));
        let finding = Diagnostic::info(codes::MISSING_WORLDBOOK, message);
        let known = self.library.iter().flat_map(|book| [&*book.name, &*book.id]);
        let near = nearest(id, known.filter(|name| !name.is_empty() && before < MAX_GUESSED));
        finding.with_guess_or(near, Fix::text, || {
            phrase!("put the worldbook into the folder `worldbooks` next to the agent, or pass it with `--worldbook`")
        })
    }

    fn find(&self, id: &str) -> Option<usize> {
        let by_id = self.library.iter().position(|book| *book.id == *id);
        by_id.or_else(|| self.library.iter().position(|book| *book.name == *id))
    }

    pub(crate) fn books(
        &self,
        conversation: &[Arc<str>],
    ) -> (Vec<(Level, &LoadedWorldbook)>, Vec<Diagnostic>) {
        let mut books = self.fixed.clone();
        let mut findings = Vec::new();
        for id in conversation {
            let Some(index) = self.find(id) else {
                findings.push(self.missing(id, findings.len()));
                continue;
            };
            let book = (Level::Conversation, index);
            if !books.contains(&book) {
                books.push(book);
            }
        }
        let books = books.into_iter().filter_map(|(level, index)| Some((level, self.library.get(index)?)));
        (books.collect(), findings)
    }
}

/// Reads `worldbookIds`, and the worldbook that SillyTavern binds to a chat.
pub(super) fn conversation_book_ids(session: &Session) -> Vec<Arc<str>> {
    let header = &session.header.kept;
    let own = header.get("worldbookIds").and_then(Value::as_array).into_iter().flatten();
    let bound = header.get("chat_metadata").and_then(|metadata| metadata.get("world_info"));
    own.chain(bound).filter_map(Value::as_str).filter(|id| !id.is_empty()).map(Arc::from).collect()
}

/// Makes names unique: results identify entries by them.
fn with_own_names(library: &[LoadedWorldbook]) -> Vec<LoadedWorldbook> {
    let mut uses: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    let name = |book: &LoadedWorldbook| {
        let count = uses.entry(book.name.clone()).or_default();
        *count += 1;
        let name = if *count == 1 { book.name.clone() } else { format!("{}#{count}", book.name).into() };
        LoadedWorldbook { name, ..book.clone() }
    };
    library.iter().map(name).collect()
}
