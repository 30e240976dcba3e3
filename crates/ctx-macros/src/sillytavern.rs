//! The macros of SillyTavern, one module for each topic.

mod names;
mod text;
mod time;
mod variables;

use crate::definition::{Definition, Topic};

/// Returns the macros by topic, in the order in which they are listed.
pub(crate) fn definitions() -> Vec<(Topic, Vec<Definition>)> {
    vec![
        (Topic::Names, names::definitions()),
        (Topic::Text, text::definitions()),
        (Topic::Variables, variables::definitions()),
        (Topic::Time, time::definitions()),
    ]
}
