//! Metadata of a summary.

use ctx_types::session::NodeMetadata;
use serde_json::{Map, Value, json};

use crate::mask::appendix;
use crate::mask::config::MaskConfig;
use crate::mask::draft::MaskDraft;
use crate::mask::plan::MaskTarget;

/// Adds the metadata of a draft to the earlier metadata of its node.
pub(super) fn write(draft: &MaskDraft, at_millis: i64, before: Option<&NodeMetadata>) -> NodeMetadata {
    let plan = &draft.plan;
    let mut metadata = before.cloned().unwrap_or_default();
    metadata.is_compression_node = Some(true);
    if plan.target == MaskTarget::New {
        metadata.compressed_node_ids.clone_from(&plan.range.listed);
    }
    let mut set = |key: &str, value: Value| metadata.kept.set(key, value);
    set("compressionTimestamp", json!(at_millis));
    set("originalTokenCount", json!(plan.original_tokens));
    set("originalMessageCount", json!(plan.original_messages));
    set("compressionConfig", settings(&plan.config));
    set("tokenCount", json!(draft.summary_tokens));
    set("compressionDetails", details(draft));
    if plan.hides_reasoning {
        set("reasoningStateStatus", json!("broken"));
        set("reasoningStateWarning", json!(plan.language.texts().reasoning_warning));
    }
    let none = || appendix::appendix(Vec::new(), plan.language);
    draft.appendix.clone().unwrap_or_else(none).write(&mut metadata);
    metadata
}

/// Copies the settings. Later changes do not affect the details of the summary.
fn settings(config: &MaskConfig) -> Value {
    json!({
        "triggerMode": config.trigger_mode,
        "thresholds": {
            "tokenThreshold": config.token_threshold,
            "countThreshold": config.count_threshold,
            "protectRecentCount": config.protect_recent_count,
            "compressCount": config.compress_count,
            "minHistoryCount": config.min_history_count,
        },
        "summaryRole": config.summary_role.as_str(),
    })
}

fn details(draft: &MaskDraft) -> Value {
    let plan = &draft.plan;
    let mut details = Map::new();
    let mut set = |key: &str, value: Value| details.insert(key.to_owned(), value);
    set("madeBy", json!(draft.made_by.as_str()));
    set("profile", json!(plan.kind.as_str()));
    set("language", json!(plan.language.as_str()));
    set("replacedTokenCount", json!(plan.replaced_tokens));
    set("coveredSummaryIds", plan.range.covered.iter().map(|id| Value::from(&**id)).collect());
    set("parts", json!(draft.parts));
    if let Some(model) = plan.config.summary_model.as_ref() {
        set("model", json!(&**model));
    }
    if let Some(failure) = &draft.failure {
        set("failure", json!(failure.to_string()));
    }
    Value::Object(details)
}
