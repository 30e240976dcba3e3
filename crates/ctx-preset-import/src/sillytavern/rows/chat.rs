//! What becomes of each field of a chat's lines.

use crate::report::Expect::{Any, Flag, Number, Text};
use crate::report::{Rule, mapped};

/// The lines of a chat; the first may be its header.
pub(crate) const CHAT: [Rule; 15] = [
    mapped("/*/mes", Text, "/nodes/*/content"),
    mapped("/*/name", Text, "/nodes/*/name"),
    mapped("/*/is_user", Flag, "/nodes/*/role"),
    mapped("/*/is_system", Flag, "/nodes/*/isEnabled"),
    mapped("/*/send_date", Any, "/nodes/*/timestamp"),
    mapped("/*/extra/reasoning", Text, "/nodes/*/metadata/reasoningContent"),
    mapped("/*/extra/type", Text, "/nodes/*/role"),
    mapped("/*/chat_metadata/note_prompt", Text, "/authorNote/content"),
    mapped("/*/chat_metadata/note_interval", Number, "/authorNote/interval"),
    mapped("/*/chat_metadata/note_position", Number, "/authorNote/injectionStrategy"),
    mapped("/*/chat_metadata/note_depth", Number, "/authorNote/injectionStrategy/depth"),
    mapped("/*/chat_metadata/note_role", Number, "/authorNote/role"),
    mapped("/*/chat_metadata/world_info", Text, "/chat_metadata/world_info"),
    mapped("/*/chat_metadata/variables/**", Any, "/chat_metadata/variables"),
    mapped("/*/user_name", Text, "/user_name"),
];
