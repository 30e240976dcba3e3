mod card;
mod conversation;
mod dice;
mod instruct;
mod model;
mod names;
mod random;
mod relative;
mod seedrandom;
mod text;
mod time;
pub(crate) mod variable_store;
mod variables;

use crate::definition::{Definition, Topic};

pub(crate) fn definitions() -> Vec<(Topic, Vec<Definition>)> {
    vec![
        (Topic::Names, names::definitions()),
        (Topic::Names, card::definitions()),
        (Topic::Conversation, conversation::definitions()),
        (Topic::Text, text::definitions()),
        (Topic::Variables, variables::definitions()),
        (Topic::Random, random::definitions()),
        (Topic::Time, time::definitions()),
        (Topic::Model, model::definitions()),
        (Topic::Instruct, instruct::definitions()),
    ]
}
