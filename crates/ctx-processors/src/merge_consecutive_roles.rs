use ctx_pipeline::{PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::report::Decision;
use ctx_types::{Message, phrase};

use crate::internal::ids;
use crate::join::{MessageJoiner, is_joinable};
use crate::separator;

/// Joins neighboring messages of the same role and name.
///
/// Never joins tool messages, tool calls, reasoning that must be replayed, or a reply to continue.
/// Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MergeConsecutiveRoles;

impl TypedProcessor for MergeConsecutiveRoles {
    type Prepared = String;

    describe!(
        600,
        ids::MERGE_CONSECUTIVE_ROLES,
        "Merge consecutive roles",
        "Joins consecutive messages of the same role"
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> String {
        input.settings.read(separator())
    }

    async fn run(&self, separator: &String, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let joining =
            MessageJoiner { separator, reason: || phrase!("joined with neighbors of the same role") };
        join_neighbours(cx, joining, may_join);
        Ok(())
    }
}

pub(crate) fn may_join(left: &Message, right: &Message) -> bool {
    left.role == right.role && left.name == right.name && is_joinable(left) && is_joinable(right)
}

pub(crate) fn join_neighbours(
    cx: &mut PipelineContext<'_>,
    joining: MessageJoiner<'_>,
    may_join: impl Fn(&Message, &Message) -> bool,
) {
    let messages = cx.draft.messages();
    let mut neighbours = messages.iter().zip(messages.iter().skip(1));
    if !neighbours.any(|(left, right)| may_join(left, right)) {
        return;
    }
    let before = messages.len();
    let mut decisions: Vec<Decision> = Vec::new();
    let result = joining.runs(cx.draft.take_messages(), may_join, &mut decisions);
    cx.log(phrase!("{before} messages joined into {result}", before, result = result.len()));
    cx.draft.set_messages(result);
    cx.draft.decide_all(decisions);
}
