//! What a reader hands back.

use ctx_types::Diagnostic;

use crate::format::Format;

/// What was read, from which form, and what is worth knowing about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported<T> {
    /// What was read.
    pub value: T,
    /// The form in which the document held it.
    pub format: Format,
    /// What was odd or changed, with JSON pointers into the document as it was given.
    ///
    /// A JSON Lines document counts as the list of its lines: `/0` is the first one.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Imported<T> {
    /// Names the document in every finding, unless the name is empty.
    pub(crate) fn named(mut self, name: &str) -> Self {
        if !name.is_empty() {
            let diagnostics = std::mem::take(&mut self.diagnostics);
            self.diagnostics = diagnostics.into_iter().map(|finding| finding.in_document(name)).collect();
        }
        self
    }
}

/// Moved parts of an agent.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// Places of the parts of the unified form in the document.
    pub(crate) form: &'static [Moved<'static>],
    /// Whether each entry became a greeting; empty if none did.
    pub(crate) greetings: Vec<bool>,
    /// Whether each formatter rule became a processor; empty if none did.
    pub(crate) rules: Vec<bool>,
}

/// Where a part of the unified form stood in the document: pointers below `ours` belong below `theirs`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved<'a> {
    pub(crate) ours: &'a str,
    pub(crate) theirs: &'a str,
}

/// Points findings about the unified form into the document; the first move that fits counts.
pub(crate) fn relocate(diagnostics: &mut [Diagnostic], moves: &[Moved<'_>]) {
    for pointer in diagnostics.iter_mut().filter_map(|diagnostic| diagnostic.location.pointer.as_mut()) {
        *pointer = relocated(pointer, moves);
    }
}

/// Returns the pointer into the document for one into the unified form.
pub(crate) fn relocated(pointer: &str, moves: &[Moved<'_>]) -> String {
    let moved = moves.iter().find_map(|moved| {
        let below = pointer.strip_prefix(moved.ours)?;
        (below.is_empty() || below.starts_with('/')).then(|| format!("{}{below}", moved.theirs))
    });
    moved.unwrap_or_else(|| pointer.to_owned())
}
