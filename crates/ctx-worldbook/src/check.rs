//! What is wrong with books, whatever the conversation.

use std::sync::Arc;

use ctx_types::{Diagnostic, SelectiveLogic, TokenCounter, excerpt};

use crate::codes;
use crate::entry::{Destination, Entry};
use crate::keys::{self, Parsed};
use crate::set::{BookSet, Member};

/// What books are checked for.
#[derive(Clone, Copy, Default)]
pub struct CheckOptions<'a> {
    /// Counts the texts of entries; without it their sizes are not checked.
    pub counter: Option<&'a dyn TokenCounter>,
    /// How many tokens all entries may have.
    pub budget: Option<u64>,
}

/// Finds entries that can never become active, keys that are found everywhere, and texts that cannot be sent.
///
/// Findings name the book as their document. O(size of the books).
pub fn check(set: &BookSet, options: CheckOptions<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for member in set.members().iter().filter(|member| member.entry.is_enabled) {
        let mut report = |field: &str, finding: Diagnostic| {
            let pointer = format!("{}{field}", member.entry.pointer());
            findings.push(finding.in_document(member.book.clone()).at_pointer(pointer));
        };
        if let Some(reason) = dead(set, member) {
            let message = format!("`{}` can never become active: {reason}", excerpt(&member.id));
            report("", Diagnostic::warning(codes::DEAD_ENTRY, message).with_help(DEAD_HELP));
        } else if let Some(reason) = unreachable(set, &member.entry) {
            let message = format!("`{}` waits for recursion that never comes: {reason}", excerpt(&member.id));
            let finding = Diagnostic::warning(codes::UNREACHABLE, message);
            report(
                "/delayUntilRecursion",
                finding.with_help("take `delayUntilRecursion` out, or change the settings"),
            );
        }
        if let Some((index, key)) = greedy_key(set, member) {
            let message = format!(
                "the key `{}` of `{}` is found in nearly every text",
                excerpt(key),
                excerpt(&member.id)
            );
            let help = "make it longer, or make the entry constant";
            let finding = Diagnostic::warning(codes::KEY_MATCHES_ALL, message).with_help(help);
            report(&format!("/key/{index}"), finding);
        }
        for (field, finding) in text_findings(set, member, options) {
            report(field, finding);
        }
    }
    findings
}

const DEAD_HELP: &str = "mend it, or switch it off with `disable`";

/// Says why an entry can never become active.
fn dead(set: &BookSet, member: &Member) -> Option<String> {
    let entry = &member.entry;
    match entry.forced {
        Some(true) => return None,
        Some(false) => return Some("`@@dont_activate` keeps it out".to_owned()),
        None => {}
    }
    if let Some(probability) = entry.probability.filter(|probability| *probability <= 0.0) {
        return Some(format!("its probability is {probability}"));
    }
    if entry.timing.delay > MAX_LENGTH {
        return Some(format!("no conversation has the {} messages of its `delay`", entry.timing.delay));
    }
    if let Some(kind) = unknown_triggers(entry) {
        return Some(format!("nothing of the kind `{}` is generated", excerpt(kind)));
    }
    if entry.is_constant || entry.is_vectorized {
        return None;
    }
    if entry.keys.iter().all(|key| key.trim().is_empty()) {
        return Some("it has no keys and is not constant".to_owned());
    }
    if !looks_at_messages(set, entry) {
        return Some("it looks at no message, so that none of its keys is found".to_owned());
    }
    if entry.keys.iter().all(|key| never_matches(parsed(set, member, key).as_ref())) {
        return Some("nothing can match its keys".to_owned());
    }
    if entry.is_selective && !entry.secondary_keys.is_empty() {
        return contradiction(set, member).map(str::to_owned);
    }
    None
}

/// More messages than any conversation has.
const MAX_LENGTH: u64 = 10_000_000;

/// Tells whether an entry searches any message at all; more may be searched where too few entries are active.
fn looks_at_messages(set: &BookSet, entry: &Entry) -> bool {
    let settings = set.settings();
    match entry.scan_depth {
        Some(depth) => depth > 0,
        None => settings.depth > 0 || settings.min_activations > 0,
    }
}

