use std::rc::Rc;
use std::sync::Arc;

use ctx_regex::{Reach, Regex, Steps};
use ctx_types::{Diagnostic, Phrase, Text, excerpt, phrase};

use super::Run;
use crate::codes;
use crate::hits::{FoundIn, Hits, View};
use crate::input::EntryPart;
use crate::keys::{self, ExpandedKey, Key, ParsedKey, Pattern};
use crate::scan::PassKind;
use crate::set::{Member, bad_pattern};
use crate::status::{GaveUp, KeyHit};
use crate::texts::Haystack;

const MAX_FINDINGS: usize = 100;

impl<'r> Run<'r, '_> {
    pub(super) fn view(&self, member: &Member, kind: PassKind) -> View {
        let settings = self.set.settings();
        let depth = match member.entry.scan_depth {
            Some(depth) => usize::try_from(depth.max(0)).unwrap_or(usize::MAX),
            None => usize::try_from(settings.depth.saturating_add(self.skew)).unwrap_or(usize::MAX),
        };
        View {
            depth: depth.min(self.set.limits().messages),
            sources: member.entry.sources.bits(),
            // A pass for one more message searches that message alone.
            has_recursion: kind != PassKind::MinActivations && self.texts.has_recursion(),
        }
    }

    pub(super) fn find(
        &mut self,
        number: usize,
        member: &'r Member,
        part: EntryPart,
        view: View,
    ) -> SearchOutcome {
        let Some((key, text)) = key_of(member, part) else { return SearchOutcome::Absent };
        let found = match key {
            Key::Blank => Ok(None),
            Key::Literal(literal) => Ok(self.texts.hits.place(*literal, view)),
            Key::Pattern(pattern) => {
                if is_possible(&self.texts.hits, pattern, view) {
                    let regex = NumberedRegex { number: pattern.number, regex: &pattern.regex };
                    self.find_pattern(regex, EntryKey { member, part }, view)
                } else {
                    Ok(None)
                }
            }
            Key::Dynamic { is_bad } => self.find_dynamic(number, EntryKey { member, part }, *is_bad, view),
        };
        match found {
            Ok(Some(found)) => {
                SearchOutcome::Hit(KeyHit { key: text.clone(), place: self.texts.place(found) })
            }
            Ok(None) => SearchOutcome::Absent,
            Err(why) => SearchOutcome::Unknown(text.clone(), why),
        }
    }

    fn find_dynamic(
        &mut self,
        number: usize,
        key: EntryKey<'r>,
        is_bad: bool,
        view: View,
    ) -> Result<Option<FoundIn>, GaveUp> {
        let expanded = self.expand_key(number, key, is_bad);
        match &expanded.parsed {
            ParsedKey::Blank => Ok(None),
            ParsedKey::Regex(regex) => {
                self.find_pattern(NumberedRegex { number: expanded.number, regex }, key, view)
            }
            ParsedKey::Plain(plain) => {
                Ok(self.texts.haystack(view).and_then(|haystack| haystack.find(plain)))
            }
        }
    }

    /// Expands a key once per scan, and compiles equal results once.
    fn expand_key(&mut self, number: usize, key: EntryKey<'r>, is_bad: bool) -> Rc<ExpandedKey> {
        let EntryKey { member, part } = key;
        let name = match part {
            EntryPart::Content => (number, 0, 0, 0),
            EntryPart::Key(key) => (number, 1, key, 0),
            EntryPart::SecondaryKey(key) => (number, 2, key, 0),
            EntryPart::ConditionKey(condition, key) => (number, 3, condition, key),
        };
        if let Some(known) = self.dynamic.get(&name) {
            return known.clone();
        }
        let source = key_of(member, part).map(|(_, text)| Text::from(&**text)).unwrap_or_default();
        let text: Arc<str> = Arc::from(&*self.ports.expand.expand(member, part, &source).text);
        let expanded = self.parse_key(text, key, is_bad);
        self.dynamic.insert(name, expanded.clone());
        expanded
    }

    fn parse_key(&mut self, text: Arc<str>, key: EntryKey<'_>, is_bad: bool) -> Rc<ExpandedKey> {
        let EntryKey { member, part } = key;
        let name = (text, member.matching);
        if let Some(known) = self.parsed.get(&name) {
            return known.clone();
        }
        let mut bad = None;
        let parsed = keys::parse(&name.0, member.matching, self.set.limits(), &mut |key, error| {
            bad = (!is_bad)
                .then(|| bad_pattern(key, error, &member.id, &member.book, member.entry.pointer_to(part)));
        });
        if let Some(bad) = bad {
            self.report(bad);
        }
        let parsed = Rc::new(ExpandedKey { number: usize::MAX - self.parsed.len(), parsed });
        self.parsed.insert(name, parsed.clone());
        parsed
    }

    /// Shares the steps among the expressions of this pass.
    pub(super) fn share_steps(&mut self) {
        let anywhere = View { depth: usize::MAX, sources: u8::MAX, has_recursion: true };
        let is_new = |pattern: &&Arc<Pattern>| {
            !self.step_budget.has_share(pattern.number) && is_possible(&self.texts.hits, pattern, anywhere)
        };
        let new = self.set.patterns().iter().filter(is_new).count();
        self.step_budget.begin_pass(new + self.set.dynamic_keys());
    }

    /// Continues in new text if earlier text had no match. Does not repeat a stopped search at the same or a
    /// larger depth.
    fn find_pattern(
        &mut self,
        numbered: NumberedRegex<'_>,
        key: EntryKey<'_>,
        view: View,
    ) -> Result<Option<FoundIn>, GaveUp> {
        let NumberedRegex { number, regex } = numbered;
        if let Some((_, why)) = self.given_up.get(&number).filter(|(least, _)| *least <= view.depth) {
            return Err(*why);
        }
        let Some(haystack) = self.texts.haystack(view) else { return Ok(None) };
        let name = (number, view.depth, view.sources);
        let length = haystack.text.len();
        let start = match self.searched.get(&name) {
            Some(CachedSearch { length: known, found }) if *known == length => return Ok(*found),
            Some(CachedSearch { length: known, found: None }) if *known < length => {
                resume(regex, &haystack.text, *known)
            }
            _ => 0,
        };
        match self.search(numbered, &haystack, start) {
            Ok(start) => {
                let found = start.map(|start| haystack.part_at(start));
                self.searched.insert(name, CachedSearch { length, found });
                Ok(found)
            }
            Err((why, error)) => {
                // A stop at a larger depth was reported.
                if self.given_up.insert(number, (view.depth, why)).is_none() {
                    self.report_stopped_search(key, why, &error);
                }
                Err(why)
            }
        }
    }

    /// Returns the start of the match.
    fn search(
        &mut self,
        numbered: NumberedRegex<'_>,
        haystack: &Haystack,
        start: usize,
    ) -> Result<Option<usize>, (GaveUp, ctx_regex::Error)> {
        let NumberedRegex { number, regex } = numbered;
        let limit = self.set.limits().key_steps + haystack.text.len() as u64 / 8;
        let allowed = self.step_budget.allowed(number).min(limit);
        let mut steps = Steps::new(allowed);
        let found = regex.find_from_within(&haystack.text, start, &mut steps);
        self.step_budget.spend(number, allowed - steps.left());
        let is_spent = allowed < limit && matches!(found, Err(ctx_regex::Error::TooManySteps));
        let why = if is_spent { GaveUp::StepsSpent } else { GaveUp::TooHard };
        found.map(|found| found.map(|range| range.start)).map_err(|error| (why, error))
    }

    fn report_stopped_search(&mut self, key: EntryKey<'_>, why: GaveUp, error: &ctx_regex::Error) {
        let EntryKey { member, part } = key;
        let key = excerpt(key_of(member, part).map_or("", |(_, key)| key));
        let id = excerpt(&member.id);
        let finding = match why {
            GaveUp::TooHard => {
                let message = phrase!(
                    "the search for key `{key}` of `{id}` stopped: {error}",
                    key,
                    id,
                    error = Phrase::original(error.to_string())
                );
                Diagnostic::warning(codes::KEY_GAVE_UP, message)
            }
            GaveUp::StepsSpent => {
                let steps = self.set.limits().regex_steps;
                let message = phrase!(
                    "the search for key `{key}` of `{id}` stopped: all keys together may use {steps} steps",
                    key,
                    id,
                    steps
                );
                Diagnostic::warning(codes::KEYS_SPENT, message)
            }
        };
        let finding = finding.in_document(member.book.clone()).at_pointer(member.entry.pointer_to(part));
        self.report(finding.with_help(phrase!("simplify the pattern")));
    }

    fn report(&mut self, finding: Diagnostic) {
        if self.findings.contains(&finding) {
            return;
        }
        if self.findings.len() < MAX_FINDINGS { self.findings.push(finding) } else { self.hidden += 1 }
    }
}

