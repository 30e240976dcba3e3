use std::rc::Rc;
use std::sync::Arc;

use ctx_regex::{Regex, Steps};
use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, Text, phrase};

use super::Run;
use crate::codes;
use crate::hits::{Hits, View};
use crate::input::EntryPart;
use crate::keys::{self, ExpandedKey, Key, ParsedKey, Pattern};
use crate::reason::{GaveUp, KeyHit, KeyPlace};
use crate::scan::PassKind;
use crate::set::{Member, bad_pattern};

const MAX_FINDINGS: usize = 100;

/// One search may use 1/32 of the remaining steps: slow keys leave some to the rest.
const PART_OF_STEPS: u64 = 32;

impl<'r> Run<'r, '_> {
    pub(super) fn view(&self, member: &Member, kind: PassKind) -> View {
        let settings = self.set.settings();
        let depth = match member.entry.scan_depth {
            Some(depth) => usize::try_from(depth.max(0)).unwrap_or(usize::MAX),
            None => usize::try_from(settings.depth.saturating_add(self.skew)).unwrap_or(usize::MAX),
        };
        View {
            depth: depth.min(self.set.limits().messages),
            sources: member.entry.sources,
            // A pass for one more message searches that message alone.
            has_recursion: kind != PassKind::MinActivations && self.texts.has_recursion(),
        }
    }

    pub(super) fn find(&mut self, member: &'r Member, part: EntryPart, view: View) -> SearchOutcome {
        let Some((key, text)) = key_of(member, part) else { return SearchOutcome::Absent };
        let name = EntryKey { member, part };
        let found = match key {
            Key::Blank => Ok(None),
            Key::Literal(literal) => Ok(self.texts.hits.place(*literal, view)),
            Key::Pattern(pattern) if is_possible(&self.texts.hits, pattern, view) => {
                self.find_regex(&pattern.regex, text, name, view)
            }
            Key::Pattern(_) => Ok(None),
            Key::Dynamic { is_bad } => {
                let expanded = self.expand_key(name, *is_bad);
                match &expanded.parsed {
                    ParsedKey::Blank => Ok(None),
                    ParsedKey::Regex(regex) => self.find_regex(regex, &expanded.text, name, view),
                    ParsedKey::Plain(plain) => {
                        Ok(self.texts.haystack(view).and_then(|haystack| haystack.find(plain)))
                    }
                }
            }
        };
        match found {
            Ok(Some(place)) => SearchOutcome::Hit(KeyHit { key: text.clone(), place }),
            Ok(None) => SearchOutcome::Absent,
            Err(why) => SearchOutcome::Unknown(text.clone(), why),
        }
    }

    /// Expands and compiles a key once per scan.
    fn expand_key(&mut self, key: EntryKey<'r>, is_bad: bool) -> Rc<ExpandedKey> {
        let EntryKey { member, part } = key;
        if let Some(known) = self.dynamic.get(&(member.number, part)) {
            return known.clone();
        }
        let source = key_of(member, part).map(|(_, text)| Text::from(&**text)).unwrap_or_default();
        let text: Arc<str> = Arc::from(&*self.ports.expand.expand(member, part, &source).text);
        let mut bad = None;
        let parsed = keys::parse(&text, member.matching, self.set.limits(), &mut |key, error| {
            bad = (!is_bad)
                .then(|| bad_pattern(key, error, &member.id, &member.book, member.entry.pointer_to(part)));
        });
        if let Some(bad) = bad {
            self.report(bad);
        }
        let expanded = Rc::new(ExpandedKey { text, parsed });
        self.dynamic.insert((member.number, part), expanded.clone());
        expanded
    }

    /// Does not repeat a stopped search at the same or a larger depth.
    fn find_regex(
        &mut self,
        regex: &Regex,
        text: &Arc<str>,
        key: EntryKey<'_>,
        view: View,
    ) -> Result<Option<KeyPlace>, GaveUp> {
        if let Some((_, why)) = self.given_up.get(text).filter(|(least, _)| *least <= view.depth) {
            return Err(*why);
        }
        let Some(haystack) = self.texts.haystack(view) else { return Ok(None) };
        match self.search(regex, &haystack.text) {
            Ok(start) => Ok(start.map(|start| haystack.place_at(start))),
            Err((why, error)) => {
                // A stop at a larger depth was reported.
                if self.given_up.insert(text.clone(), (view.depth, why)).is_none() {
                    self.report_stopped_search(key, why, &error);
                }
                Err(why)
            }
        }
    }

    /// Returns the start of the match.
    fn search(&mut self, regex: &Regex, text: &str) -> Result<Option<usize>, (GaveUp, ctx_regex::Error)> {
        let to_read = text.len() as u64 / 8;
        let limit = self.set.limits().key_steps + to_read;
        let allowed = limit.min(self.steps_left / PART_OF_STEPS + to_read).min(self.steps_left);
        let mut steps = Steps::new(allowed);
        let found = regex.find_within(text, &mut steps);
        self.steps_left -= allowed - steps.left();
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

fn is_possible(hits: &Hits, pattern: &Pattern, view: View) -> bool {
    pattern.needs.is_empty() || pattern.needs.iter().any(|need| hits.place(*need, view).is_some())
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
