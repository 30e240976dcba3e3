use std::sync::{Arc, Mutex, PoisonError};

use ctx_macros::{Dialect, Registry as MacroRegistry, Template};
use ctx_types::session::Session;
use ctx_types::{Diagnostic, Span, Text};
use ctx_worldbook::{Book, BookSet, EntryPart, Limits, Member, Settings};

use super::selection::{Selection, conversation_book_ids};

#[derive(Debug)]
pub(crate) struct CompiledBooks {
    pub(crate) set: Arc<BookSet>,
    /// One per member.
    pub(crate) templates: Vec<Template>,
    pub(crate) findings: Vec<Diagnostic>,
}

/// Worldbooks of the agent, and of conversations with their own worldbooks.
#[derive(Debug)]
pub(crate) struct BookCache {
    selection: Selection,
    settings: Settings,
    dialect: Dialect,
    macros: MacroRegistry,
    own: Arc<CompiledBooks>,
    /// Most recently used last.
    others: Mutex<Vec<ConversationBooks>>,
}

type ConversationBooks = (Vec<Arc<str>>, Arc<CompiledBooks>);

const MAX_OTHERS: usize = 4;

impl BookCache {
    pub(crate) fn new(
        selection: Selection,
        settings: Settings,
        dialect: Dialect,
        macros: MacroRegistry,
    ) -> Self {
        let own = Arc::new(CompiledBooks::new(&selection, &[], &settings, dialect, &macros));
        Self { selection, settings, dialect, macros, own, others: Mutex::default() }
    }

    pub(crate) fn agent_books(&self) -> &CompiledBooks {
        &self.own
    }

    /// The flag is true if the conversation has its own worldbooks.
    pub(crate) fn for_session(&self, session: &Session) -> (Arc<CompiledBooks>, bool) {
        let ids = conversation_book_ids(session);
        if ids.is_empty() {
            return (self.own.clone(), false);
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = others.iter().position(|(known, _)| *known == ids) {
            let known = others.remove(at);
            others.push(known.clone());
            return (known.1, true);
        }
        let compiled = CompiledBooks::new(&self.selection, &ids, &self.settings, self.dialect, &self.macros);
        let compiled = Arc::new(compiled);
        others.push((ids, compiled.clone()));
        let too_many = others.len().saturating_sub(MAX_OTHERS);
        others.drain(..too_many);
        (compiled, true)
    }
}

impl CompiledBooks {
    fn new(
        selection: &Selection,
        conversation: &[Arc<str>],
        settings: &Settings,
        dialect: Dialect,
        macros: &MacroRegistry,
    ) -> Self {
        let (selected, mut findings) = selection.books(conversation);
        let mut books = Vec::with_capacity(selected.len());
        for (level, loaded) in selected {
            let (book, found) = Book::read(loaded.name.clone(), level, &loaded.book);
            // A worldbook with two uses reports only once.
            if !books.iter().any(|known: &Book| known.name == book.name) {
                findings.extend(found);
            }
            books.push(book);
        }
        let parse = &|key: &str| Template::parse(&Text::from(key), dialect, macros);
        let has_macros = |key: &str| !parse(key).is_plain();
        let (set, found) = BookSet::compile_with(books, settings.clone(), Limits::default(), &has_macros);
        findings.extend(found);
        let template = |member: &Member| Template::parse(&member.entry.content, dialect, macros);
        let templates: Vec<Template> = set.members().iter().map(template).collect();
        for (member, template) in set.members().iter().zip(&templates) {
            if member.entry.is_enabled {
                findings.extend(macro_findings(member, template, parse));
            }
        }
        Self { set: Arc::new(set), templates, findings }
    }
}

fn macro_findings(member: &Member, template: &Template, parse: &dyn Fn(&str) -> Template) -> Vec<Diagnostic> {
    let of_text = template.diagnostics().iter().map(|finding| in_entry(finding.clone(), member));
    let of_keys = member.keys_with_macros().flat_map(|(part, key)| {
        let found = parse(key).diagnostics().to_vec();
        found.into_iter().map(move |finding| in_part(finding, member, part))
    });
    of_text.chain(of_keys).collect()
}

pub(super) fn in_part(mut finding: Diagnostic, member: &Member, part: EntryPart) -> Diagnostic {
    // Keys of decorators are part of the text, at an unknown position.
    if matches!(part, EntryPart::ConditionKey(..)) {
        finding.location.span = None;
    }
    finding.at_pointer(member.entry.pointer_to(part)).in_document(member.book.clone())
}

pub(super) fn in_entry(mut finding: Diagnostic, member: &Member) -> Diagnostic {
    let start = member.entry.content_start;
    let moved = finding.location.span.map(|span| Span::new(span.start + start, span.end + start));
    finding.location.span = moved;
    finding.at_pointer(format!("{}/content", member.entry.pointer())).in_document(member.book.clone())
}
