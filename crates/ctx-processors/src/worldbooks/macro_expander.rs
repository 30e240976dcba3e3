//! Macros in the texts and keys of entries.

use std::sync::Arc;

use ctx_macros::{Env, State, Template};
use ctx_types::internal::TextCache;
use ctx_types::{Diagnostic, ListPosition, Source, SourceKind, Text, Trust};
use ctx_worldbook::{EntryPart, Expand, ExpandedText, Member};

use super::compiled_books::{CompiledBooks, in_entry, in_part};

pub(crate) struct MacroExpander<'a> {
    pub(crate) books: &'a CompiledBooks,
    pub(crate) env: &'a Env,
    pub(crate) state: &'a mut State,
    pub(crate) parse: &'a dyn Fn(&Text) -> Template,
    /// Shares texts between turns.
    pub(crate) memory: &'a TextCache,
    pub(crate) findings: Vec<Diagnostic>,
}

impl Expand for MacroExpander<'_> {
    fn expand(&mut self, member: &Member, part: EntryPart, text: &Text) -> ExpandedText {
        let source = entry_source(member);
        if part != EntryPart::Content {
            let expansion = (self.parse)(text).expand(self.env, self.state, &source);
            let found = expansion.diagnostics.into_iter().map(|finding| in_part(finding, member, part));
            self.findings.extend(found);
            return ExpandedText { text: expansion.text, written: Vec::new() };
        }
        let Some(template) = self.books.templates.get(member.number).filter(|template| !template.is_plain())
        else {
            return ExpandedText { text: text.clone(), written: Vec::new() };
        };
        let expansion = template.expand(self.env, self.state, &source);
        let written = expansion.segments();
        self.findings.extend(expansion.diagnostics.into_iter().map(|finding| in_entry(finding, member)));
        ExpandedText { text: self.memory.share(expansion.text), written }
    }
}

pub(crate) fn entry_source(member: &Member) -> Source {
    let listed = ListPosition { index: member.number, name: member.entry.title.clone() };
    Source {
        id: Some(member.id.clone()),
        listed: Some(Arc::new(listed)),
        ..Source::new(SourceKind::Worldbook, Trust::Import)
    }
}
