use std::sync::Arc;

use ctx_types::Role;

use super::Condition;
use crate::book::Dialect;
use crate::entry::{Destination, Entry};
use crate::timed::FOREVER;

/// What the decorators of an entry set. The first decorator of a kind applies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Overrides {
    forced: Option<bool>,
    conditions: Vec<Condition>,
    sticky: Option<u64>,
    cooldown: Option<u64>,
    role: Option<Role>,
    scan_depth: Option<i64>,
    probability: Option<u32>,
    whole_words: Option<bool>,
    prevents_recursion: Option<bool>,
    is_excluded_from_recursion: bool,
    position: Option<Destination>,
    depth: Option<Destination>,
    from_start: Option<Destination>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RuleOutcome {
    Applied,
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

impl Overrides {
    /// `@@activate` overrides `@@dont_activate`.
    pub(super) fn force(&mut self, force: bool) {
        self.forced = self.forced.max(Some(force));
    }

    pub(super) fn apply(&mut self, name: &str, value: &str, dialect: Dialect) -> RuleOutcome {
        let counts_all = dialect == Dialect::RisuAi;
        let number = || value.parse::<u64>().ok();
        let is_valid = match name {
            "activate" | "dont_activate" => {
                self.force(name == "activate");
                true
            }
            "activate_only_after" => self.add_condition(number().map(if counts_all {
                Condition::MessagesReach
            } else {
                Condition::AnswersReach
            })),
            "activate_only_every" => {
                self.add_condition(number().filter(|every| *every > 0).map(if counts_all {
                    Condition::MessagesDivideBy
                } else {
                    Condition::AnswersDivideBy
                }))
            }
            "is_greeting" => self.add_condition(number().map(Condition::Greeting)),
            "is_user_icon" => {
                self.add_condition((!value.is_empty()).then(|| Condition::UserIcon(value.into())))
            }
            "additional_keys" => self.add_condition(divided(value).map(Condition::AnyKey)),
            "exclude_keys" => self.add_condition(divided(value).map(Condition::NoKey)),
            "keep_activate_after_match" => set(&mut self.sticky, Some(FOREVER)),
            "dont_activate_after_match" => set(&mut self.cooldown, Some(FOREVER)),
            "depth" => {
                let depth = value.parse::<i64>().ok().map(|depth| depth.max(0).unsigned_abs());
                set(&mut self.depth, depth.map(Destination::Depth))
            }
            // RisuAI only.
            "end" => set(&mut self.depth, Some(Destination::Depth(0))),
            "reverse_depth" => set(&mut self.from_start, number().map(Destination::FromStart)),
            "role" => {
                let is_allowed = |role: &Role| matches!(role, Role::System | Role::User | Role::Assistant);
                set(&mut self.role, Role::parse(value).filter(is_allowed))
            }
            "scan_depth" => set(&mut self.scan_depth, value.parse().ok()),
            // A place in a preset of RisuAI.
            "position" if value.starts_with("pt_") => return RuleOutcome::Unsupported,
            "position" => set(&mut self.position, position(value)),
            // RisuAI only.
            "probability" => set(&mut self.probability, value.parse().ok()),
            "match_full_word" | "match_partial_word" => {
                set(&mut self.whole_words, Some(name == "match_full_word"))
            }
            "recursive" | "unrecursive" => set(&mut self.prevents_recursion, Some(name == "unrecursive")),
            "no_recursive_search" => {
                self.is_excluded_from_recursion = true;
                true
            }
            _ if UNSUPPORTED.contains(&name) => return RuleOutcome::Unsupported,
            _ => return RuleOutcome::Unknown,
        };
        if is_valid { RuleOutcome::Applied } else { RuleOutcome::BadValue }
    }

    fn add_condition(&mut self, condition: Option<Condition>) -> bool {
        let is_valid = condition.is_some();
        self.conditions.extend(condition);
        is_valid
    }

    /// `@@position` overrides `@@depth`, which overrides `@@reverse_depth`.
    pub(super) fn apply_to(self, entry: &mut Entry) {
        entry.forced = self.forced;
        entry.conditions = self.conditions;
        entry.timing.sticky = self.sticky.unwrap_or(entry.timing.sticky);
        entry.timing.cooldown = self.cooldown.unwrap_or(entry.timing.cooldown);
        entry.role = self.role.or(entry.role);
        entry.scan_depth = self.scan_depth.or(entry.scan_depth);
        entry.probability = self.probability.map(|percent| percent.min(100).into()).or(entry.probability);
        entry.match_whole_words = self.whole_words.or(entry.match_whole_words);
        entry.prevents_recursion = self.prevents_recursion.unwrap_or(entry.prevents_recursion);
        entry.is_excluded_from_recursion |= self.is_excluded_from_recursion;
        if let Some(destination) = self.position.or(self.depth).or(self.from_start) {
            entry.destination = destination;
        }
    }
}

/// Returns whether the value is valid.
fn set<T>(slot: &mut Option<T>, value: Option<T>) -> bool {
    let is_valid = value.is_some();
    *slot = slot.take().or(value);
    is_valid
}

/// Divides keys at commas, except at those of a regular expression. `None` without keys. O(bytes).
fn divided(value: &str) -> Option<Vec<Arc<str>>> {
    let between = |start: usize, end: usize| value[start..end].trim();
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
    let keys: Vec<Arc<str>> = keys.filter(|key| !key.is_empty()).map(Arc::from).collect();
    Some(keys).filter(|keys| !keys.is_empty())
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