/// A key of an entry.
#[derive(Clone, Copy)]
struct EntryKey<'m> {
    member: &'m Member,
    part: EntryPart,
}

/// A regex with its number among the patterns of a scan.
#[derive(Clone, Copy)]
struct NumberedRegex<'p> {
    number: usize,
    regex: &'p Regex,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum SearchOutcome {
    Hit(KeyHit),
    Absent,
    /// The search stopped.
    Unknown(Arc<str>, GaveUp),
}

impl SearchOutcome {
    pub(super) fn hit(self) -> Option<KeyHit> {
        match self {
            Self::Hit(hit) => Some(hit),
            Self::Absent | Self::Unknown(..) => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CachedSearch {
    length: usize,
    found: Option<FoundIn>,
}

fn is_possible(hits: &Hits, pattern: &Pattern, view: View) -> bool {
    pattern.needs.is_empty() || pattern.needs.iter().any(|need| hits.place(*need, view).is_some())
}

/// Returns where to continue in a text that has grown. New text starts with a line feed.
fn resume(regex: &Regex, text: &str, searched: usize) -> usize {
    match regex.reach() {
        Reach::Line => searched,
        Reach::Bytes(most) => {
            let start = searched.saturating_sub(most);
            (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
        }
        Reach::Text => 0,
    }
}

fn key_of(member: &Member, part: EntryPart) -> Option<(&Key, &Arc<str>)> {
    let entry = &member.entry;
    match part {
        EntryPart::Content => None,
        EntryPart::Key(key) => Some((member.keys.get(key)?, entry.keys.get(key)?)),
        EntryPart::SecondaryKey(key) => Some((member.secondary.get(key)?, entry.secondary_keys.get(key)?)),
        EntryPart::ConditionKey(condition, key) => {
            let text = entry.conditions.get(condition)?.keys().get(key)?;
            Some((member.conditions.get(condition)?.get(key)?, text))
        }
    }
}
