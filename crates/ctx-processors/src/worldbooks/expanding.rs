//! Macros in the texts and keys of entries.

use std::sync::Arc;

use ctx_macros::{Env, State, Template};
use ctx_types::{Diagnostic, ListPosition, Source, SourceKind, Text, TextCache, Trust};
use ctx_worldbook::{Expand, Expanded, Member, Part};

use super::shelf::{Shelf, in_entry, in_part};

pub(crate) struct Expanding<'a> {
    pub(crate) shelf: &'a Shelf,
    pub(crate) env: &'a Env,
    pub(crate) state: &'a mut State,
    pub(crate) parse: &'a dyn Fn(&Text) -> Template,
    /// Shares texts between turns.
    pub(crate) memory: &'a TextCache,
    pub(crate) findings: Vec<Diagnostic>,
}

impl Expand for Expanding<'_> {
    fn expand(&mut self, member: &Member, part: Part, text: &Text) -> Expanded {
        let source = entry_source(member);
        if part != Part::Content {
            let expansion = (self.parse)(text).expand(self.env, self.state, &source);
            let found = expansion.diagnostics.into_iter().map(|finding| in_part(finding, member, part));
            self.findings.extend(found);
            return Expanded { text: expansion.text, written: Vec::new() };
        }
        let Some(template) = self.shelf.templates.get(member.number).filter(|template| !template.is_plain())
        else {
            return Expanded { text: text.clone(), written: Vec::new() };
        };
        let expansion = template.expand(self.env, self.state, &source);
        let written = expansion.segments();
        self.findings.extend(expansion.diagnostics.into_iter().map(|finding| in_entry(finding, member)));
        Expanded { text: self.memory.share(expansion.text), written }
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