/// Reads a key as a search compares it; one with macros is what a scan makes of it.
fn parsed(set: &BookSet, member: &Member, key: &str) -> Option<Parsed> {
    let is_known = !keys::may_hold_macros(key);
    is_known.then(|| keys::parse(key, member.matching, set.limits(), &mut |_, _| {}))
}

/// Tells whether a key is blank, or an expression that begins with `(?!)`, which nothing fulfils.
fn never_matches(key: Option<&Parsed>) -> bool {
    match key {
        Some(Parsed::Blank) => true,
        Some(Parsed::Regex(regex)) => regex.pattern().starts_with("(?!)") && !regex.pattern().contains('|'),
        Some(Parsed::Plain(_)) | None => false,
    }
}

/// Says how the secondary keys of an entry contradict its keys.
fn contradiction(set: &BookSet, member: &Member) -> Option<&'static str> {
    let entry = &member.entry;
    let read = |keys: &[Arc<str>]| -> Vec<Option<Parsed>> {
        keys.iter().map(|key| parsed(set, member, key)).collect()
    };
    let (primary, secondary) = (read(&entry.keys), read(&entry.secondary_keys));
    let is_same = |one: &Option<Parsed>, other: &Option<Parsed>| match (one, other) {
        (Some(Parsed::Plain(one)), Some(Parsed::Plain(other))) => one == other,
        (Some(Parsed::Regex(one)), Some(Parsed::Regex(other))) => {
            one.pattern() == other.pattern() && one.flags() == other.flags()
        }
        _ => false,
    };
    let is_among = |key: &Option<Parsed>, all: &[Option<Parsed>]| all.iter().any(|other| is_same(key, other));
    match entry.logic {
        SelectiveLogic::NotAny => primary
            .iter()
            .all(|key| never_matches(key.as_ref()) || is_among(key, &secondary))
            .then_some("its secondary keys forbid each of its keys"),
        SelectiveLogic::NotAll => {
            let forbids = |key: &Option<Parsed>| {
                never_matches(key.as_ref()) || secondary.iter().all(|other| is_same(key, other))
            };
            primary.iter().all(forbids).then_some("its secondary keys forbid each of its keys")
        }
        SelectiveLogic::AndAny => secondary
            .iter()
            .all(|key| never_matches(key.as_ref()))
            .then_some("it needs a secondary key, and nothing can match them"),
        SelectiveLogic::AndAll => secondary
            .iter()
            .any(|key| never_matches(key.as_ref()))
            .then_some("it needs all of its secondary keys, and nothing can match one of them"),
    }
}

/// The kinds of generation that applications know.
const TRIGGERS: [&str; 6] = ["normal", "continue", "impersonate", "swipe", "regenerate", "quiet"];

fn unknown_triggers(entry: &Entry) -> Option<&str> {
    let are_unknown = entry.triggers.iter().all(|kind| !TRIGGERS.contains(&&**kind));
    entry.triggers.first().filter(|_| are_unknown).map(|kind| &**kind)
}

/// Says why the level of recursion that an entry waits for never comes.
fn unreachable(set: &BookSet, entry: &Entry) -> Option<&'static str> {
    if entry.recursion_level == 0 {
        return None;
    }
    let settings = set.settings();
    if settings.recursive && entry.is_excluded_from_recursion {
        return Some("it is excluded from recursion too");
    }
    let place = set.levels().iter().position(|level| *level == entry.recursion_level).unwrap_or_default();
    // At the best, each pass behind the first one brings the next level.
    let needed = place.max(1) as u64 + 1;
    match settings.max_recursion_steps {
        0 => {}
        1 => return Some("entries are considered only once"),
        steps if steps < needed => return Some("entries are not considered often enough for its level"),
        _ => {}
    }
    (!settings.recursive && set.levels().len() == 1).then_some("recursion is off")
}

