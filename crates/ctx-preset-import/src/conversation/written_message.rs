//! JSON Schema of list messages, for editors.

use std::borrow::Cow;

use ctx_types::Role;
use ctx_types::session::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

/// A message of a conversation without branches: in the format of chat completions, a session, or
/// SillyTavern.
#[derive(Clone, Copy, Debug)]
pub struct ChatMessage;

/// Fields of such a message that a node does not have.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it only says how messages are written")]
struct Further {
    /// Tool calls of an assistant message: `{id, type, function: {name, arguments}}`.
    tool_calls: Option<Vec<Value>>,
    /// Id of the tool call that a tool message answers.
    tool_call_id: Option<String>,
    /// Function call of an assistant message, in the older format: `{name, arguments}`.
    function_call: Option<Value>,
    /// Visible reasoning of an assistant message.
    reasoning_content: Option<Value>,
    /// Reasoning of an assistant message, in the format of `OpenRouter`.
    reasoning: Option<Value>,
    /// Reasoning state, in the format of `OpenRouter`.
    reasoning_details: Option<Vec<Value>>,
    /// Time of writing.
    #[schemars(rename = "createdAt")]
    created_at: Option<Value>,
    /// Message text, from SillyTavern.
    mes: Option<Value>,
    /// Whether the message is from the user, from SillyTavern.
    is_user: Option<Value>,
    /// Whether the message is visible only to the user, from SillyTavern.
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
