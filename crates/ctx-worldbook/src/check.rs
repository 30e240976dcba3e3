use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::ports::TokenCounter;
use ctx_types::worldbook::SelectiveLogic;
use ctx_types::{Diagnostic, Phrase, phrase};

use crate::codes;
use crate::entry::{Destination, Entry};
use crate::input::EntryPart;
use crate::invalid_values::TRIGGERS;
use crate::keys::{self, ParsedKey};
use crate::set::{BookSet, Member};

/// Options of `check`.
#[derive(Clone, Copy, Default)]
pub struct CheckOptions<'a> {
    /// Token counter. Without it, sizes are not checked.
    pub counter: Option<&'a dyn TokenCounter>,
    pub budget: Option<u64>,
}

/// Reports enabled entries that can never activate, keys that match nearly every text, and texts that cannot
/// be sent.
///
/// Diagnostics name the book as their document. O(size of the books).
pub fn check(set: &BookSet, options: CheckOptions<'_>) -> Vec<Diagnostic> {
    let levels = set.levels();
    let members = set.members().iter().filter(|member| member.entry.is_enabled);
    let found = members.flat_map(|member| {
        let found =
            entry_findings(set, &levels, member).into_iter().chain(text_findings(set, member, options));
        found.map(|finding| finding.in_document(member.book.clone()))
    });
    found.collect()
}

fn entry_findings(set: &BookSet, levels: &[u32], member: &Member) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let (id, pointer) = (excerpt(&member.id), member.entry.pointer());
    if let Some(reason) = dead_reason(set, member) {
        let message = phrase!("`{id}` can never activate: {reason}", id, reason);
        let finding = Diagnostic::warning(codes::DEAD_ENTRY, message);
        let help = phrase!("fix the entry, or disable it with `disable`");
        findings.push(finding.with_help(help).at_pointer(pointer));
    } else if let Some(reason) = unreachable(set, levels, &member.entry) {
        let message = phrase!(
            "`{id}` waits for recursion that never happens: {reason}",
            id,
            reason = Phrase::from(reason)
        );
        let finding = Diagnostic::warning(codes::UNREACHABLE, message);
        let help = phrase!("remove `delayUntilRecursion`, or change the settings");
        findings.push(finding.with_help(help).at_pointer(format!("{pointer}/delayUntilRecursion")));
    }
    if let Some((index, key)) = greedy_key(set, member) {
        let message = phrase!("key `{key}` of `{id}` matches nearly every text", key = excerpt(key), id);
        let finding = Diagnostic::warning(codes::KEY_MATCHES_ALL, message);
        let help = phrase!("write a longer key, or make the entry constant");
        findings.push(finding.with_help(help).at_pointer(member.entry.pointer_to(EntryPart::Key(index))));
    }
    findings
}

/// Does not cover negative numbers, which are reported when the entry is read.
fn dead_reason(set: &BookSet, member: &Member) -> Option<Phrase> {
    let entry = &member.entry;
    match entry.forced {
        Some(true) => return None,
        Some(false) => return Some(phrase!("excluded by `@@dont_activate`")),
        None => {}
    }
    if entry.probability == Some(0.0) {
        return Some(phrase!("probability is 0"));
    }
    if entry.timing.delay > MAX_LENGTH {
        return Some(phrase!(
            "no conversation reaches the {count} messages of `delay`",
            count = entry.timing.delay
        ));
    }
    if let Some(kind) = unknown_triggers(entry) {
        return Some(phrase!("unknown generation type `{kind}`", kind = excerpt(kind)));
    }
    if entry.is_constant || entry.is_vectorized { None } else { dead_keys(set, member).map(Phrase::from) }
}

fn dead_keys(set: &BookSet, member: &Member) -> Option<&'static str> {
    let entry = &member.entry;
    if entry.keys.iter().all(|key| key.trim().is_empty()) {
        return Some("no keys, and not constant");
    }
    if !looks_at_messages(set, entry) {
        return Some("scan depth 0: no key can match");
    }
    let counts = entry.is_selective && !entry.secondary_keys.is_empty();
    if counts { contradiction(set, member) } else { None }
}

const MAX_LENGTH: u64 = 10_000_000;

/// `min_activations` can extend a scan depth of 0.
fn looks_at_messages(set: &BookSet, entry: &Entry) -> bool {
    let settings = set.settings();
    match entry.scan_depth {
        Some(depth) => depth > 0,
        None => settings.depth > 0 || settings.min_activations > 0,
    }
}

/// Only a scan can expand a key with macros.
fn parse_key(set: &BookSet, member: &Member, key: &str) -> Option<ParsedKey> {
    let is_known = !keys::may_hold_macros(key);
    is_known.then(|| keys::parse(key, member.matching, set.limits(), &mut |_, _| {}))
}

fn contradiction(set: &BookSet, member: &Member) -> Option<&'static str> {
    let entry = &member.entry;
    let read = |keys: &[Arc<str>]| -> Vec<Option<ParsedKey>> {
        keys.iter().map(|key| parse_key(set, member, key)).collect()
    };
    let (primary, secondary) = (read(&entry.keys), read(&entry.secondary_keys));
    let is_blank = |key: &Option<ParsedKey>| matches!(key, Some(ParsedKey::Blank));
    let forbidden = "secondary keys exclude each key";
    match entry.logic {
        SelectiveLogic::NotAny => {
            let is_forbidden =
                |key| is_blank(key) || secondary.iter().any(|other| is_same(key.as_ref(), other.as_ref()));
            primary.iter().all(is_forbidden).then_some(forbidden)
        }
        SelectiveLogic::NotAll => {
            let is_forbidden =
                |key| is_blank(key) || secondary.iter().all(|other| is_same(key.as_ref(), other.as_ref()));
            primary.iter().all(is_forbidden).then_some(forbidden)
        }
        SelectiveLogic::AndAny => {
            secondary.iter().all(is_blank).then_some("needs a secondary key, and all are blank")
        }
        SelectiveLogic::AndAll => {
            secondary.iter().any(is_blank).then_some("needs all secondary keys, and one is blank")
        }
    }
}

