//! Tool definitions, read in the form of any dialect and written in one.

use std::sync::Arc;

use ctx_types::{Text, ToolDefinition};
use serde_json::Value;

use crate::json::{Json, Object, object};

/// Reads the definition of a function, in the form of any dialect; `None` for one of the provider's own tools and for
/// what is no definition.
///
/// ```
/// let tool = serde_json::json!({ "name": "look", "input_schema": { "type": "object" } });
/// assert_eq!(&*ctx_wire::read_tool(&tool).unwrap().name, "look");
/// assert_eq!(ctx_wire::read_tool(&serde_json::json!({ "type": "web_search" })), None);
/// ```
pub fn read_tool(definition: &Value) -> Option<ToolDefinition> {
    let tool = Tool::read(definition)?;
    Some(ToolDefinition {
        name: tool.name.as_str()?.into(),
        description: tool.description.and_then(Value::as_str).map(Text::from),
        parameters: Arc::new(tool.schema.cloned().unwrap_or_default()),
    })
}

/// A function that a model may call, as far as every dialect can say it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a Value,
    description: Option<&'a Value>,
    schema: Option<&'a Value>,
    strict: Option<&'a Value>,
}

impl<'a> Tool<'a> {
    /// Reads a definition; `None` for one of the provider's own tools and for what is no definition.
    pub(crate) fn read(definition: &'a Value) -> Option<Self> {
        let body = definition.get("function").unwrap_or(definition);
        let mut names = ["parameters", "input_schema", "parametersJsonSchema"].into_iter();
        let schema = names.find_map(|key| body.get(key));
        match definition.get("type").and_then(Value::as_str) {
            None | Some("function") => {}
            // Anthropic's word for tools of one's own.
            Some("custom") if body.get("input_schema").is_some() => {}
            Some(_) => return None,
        }
        Some(Self {
            name: body.get("name").filter(|name| name.is_string())?,
            description: body.get("description"),
            schema,
            strict: body.get("strict").filter(|strict| strict.is_boolean()),
        })
    }

    /// Writes the name, the description and the schema under the dialect's key for it.
    pub(crate) fn write(self, schema: &'static str) -> Object<'a> {
        let mut object = Object::with_capacity(3);
        object.push("name", self.name);
        if let Some(description) = self.description {
            object.push("description", description);
        }
        object.push(schema, self.schema.map_or_else(no_arguments, Json::from));
        object
    }

    /// Returns whether arguments must keep to the schema, if the definition says so.
    pub(crate) fn strict(self) -> Option<&'a Value> {
        self.strict
    }
}

/// The schema of a tool that takes nothing.
fn no_arguments<'a>() -> Json<'a> {
    object([("type", "object".into()), ("properties", Object::default().into())])
}
