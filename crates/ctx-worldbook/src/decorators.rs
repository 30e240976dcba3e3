//! Decorators: lines such as `@@depth 3` above the text of an entry.

use std::sync::Arc;

use ctx_types::{Role, Text, excerpt};

use crate::book::Dialect;
use crate::entry::{Destination, Entry};
use crate::timed::FOREVER;

/// The text of an entry, and what the decorators above it say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decorated {
    /// The text below the decorators.
    pub content: Text,
    /// What is understood of the decorators, in their order.
    rules: Vec<Rule>,
    /// Decorators whose values mean nothing, quoted by their beginning.
    pub bad: Vec<String>,
}

/// What must hold beside the keys of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The agent has said so many messages.
    AnswersReach(u64),
    /// The number of messages that the agent has said can be divided by this.
    AnswersDivideBy(u64),
    /// The conversation began with the greeting of that number, from 0.
    Greeting(u64),
    /// The user shows the picture of that name.
    UserIcon(Arc<str>),
    /// One of these keys is found too.
    AnyKey(Vec<Arc<str>>),
    /// None of these keys is found.
    NoKey(Vec<Arc<str>>),
}

impl Condition {
    /// Returns the keys that it speaks of.
    pub(crate) fn keys(&self) -> &[Arc<str>] {
        match self {
            Self::AnyKey(keys) | Self::NoKey(keys) => keys,
            _ => &[],
        }
    }
}

/// What a decorator asks for.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    Force(bool),
    Condition(Condition),
    KeepActive,
    OnlyOnce,
    Depth(u64),
    FromStart(u64),
    Role(Role),
    ScanDepth(i64),
    Position(Destination),
    /// Understood, and without effect here.
    Nothing,
}

impl Decorated {
    /// Takes the lines that begin with `@@` off the top of a text and reads those that the dialect knows.
    ///
    /// A line that begins with `@@@` counts only if the one before it was not understood.
    pub(crate) fn read(content: Option<&Text>, dialect: Dialect) -> Self {
        let Some(content) = content else { return Self::default() };
        if !content.starts_with("@@") {
            return Self { content: content.clone(), ..Self::default() };
        }
        let mut decorated = Self::default();
        let mut rest: &str = content;
        let mut is_unknown = false;
        while rest.starts_with("@@") {
            let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = below;
            let fallback = line.strip_prefix("@@@");
            if fallback.is_some() && !is_unknown {
                continue;
            }
            let line = fallback.unwrap_or_else(|| line.strip_prefix("@@").unwrap_or(line));
            is_unknown = !decorated.push(line, dialect);
        }
        decorated.content = match dialect {
            Dialect::SillyTavern => Text::from(rest),
            Dialect::CharacterCard3 => Text::from(rest.trim_start_matches(['\n', '\r'])),
        };
        decorated
    }

    /// Reads one decorator; false if its name is not known.
    fn push(&mut self, line: &str, dialect: Dialect) -> bool {
        let line = line.trim_end_matches('\r');
        match dialect {
            Dialect::SillyTavern => {
                let force = match line {
                    "activate" => Some(true),
                    "dont_activate" => Some(false),
                    _ => None,
                };
                self.rules.extend(force.map(Rule::Force));
                // A longer name counts as known there, and has no effect.
                line.starts_with("activate") || line.starts_with("dont_activate")
            }
            Dialect::CharacterCard3 => {
                let line = line.trim();
                let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
                match rule(name, value.trim()) {
                    Read::Rule(rule) => self.rules.push(rule),
                    Read::BadValue => {
                        self.bad.push(excerpt(line).to_string());
                        return false;
                    }
                    Read::Unknown => return false,
                }
                true
            }
        }
    }

    /// Lays what the decorators say over an entry; the first of a kind counts.
    pub(crate) fn apply_to(&self, entry: &mut Entry) {
        let find = |fits: fn(&Rule) -> bool| self.rules.iter().find(|rule| fits(rule));
        let forces = self.rules.iter().filter_map(|rule| match rule {
            Rule::Force(force) => Some(*force),
            _ => None,
        });
        // `@@activate` stands over `@@dont_activate`.
        entry.forced = forces.max();
        for rule in &self.rules {
            if let Rule::Condition(condition) = rule {
                entry.conditions.push(condition.clone());
            }
        }
        if find(|rule| *rule == Rule::KeepActive).is_some() {
            entry.timing.sticky = FOREVER;
        }
        if find(|rule| *rule == Rule::OnlyOnce).is_some() {
            entry.timing.cooldown = FOREVER;
        }
        if let Some(Rule::Role(role)) = find(|rule| matches!(rule, Rule::Role(_))) {
            entry.role = Some(*role);
        }
        if let Some(Rule::ScanDepth(depth)) = find(|rule| matches!(rule, Rule::ScanDepth(_))) {
            entry.scan_depth = Some(*depth);
        }
        self.place(entry);
    }

