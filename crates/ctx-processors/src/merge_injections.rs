//! `merge-injections`: neighbouring injections of one gap become one message.

use async_trait::async_trait;
use ctx_pipeline::{ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Message, Order, Place};

use crate::join::Joining;
use crate::merge_consecutive_roles::{join_neighbours, may_join};

/// Joins neighbouring injections of one gap of the history that have the same order and role.
///
/// Importers of SillyTavern presets switch it on: there, prompts of one depth, order and role are one message.
/// What [`MergeConsecutiveRoles`](crate::MergeConsecutiveRoles) never joins is not joined here either, nor is
/// a point of several with a single one, since only the former goes with the history around it. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeInjections;

#[async_trait]
impl ContextProcessor for MergeInjections {
    fn descriptor(&self) -> Descriptor {
        Descriptor {
            priority: 310,
            default_enabled: false,
            config_fields: vec![ConfigField::text("separator", "Between two texts", "\n")],
            ..Descriptor::new(
                "merge-injections",
                "Join injections",
                "Joins neighbouring injections of one gap, order and role",
            )
        }
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let reason = "joined with the injections beside it";
        let joining = Joining { separator: cx.config.text("separator"), reason };
        join_neighbours(cx, joining, |left, right| {
            matches!(left.place, Place::Gap { .. })
                && left.place == right.place
                && order(left) == order(right)
                && may_join(left, right)
        });
        Ok(())
    }
}

fn order(message: &Message) -> Order {
    message.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order())
}
