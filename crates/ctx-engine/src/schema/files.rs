use std::borrow::Cow;

use ctx_compress::mask::MaskConfig;
use ctx_pipeline::internal::ProcessorSetting;
use ctx_preset_import::ChatMessage;
use ctx_tokens::internal::MAX_TOKENS;
use ctx_types::session::Session;
use ctx_types::{Agent, ConfigField, PresetGroup, PresetMessage};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

pub(super) struct AgentFile;

/// A list, or `messages` with or without `groups`. Other keys are as in an agent.
pub(super) struct PresetFile;

pub(super) struct SessionFile;

/// Settings of an agent, model or user: processor settings, and sampler parameters, which are passed on.
#[derive(Clone, Copy, Debug)]
pub struct Parameters;

impl JsonSchema for Parameters {
    fn schema_name() -> Cow<'static, str> {
        "Parameters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let tokens = json!({
            "description": "Token limit of the context; 0: the model's context window.",
            "type": ["integer", "null"], "minimum": 0, "maximum": MAX_TOKENS,
        });
        json_schema!({ "type": ["object", "null"], "properties": {
            "processors": {
                "description": "Processor settings: which run, in which order, and how.",
                "type": ["array", "null"],
                "items": generator.subschema_for::<ProcessorSetting>(),
            },
            "contextManagement": {
                "description": "Size limit of the context.",
                "type": ["object", "null"],
                "properties": {
                    "enabled": {
                        "description": "Whether `maxContextTokens` applies; `false` also disables `token-limiter`.",
                        "type": ["boolean", "null"],
                    },
                    "maxContextTokens": tokens,
                    "includesAnswer": {
                        "description": "Whether those tokens include the reply (`maxTokens` of the parameters).",
                        "type": ["boolean", "null"],
                    },
                },
            },
            "contextPostProcessing": {
                "description": "Old form of `processors`.",
                "type": ["object", "null"],
                "properties": { "rules": {
                    "description": "Formatters: an id, or an object with `type`, `enabled`, and settings.",
                    "type": ["array", "null"],
                    "items": { "type": ["object", "string"] },
                } },
            },
            "contextCompression": {
                "description": "When and how a chat summarizes older messages. Default: `[compression]` in `ctx.toml`.",
                "type": ["object", "null"],
                "properties": MaskConfig::fields().iter().map(compression).collect::<Map<String, Value>>(),
            },
        } })
    }
}

fn compression(field: &ConfigField) -> (String, Value) {
    (field.key.to_string(), Value::from(field.schema()))
}

fn agent(generator: &mut SchemaGenerator) -> Schema {
    let parameters = generator.subschema_for::<Parameters>();
    let mut agent = Agent::json_schema(generator);
    if let (Some(Value::Object(slot)), Value::Object(parameters)) =
        (agent.pointer_mut("/properties/parameters"), Value::from(parameters))
    {
        slot.extend(parameters);
    }
    agent
}

impl JsonSchema for AgentFile {
    fn schema_name() -> Cow<'static, str> {
        Agent::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let agents = json!({
            "description": "The agents of an export; only the first is read.",
            "type": "array",
            "items": { "$ref": "#" },
        });
        with(agent(generator), [("agents", agents)])
    }
}

impl JsonSchema for PresetFile {
    fn schema_name() -> Cow<'static, str> {
        Agent::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let entry = generator.subschema_for::<PresetMessage>();
        let messages = json!({
            "description": "The preset: entries and anchors in order.",
            "type": ["array", "null"],
            "items": entry,
        });
        let groups = json!({
            "description": "Groups that enable or disable several entries together.",
            "type": ["array", "null"],
            "items": generator.subschema_for::<PresetGroup>(),
        });
        let about = "The entries of a preset: a list, or `messages` with or without `groups`.";
        let schema = with(agent(generator), [("messages", messages), ("groups", groups)]);
        or_list(schema, about, &entry)
    }
}

impl JsonSchema for SessionFile {
    fn schema_name() -> Cow<'static, str> {
        Session::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let message = generator.subschema_for::<ChatMessage>();
        let messages = json!({
            "description": "The messages of a conversation without branches, oldest first.",
            "type": "array",
            "items": message,
        });
        let detail = json!({
            "description": "The file with the messages, for a session stored as two files.",
            "$ref": "#",
        });
        let about = "A conversation: a tree of messages, whose active branch is sent, or a list of messages.";
        let schema = with(Session::json_schema(generator), [("messages", messages), ("detail", detail)]);
        or_list(schema, about, &message)
    }
}

fn with<const N: usize>(mut schema: Schema, more: [(&str, Value); N]) -> Schema {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.extend(more.map(|(key, value)| (key.to_owned(), value)));
    }
    schema
}

fn or_list(mut schema: Schema, about: &str, item: &Schema) -> Schema {
    schema.insert("type".to_owned(), json!(["object", "array"]));
    schema.insert("description".to_owned(), Value::from(about));
    schema.insert("items".to_owned(), json!(item));
    schema
}
