//! Tool definitions, read in the form of any dialect and written in one.

use serde_json::{Map, Value, json};

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
    pub(crate) fn write(self, schema: &str) -> Map<String, Value> {
        let mut map = Map::new();
        map.insert("name".to_owned(), self.name.clone());
        if let Some(description) = self.description {
            map.insert("description".to_owned(), description.clone());
        }
        map.insert(schema.to_owned(), self.schema.cloned().unwrap_or_else(no_arguments));
        map
    }

    /// Tells whether arguments must keep to the schema, if the definition says so.
    pub(crate) fn strict(self) -> Option<&'a Value> {
        self.strict
    }
}

/// The schema of a tool that takes nothing.
fn no_arguments() -> Value {
    json!({ "type": "object", "properties": {} })
}
