//! Built-in macros: one family per application, one module per topic.
//!
//! To add a macro, add a `Definition` to the list of its topic.

use crate::definition::{Definition, Topic};
use crate::dialect::Dialect;
use crate::{aio, sillytavern};

pub(crate) fn all() -> impl Iterator<Item = Definition> {
    family(aio::definitions(), Dialect::Aio).chain(family(sillytavern::definitions(), Dialect::SillyTavern))
}

fn family(topics: Vec<(Topic, Vec<Definition>)>, dialect: Dialect) -> impl Iterator<Item = Definition> {
    topics.into_iter().flat_map(move |(topic, definitions)| {
        definitions.into_iter().map(move |known| Definition { topic, dialect: Some(dialect), ..known })
    })
}