/// Returns a key that is found in nearly every text, with its place among the keys.
fn greedy_key<'m>(set: &BookSet, member: &'m Member) -> Option<(usize, &'m str)> {
    let is_greedy = |key: &str| match parsed(set, member, key) {
        None | Some(Parsed::Blank) => false,
        Some(Parsed::Plain(plain)) => {
            is_one_letter(&plain.text) && !plain.matching.whole_words
                || are_all(&CHINESE, |text| keys::find(text, &plain).is_some())
        }
        // Whoever matches nothing at all matches everywhere.
        Some(Parsed::Regex(regex)) => {
            let is_found = |text: &str| regex.is_match(text).unwrap_or_default();
            is_found("") || are_all(&ENGLISH, is_found) || are_all(&CHINESE, is_found)
        }
    };
    let mut keys = member.entry.keys.iter().map(|key| &**key).enumerate();
    if member.entry.is_constant { None } else { keys.find(|(_, key)| is_greedy(key)) }
}

/// Ordinary messages that have no word in common, which is what a key found in all of them does not need.
const ENGLISH: [&str; 4] = [
    "The old tower looked out over a quiet harbour.",
    "I shall meet you there tomorrow, unless it rains!",
    "\"Why did nobody tell us?\" she asked, and sat down.",
    "We found three coins under his bed.",
];
const CHINESE: [&str; 4] = [
    "古老的塔楼俯瞰着港口。",
    "明天我会去的，如果不下雨！",
    "“为什么没人说是谁的？”她问道。",
    "桌子下面有三枚生锈的硬币。",
];

fn are_all(texts: &[&str], is_found: impl Fn(&str) -> bool) -> bool {
    texts.iter().all(|text| is_found(text))
}

fn is_one_letter(text: &str) -> bool {
    text.len() == 1 && !text.starts_with(|c: char| c.is_control())
}

/// What is wrong with the text of an entry, and below which field.
fn text_findings(
    set: &BookSet,
    member: &Member,
    options: CheckOptions<'_>,
) -> Vec<(&'static str, Diagnostic)> {
    let entry = &member.entry;
    let mut findings = Vec::new();
    if entry.content.trim().is_empty() {
        let message = format!("`{}` has no text", excerpt(&member.id));
        findings.push(("/content", Diagnostic::info(codes::EMPTY_ENTRY, message)));
    }
    if matches!(&entry.destination, Destination::Outlet(name) if name.is_empty()) {
        let message = format!("`{}` goes to an outlet without a name, so nowhere", excerpt(&member.id));
        let finding = Diagnostic::warning(codes::NO_PLACE, message).with_help("give it an `outletName`");
        findings.push(("/outletName", finding));
    }
    if let Some(message) = too_large(set, member, options).filter(|_| !entry.ignores_budget) {
        let help = "make it shorter, give entries more tokens, or set `ignoreBudget`";
        let finding = Diagnostic::warning(codes::LARGER_THAN_BUDGET, message).with_help(help);
        findings.push(("/content", finding));
    }
    findings
}

/// Says which budget the text of an entry exceeds alone, counted as a scan counts it: with a line break it stays
/// below the budget of all entries, and without one within that of its book.
fn too_large(set: &BookSet, member: &Member, options: CheckOptions<'_>) -> Option<String> {
    let counter = options.counter?;
    let tokens = |text: &str, most: u64| {
        counter.count_till_limit(text, u32::try_from(most).unwrap_or(u32::MAX)).map(u64::from)
    };
    let (name, content) = (excerpt(&member.id), &member.entry.content);
    if let Some(budget) = options.budget
        && tokens(&format!("{content}\n"), budget).is_none_or(|tokens| tokens >= budget)
    {
        return Some(format!("the text of `{name}` alone reaches the budget of {budget} tokens"));
    }
    let budget = set.books().get(member.book_number)?.token_budget?;
    let is_larger = tokens(content, budget).is_none_or(|tokens| tokens > budget);
    is_larger.then(|| format!("the text of `{name}` alone exceeds the budget of {budget} tokens of its book"))
}

impl std::fmt::Debug for CheckOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut options = f.debug_struct("CheckOptions");
        options.field("counter", &self.counter.is_some()).field("budget", &self.budget).finish()
    }
}
