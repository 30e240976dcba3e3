//! Fits a conversation into a budget for a question: a note, the newest messages and the recalled lines.

use ctx_types::{Message, phrase};

use crate::recall::answer::RecallAnswer;
use crate::recall::index::RecallIndex;
use crate::recall::lines::RecallRequest;
use crate::recall::noted::Noted;
use crate::request::{
    Action, Compression, CompressionPipeline, PassOutcome, Protection, RequestConfig, part_costs,
};

/// The result of fitting a conversation for a question.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedCompression {
    /// The messages including the recalled lines, with their report.
    pub compression: Compression,
    /// The recalled lines, which are the last message, or the reason why there are none.
    pub recalled: RecallAnswer,
}

/// The share of a budget for the note and the newest messages, in percent. The rest is for recalled lines.
const KEPT: u64 = 15;

/// The share of the newest messages in it.
const TAIL: f64 = 0.6;

impl CompressionPipeline<'_> {
    /// Fits messages into the budget for a question that follows them. The question is neither included nor counted.
    ///
    /// Like [`compress`](Self::compress), but 85 of 100 tokens are for lines that match the question. The note and the
    /// newest messages get the rest, or as much as the protected messages need. O(bytes).
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
