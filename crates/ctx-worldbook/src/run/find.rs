//! Finding single keys.

use std::rc::Rc;
use std::sync::Arc;

use ctx_regex::{Reach, Regex, Steps};
use ctx_types::{Diagnostic, Text, excerpt};

use super::Run;
use crate::codes;
use crate::hits::{FoundIn, View};
use crate::input::Part;
use crate::keys::{self, ExpandedKey, Key, Parsed};
use crate::scan::PassKind;
use crate::set::{Member, bad_pattern};
use crate::status::KeyHit;
use crate::texts::Haystack;

/// How many keys that were given up, or cannot run, are told one by one.
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
    pub(super) fn find(&mut self, number: usize, member: &'r Member, part: Part, view: View) -> Found {
        let Some((key, text)) = key_of(member, part) else { return Found::Absent };
        let found = match key {
            Key::Blank => Ok(None),
            Key::Literal(literal) => Ok(self.texts.hits.place(*literal, view)),
            Key::Pattern(pattern) => {
                let is_possible = pattern.needs.is_empty()
                    || pattern.needs.iter().any(|need| self.texts.hits.place(*need, view).is_some());
                match is_possible {
                    true => self.find_pattern((pattern.number, &pattern.regex), (member, part), view),
                    false => Ok(None),
                }
            }
            Key::Dynamic { is_bad } => self.find_dynamic(number, (member, part), *is_bad, view),
        };
        match found {
            Ok(Some(found)) => Found::Hit(KeyHit { key: text.clone(), place: self.texts.place(found) }),
            Ok(None) => Found::Absent,
            Err(GaveUp) => Found::Unknown(text.clone()),
        }
    }

    fn find_dynamic(
        &mut self,
        number: usize,
        (member, part): (&'r Member, Part),
        is_bad: bool,
        view: View,
    ) -> Result<Option<FoundIn>, GaveUp> {
        let key = self.expanded(number, (member, part), is_bad);
        match &key.parsed {
            Parsed::Blank => Ok(None),
            Parsed::Regex(regex) => self.find_pattern((key.number, regex), (member, part), view),
            Parsed::Plain(plain) => Ok(self.texts.haystack(view).and_then(|haystack| haystack.find(plain))),
        }
    }

    /// Expands the macros of a key, once in a scan; equal results are compiled once.
    fn expanded(
        &mut self,
        number: usize,
        (member, part): (&'r Member, Part),
        is_bad: bool,
    ) -> Rc<ExpandedKey> {
        let name = match part {
            Part::Content => (number, 0, 0, 0),
            Part::Key(key) => (number, 1, key, 0),
            Part::SecondaryKey(key) => (number, 2, key, 0),
            Part::ConditionKey(condition, key) => (number, 3, condition, key),
        };
        if let Some(known) = self.dynamic.get(&name) {
            return known.clone();
        }
        let key = key_of(member, part).map(|(_, key)| Text::from(&**key)).unwrap_or_default();
        let text: Arc<str> = Arc::from(&*self.ports.expand.expand(member, part, &key).text);
        let expanded = self.parsed(text, (member, part), is_bad);
        self.dynamic.insert(name, expanded.clone());
        expanded
    }

    fn parsed(&mut self, text: Arc<str>, (member, part): (&Member, Part), is_bad: bool) -> Rc<ExpandedKey> {
        let name = (text, member.matching);
        if let Some(known) = self.parsed.get(&name) {
            return known.clone();
        }
        let mut bad = None;
        let parsed = keys::parse(&name.0, member.matching, self.set.limits(), &mut |key, error| {
            let entry = (&*member.id, &member.book);
            bad = (!is_bad).then(|| bad_pattern(key, error, entry, member.entry.pointer_to(part)));
        });
        if let Some(bad) = bad {
            self.tell(bad);
        }
        let parsed = Rc::new(ExpandedKey { number: usize::MAX - self.parsed.len(), parsed });
        self.parsed.insert(name, parsed.clone());
        parsed
    }

    /// Finds a pattern, known by its number; where texts of entries were added since it was searched in vain, in
    /// what is new. One that was given up is not tried again in as much text or more.
    fn find_pattern(
        &mut self,
        (number, regex): (usize, &Regex),
        (member, part): (&Member, Part),
        view: View,
    ) -> Result<Option<FoundIn>, GaveUp> {
        if self.given_up.get(&number).is_some_and(|least| *least <= view.depth) {
            return Err(GaveUp);
        }
        let Some(haystack) = self.texts.haystack(view) else { return Ok(None) };
        let name = (number, view.depth, view.sources);
        let known = self.searched.get(&name).copied().filter(|known| *known <= haystack.text.len());
        let start = known.map_or(0, |known| resume(regex, &haystack.text, known));
        match self.search(regex, &haystack, start) {
            Ok(Some(start)) => Ok(Some(haystack.part_at(start))),
            Ok(None) => {
                let searched = self.searched.entry(name).or_default();
                *searched = haystack.text.len().max(*searched);
                Ok(None)
            }
            Err(error) => {
                let least = self.given_up.entry(number).or_insert(view.depth);
                *least = view.depth.min(*least);
                self.give_up((member, part), &error);
                Err(GaveUp)
            }
        }
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

    fn give_up(&mut self, (member, part): (&Member, Part), error: &ctx_regex::Error) {
        if self.steps.left() == 0 {
            let message = "the regular expressions of keys have spent all their steps; the rest is not found";
            return self.tell(Diagnostic::warning(codes::KEYS_SPENT, message));
        }
        let key = key_of(member, part).map_or("", |(_, key)| key);
        let message =
            format!("the key `{}` of `{}` was given up: {error}", excerpt(key), excerpt(&member.id));
        let given_up = Diagnostic::warning(codes::KEY_GAVE_UP, message).in_document(member.book.clone());
        let pointer = member.entry.pointer_to(part);
        self.tell(given_up.at_pointer(pointer).with_help("make the expression simpler"));
    }

    /// Keeps what is wrong with a key, up to a number.
    fn tell(&mut self, finding: Diagnostic) {
        if self.findings.contains(&finding) {
            return;
        }
        match self.findings.len() < MAX_FINDINGS {
            true => self.findings.push(finding),
            false => self.hidden += 1,
        }
    }
}

/// What a search for a key gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    /// It was found.
    Hit(KeyHit),
    /// It was searched in vain.
    Absent,
    /// The search for this key was given up, so that nobody knows.
    Unknown(Arc<str>),
}

impl Found {
    pub(super) fn hit(self) -> Option<KeyHit> {
        match self {
            Self::Hit(hit) => Some(hit),
            Self::Absent | Self::Unknown(_) => None,
        }
    }
}

/// A search took too long.
#[derive(Debug)]
struct GaveUp;

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
            let text = entry.conditions.get(condition)?.keys().get(key)?;
            Some((member.conditions.get(condition)?.get(key)?, text))
        }
    }
}
