//! `merge-injections`: neighbouring injections of one gap become one message.

use async_trait::async_trait;
use ctx_pipeline::{ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Message, Order, Place};

use crate::merge_consecutive_roles::{join_neighbours, may_join};

/// Joins neighbouring injections of one gap of the history that have the same order and role.
///
/// Importers of SillyTavern presets switch it on: there, prompts of one depth, order and role are one message.
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
        let separator = cx.config.text("separator").to_owned();
        join_neighbours(cx, &separator, |left, right| {
            is_injection(left) && is_injection(right) && order(left) == order(right) && may_join(left, right)
        });
        Ok(())
    }
}

fn is_injection(message: &Message) -> bool {
    matches!(message.place, Place::Gap { .. })
}

fn order(message: &Message) -> Order {
    message.placement.as_ref().map_or(Order::DEFAULT, |placement| placement.order())
}
