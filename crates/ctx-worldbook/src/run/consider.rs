use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::worldbook::SelectiveLogic;
use ctx_types::{Phrase, count_of, phrase};

use super::Run;
use super::find::SearchOutcome;
use crate::decorators::Condition;
use crate::hits::View;
use crate::input::{EntryPart, ScanInput};
use crate::keys::Key;
use crate::reason::{Cause, GaveUp, KeyHit, Reason};
use crate::scan::PassKind;
use crate::scan::Status;
use crate::set::Member;

pub(super) enum Verdict {
    /// Not a candidate in this pass.
    NotNow(Reason),
    /// Not a candidate in this scan.
    Never(Reason),
    /// The previous status remains.
    AsBefore,
}

#[derive(Debug, Default)]
struct Secondary {
    first: Option<KeyHit>,
    unknown: Option<(Arc<str>, GaveUp)>,
    is_absent: bool,
}

impl Secondary {
    const fn is_missing(&self) -> bool {
        self.is_absent || self.unknown.is_some()
    }
}

impl<'r> Run<'r, '_> {
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
            self.check_conditions(member, view).map_err(Verdict::NotNow)?;
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
        self.find_keys(member, view).map_err(Verdict::NotNow)
    }

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
            return Err(match (&self.statuses[number], self.plain_key(member, kind)) {
                (Status::NotActivated(Reason::NoKeyFound), Some(key)) => {
                    Verdict::NotNow(Reason::ExcludedFromRecursion { key })
                }
                (Status::NotActivated(Reason::NotConsidered), _) => Verdict::NotNow(Reason::NoKeyFound),
                _ => Verdict::AsBefore,
            });
        }
        Ok(())
    }

    /// For explanations.
    fn plain_key(&self, member: &'r Member, kind: PassKind) -> Option<Arc<str>> {
        let view = self.view(member, kind);
        let keys = member.entry.keys.iter().zip(&member.keys);
        let mut found = keys.filter(|(_, key)| match key {
            Key::Literal(literal) => self.texts.hits.place(*literal, view).is_some(),
            _ => false,
        });
        found.next().map(|(key, _)| key.clone())
    }

    fn check_conditions(&mut self, member: &'r Member, view: View) -> Result<(), Reason> {
        for (index, condition) in member.entry.conditions.iter().enumerate() {
            if let Some(fault) = self.fault(member, index, condition, view) {
                return Err(Reason::Condition(fault));
            }
        }
        Ok(())
    }

    fn fault(
        &mut self,
        member: &'r Member,
        index: usize,
        condition: &Condition,
        view: View,
    ) -> Option<Phrase> {
        let ScanInput { answers, greeting, user_icon, .. } = *self.input;
        let length = self.length;
        match condition {
            Condition::AnswersReach(needed) => (answers < *needed).then(|| {
                phrase!("waits until the agent has sent {messages}", messages = count_of!(*needed, "message"))
            }),
            Condition::AnswersDivideBy(every) => (!answers.is_multiple_of(*every)).then(|| {
                phrase!("active only every {messages} of the agent", messages = count_of!(*every, "message"))
            }),
            Condition::MessagesReach(needed) => (length < *needed).then(|| {
                phrase!(
                    "waits until the conversation has {messages}",
                    messages = count_of!(*needed, "message")
                )
            }),
            Condition::MessagesDivideBy(every) => (!length.is_multiple_of(*every))
                .then(|| phrase!("active only every {messages}", messages = count_of!(*every, "message"))),
            Condition::Greeting(wanted) => greeting
                .is_some_and(|greeting| greeting != *wanted)
                .then(|| phrase!("only for greeting {wanted}", wanted)),
            Condition::UserIcon(wanted) => user_icon
                .is_some_and(|icon| *icon != **wanted)
                .then(|| phrase!("only for user avatar `{picture}`", picture = excerpt(wanted))),
            Condition::AnyKey(keys) => {
                let keys = (0..keys.len()).map(|key| EntryPart::ConditionKey(index, key));
                match self.first(member, view, keys) {
                    SearchOutcome::Hit(_) => None,
                    SearchOutcome::Absent => Some(phrase!("no secondary key matches")),
                    SearchOutcome::Unknown(key, why) => Some(Reason::KeyGaveUp { key, why }.phrase()),
                }
            }
            Condition::NoKey(keys) => {
                let keys = (0..keys.len()).map(|key| EntryPart::ConditionKey(index, key));
                let hit = self.first(member, view, keys).hit()?;
                Some(phrase!("excluding key `{key}` matches", key = excerpt(&hit.key)))
            }
        }
    }

    fn find_keys(&mut self, member: &'r Member, view: View) -> Result<Cause, Reason> {
        let primary = match self.first(member, view, (0..member.keys.len()).map(EntryPart::Key)) {
            SearchOutcome::Hit(primary) => primary,
            SearchOutcome::Absent => return Err(Reason::NoKeyFound),
            SearchOutcome::Unknown(key, why) => return Err(Reason::KeyGaveUp { key, why }),
        };
        let logic = member.entry.logic;
        if !member.entry.is_selective || member.secondary.is_empty() {
            return Ok(Cause::Keys { primary, secondary: None });
        }
        let secondary = self.find_secondary(member, view);
        let (holds, decides) = match logic {
            SelectiveLogic::AndAny => (secondary.first.is_some(), true),
            SelectiveLogic::NotAll => (secondary.is_missing(), false),
            SelectiveLogic::NotAny => (secondary.first.is_none(), false),
            SelectiveLogic::AndAll => (!secondary.is_missing(), true),
        };
        let Secondary { first, unknown, is_absent } = secondary;
        if holds {
            return Ok(Cause::Keys { primary, secondary: first.filter(|_| decides) });
        }
        // The result depends on stopped searches.
        let is_open = decides && (logic == SelectiveLogic::AndAny || !is_absent);
        match unknown.filter(|_| is_open) {
            Some((key, why)) => Err(Reason::KeyGaveUp { key, why }),
            None => Err(Reason::Secondary { primary, logic, found: first.filter(|_| !decides) }),
        }
    }

    fn find_secondary(&mut self, member: &'r Member, view: View) -> Secondary {
        let mut secondary = Secondary::default();
        for key in 0..member.secondary.len() {
            match self.find(member, EntryPart::SecondaryKey(key), view) {
                SearchOutcome::Hit(hit) => secondary.first = secondary.first.or(Some(hit)),
                SearchOutcome::Absent => secondary.is_absent = true,
                SearchOutcome::Unknown(key, why) => {
                    secondary.unknown = secondary.unknown.or(Some((key, why)));
                }
            }
            let is_decided = match member.entry.logic {
                SelectiveLogic::AndAny => secondary.first.is_some(),
                SelectiveLogic::NotAll => secondary.is_missing(),
                SelectiveLogic::NotAny | SelectiveLogic::AndAll => false,
            };
            if is_decided {
                break;
            }
        }
        secondary
    }

    fn first(
        &mut self,
        member: &'r Member,
        view: View,
        parts: impl Iterator<Item = EntryPart>,
    ) -> SearchOutcome {
        let mut first_unknown = SearchOutcome::Absent;
        for part in parts {
            match self.find(member, part, view) {
                SearchOutcome::Hit(hit) => return SearchOutcome::Hit(hit),
                unknown @ SearchOutcome::Unknown(..) if first_unknown == SearchOutcome::Absent => {
                    first_unknown = unknown;
                }
                SearchOutcome::Absent | SearchOutcome::Unknown(..) => {}
            }
        }
        first_unknown
    }

    fn has(&mut self, member: &'r Member, part: EntryPart, view: View) -> bool {
        self.find(member, part, view).hit().is_some()
    }

    /// Counts matching keys for group scoring.
    pub(super) fn score(&mut self, number: usize, kind: PassKind) -> usize {
        let member = self.member(number);
        let view = self.view(member, kind);
        let keys = 0..member.keys.len();
        let primary = keys.filter(|key| self.has(member, EntryPart::Key(*key), view)).count();
        let keys = 0..member.secondary.len();
        let secondary = keys.filter(|key| self.has(member, EntryPart::SecondaryKey(*key), view)).count();
        match member.entry.logic {
            _ if member.keys.is_empty() => 0,
            SelectiveLogic::AndAny => primary + secondary,
            SelectiveLogic::AndAll if secondary == member.secondary.len() => primary + secondary,
            _ => primary,
        }
    }
}
