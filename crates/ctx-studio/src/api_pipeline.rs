//! JSON types of processor settings. The request is that for a preview.

use std::collections::BTreeMap;

use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::EffectiveSetting;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::Finding;

/// Response of POST `pipeline`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PipelineView {
    /// Effective settings of each processor, in run order.
    pub(crate) settings: Vec<EffectiveSetting>,
    /// Existing files that can set processors, highest first.
    pub(crate) layers: Vec<SettingsLayerView>,
    pub(crate) findings: Vec<Finding>,
}

/// A file that can set processors.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SettingsLayerView {
    pub(crate) origin: SettingOrigin,
    /// Id of the file.
    pub(crate) file: String,
    /// JSON pointer of the object with the key `processors`.
    pub(crate) base: String,
    /// JSON pointers of the entries, by processor id.
    pub(crate) entries: BTreeMap<String, String>,
}
