//! Tool definitions, of whichever dialect.

use std::collections::BTreeSet;

use ctx_types::{Diagnostic, excerpt};
use serde_json::Value;

use super::refused;
use crate::codes;

/// The longest name of a tool, in characters.
const MAX_NAME: usize = 64;

/// The most tools that the large providers take.
const MAX_TOOLS: usize = 128;

/// Checks the names of tools; `name` finds that of a definition.
pub(super) fn check(body: &Value, name: fn(&Value) -> Option<&str>, found: &mut Vec<Diagnostic>) {
    let Some(tools) = body.get("tools") else { return };
    let Some(tools) = tools.as_array() else {
        found.push(refused(codes::SHAPE, "`tools` is not a list").at_pointer("/tools"));
        return;
    };
    if tools.len() > MAX_TOOLS {
        let text = format!("the request has {} tools; the large providers take {MAX_TOOLS}", tools.len());
        found.push(Diagnostic::warning(codes::DIALECT_LIMIT, text).at_pointer("/tools"));
    }
    let mut seen = BTreeSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let text = match name(tool) {
            None => "the tool has no name".to_owned(),
            Some(name) if !is_valid_name(name) => {
                format!(
                    "the tool's name `{}` is not 1 to 64 ASCII letters, digits, `_` and `-`",
                    excerpt(name)
                )
            }
            Some(name) if !seen.insert(name) => format!("two tools have the name `{}`", excerpt(name)),
            Some(_) => continue,
        };
        found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(format!("/tools/{index}")));
    }
}

fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_valid)
}
