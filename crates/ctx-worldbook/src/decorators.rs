//! Decorators: lines such as `@@depth 3` above the text of an entry.

mod rules;

use std::sync::Arc;

use ctx_types::Text;
use ctx_types::internal::{closest, excerpt};

use crate::book::{Dialect, MAX_FINDINGS};
use crate::entry::Entry;

use rules::{ELSEWHERE, NAMES, Overrides, RuleOutcome, UNSUPPORTED};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DecoratedContent {
    pub(crate) content: Text,
    overrides: Overrides,
    pub(crate) idle: Vec<IdleDecorator>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdleDecorator {
    pub(crate) line: String,
    pub(crate) why: Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    BadValue,
    UnknownName(Option<&'static str>),
    OtherDialect,
    /// It works in other applications only.
    Unsupported,
}

/// Condition set by a decorator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// At least this many assistant messages.
    AnswersReach(u64),
    /// The number of assistant messages is a multiple of this.
    AnswersDivideBy(u64),
    MessagesReach(u64),
    /// The number of messages is a multiple of this.
    MessagesDivideBy(u64),
    /// Index of the greeting, from 0. Also holds if unknown.
    Greeting(u64),
    /// Name of the user's avatar. Also holds if unknown.
    UserIcon(Arc<str>),
    AnyKey(Vec<Arc<str>>),
    NoKey(Vec<Arc<str>>),
}

impl Condition {
    pub(crate) fn keys(&self) -> &[Arc<str>] {
        match self {
            Self::AnyKey(keys) | Self::NoKey(keys) => keys,
            _ => &[],
        }
    }
}

impl DecoratedContent {
    /// Removes the lines that start with `@@`. A `@@@` line is a fallback for a line that was not understood.
    pub(crate) fn read(content: Option<&Text>, dialect: Dialect) -> Self {
        let Some(content) = content else { return Self::default() };
        if !content.starts_with("@@") {
            return Self { content: content.clone(), ..Self::default() };
        }
        let mut decorated = Self::default();
        let mut rest: &str = content;
        let mut waiting = PendingFallback::No;
        while rest.starts_with("@@") {
            let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
            rest = below;
            match line.strip_prefix("@@@") {
                None => {
                    decorated.note(std::mem::take(&mut waiting));
                    waiting = decorated.push(line.strip_prefix("@@").unwrap_or(line), dialect);
                }
                Some(fallback) if waiting != PendingFallback::No => {
                    // Without a known fallback, the first line is reported.
                    if decorated.push(fallback, dialect) == PendingFallback::No {
                        waiting = PendingFallback::No;
                    }
                }
                Some(_) => {}
            }
        }
        decorated.note(waiting);
        decorated.content = match dialect {
            Dialect::Plain => Text::from(rest),
            Dialect::CharacterCard3 | Dialect::RisuAi => Text::from(rest.trim_start_matches(['\n', '\r'])),
        };
        decorated
    }

    fn push(&mut self, line: &str, dialect: Dialect) -> PendingFallback {
        let line = line.trim_end_matches('\r');
        match dialect {
            Dialect::Plain => self.push_plain(line),
            Dialect::CharacterCard3 | Dialect::RisuAi => self.push_card(line.trim(), dialect),
        }
    }

    fn push_plain(&mut self, line: &str) -> PendingFallback {
        let force = match line {
            "activate" => true,
            "dont_activate" => false,
            _ => {
                let idle = IdleDecorator { line: quote_line(line), why: in_other_dialect(line) };
                // SillyTavern matches by prefix: a longer name is known there but has no effect.
                if line.starts_with("activate") || line.starts_with("dont_activate") {
                    self.add_idle(idle);
                    return PendingFallback::No;
                }
                return PendingFallback::For(Some(idle));
            }
        };
        self.overrides.force(force);
        PendingFallback::No
    }

    fn push_card(&mut self, line: &str, dialect: Dialect) -> PendingFallback {
        let (name, value) = split(line);
        match self.overrides.apply(name, value, dialect) {
            RuleOutcome::Applied => PendingFallback::No,
            RuleOutcome::BadValue => {
                self.add_idle(IdleDecorator { line: quote_line(line), why: Idle::BadValue });
                PendingFallback::For(None)
            }
            RuleOutcome::Unsupported => {
                PendingFallback::For(Some(IdleDecorator { line: quote_line(line), why: Idle::Unsupported }))
            }
            // These are for text completion.
            RuleOutcome::Unknown if ELSEWHERE.contains(&name) => PendingFallback::For(None),
            RuleOutcome::Unknown => {
                // The search is slow; skip it if no more diagnostics are stored.
                let meant = if self.is_full() { None } else { closest(name, NAMES) };
                let why = Idle::UnknownName(meant);
                PendingFallback::For(Some(IdleDecorator { line: quote_line(line), why }))
            }
        }
    }

    fn note(&mut self, waiting: PendingFallback) {
        if let PendingFallback::For(Some(idle)) = waiting {
            self.add_idle(idle);
        }
    }

    /// One diagnostic over the limit shows that there are more.
    fn add_idle(&mut self, idle: IdleDecorator) {
        if !self.is_full() {
            self.idle.push(idle);
        }
    }

    const fn is_full(&self) -> bool {
        self.idle.len() > MAX_FINDINGS
    }

    pub(crate) fn apply_to(self, entry: &mut Entry) -> Vec<IdleDecorator> {
        self.overrides.apply_to(entry);
        self.idle
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
enum PendingFallback {
    #[default]
    No,
    /// Reported if no fallback is known.
    For(Option<IdleDecorator>),
}

fn split(line: &str) -> (&str, &str) {
    let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (name, value.trim())
}

fn quote_line(line: &str) -> String {
    excerpt(line).to_string()
}

fn in_other_dialect(line: &str) -> Idle {
    let name = split(line.trim()).0;
    if NAMES.contains(&name) {
        Idle::OtherDialect
    } else if UNSUPPORTED.contains(&name) {
        Idle::Unsupported
    } else {
        Idle::UnknownName(None)
    }
}

#[cfg(test)]
mod tests {
    use ctx_types::Role;

    use super::*;
    use crate::entry::Destination;

    fn read(text: &str, dialect: Dialect) -> (String, Option<bool>) {
        let decorated = DecoratedContent::read(Some(&Text::from(text)), dialect);
        let mut entry = Entry::default();
        let content = decorated.content.to_string();
        decorated.apply_to(&mut entry);
        (content, entry.forced)
    }

    #[track_caller]
    fn check(text: &str, content: &str, forced: Option<bool>) {
        assert_eq!(read(text, Dialect::Plain), (content.to_owned(), forced), "{text}");
    }

    #[test]
    fn reads_two_decorators_in_plain_worldbook() {
        check("@@activate\nx", "x", Some(true));
        check("@@dont_activate\nx\n@@activate", "x\n@@activate", Some(false));
        check("@@depth 3\nx", "x", None);
        check("@@activate_only_after 3\nx", "x", None);
        check(" @@activate\nx", " @@activate\nx", None);
        check("@@activate", "", Some(true));
    }

    #[test]
    fn applies_fallback_only_after_unknown_decorator() {
        check("@@unknown\n@@@activate\nx", "x", Some(true));
        check("@@@activate\nx", "x", None);
        check("@@dont_activate\n@@@activate\nx", "x", Some(false));
        check("@@unknown\n@@@other\n@@@activate\nx", "x", Some(true));
    }

    #[test]
    fn prefers_activate_over_dont_activate() {
        check("@@dont_activate\n@@activate\nx", "x", Some(true));
    }

    #[track_caller]
    fn check_card(text: &str, expected: &Entry) {
        let decorated = DecoratedContent::read(Some(&Text::from(text)), Dialect::CharacterCard3);
        let mut entry = Entry { content: decorated.content.clone(), ..Entry::default() };
        decorated.apply_to(&mut entry);
        assert_eq!(&entry, expected);
    }

    #[test]
    fn reads_all_decorators_of_character_card_v3() {
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
    fn prefers_position_over_depth() {
        for text in ["@@depth 2\n@@position scenario\nx", "@@position scenario\n@@reverse_depth 2\nx"] {
            let destination = Destination::Scenario;
            check_card(text, &Entry { content: "x".into(), destination, ..Entry::default() });
        }
        let destination = Destination::Depth(0);
        let text = "@@reverse_depth 4\n@@depth -1\nx";
        check_card(text, &Entry { content: "x".into(), destination, ..Entry::default() });
    }

    fn idle(text: &str, dialect: Dialect) -> Vec<(String, Idle)> {
        let decorated = DecoratedContent::read(Some(&Text::from(text)), dialect);
        decorated.idle.into_iter().map(|idle| (idle.line, idle.why)).collect()
    }

    #[test]
    fn reports_invalid_value_and_applies_fallback() {
        let text = "@@depth deep\n@@@depth 3\nx";
        assert_eq!(idle(text, Dialect::CharacterCard3), [("depth deep".to_owned(), Idle::BadValue)]);
        let destination = Destination::Depth(3);
        check_card(text, &Entry { content: "x".into(), destination, ..Entry::default() });
    }

    #[test]
    fn reports_unknown_name_without_fallback() {
        let card = |text: &str| idle(text, Dialect::CharacterCard3);
        let unknown = |line: &str, near| (line.to_owned(), Idle::UnknownName(near));
        assert_eq!(card("@@foo\n@@dept 3\nx"), [unknown("foo", None), unknown("dept 3", Some("depth"))]);
        assert_eq!(card("@@foo\n@@@bar\n@@@depth 3\nx"), []);
        assert_eq!(card("@@foo\n@@@bar\nx"), [unknown("foo", None)]);
        assert_eq!(card("@@instruct_depth 3\nx"), []);
        assert_eq!(card("@@depth 3\n@@@foo\nx"), []);
    }

    #[test]
    fn reports_ignored_decorators_in_plain_worldbook() {
        let app = |text: &str| idle(text, Dialect::Plain);
        let other = |line: &str| (line.to_owned(), Idle::OtherDialect);
        assert_eq!(
            app("@@depth 3\n@@activate_only_after 2\nx"),
            [other("depth 3"), other("activate_only_after 2"),]
        );
        assert_eq!(app("@@foo\nx"), [("foo".to_owned(), Idle::UnknownName(None))]);
        assert_eq!(app("@@foo\n@@@activate\nx"), []);
    }

    #[test]
    fn reads_every_listed_name() {
        for name in NAMES.into_iter().chain(["foo"]) {
            assert_eq!(
                Overrides::default().apply(name, "1", Dialect::CharacterCard3) == RuleOutcome::Unknown,
                name == "foo",
                "{name}"
            );
        }
    }

    #[test]
    fn keeps_commas_of_expressions() {
        for (value, expected) in [
            ("a, /b{1,2}/i, c", vec!["a", "/b{1,2}/i", "c"]),
            ("/a,b", vec!["/a", "b"]),
            ("/a/, /b, c", vec!["/a/", "/b", "c"]),
            ("/a,/,b", vec!["/a,/", "b"]),
        ] {
            let decorated = DecoratedContent::read(
                Some(&Text::from(format!("@@additional_keys {value}\nx"))),
                Dialect::RisuAi,
            );
            let mut entry = Entry::default();
            decorated.apply_to(&mut entry);
            let keys = expected.into_iter().map(Arc::from).collect();
            assert_eq!(entry.conditions, [Condition::AnyKey(keys)], "{value}");
        }
    }

    #[test]
    fn reports_positions_of_risuai_presets() {
        let line = "position pt_lore".to_owned();
        assert_eq!(idle("@@position pt_lore\nx", Dialect::RisuAi), [(line, Idle::Unsupported)]);
        assert_eq!(idle("@@position pt_lore\n@@@depth 3\nx", Dialect::RisuAi), []);
    }

    #[test]
    fn reports_unsupported_decorators() {
        for name in UNSUPPORTED {
            let line = format!("{name} main");
            for dialect in [Dialect::Plain, Dialect::CharacterCard3, Dialect::RisuAi] {
                let expected = [(line.clone(), Idle::Unsupported)];
                assert_eq!(idle(&format!("@@{line}\nx"), dialect), expected);
            }
            assert_eq!(idle(&format!("@@{line}\n@@@depth 3\nx"), Dialect::RisuAi), []);
        }
    }

    #[test]
    fn reads_additions_of_risuai() {
        let read = |text: &str| {
            let mut entry = Entry { prevents_recursion: true, ..Entry::default() };
            DecoratedContent::read(Some(&Text::from(text)), Dialect::CharacterCard3).apply_to(&mut entry);
            (entry.probability, entry.match_whole_words, entry.prevents_recursion)
        };
        let text = "@@probability 30\n@@match_full_word\n@@recursive\nx";
        assert_eq!(read(text), (Some(30.0), Some(true), false));
        assert_eq!(read("@@probability 130\n@@match_partial_word\nx"), (Some(100.0), Some(false), true));
        let mut entry = Entry::default();
        let read = DecoratedContent::read(
            Some(&Text::from("@@unrecursive\n@@probability x\nx")),
            Dialect::CharacterCard3,
        );
        let idle = read.apply_to(&mut entry);
        assert_eq!((entry.prevents_recursion, entry.probability, idle.len()), (true, None, 1));
    }
}
