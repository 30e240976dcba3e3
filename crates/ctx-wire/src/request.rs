//! What a request holds beside its messages, and the body that comes out.

use std::cmp::Reverse;
use std::fmt;

use ctx_types::{Diagnostic, ToolDefinition, excerpt};
use serde_json::{Map, Value, json};

use crate::codes;

/// How many findings one request reports; beyond it the most severe are kept and the rest is counted.
const MAX_DIAGNOSTICS: usize = 1_000;

/// Everything that a request holds beside its messages.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model, as the provider names it.
    pub model: &'a str,
    /// Tool definitions in the dialect's own form, written as they are; none means that no list is written.
    pub tools: &'a [Value],
    /// Further top-level fields, such as `temperature`, written last and in this order.
    ///
    /// A field that the request sets itself (its model, messages or tools) is left out and reported.
    pub parameters: &'a Map<String, Value>,
}

/// Writes a tool as chat completions define one; the other dialects make their own form of it.
///
/// ```
/// use ctx_types::ToolDefinition;
///
/// let look = ToolDefinition { name: "look".into(), description: None, parameters: Default::default() };
/// let expected = r#"{"type":"function","function":{"name":"look","parameters":{"type":"object","properties":{}}}}"#;
/// assert_eq!(ctx_wire::tool_definition(&look).to_string(), expected);
/// ```
pub fn tool_definition(tool: &ToolDefinition) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), Value::from(&*tool.name));
    if let Some(description) = &tool.description {
        function.insert("description".to_owned(), Value::from(description.as_str()));
    }
    let parameters = match &*tool.parameters {
        Value::Null => json!({ "type": "object", "properties": {} }),
        schema => schema.clone(),
    };
    function.insert("parameters".to_owned(), parameters);
    json!({ "type": "function", "function": function })
}

/// A request body, with what was found on the way.
///
/// Its `Display` is the body as compact JSON; equal inputs give equal bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The body, with its keys in the order in which they are sent.
    pub body: Value,
    /// What was left out, and what the provider will probably refuse; at most 1,000 and a count of the rest.
    pub diagnostics: Vec<Diagnostic>,
}

impl Encoded {
    pub(crate) fn new(body: Map<String, Value>, diagnostics: Vec<Diagnostic>) -> Self {
        Self { body: Value::Object(body), diagnostics: limit(diagnostics) }
    }

    /// Returns the body as compact JSON in UTF-8, ready to be sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }
}

impl fmt::Display for Encoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.body, f)
    }
}

/// Adds the parameters to a body, except those that the dialect sets itself.
pub(crate) fn put_parameters(
    body: &mut Map<String, Value>,
    parameters: &Map<String, Value>,
    reserved: &[&str],
    diagnostics: &mut Vec<Diagnostic>,
) {
    for (name, value) in parameters {
        if reserved.contains(&name.as_str()) {
            let message = format!("parameter `{}` is not sent: the request sets it itself", excerpt(name));
            diagnostics.push(Diagnostic::warning(codes::RESERVED_PARAMETER, message));
        } else {
            body.insert(name.clone(), value.clone());
        }
    }
}

fn limit(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let hidden = diagnostics.len().saturating_sub(MAX_DIAGNOSTICS);
    if hidden > 0 {
        diagnostics.sort_by_key(|diagnostic| Reverse(diagnostic.severity));
        diagnostics.truncate(MAX_DIAGNOSTICS);
        diagnostics.push(Diagnostic::more(hidden, "this request"));
    }
    diagnostics
}
