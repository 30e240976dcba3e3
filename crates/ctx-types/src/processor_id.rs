/// Trims a processor id and removes AIO Hub's prefix `primary:` or `post:`.
///
/// ```
/// use ctx_types::canonical_id;
///
/// assert_eq!(canonical_id("primary:token-limiter"), "token-limiter");
/// assert_eq!(canonical_id(" merge-system-to-head "), "merge-system-to-head");
/// ```
pub fn canonical_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("primary:").or_else(|| id.strip_prefix("post:")).unwrap_or(id).trim_start()
}
