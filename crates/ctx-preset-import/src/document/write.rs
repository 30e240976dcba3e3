//! Values as documents that are read back the same.

use serde_json::Value;

use super::Document;
use crate::limits::Limits;

/// Writes a value as YAML that people can edit; as JSON, which readers of YAML take too, where YAML would be larger
/// than is read or would not come back the same.
///
/// ```
/// use ctx_preset_import::{Document, write_document};
///
/// let value = serde_json::json!({ "name": "Ada", "text": "two\nlines\n" });
/// let text = write_document(&value);
/// assert!(text.starts_with("name: Ada\n"));
/// assert_eq!(Document::read(text.as_bytes(), "a.yaml").unwrap().value, value);
/// ```
pub fn write_document(value: &Value) -> String {
    let limits = Limits::default();
    let yaml = serde_yaml::to_string(value).unwrap_or_default();
    let is_small = !yaml.is_empty() && yaml.len() <= limits.yaml_bytes;
    let is_same = |yaml: &str| {
        Document::parse(yaml, "a.yaml", &limits)
            .is_ok_and(|read| read.value == *value && read.diagnostics.is_empty())
    };
    if is_small && is_same(&yaml) {
        return yaml;
    }
    let mut json = serde_json::to_string_pretty(value).unwrap_or_default();
    json.push('\n');
    json
}
