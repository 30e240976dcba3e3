use std::sync::Arc;

#[cfg(feature = "schema")]
use crate::message::Role;
use crate::persist::data_type;

data_type! {
    /// Regex rules of an agent, a user profile, or the settings: replacements in messages.
    ///
    /// ```
    /// use ctx_types::{Persist, Reader, RegexConfig};
    ///
    /// let file = serde_json::json!({ "presets": [{ "rules": [{ "regex": "/a+/g", "replacement": "b" }] }] });
    /// let config = RegexConfig::read(file.clone(), &mut Reader::new());
    /// assert_eq!(config.presets[0].rules[0].regex.as_deref(), Some("/a+/g"));
    /// assert_eq!(config.write(), file);
    /// ```
    pub struct RegexConfig {
        /// Lists of rules, enabled or disabled together.
        presets: Vec<RegexPreset> => "presets",
        /// Choice of the rules for messages of other agents: `message` or `session`. For applications; ctx
        /// ignores it.
        binding_mode: Option<Arc<str>> => "bindingMode" [such_as ["message", "session"]],
    }
}

data_type! {
    /// A list of regex rules, enabled or disabled together.
    pub struct RegexPreset {
        /// Id.
        id: Option<Arc<str>> => "id",
        /// Display title.
        name: Option<Arc<str>> => "name",
        /// Whether the rules of the list are enabled. Default: `true`.
        enabled: Option<bool> => "enabled",
        /// Rules of the list.
        rules: Vec<RegexRule> => "rules",
        /// Order among the lists of the same file, ascending. Default: 0.
        order: Option<f64> => "order",
        /// Order among the rules of all files, ascending. Default: 100.
        priority: Option<f64> => "priority",
    }
}

data_type! {
    /// A regex rule.
    pub struct RegexRule {
        /// Id.
        id: Option<Arc<str>> => "id",
        /// Display title.
        name: Option<Arc<str>> => "name",
        /// Whether the rule is enabled. Default: `true`.
        enabled: Option<bool> => "enabled",
        /// JavaScript regular expression to search for: a bare pattern or `/pattern/flags`.
        regex: Option<Arc<str>> => "regex",
        /// Replacement text.
        replacement: Option<Arc<str>> => "replacement",
        /// Flags that replace the flags in `regex`.
        flags: Option<Arc<str>> => "flags",
        /// Uses of the text that the rule applies to. Default: display and requests.
        apply_to: Option<RegexStages> => "applyTo",
        /// Roles of the messages to change. Default: `system`, `user`, and `assistant`.
        target_roles: Vec<Arc<str>> => "targetRoles" [one_of Role::WORDS],
        /// Texts to change in addition to messages: `worldbook` (entries) and `reasoning` (visible
        /// reasoning).
        target_texts: Vec<Arc<str>> => "targetTexts" [one_of RegexRule::TARGET_TEXTS],
        /// Depth range of the messages to change.
        depth_range: Option<RegexDepths> => "depthRange",
        /// Type of the replacement: `regex` (default), or `script`, which never runs.
        replacement_type: Option<Arc<str>> => "replacementType" [one_of RegexRule::REPLACEMENT_TYPES],
        /// Macros in the expression: `NONE` (default) does not expand them, `RAW` expands them, `ESCAPED`
        /// also escapes special characters in their values.
        substitution_mode: Option<Arc<str>> => "substitutionMode" [one_of RegexRule::SUBSTITUTION_MODES],
        /// Texts to remove from capture groups before they are inserted.
        trim_strings: Vec<Arc<str>> => "trimStrings",
        /// Order among rules of the same priority, ascending. Default: 0.
        order: Option<f64> => "order",
        /// Syntax of the expression and the replacement: `aio` (default) or `sillytavern`.
        dialect: Option<Arc<str>> => "dialect" [one_of RegexRule::DIALECTS],
        /// Whether a rule for stored text also runs when a user edits a message. Default: `false`.
        run_on_edit: Option<bool> => "runOnEdit",
    }
}

impl RegexRule {
    #[cfg(feature = "schema")]
    const TARGET_TEXTS: [&'static str; 2] = ["worldbook", "reasoning"];

    #[cfg(feature = "schema")]
    const REPLACEMENT_TYPES: [&'static str; 2] = ["regex", "script"];

    #[cfg(feature = "schema")]
    const SUBSTITUTION_MODES: [&'static str; 3] = ["NONE", "RAW", "ESCAPED"];

    /// The values of `dialect`.
    pub const DIALECTS: [&'static str; 2] = ["aio", "sillytavern"];
}

data_type! {
    /// The uses of a text that a rule applies to.
    pub struct RegexStages {
        /// Text for display.
        render: Option<bool> => "render",
        /// Text in requests to the model.
        request: Option<bool> => "request",
        /// Text to store in the conversation.
        store: Option<bool> => "store",
    }
}

data_type! {
    /// The depth range of a rule. The newest message has depth 0.
    pub struct RegexDepths {
        /// Smallest depth. Default: 0.
        min: Option<i64> => "min",
        /// Largest depth. Default: no limit.
        max: Option<i64> => "max",
    }
}
