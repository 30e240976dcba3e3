use ctx_pipeline::{Pipeline, Run};
use ctx_processors::{AssetResolver, AttachmentPolicy};

/// Shares the settings of `asset-resolver`, which runs last: the limiter must count files as they will be
/// sent.
pub(crate) fn share_policy(pipeline: &Pipeline, run: &mut Run) {
    let setting = pipeline.settings().iter().find(|setting| &*setting.id == AssetResolver::ID);
    if let Some(setting) = setting.filter(|setting| setting.enabled.value) {
        run.blackboard.insert(AttachmentPolicy::from_config(&setting.config));
    }
}
