//! Shared environment and helpers.

use ctx_macros::{Dialect, Env, Expansion, Limits, Registry, State, Template};
use ctx_types::{Source, SourceKind, Text, Trust};

/// 2025-11-07 22:30:05.123 UTC.
pub(crate) const AT: i64 = 1_762_554_605_123;

pub(crate) fn env() -> Env {
    Env {
        user: Some(Text::from("Mei")),
        char: Some(Text::from("Alice")),
        persona: Some(Text::from("I cost $$5, $& all. {{user}}")),
        description: Some(Text::from("DESC")),
        personality: Some(Text::from("PERS")),
        scenario: Some(Text::from("SCEN")),
        at_millis: Some(AT),
        ..Env::default()
    }
}

pub(crate) fn origin() -> Source {
    Source::new(SourceKind::Preset, Trust::Preset).with_id("p1")
}

pub(crate) fn parse(text: &str, dialect: Dialect) -> Template {
    Template::parse(&Text::from(text), dialect, &Registry::builtin())
}

pub(crate) fn expand(text: &str, dialect: Dialect) -> Expansion {
    expand_in(text, dialect, &mut State::new(Limits::default()))
}

pub(crate) fn expand_in(text: &str, dialect: Dialect, state: &mut State) -> Expansion {
    parse(text, dialect).expand(&env(), state, &origin())
}
