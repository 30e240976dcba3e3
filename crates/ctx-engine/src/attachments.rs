//! What becomes of attached files is settled early, so that the limiter counts what is sent.

use ctx_pipeline::{Pipeline, Run};
use ctx_processors::{AssetResolver, AttachmentPolicy};

/// Leaves the settings of the last stage for those that anticipate it; nothing if it is switched off.
pub(crate) fn tell_policy(pipeline: &Pipeline, run: &mut Run) {
    let setting = pipeline.settings().iter().find(|setting| &*setting.id == AssetResolver::ID);
    if let Some(setting) = setting.filter(|setting| setting.enabled.value) {
        run.blackboard.insert(AttachmentPolicy::of_config(&setting.config));
    }
}
