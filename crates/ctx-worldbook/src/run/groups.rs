//! Inclusion groups.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use ctx_types::worldbook::array_index;

use super::{Candidate, Run};
use crate::reason::{GroupLoss, Reason};
use crate::scan::PassKind;
use crate::scan::Status;

struct Group<'m> {
    name: &'m str,
    /// Numbers of the candidates.
    members: Vec<usize>,
}

impl Group<'_> {
    fn remaining(&self, losers: &BTreeSet<usize>) -> Vec<usize> {
        self.members.iter().copied().filter(|member| !losers.contains(member)).collect()
    }
}

impl<'r> Run<'r, '_> {
    /// Removes the losers and sets their statuses.
    ///
    /// An entry must win all its groups. After a loss, it no longer competes in the others.
    pub(super) fn resolve_groups(&mut self, candidates: &mut Vec<Candidate>, kind: PassKind) {
        let mut groups = self.groups(candidates);
        let mut losers = BTreeSet::new();
        groups.retain(|group| !self.keep_sticky(group, &mut losers));
        for group in &groups {
            self.compare_scores(group, &mut losers, kind);
        }
        let active = self.active_groups();
        for group in &groups {
            self.keep_one(group, &mut losers, &active);
        }
        candidates.retain(|candidate| !losers.contains(&candidate.member));
    }

    /// Uses the key order of JavaScript objects: array indexes ascending, then insertion order.
    fn groups(&self, candidates: &[Candidate]) -> Vec<Group<'r>> {
        let mut places: BTreeMap<&'r str, usize> = BTreeMap::new();
        let mut groups: Vec<Group<'r>> = Vec::new();
        for Candidate { member, .. } in candidates {
            for name in self.member(*member).entry.groups() {
                let place = *places.entry(name).or_insert(groups.len());
                match groups.get_mut(place) {
                    Some(group) if group.members.last() == Some(member) => {}
                    Some(group) => group.members.push(*member),
                    None => groups.push(Group { name, members: vec![*member] }),
                }
            }
        }
        groups.sort_by_key(|group| array_index(group.name).map_or(u64::MAX, u64::from));
        groups
    }

    /// Keys are `group` texts, not split at commas.
    fn active_groups(&self) -> BTreeMap<&'r str, usize> {
        let mut groups = BTreeMap::new();
        for activation in &self.activations {
            groups.entry(&*self.member(activation.member).entry.group).or_insert(activation.member);
        }
        groups
    }

    /// Returns whether the group has a sticky entry.
    fn keep_sticky(&mut self, group: &Group<'_>, losers: &mut BTreeSet<usize>) -> bool {
        let sticky = |run: &Self, member: usize| run.timed.sticky(member).is_some();
        let winner = group.remaining(losers).into_iter().find(|member| sticky(self, *member));
        if let Some(winner) = winner {
            for member in &group.members {
                if !sticky(self, *member) {
                    self.record_loss(*member, group.name, GroupLoss::Sticky(winner), losers);
                }
            }
        }
        winner.is_some()
    }

    /// Only entries that use scoring can lose by it.
    fn compare_scores(&mut self, group: &Group<'_>, losers: &mut BTreeSet<usize>, kind: PassKind) {
        let by_default = self.set.settings().use_group_scoring;
        let counts = |run: &Self, member| run.member(member).entry.use_group_scoring;
        let members = group.remaining(losers);
        if !by_default && !members.iter().any(|member| counts(self, *member) == Some(true)) {
            return;
        }
        let scores: BTreeMap<usize, usize> =
            members.iter().map(|member| (*member, self.score(*member, kind))).collect();
        // Among equals, the first one.
        let Some((&winner, &best)) = scores.iter().max_by_key(|(member, score)| (**score, Reverse(**member)))
        else {
            return;
        };
        for member in members {
            let own = scores[&member];
            if own < best && counts(self, member).unwrap_or(by_default) {
                self.record_loss(member, group.name, GroupLoss::Score { own, best, winner }, losers);
            }
        }
    }

    fn keep_one(&mut self, group: &Group<'_>, losers: &mut BTreeSet<usize>, active: &BTreeMap<&str, usize>) {
        let members = group.remaining(losers);
        let (winner, loss) = if let Some(active) = active.get(group.name) {
            (None, GroupLoss::Active(*active))
        } else if members.len() <= 1 {
            return;
        } else if let Some(first) = self.preferred(&members) {
            (Some(first), GroupLoss::Override(first))
        } else {
            let drawn = self.draw_winner(&members);
            (Some(drawn), GroupLoss::Draw(drawn))
        };
        for member in members.into_iter().filter(|member| Some(*member) != winner) {
            self.record_loss(member, group.name, loss.clone(), losers);
        }
    }

    /// Returns the highest order among those with `wins_group`.
    fn preferred(&self, members: &[usize]) -> Option<usize> {
        let preferred = members.iter().copied().filter(|member| self.member(*member).entry.wins_group);
        preferred.min_by_key(|member| Reverse(self.member(*member).entry.order))
    }

    fn draw_winner(&mut self, members: &[usize]) -> usize {
        // A negative weight is 0.
        let weight = |run: &Self, member| run.member(member).entry.group_weight.max(0.0);
        let total: f64 = members.iter().map(|member| weight(self, *member)).sum();
        let drawn = self.ports.draws.draw() * total;
        let mut sum = 0.0;
        let winner = members.iter().copied().find(|member| {
            sum += weight(self, *member);
            drawn <= sum
        });
        // The sum of the weights can be NaN.
        winner.unwrap_or(members[0])
    }

    /// A candidate that already lost keeps its reason.
    fn record_loss(&mut self, member: usize, group: &str, loss: GroupLoss, losers: &mut BTreeSet<usize>) {
        // An earlier loss is more specific than `GroupLoss::Active`.
        let is_told = match (&loss, &self.statuses[member]) {
            (GroupLoss::Active(_), Status::NotActivated(Reason::Group { group: lost, .. })) => {
                **lost == *group
            }
            _ => false,
        };
        if losers.insert(member) && !is_told {
            self.statuses[member] = Status::NotActivated(Reason::Group { group: group.into(), loss });
        }
    }
}
