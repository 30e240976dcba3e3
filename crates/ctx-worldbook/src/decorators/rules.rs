use std::sync::Arc;

use ctx_types::Role;

use super::Condition;
use crate::book::Dialect;
use crate::entry::Destination;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rule {
    Force(bool),
    Condition(Condition),
    KeepActive,
    OnlyOnce,
    Depth(u64),
    FromStart(u64),
    Role(Role),
    ScanDepth(i64),
    Position(Destination),
    Probability(u32),
    WholeWords(bool),
    Recursion(bool),
    NoRecursiveSearch,
}

pub(super) enum ParsedRule {
    Rule(Rule),
    BadValue,
    /// It works in other applications only.
    Unsupported,
    Unknown,
}

/// Decorators of Character Card V3 and `RisuAI`.
pub(super) const NAMES: [&str; 22] = [
    "activate",
    "dont_activate",
    "activate_only_after",
    "activate_only_every",
    "is_greeting",
    "is_user_icon",
    "additional_keys",
    "exclude_keys",
    "keep_activate_after_match",
    "dont_activate_after_match",
    "depth",
    "end",
    "reverse_depth",
    "role",
    "scan_depth",
    "position",
    "probability",
    "match_full_word",
    "match_partial_word",
    "recursive",
    "unrecursive",
    "no_recursive_search",
];

/// Other decorators of Character Card V3 and `RisuAI`; their fallbacks are used.
pub(super) const UNSUPPORTED: [&str; 8] = [
    "ignore_on_max_context",
    "disable_ui_prompt",
    "priority",
    "exclude_keys_all",
    "inject_lore",
    "inject_at",
    "inject_replace",
    "inject_prepend",
];

/// Decorators for text completion; their fallbacks are used.
pub(super) const ELSEWHERE: [&str; 3] = ["instruct_depth", "reverse_instruct_depth", "instruct_scan_depth"];

pub(super) fn rule(name: &str, value: &str, dialect: Dialect) -> ParsedRule {
    let counts_all = dialect == Dialect::RisuAi;
    let number = |rule: fn(u64) -> Rule| value.parse().ok().map(rule);
    let list = |condition: fn(Vec<Arc<str>>) -> Condition| {
        Some(divided(value)).filter(|keys| !keys.is_empty()).map(|keys| Rule::Condition(condition(keys)))
    };
    let rule = match name {
        "activate" => Some(Rule::Force(true)),
        "dont_activate" => Some(Rule::Force(false)),
        "activate_only_after" if counts_all => {
            number(|count| Rule::Condition(Condition::MessagesReach(count)))
        }
        "activate_only_after" => number(|count| Rule::Condition(Condition::AnswersReach(count))),
        "activate_only_every" if counts_all => {
            number(|count| Rule::Condition(Condition::MessagesDivideBy(count))).filter(|_| value != "0")
        }
        "activate_only_every" => {
            number(|count| Rule::Condition(Condition::AnswersDivideBy(count))).filter(|_| value != "0")
        }
        "is_greeting" => number(|index| Rule::Condition(Condition::Greeting(index))),
        "is_user_icon" => (!value.is_empty()).then(|| Rule::Condition(Condition::UserIcon(value.into()))),
        "additional_keys" => list(Condition::AnyKey),
        "exclude_keys" => list(Condition::NoKey),
        "keep_activate_after_match" => Some(Rule::KeepActive),
        "dont_activate_after_match" => Some(Rule::OnlyOnce),
        "depth" => value.parse::<i64>().ok().map(|depth| Rule::Depth(depth.max(0).unsigned_abs())),
        // RisuAI only.
        "end" => Some(Rule::Depth(0)),
        "reverse_depth" => number(Rule::FromStart),
        "role" => Role::parse(value)
            .filter(|role| matches!(role, Role::System | Role::User | Role::Assistant))
            .map(Rule::Role),
        "scan_depth" => value.parse().ok().map(Rule::ScanDepth),
        // A place in a preset of RisuAI.
        "position" if value.starts_with("pt_") => return ParsedRule::Unsupported,
        "position" => position(value).map(Rule::Position),
        // RisuAI only.
        "probability" => value.parse().ok().map(Rule::Probability),
        "match_full_word" => Some(Rule::WholeWords(true)),
        "match_partial_word" => Some(Rule::WholeWords(false)),
        "recursive" => Some(Rule::Recursion(true)),
        "unrecursive" => Some(Rule::Recursion(false)),
        "no_recursive_search" => Some(Rule::NoRecursiveSearch),
        _ if UNSUPPORTED.contains(&name) => return ParsedRule::Unsupported,
        _ => return ParsedRule::Unknown,
    };
    rule.map_or(ParsedRule::BadValue, ParsedRule::Rule)
}

/// Divides keys at commas, except at those of a regular expression. O(bytes).
fn divided(value: &str) -> Vec<Arc<str>> {
    let between = |start: usize, end: usize| value.get(start..end).unwrap_or_default().trim();
    let mut keys: Vec<&str> = Vec::new();
    let (mut start, mut open) = (0, None);
    for end in value.match_indices(',').map(|(comma, _)| comma).chain([value.len()]) {
        let piece = between(start, end);
        let body = if open.is_none() { piece.strip_prefix('/') } else { Some(piece) };
        let is_end = |body: &str| {
            let end = body.rsplit_once('/').filter(|(before, _)| !before.ends_with('\\'));
            end.is_some_and(|(_, flags)| flags.bytes().all(|flag| flag.is_ascii_alphabetic()))
        };
        match body {
            Some(body) if !is_end(body) => open = open.or(Some(start)),
            _ => keys.push(between(open.take().unwrap_or(start), end)),
        }
        start = end + 1;
    }
    let rest = open.and_then(|open| value.get(open..)).into_iter();
    let keys = keys.into_iter().chain(rest.flat_map(|rest| rest.split(',')).map(str::trim));
    keys.filter(|key| !key.is_empty()).map(Arc::from).collect()
}

fn position(value: &str) -> Option<Destination> {
    match value {
        "before_desc" => Some(Destination::BeforeCharacter),
        "after_desc" => Some(Destination::AfterCharacter),
        "personality" => Some(Destination::Personality),
        "scenario" => Some(Destination::Scenario),
        _ => None,
    }
}
