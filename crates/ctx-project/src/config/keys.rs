//! The keys of `ctx.toml`, for reading and for its schema.

use std::borrow::Cow;

use ctx_compress::mask::MaskConfig;
use ctx_pipeline::ProcessorSetting;
use ctx_types::ConfigField;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::endpoint::EndpointKeys;
use crate::keyed::{Filled, Meaning, Meaningless, Parsed, Shaped, Tokens, keyed};
use crate::turn::check_zone;

keyed! {
    /// `ctx.toml`: defaults for the command line. Files are named as seen from the folder of `ctx.toml`.
    pub struct ConfigFile {
        /// The agent or preset.
        agent: Option<Filled> => "agent",
        /// The conversation.
        session: Option<Filled> => "session",
        /// The user profile.
        profile: Option<Filled> => "profile",
        /// A table of models, whose rows are tried before the built-in ones.
        models: Option<Filled> => "models",
        /// Where models are reached.
        endpoint: Option<Shaped<EndpointKeys>> => "endpoint",
        /// Where models are reached by `ctx serve` while the endpoint does not answer, in this order and in its dialect.
        fallbacks: Option<Shaped<Vec<EndpointKeys>>> => "fallbacks",
        /// Where transcripts of recordings are made.
        transcription: Option<Shaped<EndpointKeys>> => "transcription",
        /// The user's settings of processors.
        processors: Option<Shaped<Vec<ProcessorSetting>>> => "processors",
        /// Worldbooks, which hold for every turn.
        worldbooks: Vec<String> => "worldbooks",
        /// The file that keeps conversations.
        store: Option<Filled> => "store",
        /// The folder of attached files.
        assets: Option<Filled> => "assets",
        /// Which tools may be called.
        tools: Option<Shaped<ToolKeys>> => "tools",
        /// When conversations are summarised, and how.
        compression: Option<Shaped<MaskKeys>> => "compression",
        /// The model.
        model: Option<String> => "model",
        /// How many tokens the context may have; 0 means the model's window.
        context_tokens: Option<Tokens> => "context-tokens",
        /// How many of them are kept free for the answer.
        reserve: Option<Tokens> => "reserve",
        /// The time zone, such as `Asia/Shanghai`.
        tz: Option<Parsed<ZoneName>> => "tz",
    }
}

/// The name of a time zone.
#[derive(Clone, Debug)]
pub struct ZoneName(pub String);

impl Meaning for ZoneName {
    fn parse(zone: &str) -> Result<Self, Meaningless> {
        check_zone(zone).map(|()| Self(zone.to_owned()))
    }

    fn schema() -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

keyed! {
    /// What tools the model may call, and which of them.
    pub struct ToolKeys {
        /// The folder that the model may look into.
        folder: Option<Filled> => "folder",
        /// Whether each call waits until you agree.
        ask: bool => "ask",
        /// The tools that may be called; all if absent.
        allow: Option<Shaped<ToolRuleKeys>> => "allow",
        /// The tools that may not be called.
        deny: Option<Shaped<ToolRuleKeys>> => "deny",
    }
}

keyed! {
    /// Tools, by their names and categories.
    pub struct ToolRuleKeys {
        /// The categories.
        categories: Vec<String> => "categories",
        /// The names.
        tools: Vec<String> => "tools",
    }
}

/// When conversations are summarised, and how.
#[derive(Debug)]
pub struct MaskKeys;

impl JsonSchema for MaskKeys {
    fn schema_name() -> Cow<'static, str> {
        "Compression".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let field = |field: &ConfigField| (field.key.to_string(), Value::from(field.schema()));
        let fields: Map<String, Value> = MaskConfig::fields().iter().map(field).collect();
        let about = "When conversations are summarised, and how.";
        json_schema!({ "type": "object", "description": about, "properties": fields })
    }
}
