//! Tool definitions, read in the form of any dialect and written in one.

use std::sync::Arc;

use ctx_types::Text;
use ctx_types::ports::ToolDefinition;
use serde_json::Value;

use crate::json::{Json, Object, object};

/// Reads the functions of a tool in any API dialect. A tool of Gemini can have several. The provider's own tools and
/// invalid definitions do not have any.
///
/// ```
/// let tool = serde_json::json!({ "name": "look", "input_schema": { "type": "object" } });
/// assert_eq!(&*ctx_wire::read_tools(&tool)[0].name, "look");
/// assert!(ctx_wire::read_tools(&serde_json::json!({ "type": "web_search" })).is_empty());
/// let tool = serde_json::json!({ "functionDeclarations": [{ "name": "look" }, { "name": "go" }] });
/// assert_eq!(ctx_wire::read_tools(&tool).len(), 2);
/// ```
pub fn read_tools(tool: &Value) -> Vec<ToolDefinition> {
    let declared = DECLARATIONS.into_iter().find_map(|key| tool.get(key)?.as_array());
    let definitions = declared.map_or(std::slice::from_ref(tool), Vec::as_slice);
    let read = definitions.iter().filter_map(|definition| {
        let tool = Tool::read(definition).filter(|tool| !tool.is_custom())?;
        Some(ToolDefinition {
            name: tool.name.as_str()?.into(),
            description: tool.description.and_then(Value::as_str).map(Text::from),
            parameters: Arc::new(tool.schema.cloned().unwrap_or_default()),
        })
    });
    read.collect()
}

/// The list of functions of a tool of Gemini.
pub(crate) const DECLARATIONS: [&str; 2] = ["functionDeclarations", "function_declarations"];

/// A function that a model may call, as far as every dialect can say it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a Value,
    description: Option<&'a Value>,
    schema: Option<&'a Value>,
    strict: Option<&'a Value>,
    /// The format of a custom tool's input, `null` for plain text; `None` for a function.
    format: Option<&'a Value>,
}

impl<'a> Tool<'a> {
    /// Reads a definition; `None` for one of the provider's own tools and for what is no definition.
    pub(crate) fn read(definition: &'a Value) -> Option<Self> {
        let mut envelopes = ["function", "custom"].into_iter();
        let body = envelopes.find_map(|key| definition.get(key)).unwrap_or(definition);
        let mut format = None;
        let mut names = SCHEMAS.into_iter();
        let schema = names.find_map(|key| body.get(key));
        match definition.get("type").and_then(Value::as_str) {
            None | Some("function") => {}
            // Anthropic's name of a function.
            Some("custom") if body.get("input_schema").is_some() => {}
            Some("custom") => format = Some(body.get("format").unwrap_or(&Value::Null)),
            Some(_) => return None,
        }
        Some(Self {
            name: body.get("name").filter(|name| name.is_string())?,
            description: body.get("description"),
            schema,
            strict: body.get("strict").filter(|strict| strict.is_boolean()),
            format,
        })
    }

    /// Writes the name, the description and the schema under the dialect's key for it.
    pub(crate) fn write(self, schema: &'static str) -> Object<'a> {
        let mut object = Object::with_capacity(3);
        object.push("name", self.name);
        if let Some(description) = self.description {
            object.push("description", description);
        }
        object.push(
            schema,
            match (self.schema, self.format) {
                (Some(schema), _) => schema.into(),
                (None, Some(_)) => text_input(),
                (None, None) => no_arguments(),
            },
        );
        object
    }

    /// Returns whether the tool has a text as its input, not arguments.
    pub(crate) fn is_custom(self) -> bool {
        self.format.is_some()
    }

    /// Writes name, description and format of a custom tool.
    pub(crate) fn write_custom(self, place: GrammarPlace) -> Object<'a> {
        let mut object = Object::with_capacity(3);
        object.push("name", self.name);
        if let Some(description) = self.description {
            object.push("description", description);
        }
        if let Some(format) = self.format.filter(|format| !format.is_null()) {
            object.push("format", write_format(format, place));
        }
        object
    }

    /// Returns whether arguments must keep to the schema, if the definition says so.
    pub(crate) fn strict(self) -> Option<&'a Value> {
        self.strict
    }
}

/// The schema of the arguments in the API dialects.
const SCHEMAS: [&str; 4] = ["parameters", "input_schema", "parametersJsonSchema", "parameters_json_schema"];

/// Where `OpenAI`'s APIs have the grammar of a custom tool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrammarPlace {
    /// In the format: responses.
    Format,
    /// In the field `grammar` of the format: chat completions.
    Field,
}

fn write_format(format: &Value, place: GrammarPlace) -> Json<'_> {
    let grammar = format.get("grammar").unwrap_or(format);
    let (Some(definition), Some(syntax)) = (grammar.get("definition"), grammar.get("syntax")) else {
        return format.into();
    };
    let (definition, syntax) = (("definition", definition.into()), ("syntax", syntax.into()));
    let kind = ("type", "grammar".into());
    match place {
        GrammarPlace::Format => object([kind, definition, syntax]),
        GrammarPlace::Field => object([kind, ("grammar", object([definition, syntax]))]),
    }
}

/// The schema of a custom tool as a function.
fn text_input<'a>() -> Json<'a> {
    let input = object([("type", "string".into())]);
    let properties = object([("input", input)]);
    object([
        ("type", "object".into()),
        ("properties", properties),
        ("required", Json::List(vec!["input".into()])),
    ])
}

/// The schema of a tool that takes nothing.
fn no_arguments<'a>() -> Json<'a> {
    object([("type", "object".into()), ("properties", Object::default().into())])
}
