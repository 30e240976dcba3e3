//! Tool definitions, of whichever dialect.

use std::collections::BTreeSet;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, phrase};

use super::refused;
use crate::codes;
use crate::json::Json;

/// The longest name of a tool, in characters.
pub(super) const MAX_NAME: usize = 64;

/// Returns whether a type is one of Anthropic's sets of tools, which have no name: `mcp_toolset`,
/// `computer_toolset_20260801`.
pub(super) fn is_toolset(kind: &str) -> bool {
    kind == "mcp_toolset" || kind.contains("_toolset_")
}

/// The most tools that the large providers take.
const MAX_TOOLS: usize = 128;

/// Checks the names of tools; `name` finds that of a definition.
pub(super) fn check<'a>(
    body: &'a Json<'a>,
    name: for<'b> fn(&'b Json<'b>) -> Option<&'b str>,
    max_name: usize,
    found: &mut Vec<Diagnostic>,
) {
    // Tools of the provider may have a type alone.
    let is_named = |tool: &&Json<'_>| {
        let kind = tool.get("type").and_then(Json::as_str).unwrap_or("function");
        let is_own = matches!(kind, "function" | "custom");
        !is_toolset(kind) && (is_own || tool.get("name").is_some() || tool.get("function").is_some())
    };
    let tools = list(body, found).iter().enumerate().filter(|(_, tool)| is_named(tool));
    check_names(tools.map(|(index, tool)| (format!("/tools/{index}"), name(tool))), max_name, &[], found);
}

/// Returns the list of tools; what stands there instead is reported.
pub(super) fn list<'a>(body: &'a Json<'a>, found: &mut Vec<Diagnostic>) -> &'a [Json<'a>] {
    match body.get("tools") {
        None | Some(Json::Null) => &[],
        Some(Json::List(tools)) => tools,
        // Gemini accepts one object in place of a list.
        Some(tool @ Json::Object(_))
            if tool.get("functionDeclarations").or_else(|| tool.get("function_declarations")).is_some() =>
        {
            std::slice::from_ref(tool)
        }
        Some(_) => {
            found.push(refused(codes::SHAPE, phrase!("`tools` must be a list")).at_pointer("/tools"));
            &[]
        }
    }
}

/// Checks the names of tools, each with its place in the body. They may contain `punctuation`.
pub(super) fn check_names<'a>(
    tools: impl Iterator<Item = (String, Option<&'a str>)>,
    max_name: usize,
    punctuation: &[char],
    found: &mut Vec<Diagnostic>,
) {
    let mut seen = BTreeSet::new();
    let mut count = 0;
    for (place, name) in tools {
        count += 1;
        let text = match name {
            None => phrase!("the tool has no name"),
            Some(name) if !is_valid_name(&name.replace(punctuation, "_"), max_name) => {
                if punctuation.is_empty() {
                    phrase!(
                        "tool name `{name}` must have 1 to {limit} ASCII letters, digits, `_`, or `-`",
                        name = excerpt(name),
                        limit = max_name
                    )
                } else {
                    phrase!(
                        "tool name `{name}` must have 1 to {limit} ASCII letters, digits, `_`, `-`, `.`, or `:`",
                        name = excerpt(name),
                        limit = max_name
                    )
                }
            }
            Some(name) if !seen.insert(name) => {
                phrase!("duplicate tool name `{name}`", name = excerpt(name))
            }
            Some(_) => continue,
        };
        found.push(refused(codes::TOOL_DEFINITION, text).at_pointer(place));
    }
    if count > MAX_TOOLS {
        let text = phrase!(
            "the request has {count} tools; large providers accept {limit}",
            count,
            limit = MAX_TOOLS
        );
        found.push(Diagnostic::warning(codes::DIALECT_LIMIT, text).at_pointer("/tools"));
    }
}

/// Returns whether a tool may have this name.
pub(super) fn is_valid_name(name: &str, max_name: usize) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=max_name).contains(&name.len()) && name.bytes().all(is_valid)
}
