//! Table of the keys of `ctx.toml`, with the type and the rules of each key.
//!
//! The reader, the schema, the trust check, the redaction, and the settings page all use this table.

use std::borrow::Cow;

use ctx_compress::mask::MaskConfig;
use ctx_pipeline::internal::ProcessorSetting;
use ctx_types::{CachePolicy, ConfigField};
use ctx_wire::Dialect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::keyed::{Filled, Meaning, Meaningless, Parsed, Shaped, TextTable, Tokens, keyed};
use crate::options::OnLoss;
use crate::turn::check_zone;

/// What a key can reach outside the folder of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing. The key takes effect without trust.
    Nothing,
    /// Request targets and request content.
    Sends,
    /// A secret that requests carry.
    Secret,
    /// Request options of an endpoint: model, time limits, and retries.
    Asks,
    /// Files that the model can read.
    Tools,
    /// A file that outlives the run.
    Store,
    /// Named files. Only files outside the folder need trust.
    Files,
}

/// Redaction of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrecy {
    /// Shown, except for secrets in URLs.
    Shown,
    /// A URL, shown without its secrets.
    Url,
    /// Texts are redacted.
    Hidden,
}

/// Access of the settings page to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageAccess {
    /// The page can edit the key.
    Editable,
    /// The page cannot read or edit the key.
    Locked,
}

/// Type of a key's value.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    /// A value.
    Value,
    /// A path or a list of paths.
    Path,
    /// A table whose keys need trust one by one. Unknown keys may contain secrets.
    Endpoint(&'static [KeyRow]),
    /// A list of such tables, which needs trust as a whole.
    Endpoints(&'static [KeyRow]),
    /// A table that needs trust as a whole.
    Table(&'static [KeyRow]),
}

/// Rules of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyRule {
    /// What the key reaches outside the folder of its file.
    pub reach: Reach,
    /// Redaction of the value.
    pub secrecy: Secrecy,
    /// Access of the settings page.
    pub page: PageAccess,
    /// Type of the value.
    pub value_type: ValueType,
    /// Command-line option that replaces the key.
    pub option: Option<&'static str>,
    /// Whether a run can ignore the key if the file is not trusted.
    pub is_optional: bool,
    /// Number that applies if the key is missing.
    pub default: Option<u64>,
}

/// A key of a table with its rules.
#[derive(Clone, Copy, Debug)]
pub struct KeyRow {
    /// Name of the key.
    pub key: &'static str,
    /// Rules of the key.
    pub rule: KeyRule,
}

impl KeyRule {
    const VALUE: Self = Self {
        reach: Reach::Nothing,
        secrecy: Secrecy::Shown,
        page: PageAccess::Editable,
        value_type: ValueType::Value,
        option: None,
        is_optional: false,
        default: None,
    };
    const FILE: Self = Self { reach: Reach::Files, value_type: ValueType::Path, ..Self::VALUE };

    const fn of_outside(reach: Reach, value_type: ValueType) -> Self {
        Self { reach, value_type, page: PageAccess::Locked, ..Self::VALUE }
    }

    const fn asks(default: Option<u64>) -> Self {
        Self { default, is_optional: true, ..Self::of_outside(Reach::Asks, ValueType::Value) }
    }

    const fn option(self, option: &'static str) -> Self {
        Self { option: Some(option), ..self }
    }

    const fn url(self) -> Self {
        Self { secrecy: Secrecy::Url, ..self }
    }

    const fn hidden(self) -> Self {
        Self { secrecy: Secrecy::Hidden, ..self }
    }

    const fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }

    /// Returns the rows of the table under the key.
    pub const fn rows(self) -> &'static [KeyRow] {
        match self.value_type {
            ValueType::Endpoint(rows) | ValueType::Endpoints(rows) | ValueType::Table(rows) => rows,
            ValueType::Value | ValueType::Path => &[],
        }
    }

    /// Returns whether keys without a row may contain a secret.
    pub(crate) const fn hides_unknown(self) -> bool {
        matches!(self.value_type, ValueType::Endpoint(_) | ValueType::Endpoints(_))
    }
}

/// Returns the rules of a top-level key; `None` for an unknown key.
pub(crate) fn rule_of(key: &str) -> Option<KeyRule> {
    find(ConfigFile::ROWS, key)
}

/// Returns the rules of a key in a table; `None` for an unknown key.
pub(crate) fn find(rows: &[KeyRow], key: &str) -> Option<KeyRule> {
    rows.iter().find(|row| row.key == key).map(|row| row.rule)
}

