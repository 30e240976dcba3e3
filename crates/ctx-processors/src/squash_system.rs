use std::collections::BTreeSet;

use async_trait::async_trait;
use ctx_pipeline::{ConfigField, ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::{Message, Role, phrase};
use serde_json::Value;

use crate::join::{MessageJoiner, is_joinable};
use crate::merge_consecutive_roles::join_neighbours;

/// Joins neighboring system messages without a name.
///
/// Entries whose ids are in the setting `except` stay unchanged. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub struct SquashSystem;

#[async_trait]
impl ContextProcessor for SquashSystem {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("squash-system", "Squash system messages", "Joins adjacent unnamed system messages")
            .with(|descriptor| {
                descriptor.priority = 510;
                descriptor.default_enabled = false;
                descriptor.config_fields = vec![
                    ConfigField::text("separator", "Separator", "\n"),
                    ConfigField::list("except", "Excluded entries").with_description("ids of entries"),
                ];
            })
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let except = cx.config.get("except").and_then(Value::as_array).into_iter().flatten();
        let except: BTreeSet<String> = except.filter_map(Value::as_str).map(str::to_owned).collect();
        let may_join = |message: &Message| {
            let is_kept = message.source.id.as_deref().is_some_and(|id| except.contains(id));
            message.role == Role::System && message.name.is_none() && !is_kept && is_joinable(message)
        };
        let separator = cx.config.text("separator");
        let joining =
            MessageJoiner { separator, reason: || phrase!("joined with neighboring system messages") };
        join_neighbours(cx, joining, |left, right| may_join(left) && may_join(right) && !right.is_apart);
        Ok(())
    }
}
