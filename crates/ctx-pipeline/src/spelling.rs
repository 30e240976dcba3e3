//! Ids of processors as files spell them.

/// Returns the id that a spelling means.
///
/// AIO Hub prefixes ids with `primary:` or `post:`; white space around them does not count.
///
/// ```
/// use ctx_pipeline::canonical_id;
///
/// assert_eq!(canonical_id("primary:token-limiter"), "token-limiter");
/// assert_eq!(canonical_id(" merge-system-to-head "), "merge-system-to-head");
/// ```
pub fn canonical_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("primary:").or_else(|| id.strip_prefix("post:")).unwrap_or(id).trim_start()
}

/// Returns the processors that a spelling stands for, if it is that of a group.
///
/// Seed 002 has the four formatters as one processor, `message-formatters`; AIO Hub as `message-formatter`.
///
/// ```
/// use ctx_pipeline::group_members;
///
/// assert_eq!(group_members("message-formatters").map(<[_]>::len), Some(4));
/// assert_eq!(group_members("token-limiter"), None);
/// ```
pub fn group_members(id: &str) -> Option<&'static [&'static str]> {
    matches!(canonical_id(id), "message-formatters" | "message-formatter").then_some(&FORMATTERS)
}

/// In the order in which they run.
const FORMATTERS: [&str; 4] =
    ["merge-system-to-head", "merge-consecutive-roles", "convert-system-to-user", "ensure-alternating-roles"];
