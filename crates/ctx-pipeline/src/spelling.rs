pub(crate) use ctx_types::internal::canonical_id;

/// Returns the processors of a group.
///
/// The four formatters are one processor in seed 002 (`message-formatters`) and AIO Hub
/// (`message-formatter`).
pub(crate) fn group_members(id: &str) -> Option<&'static [&'static str]> {
    matches!(canonical_id(id), "message-formatters" | "message-formatter").then_some(&FORMATTERS)
}

/// In the order they run.
const FORMATTERS: [&str; 4] =
    ["merge-system-to-head", "merge-consecutive-roles", "convert-system-to-user", "ensure-alternating-roles"];
