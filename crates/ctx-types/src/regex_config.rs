use std::sync::Arc;

#[cfg(feature = "schema")]
use crate::message::Role;
use crate::persist::noun;

noun! {
    /// The regex rules of an agent, a profile or the settings: what is replaced in messages.
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
        /// The presets: lists of rules that are switched together.
        presets: Vec<RegexPreset> => "presets",
        /// Whose rules hold for a message of another agent (`message` or `session`); for applications.
        binding_mode: Option<Arc<str>> => "bindingMode" [such_as ["message", "session"]],
    }
}

noun! {
    /// A list of regex rules that are switched together.
    pub struct RegexPreset {
        /// The id.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
        /// Whether its rules take part; absent means yes.
        enabled: Option<bool> => "enabled",
        /// Its rules.
        rules: Vec<RegexRule> => "rules",
        /// Its place among the presets of the same file, ascending; 0 if absent.
        order: Option<f64> => "order",
        /// The order in which rules of all files run, ascending; 100 if absent.
        priority: Option<f64> => "priority",
    }
}

noun! {
    /// One regex rule.
    pub struct RegexRule {
        /// The id.
        id: Option<Arc<str>> => "id",
        /// The title shown to people.
        name: Option<Arc<str>> => "name",
        /// Whether it takes part; absent means yes.
        enabled: Option<bool> => "enabled",
        /// What is looked for: a regular expression of JavaScript, bare or as `/pattern/flags`.
        regex: Option<Arc<str>> => "regex",
        /// What it is replaced with.
        replacement: Option<Arc<str>> => "replacement",
        /// Flags that stand over those of the expression.
        flags: Option<Arc<str>> => "flags",
        /// For what texts are made when the rule runs; absent means to be shown and to be sent.
        apply_to: Option<RegexStages> => "applyTo",
        /// Whose messages it changes; absent means `system`, `user` and `assistant`.
        target_roles: Vec<Arc<str>> => "targetRoles" [one_of Role::WORDS],
        /// What it changes besides messages: `worldbook` entries, visible `reasoning`.
        target_texts: Vec<Arc<str>> => "targetTexts" [one_of RegexRule::TARGET_TEXTS],
        /// How deep in the conversation it changes messages.
        depth_range: Option<RegexDepths> => "depthRange",
        /// What the replacement is: `regex` (default), or `script`, which never runs.
        replacement_type: Option<Arc<str>> => "replacementType" [one_of RegexRule::REPLACEMENT_TYPES],
        /// What becomes of macros in the expression: `NONE` (default), `RAW`, or `ESCAPED`, which lets their
        /// values stand for themselves.
        substitution_mode: Option<Arc<str>> => "substitutionMode" [one_of RegexRule::SUBSTITUTION_MODES],
        /// What is removed from groups before they are inserted.
        trim_strings: Vec<Arc<str>> => "trimStrings",
        /// Its place among the rules of one priority, ascending; 0 if absent.
        order: Option<f64> => "order",
        /// How expression and replacement are read: `aio` (default) or `sillytavern`.
        dialect: Option<Arc<str>> => "dialect" [one_of RegexRule::DIALECTS],
        /// Whether a rule for texts that are stored runs when a person edits one; absent means no.
        run_on_edit: Option<bool> => "runOnEdit",
    }
}

impl RegexRule {
    /// The values of `targetTexts`.
    pub const TARGET_TEXTS: [&'static str; 2] = ["worldbook", "reasoning"];

    /// The values of `replacementType`.
    pub const REPLACEMENT_TYPES: [&'static str; 2] = ["regex", "script"];

    /// The values of `substitutionMode`.
    pub const SUBSTITUTION_MODES: [&'static str; 3] = ["NONE", "RAW", "ESCAPED"];

    /// The values of `dialect`.
    pub const DIALECTS: [&'static str; 2] = ["aio", "sillytavern"];
}

noun! {
    /// For what texts are made when a rule runs.
    pub struct RegexStages {
        /// To be shown.
        render: Option<bool> => "render",
        /// To be sent to the model.
        request: Option<bool> => "request",
        /// To be stored in the conversation.
        store: Option<bool> => "store",
    }
}

noun! {
    /// How deep in the conversation a rule changes messages; the newest has depth 0.
    pub struct RegexDepths {
        /// The least depth; absent means 0.
        min: Option<i64> => "min",
        /// The greatest depth; absent means any.
        max: Option<i64> => "max",
    }
}
