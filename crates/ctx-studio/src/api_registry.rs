//! JSON types of the registry: anchors, macros, processors, and models.

use std::collections::BTreeMap;

use ctx_types::ConfigField;
use schemars::JsonSchema;
use serde::Serialize;

/// Response of GET `registry`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Registry {
    pub(crate) anchors: Vec<AnchorInfo>,
    pub(crate) macros: Vec<MacroInfo>,
    pub(crate) processors: Vec<ProcessorInfo>,
    pub(crate) models: Vec<String>,
    /// Context windows of the models, in tokens.
    pub(crate) windows: BTreeMap<String, u32>,
    pub(crate) dialects: Vec<&'static str>,
}

/// An anchor of a preset.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct AnchorInfo {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: AnchorKind,
    pub(crate) role: &'static str,
    /// Default text of a template anchor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) template: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// Whether an anchor has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnchorKind {
    Template,
    Placeholder,
}

/// A macro.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct MacroInfo {
    pub(crate) name: String,
    pub(crate) syntax: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) example: Option<String>,
    pub(crate) aliases: Vec<String>,
}

/// A processor.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProcessorInfo {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) priority: i64,
    pub(crate) is_core: bool,
    pub(crate) is_on: bool,
    pub(crate) fields: Vec<ConfigField>,
}

/// Response of GET `codes/{c}`: the explanation of a diagnostic code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CodeView {
    pub(crate) code: &'static str,
    pub(crate) title: &'static str,
    pub(crate) cause: &'static str,
    pub(crate) example: &'static str,
    /// File name of the example, if the example is a complete file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<&'static str>,
    /// Command that reports the diagnostic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown_by: Option<&'static str>,
    pub(crate) way_out: &'static str,
}
