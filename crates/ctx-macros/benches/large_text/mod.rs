//! A large text with many macros, and the same macros for each of those that expand it.

use std::collections::HashMap;

use ctx_macros::{Definition, Registry};
use ctx_types::Text;
use minijinja::{Environment, Value};
use regex::{NoExpand, Regex};

/// How long the text is.
pub(crate) const BYTES: usize = 100_000;

/// How many calls it has.
pub(crate) const CALLS: usize = 500;

/// How many different macros are called.
pub(crate) const MACROS: usize = 60;

const WORDS: [&str; 16] = [
    "the",
    "lantern",
    "of",
    "an",
    "old",
    "harbour",
    "keeps",
    "its",
    "light",
    "while",
    "ships",
    "come",
    "home,",
    "slowly;",
    "nobody",
    "sleeps.\n",
];

/// The names of the macros and what they give: 3 to 40 bytes.
pub(crate) fn macros() -> Vec<(String, String)> {
    let value = |number: usize| {
        let words: Vec<&str> = WORDS.iter().cycle().skip(number).take(1 + number % 6).copied().collect();
        words.join(" ").trim_end().to_owned()
    };
    (0..MACROS).map(|number| (format!("value_{number}"), value(number))).collect()
}

/// Writes the text: words, and after as many bytes as leave room for all calls the next call.
pub(crate) fn text(bytes: usize, calls: usize) -> String {
    let mut text = String::with_capacity(bytes);
    let mut words = WORDS.iter().cycle();
    for call in 0..calls {
        // Neighbours differ, and each macro is called about as often.
        let name = format!("{{{{value_{}}}}}", call * 7 % MACROS);
        let next = (call + 1) * bytes / calls;
        while text.len() + name.len() < next {
            text.extend(words.next().into_iter().flat_map(|word| [word, " "]));
        }
        text.push_str(&name);
    }
    text
}

/// Returns a registry of these macros and no others, each of which gives a shared text.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    for (name, value) in macros() {
        let value = Text::from(value);
        let registered =
            registry.register(Definition::always(name, move |_| value.clone().into()).constant());
        assert!(registered.is_ok(), "{registered:?}");
    }
    registry
}

/// Returns an expression for each macro, with what takes its place.
pub(crate) fn expressions(pattern: impl Fn(&str) -> String) -> Vec<(Regex, String)> {
    let compiled = macros().into_iter().map(|(name, value)| (Regex::new(&pattern(&name)), value));
    compiled.filter_map(|(expression, value)| Some((expression.ok()?, value))).collect()
}

/// Replaces one macro after the other in the whole text, as a program without an engine does.
pub(crate) fn replace(text: &str, expressions: &[(Regex, String)]) -> String {
    let mut text = text.to_owned();
    for (expression, value) in expressions {
        if let std::borrow::Cow::Owned(replaced) = expression.replace_all(&text, NoExpand(value)) {
            text = replaced;
        }
    }
    text
}

/// Returns an environment with the text as a template, and the values.
pub(crate) fn jinja(text: &str) -> (Environment<'_>, Value) {
    let mut environment = Environment::new();
    let added = environment.add_template("text", text);
    assert!(added.is_ok(), "{added:?}");
    let values: HashMap<String, Value> =
        macros().into_iter().map(|(name, value)| (name, Value::from(value))).collect();
    (environment, Value::from(values))
}
