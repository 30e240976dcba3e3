//! `convert-system-to-user`: for models that take no system messages.

use async_trait::async_trait;
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Decision, Message, Role, plural};

use crate::join::Joining;
use crate::merge_consecutive_roles::may_join;
use crate::separator_field;

/// Makes system and developer messages those of the user, and joins neighbours that this makes alike.
///
/// Neighbours that were alike before stay as they are: whether these are joined is the setting of
/// [`MergeConsecutiveRoles`](crate::MergeConsecutiveRoles). Idempotent.
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
        let reason = "made the user's and joined with its neighbours";
        let joining = Joining { separator: cx.config.text("separator"), reason };
        let mut decisions: Vec<Decision> = Vec::new();
        let mut result: Vec<Message> = Vec::new();
        for stretch in stretches(cx.draft.take_messages()) {
            result.extend(joining.runs(stretch, may_join, &mut decisions));
        }
        cx.draft.set_messages(result);
        cx.draft.decide_all(decisions);
        cx.log(format!("{} made the user's", plural(count, "message")));
        Ok(())
    }
}

/// Converts messages, and splits them between neighbours that had one role before.
fn stretches(messages: Vec<Message>) -> Vec<Vec<Message>> {
    let mut stretches: Vec<Vec<Message>> = Vec::new();
    let mut before: Option<Role> = None;
    for mut message in messages {
        let role = message.role;
        if role.is_instruction() {
            message.role = Role::User;
        }
        match stretches.last_mut().filter(|_| before != Some(role)) {
            Some(stretch) => stretch.push(message),
            None => stretches.push(vec![message]),
        }
        before = Some(role);
    }
    stretches
}
