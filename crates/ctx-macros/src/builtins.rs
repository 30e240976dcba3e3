//! The built-in macros: a family for each application whose presets are read, a module for each topic.
//!
//! Adding one: a `Definition` in its topic's list and the function that makes its value. Topic and dialects
//! are set here, for a whole list at once, unless a definition says otherwise.

use crate::definition::{Definition, Form, Topic};
use crate::dialect::DialectSet;
use crate::{aio, sillytavern};

/// Returns all built-in macros in the order in which they are listed.
pub(crate) fn all() -> impl Iterator<Item = Definition> {
    family(aio::definitions(), DialectSet::AIO)
        .chain(family(sillytavern::definitions(), DialectSet::SILLYTAVERN))
}

fn family(topics: Vec<(Topic, Vec<Definition>)>, dialects: DialectSet) -> impl Iterator<Item = Definition> {
    topics.into_iter().flat_map(move |(topic, definitions)| {
        definitions.into_iter().map(move |definition| Definition {
            topic,
            constant: is_constant(&definition, topic),
            dialects: match definition.dialects {
                DialectSet::ALL => dialects,
                some => some,
            },
            ..definition
        })
    })
}

/// Returns whether a macro depends on nothing but the environment: not on arguments, variables, draws, nor on what
/// it gave before, as `original` does.
fn is_constant(definition: &Definition, topic: Topic) -> bool {
    let is_of_env = definition.arity.max == Some(0) && definition.form == Form::Ordinary;
    is_of_env && !definition.changes_state && topic != Topic::Random && *definition.name != *"original"
}
