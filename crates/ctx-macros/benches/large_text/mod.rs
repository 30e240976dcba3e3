//! A large text with many macros, and the same macros for each tested engine.

use std::collections::HashMap;

use ctx_macros::{Definition, Registry};
use ctx_types::Text;
use minijinja::{Environment, Value};
use regex::{NoExpand, Regex};

pub(crate) const BYTES: usize = 100_000;

pub(crate) const CALLS: usize = 500;

pub(crate) const MACROS: usize = 60;

#[rustfmt::skip] // Several per line.
const WORDS: [&str; 16] = [
    "the", "lantern", "of", "an", "old", "harbour", "keeps", "its", "light", "while", "ships", "come",
    "home,", "slowly;", "nobody", "sleeps.\n",
];

/// Names and values of the macros; values have 3 to 40 bytes.
pub(crate) fn macros() -> Vec<(String, String)> {
    let value = |number: usize| {
        let words: Vec<&str> = WORDS.iter().cycle().skip(number).take(1 + number % 6).copied().collect();
        words.join(" ").trim_end().to_owned()
    };
    (0..MACROS).map(|number| (format!("value_{number}"), value(number))).collect()
}

/// Words, with the calls evenly spaced.
pub(crate) fn text(bytes: usize, calls: usize) -> String {
    let mut text = String::with_capacity(bytes);
    let mut words = WORDS.iter().cycle();
    for call in 0..calls {
        // Adjacent calls differ, and all macros are called about equally often.
        let name = format!("{{{{value_{}}}}}", call * 7 % MACROS);
        let next = (call + 1) * bytes / calls;
        while text.len() + name.len() < next {
            text.extend(words.next().into_iter().flat_map(|word| [word, " "]));
        }
        text.push_str(&name);
    }
    text
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    for (name, value) in macros() {
        let value = Text::from(value);
        let registered = registry.register(Definition::always(name, move |_| value.clone().into()));
        assert!(registered.is_ok(), "{registered:?}");
    }
    registry
}

/// One expression per macro, with its replacement.
pub(crate) fn expressions(pattern: impl Fn(&str) -> String) -> Vec<(Regex, String)> {
    let compiled = macros().into_iter().map(|(name, value)| (Regex::new(&pattern(&name)), value));
    compiled.filter_map(|(expression, value)| Some((expression.ok()?, value))).collect()
}

/// Replaces each macro in the whole text, like a program without a macro engine.
pub(crate) fn replace(text: &str, expressions: &[(Regex, String)]) -> String {
    let mut text = text.to_owned();
    for (expression, value) in expressions {
        if let std::borrow::Cow::Owned(replaced) = expression.replace_all(&text, NoExpand(value)) {
            text = replaced;
        }
    }
    text
}

pub(crate) fn jinja(text: &str) -> (Environment<'_>, Value) {
    let mut environment = Environment::new();
    let added = environment.add_template("text", text);
    assert!(added.is_ok(), "{added:?}");
    let values: HashMap<String, Value> =
        macros().into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    (environment, Value::from(values))
}
