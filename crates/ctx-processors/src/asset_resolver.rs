use ctx_pipeline::{PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::session::LogLine;
use ctx_types::{Attachment, Message, count_of, phrase};

use crate::attachments::{AttachmentPolicy, FileCounts, FileResolver};
use crate::internal::ids;

/// Loads attachments, and replaces files that the target does not accept with text or a placeholder.
///
/// The target is the API dialect and model of the turn. Messages whose files are all loaded are skipped.
/// Bytes come from [`AttachmentPorts::assets`](ctx_types::ports::AttachmentPorts); without it, files stay
/// references. Changed files get a decision, and placeholders also a warning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AssetResolver;

impl TypedProcessor for AssetResolver {
    type Prepared = AttachmentPolicy;

    describe!(
        10_000,
        ids::ASSET_RESOLVER,
        "Asset resolver",
        "Loads attachments; replaces unsupported ones with text or a placeholder",
        is_core,
        per_message
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> AttachmentPolicy {
        AttachmentPolicy::read(&mut input.settings)
    }

    async fn run(&self, policy: &AttachmentPolicy, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let settler = FileResolver::new(&cx.inputs, Some(*policy), None);
        let done = settler.run(cx, is_unsettled).await?;
        if done != FileCounts::default() {
            cx.log(counts_line(&done));
        }
        Ok(())
    }
}

fn is_unsettled(message: &Message) -> bool {
    message.attachments.iter().any(|file: &Attachment| file.loaded.is_none())
}

pub(crate) fn counts_line(done: &FileCounts) -> LogLine {
    let FileCounts { unchanged, as_text, placeholders, references } = *done;
    let line = phrase!(
        "{files} sent unchanged, {texts} as text, {placeholders} as placeholders",
        files = count_of!(unchanged, "file"),
        texts = as_text,
        placeholders
    );
    match references {
        0 => LogLine::info(line),
        _ => LogLine::warn(phrase!("{line}; {references} not loaded", line, references)),
    }
}
