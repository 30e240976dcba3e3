//! Lorebooks of NovelAI.

use super::lorebook::Kind::{Number, Switch, Switched, Text, Texts};
use super::lorebook::{Lorebook, known};

pub(super) const LOREBOOK: Lorebook = Lorebook {
    is_it: |file| file.contains_key("lorebookVersion"),
    entries: "entries",
    fields: &[
        known("keys", "key", Texts),
        known("text", "content", Text),
        known("displayName", "comment", Text),
        known("forceActivation", "constant", Switch),
        known("contextConfig/budgetPriority", "order", Number),
        known("enabled", "disable", Switched),
    ],
    dialect: None,
    theirs: |ours| LOREBOOK.theirs(ours),
};
