//! Attempts to leave room for what stages after the limiter write.

use ctx_processors::{Cause, Infeasible, Part};
use ctx_tokens::Budget;

use crate::assembly::AssembleError;

/// How often the stages from the limiter on run again at the most.
const RERUNS: usize = 2;

/// One attempt after the other, each with less for the limiter to keep.
pub(crate) struct Attempt {
    /// What the limiter may keep.
    pub(crate) budget: Budget,
    /// What messages may have in the end.
    pub(crate) available: u32,
    reruns: usize,
    /// What may not be dropped, once all else had to be.
    least: Option<Infeasible>,
    /// What each stage after the limiter added in the last attempt that came to its end.
    written: Vec<(String, i64)>,
}

/// What a result that is over the budget is made of.
#[derive(Default)]
pub(crate) struct Grown {
    /// What the limiter kept.
    pub(crate) kept: Vec<Part>,
    /// What each stage after it added, in tokens.
    pub(crate) written: Vec<(String, i64)>,
}

impl Attempt {
    pub(crate) fn new(budget: Budget) -> Self {
        let available = budget.available.unwrap_or(u32::MAX);
        Self { budget, available, reruns: 0, least: None, written: Vec::new() }
    }

    /// Returns whether a failure of this attempt can be the last: then it must be known what each stage did.
    pub(crate) fn is_repetition(&self) -> bool {
        self.reruns > 0
    }

    /// Lowers the budget after a result that was `over` it, of which the limiter had `kept` so much.
    pub(crate) fn leave_room(&mut self, over: u64, kept: u64, grown: Grown) -> Result<(), AssembleError> {
        if let Some(least) = self.least.take() {
            return Err(AssembleError::Infeasible(least.beside_later_stages(self.available, grown.written)));
        }
        if self.reruns == RERUNS {
            return Err(AssembleError::Infeasible(grown.infeasible(self.available, Cause::Overgrown)));
        }
        self.reruns += 1;
        self.written = grown.written;
        self.budget.available = u32::try_from(kept.saturating_sub(over)).ok();
        Ok(())
    }

    /// Drops all that can be dropped, after there was less room than for what cannot.
    pub(crate) fn keep_least(&mut self, infeasible: Infeasible) -> Result<(), AssembleError> {
        let needed = u32::try_from(infeasible.needed()).unwrap_or(u32::MAX);
        if needed > self.available || self.reruns == RERUNS {
            let written = std::mem::take(&mut self.written);
            return Err(AssembleError::Infeasible(infeasible.beside_later_stages(self.available, written)));
        }
        self.reruns += 1;
        self.budget.available = Some(needed);
        self.least = Some(infeasible);
        Ok(())
    }
}

impl Grown {
    /// Reports that this does not fit.
    pub(crate) fn infeasible(self, available: u32, cause: Cause) -> Infeasible {
        let infeasible = Infeasible { available, cause, parts: self.kept };
        infeasible.beside_later_stages(available, self.written)
    }
}
