//! The tool choice of a request in each API dialect.

use ctx_wire::Dialect;
use serde_json::{Value, json};

/// Tools that a model may or must call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToolChoice {
    Auto,
    None,
    Any,
    Function(String),
    /// A tool whose input is a text.
    Custom(String),
    Allowed {
        is_required: bool,
        names: Vec<String>,
    },
}

/// Reads a tool choice; of Gemini, its `functionCallingConfig`. `None` if no other dialect has it.
pub(super) fn read_choice(dialect: Dialect, choice: &Value) -> Option<ToolChoice> {
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    match dialect {
        Dialect::Anthropic => Some(match choice.get("type")?.as_str()? {
            "auto" => ToolChoice::Auto,
            "any" => ToolChoice::Any,
            "none" => ToolChoice::None,
            "tool" => ToolChoice::Function(text(choice, "name")?),
            _ => return None,
        }),
        Dialect::Gemini => {
            let names = choice.get("allowedFunctionNames").or_else(|| choice.get("allowed_function_names"));
            let names: Vec<String> = match names {
                Some(names) => serde_json::from_value(names.clone()).ok()?,
                None => Vec::new(),
            };
            Some(match (choice.get("mode").and_then(Value::as_str)?, names.as_slice()) {
                ("NONE", _) => ToolChoice::None,
                ("ANY", []) => ToolChoice::Any,
                ("ANY", [name]) => ToolChoice::Function(name.clone()),
                ("ANY", _) => ToolChoice::Allowed { is_required: true, names },
                ("AUTO" | "MODE_UNSPECIFIED", []) => ToolChoice::Auto,
                _ => return None,
            })
        }
        _ => match choice.as_str() {
            Some("auto") => Some(ToolChoice::Auto),
            Some("none") => Some(ToolChoice::None),
            Some("required") => Some(ToolChoice::Any),
            Some(_) => None,
            None => {
                let kind = choice.get("type")?.as_str()?;
                // Chat completions have an object below the type.
                let body = choice.get(kind).unwrap_or(choice);
                match kind {
                    "function" => text(body, "name").map(ToolChoice::Function),
                    "custom" => text(body, "name").map(ToolChoice::Custom),
                    "allowed_tools" => {
                        let name = |tool: &Value| text(tool.get("function").unwrap_or(tool), "name");
                        let names = body.get("tools")?.as_array()?.iter().map(name).collect::<Option<_>>()?;
                        let is_required = body.get("mode").is_some_and(|mode| mode == "required");
                        Some(ToolChoice::Allowed { is_required, names })
                    }
                    _ => None,
                }
            }
        },
    }
}

/// Writes a tool choice; for Gemini, its `functionCallingConfig`. `None` if the dialect does not have it.
pub(super) fn write_choice(dialect: Dialect, choice: &ToolChoice) -> Option<Value> {
    Some(match (dialect, choice) {
        (Dialect::Anthropic, ToolChoice::Auto) => json!({ "type": "auto" }),
        (Dialect::Anthropic, ToolChoice::None) => json!({ "type": "none" }),
        (Dialect::Anthropic, ToolChoice::Any) => json!({ "type": "any" }),
        (Dialect::Anthropic, ToolChoice::Function(name) | ToolChoice::Custom(name)) => {
            json!({ "type": "tool", "name": name })
        }
        (Dialect::Gemini, ToolChoice::Auto) => json!({ "mode": "AUTO" }),
        (Dialect::Gemini, ToolChoice::None) => json!({ "mode": "NONE" }),
        (Dialect::Gemini, ToolChoice::Any) => json!({ "mode": "ANY" }),
        (Dialect::Gemini, ToolChoice::Function(name) | ToolChoice::Custom(name)) => {
            json!({ "mode": "ANY", "allowedFunctionNames": [name] })
        }
        (Dialect::Gemini, ToolChoice::Allowed { is_required: true, names }) => {
            json!({ "mode": "ANY", "allowedFunctionNames": names })
        }
        (Dialect::OpenaiChat | Dialect::OpenaiResponses, ToolChoice::Auto) => json!("auto"),
        (Dialect::OpenaiChat | Dialect::OpenaiResponses, ToolChoice::None) => json!("none"),
        (Dialect::OpenaiChat | Dialect::OpenaiResponses, ToolChoice::Any) => json!("required"),
        (Dialect::OpenaiChat, ToolChoice::Function(name)) => {
            json!({ "type": "function", "function": { "name": name } })
        }
        (Dialect::OpenaiChat, ToolChoice::Custom(name)) => {
            json!({ "type": "custom", "custom": { "name": name } })
        }
        (Dialect::OpenaiChat, ToolChoice::Allowed { is_required, names }) => {
            let tool = |name: &String| json!({ "type": "function", "function": { "name": name } });
            let tools: Vec<Value> = names.iter().map(tool).collect();
            let mode = if *is_required { "required" } else { "auto" };
            json!({ "type": "allowed_tools", "allowed_tools": { "mode": mode, "tools": tools } })
        }
        (Dialect::OpenaiResponses, ToolChoice::Function(name)) => json!({ "type": "function", "name": name }),
        (Dialect::OpenaiResponses, ToolChoice::Custom(name)) => json!({ "type": "custom", "name": name }),
        (Dialect::OpenaiResponses, ToolChoice::Allowed { is_required, names }) => {
            let tool = |name: &String| json!({ "type": "function", "name": name });
            let tools: Vec<Value> = names.iter().map(tool).collect();
            let mode = if *is_required { "required" } else { "auto" };
            json!({ "type": "allowed_tools", "mode": mode, "tools": tools })
        }
        _ => return None,
    })
}