/// Returns the first table that has a key.
pub(crate) fn table_of(key: &str) -> Option<&'static str> {
    let has = |row: &&KeyRow| match row.rule.value_type {
        ValueType::Endpoint(rows) | ValueType::Endpoints(rows) | ValueType::Table(rows) => {
            find(rows, key).is_some()
        }
        ValueType::Value | ValueType::Path => false,
    };
    ConfigFile::ROWS.iter().find(has).map(|row| row.key)
}

/// Returns whether the settings page can read and edit a top-level key. It cannot for unknown keys.
pub fn is_editable(key: &str) -> bool {
    rule_of(key).is_some_and(|rule| rule.page == PageAccess::Editable)
}

/// Returns the keys that the settings page cannot read or edit.
pub fn locked_keys() -> impl Iterator<Item = &'static str> {
    ConfigFile::ROWS.iter().filter(|row| row.rule.page == PageAccess::Locked).map(|row| row.key)
}

keyed! {
    /// `ctx.toml`: defaults for the command line. Paths are relative to the folder of `ctx.toml`.
    pub struct ConfigFile {
        /// Agent or preset file.
        agent: Option<Filled> => "agent" is KeyRule::FILE,
        /// Conversation file.
        session: Option<Filled> => "session" is KeyRule::FILE,
        /// User profile file.
        profile: Option<Filled> => "profile" is KeyRule::FILE.option("--profile"),
        /// Model table file. Its rows have priority over the built-in ones.
        models: Option<Filled> => "models" is KeyRule::FILE.option("--models"),
        /// Endpoint of the model provider.
        endpoint: Option<Shaped<EndpointKeys>> => "endpoint"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoint(EndpointKeys::ROWS)),
        /// Fallback endpoints of `ctx serve` while `endpoint` fails, in order. They use the API dialect of
        /// `endpoint`.
        fallbacks: Option<Shaped<Vec<EndpointKeys>>> => "fallbacks"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoints(EndpointKeys::ROWS)),
        /// Endpoints of single agents of `ctx serve`, selected by their key `agents`. They have no fallbacks.
        endpoints: Option<Shaped<Vec<EndpointKeys>>> => "endpoints"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoints(EndpointKeys::ROWS)),
        /// Endpoint for transcripts of audio files.
        transcription: Option<Shaped<EndpointKeys>> => "transcription"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoint(EndpointKeys::ROWS)).optional(),
        /// User settings of processors.
        processors: Option<Shaped<Vec<ProcessorSetting>>> => "processors" is KeyRule::VALUE,
        /// Worldbook files for every turn.
        worldbooks: Vec<String> => "worldbooks" is KeyRule::FILE.option("--worldbook"),
        /// File that stores conversations.
        store: Option<Filled> => "store" is KeyRule::of_outside(Reach::Store, ValueType::Path).option("--store"),
        /// Fields of requests to `ctx serve` that name a conversation: `x-ctx-conversation`, `previous_response_id`,
        /// `prompt_cache_key`, `metadata.user_id`. Default: the first two.
        conversation_names: Vec<String> => "conversation-names" is KeyRule::VALUE,
        /// Folder of attachments.
        assets: Option<Filled> => "assets" is KeyRule::FILE.optional(),
        /// Tools that the model can call.
        tools: Option<Shaped<ToolKeys>> => "tools"
            is KeyRule::of_outside(Reach::Tools, ValueType::Table(ToolKeys::ROWS)).option("--tools-dir"),
        /// Settings of `ctx serve`.
        serve: Option<Shaped<ServeKeys>> => "serve"
            is KeyRule::of_outside(Reach::Asks, ValueType::Table(ServeKeys::ROWS)).optional(),
        /// Rules for summarizing older messages.
        compression: Option<Shaped<MaskKeys>> => "compression"
            is KeyRule { page: PageAccess::Editable, ..KeyRule::asks(None) },
        /// Model name.
        model: Option<String> => "model" is KeyRule { page: PageAccess::Editable, ..KeyRule::asks(None) },
        /// Token limit of the context; 0: the model's context window.
        context_tokens: Option<Tokens> => "context-tokens" is KeyRule::VALUE,
        /// Response reserve: tokens of the limit that are reserved for the reply.
        reserve: Option<Tokens> => "reserve" is KeyRule::VALUE,
        /// Time zone, such as `Asia/Shanghai`.
        tz: Option<Parsed<ZoneName>> => "tz" is KeyRule::VALUE,
        /// Handling of parts of a request that the API dialect of the provider cannot express, in `ctx serve`.
        on_loss: Option<Parsed<OnLoss>> => "on-loss" is KeyRule::VALUE.option("--on-loss"),
    }
}

