//! Built-in macros: one family per application, one module per topic.
//!
//! To add a macro, add a `Definition` to the list of its topic.

use crate::definition::{Definition, Form, Topic};
use crate::dialect::Dialect;
use crate::{aio, sillytavern};

pub(crate) fn all() -> impl Iterator<Item = Definition> {
    family(aio::definitions(), Dialect::Aio).chain(family(sillytavern::definitions(), Dialect::SillyTavern))
}

fn family(topics: Vec<(Topic, Vec<Definition>)>, dialect: Dialect) -> impl Iterator<Item = Definition> {
    topics.into_iter().flat_map(move |(topic, definitions)| {
        definitions.into_iter().map(move |definition| Definition {
            topic,
            constant: is_constant(&definition, topic),
            dialect: Some(dialect),
            ..definition
        })
    })
}

/// Whether the value depends on the environment only. The second `original` is empty.
fn is_constant(definition: &Definition, topic: Topic) -> bool {
    let is_of_env = definition.arity.max == Some(0) && definition.form == Form::Ordinary;
    is_of_env && !definition.changes_state && topic != Topic::Random && *definition.name != *"original"
}