/// Compares the written form only.
fn is_same(one: Option<&ParsedKey>, other: Option<&ParsedKey>) -> bool {
    match (one, other) {
        (Some(ParsedKey::Plain(one)), Some(ParsedKey::Plain(other))) => one == other,
        (Some(ParsedKey::Regex(one)), Some(ParsedKey::Regex(other))) => {
            one.pattern() == other.pattern() && one.flags() == other.flags()
        }
        _ => false,
    }
}

fn unknown_triggers(entry: &Entry) -> Option<&str> {
    let are_unknown = entry.triggers.iter().all(|kind| !TRIGGERS.contains(&&**kind));
    entry.triggers.first().filter(|_| are_unknown).map(|kind| &**kind)
}

/// `levels` are the recursion levels of the set, ascending.
fn unreachable(set: &BookSet, levels: &[u32], entry: &Entry) -> Option<&'static str> {
    if entry.recursion_level == 0 {
        return None;
    }
    let settings = set.settings();
    if settings.recursive && entry.is_excluded_from_recursion {
        return Some("it is also excluded from recursion");
    }
    let place = levels.partition_point(|level| *level < entry.recursion_level);
    // At best, each pass after the first one reaches the next level.
    let needed = place.max(1) as u64 + 1;
    match settings.max_recursion_steps {
        0 => {}
        1 => return Some("entries are scanned only once"),
        steps if steps < needed => return Some("there are fewer scan passes than its recursion level needs"),
        _ => {}
    }
    (!settings.recursive && levels.len() == 1).then_some("recursion is off")
}

/// Returns a key that matches nearly every text, and its index.
fn greedy_key<'m>(set: &BookSet, member: &'m Member) -> Option<(usize, &'m str)> {
    let is_greedy = |key: &str| match parse_key(set, member, key) {
        None | Some(ParsedKey::Blank) => false,
        Some(ParsedKey::Plain(plain)) => {
            let is_found = |text: &str| keys::find(text, &plain).is_some();
            are_all(&ENGLISH, is_found) || are_all(&CHINESE, is_found)
        }
        Some(ParsedKey::Regex(regex)) => {
            let is_found = |text: &str| regex.is_match(text).unwrap_or_default();
            are_all(&ENGLISH, is_found) || are_all(&CHINESE, is_found)
        }
    };
    let mut keys = member.entry.keys.iter().map(|key| &**key).enumerate();
    if member.entry.is_constant { None } else { keys.find(|(_, key)| is_greedy(key)) }
}

/// Messages without a common word.
const ENGLISH: [&str; 4] = [
    "The old tower looked out over a quiet harbour.",
    "I shall meet you there tomorrow, unless it rains!",
    "\"Why did nobody tell us?\" she asked, and sat down.",
    "We saw three coins under his bed.",
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

fn text_findings(set: &BookSet, member: &Member, options: CheckOptions<'_>) -> Vec<Diagnostic> {
    let entry = &member.entry;
    let mut findings = Vec::new();
    if entry.content.trim().is_empty() {
        let message = phrase!("`{member}` has no content", member = excerpt(&member.id));
        let finding = Diagnostic::info(codes::EMPTY_ENTRY, message);
        let help = phrase!("add content, or disable the entry with `disable`");
        findings.push(finding.with_help(help).at_pointer(entry.pointer_to(EntryPart::Content)));
    }
    if matches!(&entry.destination, Destination::Outlet(name) if name.is_empty()) {
        let message = phrase!(
            "`{member}` has an outlet without a name and is never sent",
            member = excerpt(&member.id)
        );
        let finding = Diagnostic::warning(codes::NO_PLACE, message).with_help(phrase!("set `outletName`"));
        findings.push(finding.at_pointer(format!("{}/outletName", entry.pointer())));
    }
    if let Some(message) = too_large(set, member, options).filter(|_| !entry.ignores_budget) {
        let help = phrase!("shorten it, raise the token budget, or set `ignoreBudget`");
        let finding = Diagnostic::warning(codes::LARGER_THAN_BUDGET, message).with_help(help);
        findings.push(finding.at_pointer(entry.pointer_to(EntryPart::Content)));
    }
    findings
}

/// As in a scan, the text with a line feed must stay below the total budget, and the text must not exceed the
/// book's budget.
fn too_large(set: &BookSet, member: &Member, options: CheckOptions<'_>) -> Option<Phrase> {
    let counter = options.counter?;
    let tokens = |text: &str, most: u64| {
        counter.count_till_limit(text, u32::try_from(most).unwrap_or(u32::MAX)).map(u64::from)
    };
    let (name, content) = (excerpt(&member.id), &member.entry.content);
    if let Some(budget) = options.budget
        && tokens(&format!("{content}\n"), budget).is_none_or(|tokens| tokens >= budget)
    {
        return Some(phrase!(
            "the content of `{name}` alone uses the budget of {budget} tokens",
            name,
            budget
        ));
    }
    let budget = set.books().get(member.book_number)?.token_budget?;
    let is_larger = tokens(content, budget).is_none_or(|tokens| tokens > budget);
    is_larger.then(|| {
        phrase!(
            "the content of `{name}` alone exceeds its worldbook's budget of {budget} tokens",
            name,
            budget
        )
    })
}

impl std::fmt::Debug for CheckOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut options = f.debug_struct("CheckOptions");
        options.field("counter", &self.counter.is_some()).field("budget", &self.budget).finish()
    }
}