keyed! {
    /// A provider endpoint with its API key and time limits.
    pub struct EndpointKeys {
        /// HTTP headers of each request, by name.
        headers: Option<TextTable> => "headers"
            is KeyRule::of_outside(Reach::Sends, ValueType::Value).hidden().option("--base-url"),
        /// Base URL of the server. Default: the provider's URL for the API dialect.
        base_url: Option<Filled> => "base-url"
            is KeyRule::of_outside(Reach::Sends, ValueType::Value).url().option("--base-url"),
        // Without a base URL, the API dialect decides which provider receives the API key.
        /// API dialect of the endpoint.
        dialect: Option<Parsed<Dialect>> => "dialect"
            is KeyRule::of_outside(Reach::Sends, ValueType::Value).option("--dialect"),
        /// Model name.
        model: Option<String> => "model" is KeyRule::asks(None),
        /// Agents that use the endpoint, for `endpoints`.
        agents: Vec<String> => "agents" is KeyRule::asks(None).hidden(),
        /// Environment variable with the API key.
        key_env: Option<Filled> => "key-env"
            is KeyRule::of_outside(Reach::Secret, ValueType::Value).option("--key-env"),
        /// File that contains only the API key.
        key_file: Option<Filled> => "key-file"
            is KeyRule::of_outside(Reach::Secret, ValueType::Path).option("--key-file"),
        /// Time limit for connecting, in seconds.
        connect: Option<u64> => "connect-timeout" is KeyRule::asks(Some(10)),
        /// Time limit for the first chunk of a response, in seconds.
        first_token: Option<u64> => "first-token-timeout" is KeyRule::asks(Some(180)),
        /// Time limit between two chunks of a response, in seconds.
        stall: Option<u64> => "stall-timeout" is KeyRule::asks(Some(60)),
        /// Maximum number of retries of a failed request.
        retries: Option<u64> => "retries" is KeyRule::asks(Some(1)),
    }
}

keyed! {
    /// Settings of `ctx serve`.
    pub struct ServeKeys {
        /// Agents by further model names, such as `"gpt-4o" = "robin"`.
        aliases: Option<TextTable> => "aliases" is KeyRule::asks(None),
        /// Origins of web pages that can send requests, such as `https://app.example.com`.
        origins: Vec<String> => "origins" is KeyRule::of_outside(Reach::Sends, ValueType::Value),
        /// Whether requests for models that no agent has are sent to `endpoint` unchanged.
        passthrough: bool => "passthrough" is KeyRule::asks(None),
        /// Cache marks in requests to Anthropic's API if the client sets none. Default: `stable`.
        cache_marks: Option<Parsed<CachePolicy>> => "cache-marks" is KeyRule::asks(None),
    }
}

keyed! {
    /// The tools that the model can call.
    pub struct ToolKeys {
        /// Folder that the model can read.
        folder: Option<Filled> => "folder" is KeyRule::of_outside(Reach::Tools, ValueType::Path),
        /// Whether each tool call needs your approval.
        ask: bool => "ask" is KeyRule::VALUE,
        /// Allowed tools. Default: all.
        allow: Option<Shaped<ToolRuleKeys>> => "allow" is KeyRule::VALUE,
        /// Denied tools.
        deny: Option<Shaped<ToolRuleKeys>> => "deny" is KeyRule::VALUE,
    }
}

keyed! {
    /// Tools, selected by name or category.
    pub struct ToolRuleKeys {
        /// Tool categories.
        categories: Vec<String> => "categories",
        /// Tool names.
        tools: Vec<String> => "tools",
    }
}

/// Name of a time zone.
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

/// Settings of compaction.
#[derive(Debug)]
pub struct MaskKeys;

impl JsonSchema for MaskKeys {
    fn schema_name() -> Cow<'static, str> {
        "Compression".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let field = |field: &ConfigField| (field.key.to_string(), Value::from(field.schema()));
        let fields: Map<String, Value> = MaskConfig::fields().iter().map(field).collect();
        let about = "When and how conversations are summarized.";
        json_schema!({ "type": "object", "description": about, "properties": fields })
    }
}
