//! Inclusion groups.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Candidate, Run};
use crate::scan::PassKind;
use crate::status::{GroupLoss, Reason, Status};

struct Group<'m> {
    name: &'m str,
    candidates: Vec<usize>,
    has_sticky: bool,
}

impl<'r> Run<'r, '_> {
    /// Removes the losers and sets their statuses.
    ///
    /// An entry must win all its groups. After a loss, it no longer competes in the others.
    pub(super) fn resolve_groups(&mut self, candidates: &mut Vec<Candidate>, kind: PassKind) {
        let mut groups = self.groups(candidates);
        if groups.is_empty() {
            return;
        }
        let mut losers = GroupLosers { is_out: vec![false; candidates.len()] };
        for group in &mut groups {
            self.keep_sticky(group, candidates, &mut losers);
        }
        for group in groups.iter().filter(|group| !group.has_sticky) {
            self.compare_scores(group, candidates, &mut losers, kind);
        }
        let active = self.active_groups();
        for group in groups.iter().filter(|group| !group.has_sticky) {
            self.keep_one(group, candidates, &mut losers, &active);
        }
        let mut is_out = losers.is_out.into_iter();
        candidates.retain(|_| !is_out.next().unwrap_or_default());
    }

    /// Uses the key order of JavaScript objects: array indexes ascending, then insertion order.
    fn groups(&self, candidates: &[Candidate]) -> Vec<Group<'r>> {
        let mut places: BTreeMap<&'r str, usize> = BTreeMap::new();
        let mut groups: Vec<Group<'r>> = Vec::new();
        for (at, candidate) in candidates.iter().enumerate() {
            for name in self.member(candidate.member).entry.groups() {
                let place = *places.entry(name).or_insert(groups.len());
                match groups.get_mut(place) {
                    Some(group) if group.candidates.last() == Some(&at) => {}
                    Some(group) => group.candidates.push(at),
                    None => groups.push(Group { name, candidates: vec![at], has_sticky: false }),
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

    fn keep_sticky(&mut self, group: &mut Group<'_>, candidates: &[Candidate], losers: &mut GroupLosers) {
        let sticky: Vec<usize> = losers.members_of(group, candidates);
        let Some(winner) = sticky.iter().copied().find(|member| self.timed.sticky(*member).is_some()) else {
            return;
        };
        group.has_sticky = true;
        for at in &group.candidates {
            let member = candidates.get(*at).map_or(0, |candidate| candidate.member);
            if self.timed.sticky(member).is_none() {
                self.record_loss(Loser { at: *at, member }, group.name, GroupLoss::Sticky(winner), losers);
            }
        }
    }

    /// Only entries that use scoring can lose by it.
    fn compare_scores(
        &mut self,
        group: &Group<'_>,
        candidates: &[Candidate],
        losers: &mut GroupLosers,
        kind: PassKind,
    ) {
        let by_default = self.set.settings().use_group_scoring;
        let members = losers.members_of(group, candidates);
        let counts = |run: &Self, member| run.member(member).entry.use_group_scoring;
        if !by_default && !members.iter().any(|member| counts(self, *member) == Some(true)) {
            return;
        }
        let scores: BTreeMap<usize, usize> =
            members.iter().map(|member| (*member, self.score(*member, kind))).collect();
        let best = scores.values().copied().max().unwrap_or_default();
        // Among equals, the first one.
        let winner = scores.iter().find(|(_, score)| **score == best).map_or(0, |(member, _)| *member);
        for at in &group.candidates {
            let member = candidates.get(*at).map_or(0, |candidate| candidate.member);
            let Some(own) = scores.get(&member).copied().filter(|own| *own < best) else { continue };
            if counts(self, member).unwrap_or(by_default) {
                self.record_loss(
                    Loser { at: *at, member },
                    group.name,
                    GroupLoss::Score { own, best, winner },
                    losers,
                );
            }
        }
    }

    fn keep_one(
        &mut self,
        group: &Group<'_>,
        candidates: &[Candidate],
        losers: &mut GroupLosers,
        active: &BTreeMap<&str, usize>,
    ) {
        let members = losers.members_of(group, candidates);
        let (winner, loss) = if let Some(active) = active.get(group.name) {
            (None, GroupLoss::Active(*active))
        } else if members.len() <= 1 {
            return;
        } else if let Some(first) = self.preferred(&members) {
            (Some(first), GroupLoss::Override(first))
        } else {
            let Some(drawn) = self.draw_winner(&members) else { return };
            (Some(drawn), GroupLoss::Draw(drawn))
        };
        for at in &group.candidates {
            let member = candidates.get(*at).map_or(0, |candidate| candidate.member);
            if Some(member) != winner {
                self.record_loss(Loser { at: *at, member }, group.name, loss.clone(), losers);
            }
        }
    }

    /// Returns the highest order among those with `wins_group`.
    fn preferred(&self, members: &[usize]) -> Option<usize> {
        let preferred = members.iter().copied().filter(|member| self.member(*member).entry.wins_group);
        preferred.min_by_key(|member| Reverse(self.member(*member).entry.order))
    }

    fn draw_winner(&mut self, members: &[usize]) -> Option<usize> {
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
        winner.or(members.first().copied())
    }

    /// An earlier loss is more specific than `GroupLoss::Active`.
    fn has_lost(&self, member: usize, lost: &str) -> bool {
        let status = self.statuses.get(member);
        matches!(status, Some(Status::NotActivated(Reason::Group { group, .. })) if **group == *lost)
    }

    /// A candidate that already lost keeps its reason.
    fn record_loss(&mut self, loser: Loser, group: &str, loss: GroupLoss, losers: &mut GroupLosers) {
        let Loser { at, member } = loser;
        let Some(is_out) = losers.is_out.get_mut(at).filter(|is_out| !**is_out) else { return };
        *is_out = true;
        let is_told = matches!(loss, GroupLoss::Active(_)) && self.has_lost(member, group);
        if !is_told {
            let reason = Reason::Group { group: group.into(), loss };
            self.set_status(member, Status::NotActivated(reason));
        }
    }
}

/// Position among the candidates, and number of the entry.
#[derive(Clone, Copy)]
struct Loser {
    at: usize,
    member: usize,
}

struct GroupLosers {
    is_out: Vec<bool>,
}

impl GroupLosers {
    fn members_of(&self, group: &Group<'_>, candidates: &[Candidate]) -> Vec<usize> {
        let still_in = group.candidates.iter().filter(|at| !self.is_out.get(**at).copied().unwrap_or(true));
        still_in.filter_map(|at| candidates.get(*at)).map(|candidate| candidate.member).collect()
    }
}

/// Parses a JavaScript array index.
fn array_index(name: &str) -> Option<u32> {
    let index = name.parse::<u32>().ok().filter(|index| *index < u32::MAX)?;
    (index.to_string() == name).then_some(index)
}
