//! Whether an entry could become active in a pass, and why not.

use std::sync::Arc;

use ctx_types::{SelectiveLogic, excerpt};

use super::Run;
use super::find::Found;
use crate::decorators::Condition;
use crate::hits::View;
use crate::input::Part;
use crate::keys::Key;
use crate::scan::PassKind;
use crate::set::Member;
use crate::status::{Cause, Reason, Status};

/// Why an entry is no candidate.
pub(super) enum Verdict {
    /// It may be one in a later pass.
    NotNow(Reason),
    /// It will not be one in this scan.
    Never(Reason),
    /// What was known before stands.
    AsBefore,
}

impl<'r> Run<'r, '_> {
    /// Says why an entry could become active, or why not.
    pub(super) fn consider(&mut self, number: usize, kind: PassKind) -> Result<Cause, Verdict> {
        let member = self.member(number);
        let entry = &member.entry;
        let sticky = self.timed.sticky(number);
        self.check_filters(number, member, sticky.is_some()).map_err(Verdict::Never)?;
        if sticky.is_none() {
            self.check_recursion(number, member, kind)?;
        }
        match entry.forced {
            Some(true) => return Ok(Cause::Decorator),
            Some(false) => return Err(Verdict::Never(Reason::Decorator)),
            None => {}
        }
        if self.input.activated.contains(&member.id) {
            return Ok(Cause::External);
        }
        let view = self.view(member, kind);
        if sticky.is_none() {
            self.check_conditions(number, member, view).map_err(Verdict::NotNow)?;
        }
        if entry.is_constant {
            return Ok(Cause::Constant);
        }
        if let Some(until) = sticky {
            return Ok(Cause::Sticky { until });
        }
        if entry.keys.is_empty() {
            return Err(Verdict::Never(Reason::NoKeys));
        }
        self.find_keys(number, member, view).map_err(Verdict::NotNow)
    }

    /// What does not change during a scan.
    fn check_filters(&self, number: usize, member: &Member, is_sticky: bool) -> Result<(), Reason> {
        let entry = &member.entry;
        if !entry.is_enabled {
            return Err(Reason::Disabled);
        }
        if !entry.triggers.is_empty() && !entry.triggers.iter().any(|kind| **kind == *self.input.trigger) {
            return Err(Reason::Trigger { wanted: entry.triggers.clone() });
        }
        if let Some(filter) = &entry.filter {
            let is_named = filter.names.iter().any(|name| self.input.names.contains(name));
            if !filter.names.is_empty() && is_named == filter.is_exclude {
                return Err(Reason::CharacterName);
            }
            let is_tagged = |tags: &[Arc<str>]| filter.tags.iter().any(|tag| tags.contains(tag));
            let tags = self.input.tags.filter(|_| !filter.tags.is_empty());
            if tags.is_some_and(|tags| is_tagged(tags) == filter.is_exclude) {
                return Err(Reason::CharacterTag);
            }
        }
        if self.timed.is_delayed(member) {
            return Err(Reason::Delay { needed: entry.timing.delay });
        }
        match self.timed.cooldown(number) {
            Some(until) if !is_sticky => Err(Reason::Cooldown { until }),
            _ => Ok(()),
        }
    }

    fn check_recursion(&self, number: usize, member: &Member, kind: PassKind) -> Result<(), Verdict> {
        let entry = &member.entry;
        let level = entry.recursion_level;
        let is_recursion = kind == PassKind::Recursion;
        if level > 0 && (!is_recursion || level > self.level) {
            return Err(Verdict::NotNow(Reason::AwaitsRecursion { level }));
        }
        if is_recursion && self.set.settings().recursive && entry.is_excluded_from_recursion {
            return Err(match (self.statuses.get(number), self.plain_key(member, kind)) {
                (Some(Status::NotActivated(Reason::NoKeyFound)), Some(key)) => {
                    Verdict::NotNow(Reason::ExcludedFromRecursion { key })
                }
                (Some(Status::NotActivated(Reason::NotConsidered)), _) => Verdict::NotNow(Reason::NoKeyFound),
                _ => Verdict::AsBefore,
            });
        }
        Ok(())
    }

    /// Returns a plain key that the entry would find; for explanations.
    fn plain_key(&self, member: &'r Member, kind: PassKind) -> Option<Arc<str>> {
        let view = self.view(member, kind);
        let keys = member.entry.keys.iter().zip(&member.keys);
        let mut found = keys.filter(|(_, key)| match key {
            Key::Literal(literal) => self.texts.hits.place(*literal, view).is_some(),
            _ => false,
        });
        found.next().map(|(key, _)| key.clone())
    }

    fn check_conditions(&mut self, number: usize, member: &'r Member, view: View) -> Result<(), Reason> {
        for (index, condition) in member.entry.conditions.iter().enumerate() {
            if let Some(fault) = self.fault(number, member, (index, condition), view) {
                return Err(Reason::Condition(fault));
            }
        }
        Ok(())
    }

    /// Says what about a condition does not hold.
    fn fault(
        &mut self,
        number: usize,
        member: &'r Member,
        (index, condition): (usize, &Condition),
        view: View,
    ) -> Option<String> {
        let answers = self.input.answers;
        match condition {
            Condition::AnswersReach(needed) => {
                (answers < *needed).then(|| format!("it waits until the agent has said {needed} messages"))
            }
            Condition::AnswersDivideBy(every) => (!answers.is_multiple_of(*every))
                .then(|| format!("it is for every {every} messages of the agent")),
            Condition::Greeting(wanted) => self
                .input
                .greeting
                .is_some_and(|greeting| greeting != *wanted)
                .then(|| format!("it is for greeting {wanted}")),
            Condition::UserIcon(wanted) => self
                .input
                .user_icon
                .is_some_and(|icon| *icon != **wanted)
                .then(|| format!("it is for the picture `{}` of the user", excerpt(wanted))),
            Condition::AnyKey(_) | Condition::NoKey(_) => {
                let keys = member.conditions.get(index).map_or(0, Vec::len);
                let found =
                    self.first(number, member, view, (0..keys).map(|key| Part::ConditionKey(index, key)));
                match (condition, found) {
                    (Condition::NoKey(_), Found::Hit(hit)) => {
                        Some(format!("the key `{}`, which keeps it out, was found", excerpt(&hit.key)))
                    }
                    (Condition::AnyKey(_), Found::Absent) => {
                        Some("none of its additional keys was found".to_owned())
                    }
                    (Condition::AnyKey(_), Found::Unknown(key)) => {
                        Some(Reason::KeyGaveUp { key }.to_string())
                    }
                    _ => None,
                }
            }
        }
    }

    fn find_keys(&mut self, number: usize, member: &'r Member, view: View) -> Result<Cause, Reason> {
        let primary = match self.first(number, member, view, (0..member.keys.len()).map(Part::Key)) {
            Found::Hit(primary) => primary,
            Found::Absent => return Err(Reason::NoKeyFound),
            Found::Unknown(key) => return Err(Reason::KeyGaveUp { key }),
        };
        let entry = &member.entry;
        if !entry.is_selective || entry.secondary_keys.is_empty() {
            return Ok(Cause::Keys { primary, secondary: None });
        }
        let (mut first_found, mut first_unknown) = (None, None);
        let (mut count, mut is_missing, mut is_absent) = (0, false, false);
        for key in 0..member.secondary.len() {
            let hit = match self.find(number, member, Part::SecondaryKey(key), view) {
                Found::Hit(hit) => Some(hit),
                Found::Absent => {
                    is_absent = true;
                    None
                }
                Found::Unknown(key) => {
                    first_unknown = first_unknown.or(Some(key));
                    None
                }
            };
            is_missing |= hit.is_none();
            count += usize::from(hit.is_some());
            first_found = first_found.or(hit);
            match entry.logic {
                SelectiveLogic::AndAny if count > 0 => break,
                SelectiveLogic::NotAll if is_missing => break,
                _ => {}
            }
        }
        let (holds, decides) = match entry.logic {
            SelectiveLogic::AndAny => (count > 0, true),
            SelectiveLogic::NotAll => (is_missing, false),
            SelectiveLogic::NotAny => (count == 0, false),
            SelectiveLogic::AndAll => (!is_missing, true),
        };
        if holds {
            return Ok(Cause::Keys { primary, secondary: first_found.filter(|_| decides) });
        }
        // Whether it would hold hangs on keys that were given up.
        let is_open = decides && (entry.logic == SelectiveLogic::AndAny || !is_absent);
        if let Some(key) = first_unknown.filter(|_| is_open) {
            return Err(Reason::KeyGaveUp { key });
        }
        Err(Reason::Secondary { primary, logic: entry.logic, found: first_found.filter(|_| !decides) })
    }

    /// Finds the first of several keys.
    fn first(
        &mut self,
        number: usize,
        member: &'r Member,
        view: View,
        parts: impl Iterator<Item = Part>,
    ) -> Found {
        let mut first_unknown = Found::Absent;
        for part in parts {
            match self.find(number, member, part, view) {
                Found::Hit(hit) => return Found::Hit(hit),
                unknown @ Found::Unknown(_) if first_unknown == Found::Absent => first_unknown = unknown,
                Found::Absent | Found::Unknown(_) => {}
            }
        }
        first_unknown
    }

    fn has(&mut self, number: usize, member: &'r Member, part: Part, view: View) -> bool {
        self.find(number, member, part, view).hit().is_some()
    }

    /// Counts the keys of an entry that are found, as groups compare them.
    pub(super) fn score(&mut self, number: usize, kind: PassKind) -> usize {
        let member = self.member(number);
        let view = self.view(member, kind);
        let keys = 0..member.keys.len();
        let primary = keys.filter(|key| self.has(number, member, Part::Key(*key), view)).count();
        let keys = 0..member.secondary.len();
        let secondary = keys.filter(|key| self.has(number, member, Part::SecondaryKey(*key), view)).count();
        match member.entry.logic {
            _ if member.keys.is_empty() => 0,
            SelectiveLogic::AndAny => primary + secondary,
            SelectiveLogic::AndAll if secondary == member.secondary.len() => primary + secondary,
            _ => primary,
        }
    }
}
