//! Table of the keys of `ctx.toml`, with the type and the rules of each key.
//!
//! The reader, the schema, the trust check, the redaction, and the settings page all use this table.

use std::borrow::Cow;

use ctx_compress::mask::MaskConfig;
use ctx_pipeline::ProcessorSetting;
use ctx_types::ConfigField;
use ctx_wire::Dialect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::keyed::{AnyOf, Filled, Meaning, Meaningless, Parsed, Shaped, TextTable, Tokens, keyed};
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
    pub const fn hides_unknown(self) -> bool {
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

/// Returns whether the settings page can read and edit a top-level key. It cannot for unknown keys.
pub fn is_editable(key: &str) -> bool {
    rule_of(key).is_some_and(|rule| rule.page == PageAccess::Editable)
}

/// Returns the keys that the settings page cannot read or edit.
pub fn locked_keys() -> impl Iterator<Item = &'static str> {
    ConfigFile::ROWS.iter().filter(|row| row.rule.page == PageAccess::Locked).map(|row| row.key)
}

keyed! {
    /// `ctx.toml`: defaults for the command line. Files are named as seen from the folder of `ctx.toml`.
    pub struct ConfigFile {
        /// The agent or preset.
        agent: Option<Filled> => "agent" is KeyRule::FILE,
        /// The conversation.
        session: Option<Filled> => "session" is KeyRule::FILE,
        /// The user profile.
        profile: Option<Filled> => "profile" is KeyRule::FILE.option("--profile"),
        /// A table of models, whose rows are tried before the built-in ones.
        models: Option<Filled> => "models" is KeyRule::FILE.option("--models"),
        /// Where models are reached.
        endpoint: Option<Shaped<EndpointKeys>> => "endpoint"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoint(EndpointKeys::ROWS)),
        /// Where models are reached by `ctx serve` while the endpoint does not answer, in this order and in its dialect.
        fallbacks: Option<Shaped<Vec<EndpointKeys>>> => "fallbacks"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoints(EndpointKeys::ROWS)),
        /// Where transcripts of recordings are made.
        transcription: Option<Shaped<EndpointKeys>> => "transcription"
            is KeyRule::of_outside(Reach::Sends, ValueType::Endpoint(EndpointKeys::ROWS)).optional(),
        /// The user's settings of processors.
        processors: Option<Shaped<Vec<ProcessorSetting>>> => "processors" is KeyRule::VALUE,
        /// Worldbooks, which hold for every turn.
        worldbooks: Vec<String> => "worldbooks" is KeyRule::FILE.option("--worldbook"),
        /// The file that keeps conversations.
        store: Option<Filled> => "store" is KeyRule::of_outside(Reach::Store, ValueType::Path).option("--store"),
        /// The folder of attached files.
        assets: Option<Filled> => "assets" is KeyRule::FILE.optional(),
        /// Which tools may be called.
        tools: Option<Shaped<ToolKeys>> => "tools"
            is KeyRule::of_outside(Reach::Tools, ValueType::Table(ToolKeys::ROWS)).option("--tools-dir"),
        /// When and how conversations are summarized.
        compression: Option<Shaped<MaskKeys>> => "compression"
            is KeyRule { page: PageAccess::Editable, ..KeyRule::asks(None) },
        /// The model.
        model: Option<String> => "model" is KeyRule { page: PageAccess::Editable, ..KeyRule::asks(None) },
        /// How many tokens the context may have; 0 means the model's window.
        context_tokens: Option<Tokens> => "context-tokens" is KeyRule::VALUE,
        /// How many of them are kept free for the answer.
        reserve: Option<Tokens> => "reserve" is KeyRule::VALUE,
        /// The time zone, such as `Asia/Shanghai`.
        tz: Option<Parsed<ZoneName>> => "tz" is KeyRule::VALUE,
    }
}

keyed! {
    /// Where models are reached, and with which key.
    pub struct EndpointKeys {
        /// Headers that are sent with each request, by their names.
        headers: Option<AnyOf<TextTable>> => "headers"
            is KeyRule::of_outside(Reach::Sends, ValueType::Value).hidden().option("--base-url"),
        /// The address of the server; by default the provider's own.
        base_url: Option<Filled> => "base-url"
            is KeyRule::of_outside(Reach::Sends, ValueType::Value).url().option("--base-url"),
        // Where no address is named, a dialect is one: that of its provider, who gets the key.
        /// The dialect that it speaks.
        dialect: Option<Parsed<Dialect>> => "dialect"
            is KeyRule::of_outside(Reach::Sends, ValueType::Value).option("--dialect"),
        /// The model that is asked.
        model: Option<String> => "model" is KeyRule::asks(None),
        /// The variable of the environment that holds the key.
        key_env: Option<Filled> => "key-env"
            is KeyRule::of_outside(Reach::Secret, ValueType::Value).option("--key-env"),
        /// The file that holds the key and nothing else.
        key_file: Option<Filled> => "key-file"
            is KeyRule::of_outside(Reach::Secret, ValueType::Path).option("--key-file"),
        /// How many seconds connecting may take.
        connect: Option<u64> => "connect-timeout" is KeyRule::asks(Some(10)),
        /// How many seconds may pass until the first piece of an answer.
        first_token: Option<u64> => "first-token-timeout" is KeyRule::asks(Some(180)),
        /// How many seconds may pass between two pieces of an answer.
        stall: Option<u64> => "stall-timeout" is KeyRule::asks(Some(60)),
        /// How often a request that failed is sent again.
        retries: Option<u64> => "retries" is KeyRule::asks(Some(4)),
    }
}

keyed! {
    /// What tools the model may call, and which of them.
    pub struct ToolKeys {
        /// The folder that the model may look into.
        folder: Option<Filled> => "folder" is KeyRule::of_outside(Reach::Tools, ValueType::Path),
        /// Whether each call waits until you agree.
        ask: bool => "ask" is KeyRule::VALUE,
        /// The tools that may be called; all if absent.
        allow: Option<Shaped<ToolRuleKeys>> => "allow" is KeyRule::VALUE,
        /// The tools that may not be called.
        deny: Option<Shaped<ToolRuleKeys>> => "deny" is KeyRule::VALUE,
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
