//! A processor that changes the messages.

use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError, async_trait};
use ctx_types::Content;

pub(crate) struct ShoutProcessor;

#[async_trait]
impl ContextProcessor for ShoutProcessor {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("shout", "Shout", "Writes everything in capitals")
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        for message in cx.draft.messages_mut() {
            message.content = Content::Text(message.text().to_uppercase().into());
        }
        Ok(())
    }
}
