//! `merge-consecutive-roles`: neighbours of one role become one message.

use async_trait::async_trait;
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Decision, Message, Role};

use crate::join::join;
use crate::separator_field;

/// Joins neighbouring messages of one role.
///
/// Never tool messages, tool calls, reasoning that must be replayed, different names, or an answer that is to
/// be continued. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeConsecutiveRoles;

#[async_trait]
impl ContextProcessor for MergeConsecutiveRoles {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 600,
            config_fields: vec![separator_field()],
            ..Descriptor::new(
                "merge-consecutive-roles",
                "Join neighbours of one role",
                "Joins neighbouring messages of the same role into one",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let separator = cx.config.text("separator").to_owned();
        join_neighbours(cx, &separator, may_join);
        Ok(())
    }
}

/// Tells whether two neighbours may become one message.
pub(crate) fn may_join(left: &Message, right: &Message) -> bool {
    left.role == right.role && left.name == right.name && is_joinable(left) && is_joinable(right)
}

fn is_joinable(message: &Message) -> bool {
    message.role != Role::Tool
        && message.tool_calls.is_empty()
        && message.reasoning.is_none()
        && !message.is_continuation_prefix
}

/// Joins runs of neighbours; changes nothing if there are none.
pub(crate) fn join_neighbours(
    cx: &mut PipelineContext<'_>,
    separator: &str,
    may_join: impl Fn(&Message, &Message) -> bool,
) {
    let messages = cx.draft.messages();
    let neighbours = messages.iter().zip(messages.iter().skip(1));
    if !neighbours.into_iter().any(|(left, right)| may_join(left, right)) {
        return;
    }
    let mut decisions: Vec<Decision> = Vec::new();
    let mut result: Vec<Message> = Vec::new();
    let mut run: Vec<Message> = Vec::new();
    for message in cx.draft.take_messages() {
        if run.last().is_some_and(|last| !may_join(last, &message)) {
            result.extend(join(std::mem::take(&mut run), separator, &mut decisions));
        }
        run.push(message);
    }
    result.extend(join(run, separator, &mut decisions));
    cx.log(format!("{} messages joined", decisions.len()));
    cx.draft.set_messages(result);
    cx.draft.decide_all(decisions);
}
