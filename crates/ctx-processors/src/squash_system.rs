use std::collections::BTreeSet;

use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::internal::JoinRule;
use ctx_types::{Message, Role, phrase};

use crate::join::{MessageJoiner, is_joinable};
use crate::merge_consecutive_roles::join_neighbours;

/// Joins neighboring system messages without a name.
///
/// Entries whose ids are in the setting `except` stay unchanged. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SquashSystem;

impl TypedProcessor for SquashSystem {
    type Prepared = SquashSettings;

    describe!(
        510,
        "squash-system",
        "Squash system messages",
        "Joins adjacent unnamed system messages",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> SquashSettings {
        SquashSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &SquashSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let SquashSettings { separator, except } = settings;
        let except: BTreeSet<&str> = except.iter().map(String::as_str).collect();
        let may_join = |message: &Message| {
            let is_kept = message.source.id.as_deref().is_some_and(|id| except.contains(id));
            message.role == Role::System && message.name.is_none() && !is_kept && is_joinable(message)
        };
        let joining =
            MessageJoiner { separator, reason: || phrase!("joined with neighboring system messages") };
        join_neighbours(cx, joining, |left, right| {
            may_join(left) && may_join(right) && right.join_rule == JoinRule::Both
        });
        Ok(())
    }
}

settings! {
    pub(crate) SquashSettings {
        separator: String = ConfigField::text("separator", "Separator", "\n"),
        except: Vec<String> = ConfigField::list("except", "Excluded entries").with_description("ids of entries"),
    }
}