    /// A position stands over a depth, and that over one from the start.
    fn place(&self, entry: &mut Entry) {
        let find = |fits: fn(&Rule) -> Option<Destination>| self.rules.iter().find_map(fits);
        let position = find(|rule| match rule {
            Rule::Position(destination) => Some(destination.clone()),
            _ => None,
        });
        let depth = || {
            find(|rule| match rule {
                Rule::Depth(depth) => Some(Destination::Depth(*depth)),
                _ => None,
            })
        };
        let from_start = || {
            find(|rule| match rule {
                Rule::FromStart(index) => Some(Destination::FromStart(*index)),
                _ => None,
            })
        };
        if let Some(destination) = position.or_else(depth).or_else(from_start) {
            entry.destination = destination;
        }
    }
}

/// What is read of a decorator.
enum Read {
    Rule(Rule),
    BadValue,
    Unknown,
}

/// Reads a decorator of character cards, version 3.
///
/// Those that speak of texts instead of chats (`instruct_…`) are not known here, so that their fallbacks count.
fn rule(name: &str, value: &str) -> Read {
    let number = |rule: fn(u64) -> Rule| value.parse().ok().map(rule);
    let keys = || -> Vec<Arc<str>> {
        value.split(',').map(str::trim).filter(|key| !key.is_empty()).map(Arc::from).collect()
    };
    let list = |condition: fn(Vec<Arc<str>>) -> Condition| {
        Some(keys()).filter(|keys| !keys.is_empty()).map(|keys| Rule::Condition(condition(keys)))
    };
    let rule = match name {
        "activate" => Some(Rule::Force(true)),
        "dont_activate" => Some(Rule::Force(false)),
        "activate_only_after" => number(|count| Rule::Condition(Condition::AnswersReach(count))),
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
        "reverse_depth" => number(Rule::FromStart),
        "role" => Role::parse(value)
            .filter(|role| matches!(role, Role::System | Role::User | Role::Assistant))
            .map(Rule::Role),
        "scan_depth" => value.parse().ok().map(Rule::ScanDepth),
        "position" => position(value).map(Rule::Position),
        "ignore_on_max_context" | "disable_ui_prompt" => Some(Rule::Nothing),
        _ => return Read::Unknown,
    };
    rule.map_or(Read::BadValue, Read::Rule)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is left of a text, and what decorators force.
    fn read(text: &str, dialect: Dialect) -> (String, Option<bool>) {
        let decorated = Decorated::read(Some(&Text::from(text)), dialect);
        let mut entry = Entry::default();
        decorated.apply_to(&mut entry);
        (decorated.content.to_string(), entry.forced)
    }

    #[track_caller]
    fn check(text: &str, content: &str, forced: Option<bool>) {
        assert_eq!(read(text, Dialect::SillyTavern), (content.to_owned(), forced), "{text}");
    }

    #[test]
    fn sillytavern_knows_two_of_them() {
        check("@@activate\nx", "x", Some(true));
        check("@@dont_activate\nx\n@@activate", "x\n@@activate", Some(false));
        check("@@depth 3\nx", "x", None);
        check("@@activate_only_after 3\nx", "x", None);
        check(" @@activate\nx", " @@activate\nx", None);
        check("@@activate", "", Some(true));
    }

    #[test]
    fn a_fallback_counts_behind_an_unknown_one_only() {
        check("@@unknown\n@@@activate\nx", "x", Some(true));
        check("@@@activate\nx", "x", None);
        check("@@dont_activate\n@@@activate\nx", "x", Some(false));
        check("@@unknown\n@@@other\n@@@activate\nx", "x", Some(true));
    }

    #[test]
    fn activate_stands_over_dont_activate() {
        check("@@dont_activate\n@@activate\nx", "x", Some(true));
    }

    #[track_caller]
    fn check_card(text: &str, expected: &Entry) {
        let decorated = Decorated::read(Some(&Text::from(text)), Dialect::CharacterCard3);
        let mut entry = Entry { content: decorated.content.clone(), ..Entry::default() };
        decorated.apply_to(&mut entry);
        assert_eq!(&entry, expected);
    }

    #[test]
    fn cards_of_version_3_know_all() {
        let text = "@@depth 2\n@@role user\n@@scan_depth 5\n@@additional_keys a, b\n@@is_greeting 1\n\nx";
        check_card(
            text,
            &Entry {
                content: "x".into(),
                destination: Destination::Depth(2),
                role: Some(Role::User),
                scan_depth: Some(5),
                conditions: vec![Condition::AnyKey(vec!["a".into(), "b".into()]), Condition::Greeting(1)],
                ..Entry::default()
            },
        );
    }

    #[test]
    fn a_position_stands_over_depths() {
        for text in ["@@depth 2\n@@position scenario\nx", "@@position scenario\n@@reverse_depth 2\nx"] {
            let destination = Destination::Scenario;
            check_card(text, &Entry { content: "x".into(), destination, ..Entry::default() });
        }
        let destination = Destination::Depth(0);
        let text = "@@reverse_depth 4\n@@depth -1\nx";
        check_card(text, &Entry { content: "x".into(), destination, ..Entry::default() });
    }

    #[test]
    fn a_value_that_means_nothing_is_told_and_its_fallback_counts() {
        let decorated =
            Decorated::read(Some(&Text::from("@@depth deep\n@@@depth 3\nx")), Dialect::CharacterCard3);
        assert_eq!(decorated.bad, ["depth deep"]);
        assert_eq!(decorated.rules, [Rule::Depth(3)]);
    }
}
