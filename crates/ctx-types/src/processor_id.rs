/// Trims a processor id and removes AIO Hub's prefix `primary:` or `post:`.
pub fn canonical_id(id: &str) -> &str {
    let id = id.trim();
    id.strip_prefix("primary:").or_else(|| id.strip_prefix("post:")).unwrap_or(id).trim_start()
}
