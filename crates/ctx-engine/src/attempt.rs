//! Retries with a lower budget, for processors that add messages after the limiter.

use ctx_processors::{Cause, Infeasible, RequestPart};
use ctx_tokens::Budget;

use crate::assembly::AssembleError;

const RERUNS: usize = 2;

pub(crate) struct Attempt {
    pub(crate) budget: Budget,
    /// Token budget of the final messages.
    pub(crate) available: u32,
    reruns: usize,
    least: Option<Infeasible>,
    /// Tokens added by each processor after the limiter, in the last completed attempt.
    written: Vec<(String, i64)>,
}

#[derive(Default)]
pub(crate) struct AddedParts {
    pub(crate) kept: Vec<RequestPart>,
    pub(crate) written: Vec<(String, i64)>,
}

impl Attempt {
    pub(crate) fn new(budget: Budget) -> Self {
        let available = budget.available.unwrap_or(u32::MAX);
        Self { budget, available, reruns: 0, least: None, written: Vec::new() }
    }

    /// Returns whether a failure can be final. Its error then needs the drafts.
    pub(crate) fn is_repetition(&self) -> bool {
        self.reruns > 0
    }

    pub(crate) fn lower_budget(
        &mut self,
        over: u64,
        kept: u64,
        grown: AddedParts,
    ) -> Result<(), AssembleError> {
        if let Some(least) = self.least.take() {
            return Err(AssembleError::Infeasible(least.with_later_stages(self.available, grown.written)));
        }
        if self.reruns == RERUNS {
            return Err(AssembleError::Infeasible(grown.infeasible(self.available, Cause::Overgrown)));
        }
        self.reruns += 1;
        self.written = grown.written;
        self.budget.available = u32::try_from(kept.saturating_sub(over)).ok();
        Ok(())
    }

    /// Sets the smallest budget that the limiter can meet.
    pub(crate) fn keep_least(&mut self, infeasible: Infeasible) -> Result<(), AssembleError> {
        let needed = u32::try_from(infeasible.needed()).unwrap_or(u32::MAX);
        if needed > self.available || self.reruns == RERUNS {
            let written = std::mem::take(&mut self.written);
            return Err(AssembleError::Infeasible(infeasible.with_later_stages(self.available, written)));
        }
        self.reruns += 1;
        self.budget.available = Some(needed);
        self.least = Some(infeasible);
        Ok(())
    }
}

impl AddedParts {
    pub(crate) fn infeasible(self, available: u32, cause: Cause) -> Infeasible {
        let infeasible = Infeasible { available, cause, parts: self.kept };
        infeasible.with_later_stages(available, self.written)
    }
}
