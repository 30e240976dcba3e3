//! The JSON of the settings of processors. What is asked is a preview's request.

use std::collections::BTreeMap;

use ctx_pipeline::{EffectiveSetting, Origin};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::Finding;

/// The answer to POST `pipeline`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PipelineView {
    /// What holds for each processor, as they run.
    pub(crate) settings: Vec<EffectiveSetting>,
    /// The files that may set processors, the highest first; those that are not there are left out.
    pub(crate) layers: Vec<SettingsLayerView>,
    pub(crate) findings: Vec<Finding>,
}

/// A file that may set processors.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SettingsLayerView {
    pub(crate) origin: Origin,
    /// The id of the file.
    pub(crate) file: String,
    /// The pointer of the object whose `processors` are the layer's settings.
    pub(crate) base: String,
    /// The pointers of its entries, by the ids of processors.
    pub(crate) entries: BTreeMap<String, String>,
}
