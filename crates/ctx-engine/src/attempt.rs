//! Attempts to leave room for what stages after the limiter write.

use ctx_processors::Infeasible;
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
}

impl Attempt {
    pub(crate) fn new(budget: Budget) -> Self {
        let available = budget.available.unwrap_or(u32::MAX);
        Self { budget, available, reruns: 0, least: None }
    }

    /// Lowers the budget after a result that was `over` it, of which the limiter had `kept` so much.
    pub(crate) fn leave_room(&mut self, over: u64, kept: u64) -> Result<(), AssembleError> {
        let written = u64::from(self.available).saturating_add(over).saturating_sub(kept);
        if let Some(least) = self.least.take() {
            return Err(AssembleError::Infeasible(least.beside_later_stages(self.available, written)));
        }
        if self.reruns == RERUNS {
            return Err(AssembleError::Overgrown { available: self.available, over });
        }
        self.reruns += 1;
        self.budget.available = u32::try_from(kept.saturating_sub(over)).ok();
        Ok(())
    }

    /// Drops all that can be dropped, after there was less room than for what cannot.
    pub(crate) fn keep_least(&mut self, infeasible: Infeasible) -> Result<(), AssembleError> {
        let needed = u32::try_from(infeasible.needed()).unwrap_or(u32::MAX);
        if needed > self.available || self.reruns == RERUNS {
            let written = self.available.saturating_sub(infeasible.available);
            let infeasible = infeasible.beside_later_stages(self.available, u64::from(written));
            return Err(AssembleError::Infeasible(infeasible));
        }
        self.reruns += 1;
        self.budget.available = Some(needed);
        self.least = Some(infeasible);
        Ok(())
    }
}
