//! `transcription-processor`: texts of documents and transcripts of media take the place of files.

use async_trait::async_trait;
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::Message;

use crate::asset_resolver::told;
use crate::attachments::{AttachmentPolicy, Reading, Settled, Settler};

/// Puts the texts of documents and the transcripts of media into the messages that they belong to.
///
/// A text stands where `【file::id】` names its file, else at the end of the message. Text files always become text,
/// others where the target does not take them, where they are old, or by the strategy. Files of the preset follow
/// when the assembler has placed them, by the same settings. Texts come from
/// [`AttachmentPorts`](ctx_types::AttachmentPorts); without them files stay what they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct TranscriptionProcessor;

#[async_trait]
impl ContextProcessor for TranscriptionProcessor {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 250,
            per_message: true,
            config_fields: Reading::fields(),
            ..Descriptor::new(
                "transcription-processor",
                "Texts of files",
                "Puts texts of documents and transcripts of media in the place of attached files",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        cx.blackboard.insert(Reading::of_config(cx.config));
        settle(cx, |_| true).await
    }
}

/// Settles the files of messages that an entry of the preset, a worldbook or a plug-in brought.
///
/// They come after the processor has run; without it nothing happens.
pub(crate) async fn settle_placed(cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
    settle(cx, |message| !message.source.kind.is_history()).await
}

async fn settle(
    cx: &mut PipelineContext<'_>,
    is_wanted: impl Fn(&Message) -> bool,
) -> Result<(), ProcessorError> {
    let Some(reading) = cx.blackboard.get::<Reading>().cloned() else { return Ok(()) };
    let policy = cx.blackboard.get::<AttachmentPolicy>().copied();
    let done = Settler::new(&cx.inputs, policy, Some(reading)).run(cx, is_wanted).await?;
    if done != Settled::default() {
        cx.log(told(&done));
    }
    Ok(())
}
