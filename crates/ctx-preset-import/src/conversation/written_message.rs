//! How messages are written that are read as nodes: told to editors.

use std::borrow::Cow;

use ctx_types::{Node, Role};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

/// A message of a conversation without branches: as chat completions take it, as it is stored, or as SillyTavern
/// writes it.
#[derive(Clone, Copy, Debug)]
pub struct ChatMessage;

/// What such a message may have that a node has not.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it only says how messages are written")]
struct Further {
    /// The calls that an assistant message makes: `{id, type, function: {name, arguments}}`.
    tool_calls: Option<Vec<Value>>,
    /// The call that a tool message answers.
    tool_call_id: Option<String>,
    /// The call that an assistant message makes, in the older form: `{name, arguments}`.
    function_call: Option<Value>,
    /// The visible reasoning of an assistant message.
    reasoning_content: Option<Value>,
    /// The reasoning of an assistant message, as `OpenRouter` writes it.
    reasoning: Option<Value>,
    /// The state of that reasoning.
    reasoning_details: Option<Vec<Value>>,
    /// When it was written.
    #[schemars(rename = "createdAt")]
    created_at: Option<Value>,
    /// The text, in a chat of SillyTavern.
    mes: Option<Value>,
    /// Whether the user speaks, in a chat of SillyTavern.
    is_user: Option<Value>,
    /// Whether only people see it, in a chat of SillyTavern.
    is_system: Option<Value>,
}

impl JsonSchema for ChatMessage {
    fn schema_name() -> Cow<'static, str> {
        "ChatMessage".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut message = Node::json_schema(generator);
        let further = Further::json_schema(generator);
        if let (Some(Value::Object(all)), Some(Value::Object(further))) =
            (message.get_mut("properties"), further.get("properties"))
        {
            all.extend(further.clone());
            // Links of lists mean nothing.
            for link in ["parentId", "childrenIds", "lastSelectedChildId"] {
                all.shift_remove(link);
            }
            let function = json!({ "const": "function", "description": "The result of a tool call, in the older form." });
            let role = json!({
                "description": "Message role.",
                "anyOf": [generator.subschema_for::<Role>(), function, { "type": "null" }],
            });
            all.insert("role".to_owned(), role);
        }
        message
            .insert("description".to_owned(), Value::from("A message of a conversation without branches."));
        message
    }
}
