use std::collections::BTreeMap;

/// Steps of one scan.
///
/// A quarter goes to the first expressions that exceed their share. The rest is shared evenly: a slow
/// expression cannot use up another one's share.
#[derive(Debug)]
pub(super) struct StepBudget {
    common: u64,
    reserve: u64,
    /// Share of a new expression.
    share: u64,
    shares: BTreeMap<usize, u64>,
}

impl StepBudget {
    pub(super) fn new(steps: u64) -> Self {
        let common = steps / 4;
        Self { common, reserve: steps - common, share: 0, shares: BTreeMap::new() }
    }

    pub(super) fn has_share(&self, number: usize) -> bool {
        self.shares.contains_key(&number)
    }

    /// Shares 75% of the reserve among `count` new expressions; the rest is for later passes.
    pub(super) fn begin_pass(&mut self, count: usize) {
        self.share = (self.reserve - self.reserve / 4) / u64::try_from(count).unwrap_or(u64::MAX).max(1);
    }

    pub(super) fn allowed(&mut self, number: usize) -> u64 {
        let (share, reserve) = (self.share, &mut self.reserve);
        let own = self.shares.entry(number).or_insert_with(|| {
            let own = share.min(*reserve);
            *reserve -= own;
            own
        });
        own.saturating_add(self.common)
    }

    /// Uses the own share first.
    pub(super) fn spend(&mut self, number: usize, steps: u64) {
        let own = self.shares.entry(number).or_default();
        let more = steps.saturating_sub(*own);
        *own = own.saturating_sub(steps);
        self.common = self.common.saturating_sub(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_share_for_other_keys() {
        let mut step_budget = StepBudget::new(1_000);
        step_budget.begin_pass(10);
        for number in 0..9 {
            let allowed = step_budget.allowed(number);
            step_budget.spend(number, allowed);
        }
        assert_eq!((step_budget.allowed(9), step_budget.allowed(0)), (56, 0));
        step_budget.begin_pass(1);
        assert_eq!(step_budget.allowed(10), 143, "the next pass gets most of the remaining steps");
    }

    #[test]
    fn gives_most_steps_to_single_key() {
        let mut step_budget = StepBudget::new(1_000);
        step_budget.begin_pass(1);
        assert_eq!(step_budget.allowed(7), 813);
        step_budget.spend(7, 300);
        assert_eq!(step_budget.allowed(7), 513);
    }
}
