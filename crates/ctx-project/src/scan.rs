//! A look at what `worldbook-processor` made of the books of a turn.

use ctx_engine::AssembleError;
use ctx_tokens::codes::{NO_WINDOW, UNKNOWN_MODEL};
use ctx_types::Diagnostic;

use crate::turn::Turn;

pub use ctx_operations::scan::{ObservedScan, Probe, SeenEntry, timed};

/// Scans the conversation of a turn; returns what was seen, and what was found in the files and about books.
pub fn look(turn: &Turn, probe: &Probe) -> (Result<Option<ObservedScan>, AssembleError>, Vec<Diagnostic>) {
    let mut found = turn.settings().1;
    let context = turn.assemble(false);
    let seen = probe.take();
    match context {
        Ok(context) => {
            let is_wanted = |finding: &Diagnostic| turn.books().owns(finding) || is_of_scan(turn, finding);
            let of_run = context.report.diagnostics.into_iter().filter(is_wanted);
            let new: Vec<Diagnostic> = of_run.filter(|finding| !found.contains(finding)).collect();
            found.extend(new);
        }
        // Whether all else fits a budget is another question.
        Err(_) if seen.is_some() => {}
        Err(error) => return (Err(error), found),
    }
    (Ok(seen), found)
}

/// Returns whether a finding is about a scan, its settings, or its budget.
fn is_of_scan(turn: &Turn, finding: &Diagnostic) -> bool {
    let document = finding.location.document.as_deref();
    let is_of_settings = document.is_some() && document == turn.worldbook_settings();
    // Without a known context window, there is no budget.
    let is_of_budget = [UNKNOWN_MODEL, NO_WINDOW].contains(&finding.code);
    is_of_settings || is_of_budget || (950..1_000).contains(&finding.code.number())
}
