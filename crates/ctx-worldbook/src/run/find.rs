//! Finding single keys.

use std::rc::Rc;
use std::sync::Arc;

use ctx_regex::{Reach, Regex, Steps};
use ctx_types::{Diagnostic, Text, excerpt};

use super::Run;
use crate::codes;
use crate::decorators::Condition;
use crate::hits::{FoundIn, View};
use crate::input::Part;
use crate::keys::{self, Key, Parsed, Pattern};
use crate::scan::PassKind;
use crate::set::Member;
use crate::status::{KeyHit, KeyPlace};
use crate::texts::Haystack;

/// How many keys that gave up are told.
const MAX_FINDINGS: usize = 100;

impl<'r> Run<'r, '_> {
    /// What an entry looks at.
    pub(super) fn view(&self, member: &Member, kind: PassKind) -> View {
        let settings = self.set.settings();
        let depth = match member.entry.scan_depth {
            Some(depth) => usize::try_from(depth).unwrap_or_default(),
            None => usize::try_from(settings.depth.saturating_add(self.skew)).unwrap_or(usize::MAX),
        };
        View {
            depth: depth.min(self.set.limits().messages),
            sources: member.entry.sources.bits(),
            // One more message is looked at by itself.
            has_recursion: kind != PassKind::MinActivations && self.texts.has_recursion(),
        }
    }

    /// Finds a key of an entry.
    pub(super) fn find(
        &mut self,
        number: usize,
        member: &'r Member,
        part: Part,
        view: View,
    ) -> Option<KeyHit> {
        let (key, text) = key_of(member, part)?;
        let found = match key {
            Key::Blank => None,
            Key::Literal(literal) => self.texts.hits.place(*literal, view),
            Key::Pattern(pattern) => {
                let is_possible = pattern.needs.is_empty()
                    || pattern.needs.iter().any(|need| self.texts.hits.place(*need, view).is_some());
                is_possible.then(|| self.find_pattern(pattern, text, member, view)).flatten()
            }
            Key::Dynamic => self.find_dynamic(number, member, part, view),
        };
        found.map(|found| KeyHit { key: text.clone(), place: self.texts.place(found) })
    }

    fn find_dynamic(&mut self, number: usize, member: &'r Member, part: Part, view: View) -> Option<FoundIn> {
        let (_, text) = key_of(member, part)?;
        let parsed = self.expanded(number, member, part, text);
        match &*parsed {
            Parsed::Blank => None,
            Parsed::Regex(regex) => self.find_regex(regex, text, member, view),
            Parsed::Plain(plain) => {
                let haystack = self.texts.haystack(view)?;
                let searched = if plain.matching.case_sensitive { &haystack.text } else { haystack.lower() };
                let found = keys::find(searched, plain)?;
                // In lower case the text may have other lengths; then the place is not told exactly.
                let is_exact = searched.len() == haystack.text.len();
                Some(if is_exact { haystack.part_at(found) } else { FoundIn::Place(KeyPlace::Message(0)) })
            }
        }
    }

    /// Expands the macros of a key, once in a scan.
    fn expanded(&mut self, number: usize, member: &'r Member, part: Part, key: &Arc<str>) -> Rc<Parsed> {
        let name = match part {
            Part::Content => (number, 0, 0, 0),
            Part::Key(key) => (number, 1, key, 0),
            Part::SecondaryKey(key) => (number, 2, key, 0),
            Part::ConditionKey(condition, key) => (number, 3, condition, key),
        };
        if let Some(known) = self.dynamic.get(&name) {
            return known.clone();
        }
        let text = match self.ports.expand.has_macros(key) {
            true => self.ports.expand.expand(member, part, &Text::from(&**key)).text,
            false => Text::from(&**key),
        };
        let parsed = keys::parse(&text, member.matching, self.set.limits(), &mut |_, _| {});
        let parsed = Rc::new(parsed);
        self.dynamic.insert(name, parsed.clone());
        parsed
    }

    /// Finds a pattern of the set; where texts of entries were added since it was searched in vain, in what is new.
    fn find_pattern(&mut self, pattern: &Pattern, key: &str, member: &Member, view: View) -> Option<FoundIn> {
        let haystack = self.texts.haystack(view)?;
        let name = (pattern.number, view.depth, view.sources);
        let known = self.searched.get(&name).copied().filter(|known| *known <= haystack.text.len());
        let start = known.map_or(0, |known| resume(&pattern.regex, &haystack.text, known));
        let found = self.search(&pattern.regex, &haystack, start);
        if let Ok(None) = found {
            let searched = self.searched.entry(name).or_default();
            *searched = haystack.text.len().max(*searched);
        }
        self.place(found, &haystack, key, member)
    }

    fn find_regex(&mut self, regex: &Regex, key: &str, member: &Member, view: View) -> Option<FoundIn> {
        let haystack = self.texts.haystack(view)?;
        let found = self.search(regex, &haystack, 0);
        self.place(found, &haystack, key, member)
    }

    /// Searches a text from a byte on; returns where the match begins.
    fn search(
        &mut self,
        regex: &Regex,
        haystack: &Haystack,
        start: usize,
    ) -> Result<Option<usize>, ctx_regex::Error> {
        let limit = self.set.limits().key_steps + haystack.text.len() as u64 / 8;
        let allowed = self.steps.left().min(limit);
        let mut steps = Steps::new(allowed);
        let found = regex.find_from_within(&haystack.text, start, &mut steps);
        // Less than was allowed is used, so that there is always enough.
        let _ = self.steps.spend(allowed - steps.left());
        found.map(|found| found.map(|range| range.start))
    }

    fn place(
        &mut self,
        found: Result<Option<usize>, ctx_regex::Error>,
        haystack: &Haystack,
        key: &str,
        member: &Member,
    ) -> Option<FoundIn> {
        match found {
            Ok(start) => start.map(|start| haystack.part_at(start)),
            Err(error) => {
                self.give_up(key, member, &error);
                None
            }
        }
    }

    fn give_up(&mut self, key: &str, member: &Member, error: &ctx_regex::Error) {
        let finding = if self.steps.left() == 0 {
            let message = "the regular expressions of keys have spent all their steps; the rest is not found";
            Diagnostic::warning(codes::KEYS_SPENT, message)
        } else {
            let message =
                format!("the key `{}` of `{}` was given up: {error}", excerpt(key), excerpt(&member.id));
            let given_up = Diagnostic::warning(codes::KEY_GAVE_UP, message);
            let given_up = given_up.in_document(member.book.clone()).at_pointer(member.entry.pointer());
            given_up.with_help("make the expression simpler")
        };
        if self.findings.len() < MAX_FINDINGS && !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

/// Returns from where on a text is searched whose beginning was searched in vain; what was added begins with a line
/// feed.
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

/// Returns a key of an entry, compiled and as it is written.
fn key_of(member: &Member, part: Part) -> Option<(&Key, &Arc<str>)> {
    let entry = &member.entry;
    match part {
        Part::Content => None,
        Part::Key(key) => Some((member.keys.get(key)?, entry.keys.get(key)?)),
        Part::SecondaryKey(key) => Some((member.secondary.get(key)?, entry.secondary_keys.get(key)?)),
        Part::ConditionKey(condition, key) => {
            let text = match entry.conditions.get(condition)? {
                Condition::AnyKey(keys) | Condition::NoKey(keys) => keys.get(key)?,
                _ => return None,
            };
            Some((member.conditions.get(condition)?.get(key)?, text))
        }
    }
}
