//! Memory books of Agnai.

use super::lorebook::Kind::{Number, Switched, Text, Texts};
use super::lorebook::{Lorebook, known};
use crate::loose::text;

pub(super) const LOREBOOK: Lorebook = Lorebook {
    is_it: |file| text(file, "kind") == Some("memory"),
    entries: "entries",
    fields: &[
        known("keywords", "key", Texts),
        known("entry", "content", Text),
        known("name", "comment", Text),
        known("weight", "order", Number),
        known("enabled", "disable", Switched),
    ],
    dialect: None,
    theirs: |ours| LOREBOOK.theirs(ours),
};
