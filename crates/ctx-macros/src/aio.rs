mod assets;
mod conversation;
mod dice;
mod knowledge;
mod model;
mod names;
mod random;
mod system;
mod text;
mod time;
mod time_ancient;
mod time_local;
mod tools;
mod variables;

use crate::definition::{Definition, Topic};

pub(crate) fn definitions() -> Vec<(Topic, Vec<Definition>)> {
    vec![
        (Topic::Names, names::definitions()),
        (Topic::Conversation, conversation::definitions()),
        (Topic::Model, model::definitions()),
        (Topic::Text, text::definitions()),
        (Topic::Random, random::definitions()),
        (Topic::Random, dice::definitions()),
        (Topic::Variables, variables::definitions()),
        (Topic::Time, time::definitions()),
        (Topic::Time, time_local::definitions()),
        (Topic::Time, time_ancient::definitions()),
        (Topic::System, system::definitions()),
        (Topic::Assets, assets::definitions()),
        (Topic::Assets, tools::definitions()),
        (Topic::Assets, knowledge::definitions()),
    ]
}
