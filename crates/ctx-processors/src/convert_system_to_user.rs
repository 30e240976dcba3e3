//! `convert-system-to-user`: for models that take no system messages.

use async_trait::async_trait;
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::Role;

use crate::merge_consecutive_roles::{join_neighbours, may_join};
use crate::separator_field;

/// Makes system and developer messages those of the user, and joins neighbours that this makes alike.
///
/// Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConvertSystemToUser;

#[async_trait]
impl ContextProcessor for ConvertSystemToUser {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 700,
            default_enabled: false,
            config_fields: vec![separator_field()],
            ..Descriptor::new(
                "convert-system-to-user",
                "System becomes user",
                "Makes system messages those of the user, for models that take no system messages",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let count = cx.draft.messages().iter().filter(|message| message.role.is_instruction()).count();
        if count == 0 {
            return Ok(());
        }
        for message in cx.draft.messages_mut().iter_mut().filter(|message| message.role.is_instruction()) {
            message.role = Role::User;
        }
        cx.log(format!("{count} messages made the user's"));
        let separator = cx.config.text("separator").to_owned();
        join_neighbours(cx, &separator, |left, right| left.role == Role::User && may_join(left, right));
        Ok(())
    }
}
