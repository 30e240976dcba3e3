//! Budget plans: the use of a context window.

use std::fmt;

use ctx_tokens::internal::BudgetLine;
use ctx_types::{Message, Phrase, phrase};
use serde::Serialize;

use crate::request::config::{RequestConfig, share};
use crate::request::layout::{Layout, Part, Protection};
use crate::request::meter::Meter;
use crate::request::outcome::PartCost;
use crate::request::pipeline::room;

/// Use of a context window: window − response − tools − instructions − pins − current turn = history.
///
/// An impossible plan names the largest part. Protected messages may exceed the window, or exceed the trigger, and then
/// every turn would be compressed.
///
/// ```
/// use ctx_compress::request::{BudgetPlan, BudgetVerdict, Meter, Protection, RequestConfig, part_costs};
/// use ctx_tokens::{Budget, BudgetRequest, ModelTable};
/// use ctx_types::{Message, Role, Source, phrase};
///
/// let (model, _) = ModelTable::builtin().lookup("gpt-4");
/// let request = BudgetRequest { reserve: Some(1_000), tools: 6_900, ..BudgetRequest::default() };
/// let (budget, _) = Budget::compute(&model, &request)?;
/// let messages = [Message::new(Role::User, "word ".repeat(400), Source::history("n1", Role::User))];
/// let parts = part_costs(&messages, Protection::PendingTurn, &Meter::estimate());
///
/// let plan = BudgetPlan::new(&budget.lines, &parts, &RequestConfig::default());
/// assert_eq!(plan.verdict, BudgetVerdict::Impossible { over: 221, culprit: phrase!("tools"), tokens: 6_900 });
/// assert_eq!(plan.to_string(), "impossible: 221 tokens over the budget, mostly tools (6900)");
/// # Ok::<(), ctx_tokens::BudgetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetPlan {
    /// The context window; absent if there is no limit.
    pub window: Option<u64>,
    /// Needs of the request without history: first those that are not messages, then protected messages.
    pub needs: Vec<BudgetNeed>,
    /// Remaining tokens for the history; absent if there is no limit.
    pub room: Option<u64>,
    /// Tokens of the history.
    pub history: u64,
    /// The verdict.
    pub verdict: BudgetVerdict,
}

/// A part of a request that always needs tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetNeed {
    /// The name.
    pub name: Phrase,
    /// The tokens.
    pub tokens: u64,
}

/// Verdict on a conversation in a context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum BudgetVerdict {
    /// There is no limit.
    Unlimited,
    /// It fits.
    Fits {
        /// Tokens until compression starts.
        free: u64,
    },
    /// It exceeds the trigger, and the history is compressed.
    Compressed {
        /// Tokens of the compressed history.
        to: u64,
    },
    /// Protected messages exceed the trigger: every turn would be compressed.
    Restless {
        /// The excess in tokens.
        over: u64,
        /// The largest part.
        culprit: Phrase,
        /// Its tokens.
        tokens: u64,
    },
    /// Protected messages exceed the window.
    Impossible {
        /// The excess in tokens.
        over: u64,
        /// The largest part.
        culprit: Phrase,
        /// Its tokens.
        tokens: u64,
    },
}

impl BudgetPlan {
    /// Makes the plan from the lines of a [`Budget`](ctx_tokens::Budget), the window first, and the parts of a request.
    ///
    /// Only the shares in the configuration matter.
    pub fn new(account: &[BudgetLine], parts: &[PartCost], config: &RequestConfig) -> Self {
        let window =
            account.iter().find_map(|line| u64::try_from(line.tokens).ok().filter(|tokens| *tokens > 0));
        let beside = account.iter().filter(|line| line.tokens < 0);
        let beside =
            beside.map(|line| BudgetNeed { name: line.name.clone(), tokens: line.tokens.unsigned_abs() });
        let beside: Vec<BudgetNeed> = beside.collect();
        let around: u64 = beside.iter().map(|need| need.tokens).sum();
        let fixed = parts.iter().filter(|part| part.part != Part::History && part.tokens > 0);
        let fixed = fixed.map(|part| BudgetNeed { name: part.part.phrase(), tokens: part.tokens });
        let needs: Vec<BudgetNeed> = beside.into_iter().chain(fixed).collect();
        let needed: u64 = needs.iter().map(|need| need.tokens).sum();
        let history = parts.iter().filter(|part| part.part == Part::History).map(|part| part.tokens).sum();
        let Some(limit) = window else {
            return Self { window, needs, room: None, history, verdict: BudgetVerdict::Unlimited };
        };
        let budget = RequestConfig { token_budget: limit.saturating_sub(around), ..config.clone() };
        let verdict = match limit.checked_sub(needed) {
            None => impossible(&needs, needed - limit),
            Some(_) => verdict(&needs, needed - around, history, &budget),
        };
        Self { window, needs, room: Some(limit.saturating_sub(needed)), history, verdict }
    }

    /// Returns whether the request can fit.
    pub const fn is_possible(&self) -> bool {
        !matches!(self.verdict, BudgetVerdict::Impossible { .. })
    }
}

