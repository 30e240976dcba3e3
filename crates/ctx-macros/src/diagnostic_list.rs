use ctx_types::Diagnostic;

/// Further diagnostics are only counted.
const MAX_DIAGNOSTICS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct DiagnosticList {
    list: Vec<Diagnostic>,
    omitted: usize,
}

impl DiagnosticList {
    pub(crate) fn add(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MAX_DIAGNOSTICS {
            self.list.push(make());
        } else {
            self.omitted += 1;
        }
    }

    /// Ignores the limit.
    pub(crate) fn add_always(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if self.omitted > 0 {
            self.list.push(Diagnostic::more(self.omitted, "this text"));
        }
        self.list
    }
}
