//! A list of diagnostics with a limit, so that a text full of mistakes does not flood the report.

use ctx_types::Diagnostic;

/// How many findings one text may have; the rest is counted.
const MAX_FINDINGS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    left_out: usize,
}

impl Findings {
    /// Adds a finding, which is made only if there is room for it.
    pub(crate) fn add(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(make());
        } else {
            self.left_out += 1;
        }
    }

    /// Adds a finding that must not be left out.
    pub(crate) fn add_always(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    /// Returns the findings; those that were left out are one more, which says how many.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            self.list.push(Diagnostic::more(self.left_out, "this text"));
        }
        self.list
    }
}