fn verdict(needs: &[BudgetNeed], fixed: u64, history: u64, config: &RequestConfig) -> BudgetVerdict {
    let trigger = share(config.token_budget, config.trigger_threshold);
    if fixed > trigger {
        let (culprit, tokens) = largest(needs);
        return BudgetVerdict::Restless { over: fixed - trigger, culprit, tokens };
    }
    if config.is_above_trigger(fixed + history) {
        BudgetVerdict::Compressed { to: room(config, fixed).min(history) }
    } else {
        BudgetVerdict::Fits { free: trigger.saturating_sub(fixed + history) }
    }
}

fn impossible(needs: &[BudgetNeed], over: u64) -> BudgetVerdict {
    let (culprit, tokens) = largest(needs);
    BudgetVerdict::Impossible { over, culprit, tokens }
}

/// Returns the largest need; of equal ones the first.
fn largest(needs: &[BudgetNeed]) -> (Phrase, u64) {
    let largest = needs.iter().rev().max_by_key(|need| need.tokens);
    largest.map_or_else(|| (phrase!("nothing"), 0), |need| (need.name.clone(), need.tokens))
}

impl BudgetPlan {
    /// Returns the verdict as a phrase.
    pub fn phrase(&self) -> Phrase {
        match &self.verdict {
            BudgetVerdict::Unlimited => phrase!("no token limit"),
            BudgetVerdict::Fits { free } => {
                phrase!("fits; compression starts after {free} more tokens", free)
            }
            BudgetVerdict::Compressed { to } => {
                phrase!("compresses the history from {history} to {to} tokens", history = self.history, to)
            }
            BudgetVerdict::Restless { over, culprit, tokens } => phrase!(
                "compresses every turn: protected messages exceed the trigger by {over} tokens, mostly {culprit} ({tokens})",
                over,
                culprit,
                tokens
            ),
            BudgetVerdict::Impossible { over, culprit, tokens } => {
                phrase!(
                    "impossible: {over} tokens over the budget, mostly {culprit} ({tokens})",
                    over,
                    culprit,
                    tokens
                )
            }
        }
    }
}

impl fmt::Display for BudgetPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Adds up the costs of a request with paired calls and results, in the order of [`Part`]. O(messages), and the counts
/// of new texts.
pub fn part_costs(messages: &[Message], protection: Protection, meter: &Meter<'_>) -> Vec<PartCost> {
    let mut costs = PartCost::from_groups(&Layout::of(messages, protection, meter).groups);
    costs.sort_by_key(|cost| cost.part);
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::testing::messages;

    fn line(name: &str, tokens: i64) -> BudgetLine {
        BudgetLine { name: Phrase::verbatim(name), tokens }
    }

    /// A window of 1,000 with 200 for the answer, tools, and parts as instructions, current turn and history.
    #[track_caller]
    fn check(tools: i64, [instructions, current, history]: [u64; 3], expected: &str) {
        let account = [line("window of `m`", 1_000), line("response reserve", -200), line("tools", -tools)];
        let part = |part, tokens| PartCost { part, messages: 1, tokens };
        let parts = [
            part(Part::Instructions, instructions),
            part(Part::Current, current),
            part(Part::History, history),
        ];
        let plan = BudgetPlan::new(&account, &parts, &RequestConfig::default());
        assert_eq!(plan.to_string(), expected);
        let needed: u64 = plan.needs.iter().map(|need| need.tokens).sum();
        assert_eq!(plan.room, Some(1_000_u64.saturating_sub(needed)));
        assert_eq!(plan.is_possible(), needed <= 1_000);
    }

    #[test]
    fn what_fits_says_how_long() {
        check(0, [100, 40, 100], "fits; compression starts after 400 more tokens");
        check(0, [100, 40, 500], "fits; compression starts after 0 more tokens");
    }

    #[test]
    fn above_the_trigger_history_comes_down() {
        check(0, [100, 40, 501], "compresses the history from 501 to 260 tokens");
    }

    #[test]
    fn what_must_stay_and_is_above_the_trigger_is_named() {
        check(
            400,
            [340, 40, 5],
            "compresses every turn: protected messages exceed the trigger by 60 tokens, mostly tools (400)",
        );
    }

    #[test]
    fn what_must_stay_and_is_more_than_the_window_is_named() {
        check(700, [90, 40, 5], "impossible: 30 tokens over the budget, mostly tools (700)");
        check(
            100,
            [600, 200, 5],
            "impossible: 100 tokens over the budget, mostly leading system messages (600)",
        );
        check(900, [0, 0, 0], "impossible: 100 tokens over the budget, mostly tools (900)");
    }

    #[test]
    fn without_a_window_nothing_limits() {
        let plan = BudgetPlan::new(&[line("tools", -5)], &[], &RequestConfig::default());
        assert_eq!((plan.verdict.clone(), plan.room), (BudgetVerdict::Unlimited, None));
        assert_eq!(plan.to_string(), "no token limit");
    }

    #[test]
    fn parts_add_up_to_the_request() {
        let (all, meter) = (messages("s u a:x t:x a u"), Meter::estimate());
        let parts = part_costs(&all, Protection::PendingTurn, &meter);
        let found: Vec<_> = parts.iter().map(|cost| (cost.part, cost.messages)).collect();
        assert_eq!(found, [(Part::Instructions, 1), (Part::Current, 1), (Part::History, 4)]);
        assert_eq!(parts.iter().map(|cost| cost.tokens).sum::<u64>(), meter.messages(&all));
    }
}
