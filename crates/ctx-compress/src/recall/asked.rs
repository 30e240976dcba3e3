//! A conversation fitted into a budget for what is asked next: a note, the newest messages, and what is recalled.

use ctx_types::{Message, phrase};

use crate::recall::answer::RecallAnswer;
use crate::recall::index::RecallIndex;
use crate::recall::lines::RecallRequest;
use crate::recall::noted::Noted;
use crate::request::{
    Action, Compression, CompressionPipeline, PassOutcome, Protection, RequestConfig, part_costs,
};

/// What came of fitting a conversation for a question.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedCompression {
    /// The messages, what was recalled among them, with their report.
    pub compression: Compression,
    /// What was recalled, which stands last, or why nothing was.
    pub recalled: RecallAnswer,
}

/// The share of a budget for the note and the newest messages, in hundredths; the rest is for what is recalled.
const KEPT: u64 = 15;

/// Which part of that is for the newest messages.
const TAIL: f64 = 0.6;

impl CompressionPipeline<'_> {
    /// Fits messages into the budget for a question that follows them; the question is not among them, nor counted.
    ///
    /// As [`compress`](Self::compress), but 85 of 100 tokens are for what the question asks about, and the note and
    /// the newest messages have the rest, or what must stay if that is more. O(bytes).
    pub fn compress_for(
        &self,
        messages: &[Message],
        protection: Protection,
        question: &str,
    ) -> AskedCompression {
        let budget = self.config().token_budget;
        let plain = |why| {
            let recalled = RecallAnswer::Nothing(why);
            AskedCompression { compression: self.compress(messages, protection), recalled }
        };
        if !self.should_compress(messages) {
            return plain(phrase!("nothing to recall: everything fits"));
        }
        let fixed = part_costs(messages, protection, self.meter()).into_iter();
        let fixed: u64 = fixed.filter(|cost| !cost.part.is_history()).map(|cost| cost.tokens).sum();
        let kept = (budget * KEPT / 100).max(fixed).min(budget);
        let smaller = self.with_config(RequestConfig { tail_share: TAIL, ..RequestConfig::to_fit(kept) });
        let plan = smaller.plan(messages, protection);
        if plan.outcome != PassOutcome::Compacted {
            return plain(phrase!("no tokens left for recalled passages"));
        }
        let paired = plan.messages();
        let mut index = RecallIndex::default();
        index.extend(paired);
        let mut is_kept = vec![false; paired.len()];
        for step in plan.steps.iter().filter(|step| step.action == Action::Keep) {
            is_kept.get_mut(step.range.clone()).into_iter().for_each(|kept| kept.fill(true));
        }
        let mut messages = plan.apply();
        let mut report = plan.report(&messages, self.meter());
        let query = [(question, 100)];
        let noted = Noted::of(&messages);
        let id = |at: usize| paired.get(at).and_then(|message| message.source.id.as_deref());
        let recalled = RecallAnswer::of(&RecallRequest {
            found: &index.search(&query),
            index: &index,
            message: &|at| paired.get(at).cloned(),
            is_held: &|at, _| is_kept.get(at).copied().unwrap_or(true),
            is_noted: &|at, line, _| id(at).is_some_and(|id| noted.having(id, line).next().is_some()),
            others: 0,
            room: budget.saturating_sub(report.output_tokens),
            role: self.config().note_role,
            meter: self.meter(),
        });
        report.budget = budget;
        report.diagnostics.extend(index.findings());
        if let RecallAnswer::Recalled(recalled) = &recalled {
            messages.push(recalled.message.clone());
            report.output_count += 1;
            report.note_count += 1;
            report.output_tokens += recalled.tokens;
        }
        let compression = Compression { new_loop_start: messages.len(), messages, report };
        AskedCompression { compression, recalled }
    }
}
