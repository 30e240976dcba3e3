use ctx_types::Diagnostic;

/// Further diagnostics are only counted.
const MAX_FINDINGS: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Diagnostic>,
    left_out: usize,
}

impl Findings {
    pub(crate) fn add(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(make());
        } else {
            self.left_out += 1;
        }
    }

    /// Ignores the limit.
    pub(crate) fn add_always(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }

    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        if self.left_out > 0 {
            self.list.push(Diagnostic::more(self.left_out, "this text"));
        }
        self.list
    }
}
