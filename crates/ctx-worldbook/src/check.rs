//! What is wrong with books, whatever the conversation.

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
        if let Some(reason) = dead(member) {
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
        for (field, finding) in text_findings(member, options) {
            report(field, finding);
        }
    }
    findings
}

const DEAD_HELP: &str = "mend it, or switch it off with `disable`";

/// Says why an entry can never become active.
fn dead(member: &Member) -> Option<String> {
    let entry = &member.entry;
    match entry.forced {
        Some(true) => return None,
        Some(false) => return Some("`@@dont_activate` keeps it out".to_owned()),
        None => {}
    }
    if entry.probability.is_some_and(|probability| probability <= 0.0) {
        return Some("its probability is 0".to_owned());
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
    if entry.scan_depth.is_some_and(|depth| depth <= 0) {
        return Some("it looks at no message, so that none of its keys is found".to_owned());
    }
    let excludes_itself = entry.is_selective
        && entry.logic == SelectiveLogic::NotAny
        && entry.keys.iter().all(|key| entry.secondary_keys.contains(key));
    excludes_itself.then(|| "its secondary keys forbid each of its keys".to_owned())
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
    let is_greedy = |key: &str| match keys::parse(key, member.matching, set.limits(), &mut |_, _| {}) {
        Parsed::Blank => false,
        Parsed::Plain(plain) => {
            plain.text.len() == 1
                && !plain.matching.whole_words
                && !plain.text.starts_with(|c: char| c.is_control())
        }
        // Whoever matches nothing at all matches everywhere.
        Parsed::Regex(regex) => regex.is_match("").unwrap_or_default(),
    };
    let keys = member.entry.keys.iter().map(|key| &**key).enumerate();
    let mut keys = keys.filter(|(_, key)| !key.contains("{{"));
    if member.entry.is_constant { None } else { keys.find(|(_, key)| is_greedy(key)) }
}

/// What is wrong with the text of an entry, and below which field.
fn text_findings(member: &Member, options: CheckOptions<'_>) -> Vec<(&'static str, Diagnostic)> {
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
    let (Some(counter), Some(budget)) = (options.counter, options.budget) else { return findings };
    let limit = u32::try_from(budget).unwrap_or(u32::MAX);
    let fits =
        counter.count_till_limit(&entry.content, limit).is_some_and(|tokens| u64::from(tokens) < budget);
    if !fits && !entry.ignores_budget {
        let message =
            format!("the text of `{}` alone reaches the budget of {budget} tokens", excerpt(&member.id));
        let help = "make it shorter, give entries more tokens, or set `ignoreBudget`";
        let finding = Diagnostic::warning(codes::LARGER_THAN_BUDGET, message).with_help(help);
        findings.push(("/content", finding));
    }
    findings
}

impl std::fmt::Debug for CheckOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut options = f.debug_struct("CheckOptions");
        options.field("counter", &self.counter.is_some()).field("budget", &self.budget).finish()
    }
}
