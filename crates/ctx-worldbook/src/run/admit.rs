use ctx_types::Text;

use super::{Candidate, Run};
use crate::input::EntryPart;
use crate::reason::Reason;
use crate::scan::Activation;
use crate::scan::Status;
use crate::set::Member;

impl Run<'_, '_> {
    pub(super) fn try_activate(&mut self, candidate: Candidate, pass: usize) {
        let number = candidate.member;
        let member = self.member(number);
        let is_exempt = member.entry.ignores_budget;
        let budget = self.budget.limit().unwrap_or_default();
        if self.budget.is_full && !is_exempt {
            let reason = Reason::Budget { tokens: None, budget };
            self.statuses[number] = Status::NotActivated(reason);
            return;
        }
        if let Err(reason) = self.draw(number, member) {
            return self.close(number, reason);
        }
        let expanded = self.ports.expand.expand(member, EntryPart::Content, &member.entry.content);
        if let Err(reason) = self.admit_to_book(member, &expanded.text) {
            return self.close(number, reason);
        }
        if !self.budget.admit(&expanded.text, is_exempt) {
            let is_short = expanded.text.len() as u64 <= budget.saturating_mul(8);
            let tokens = is_short.then(|| self.budget.count(&expanded.text));
            return self.close(number, Reason::Budget { tokens, budget });
        }
        self.activate(Activation {
            member: number,
            cause: candidate.cause,
            pass,
            content: expanded.text,
            written: expanded.written,
        });
    }

    /// Replaces an active entry with the same uid.
    fn activate(&mut self, activation: Activation) {
        let number = activation.member;
        let uid = self.member(number).first_with_uid;
        let at = *self.active_uids.entry(uid).or_insert(self.activations.len());
        self.statuses[number] = Status::Activated(at);
        self.is_open[number] = false;
        match self.activations.get_mut(at) {
            Some(active) => {
                let replaced = std::mem::replace(active, activation).member;
                self.statuses[replaced] = Status::NotActivated(Reason::SameUid);
            }
            None => self.activations.push(activation),
        }
    }

    /// Sticky entries skip the probability.
    fn draw(&mut self, number: usize, member: &Member) -> Result<(), Reason> {
        let Some(probability) = member.entry.probability.filter(|_| self.timed.sticky(number).is_none())
        else {
            return Ok(());
        };
        let drawn = self.ports.draws.draw() * 100.0;
        if drawn <= probability { Ok(()) } else { Err(Reason::Probability { drawn, probability }) }
    }

    fn admit_to_book(&mut self, member: &Member, text: &Text) -> Result<(), Reason> {
        let Some(budget) = self.set.books()[member.book_number].token_budget else { return Ok(()) };
        if self.ports.counter.is_none() || member.entry.ignores_budget {
            return Ok(());
        }
        let used = &mut self.book_tokens[member.book_number];
        let tokens = self.budget.count(text);
        let sum = used.saturating_add(u64::from(tokens));
        if sum > budget {
            return Err(Reason::BookBudget { tokens, budget });
        }
        *used = sum;
        Ok(())
    }
}
