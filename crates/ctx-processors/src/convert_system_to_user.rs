use ctx_pipeline::{ConfigField, PipelineContext, PrepareInput, ProcessorResult, TypedProcessor};
use ctx_types::report::Decision;
use ctx_types::{Message, Role, count_of, phrase};

use crate::append_only::AppendOnly;
use crate::join::{MessageJoiner, is_joinable};
use crate::merge_consecutive_roles::may_join;
use crate::separator;

/// Changes messages to role `user`, and joins neighbors that had different roles before.
///
/// The setting `scope` selects all system and developer messages, all except a leading one, or also replies.
/// Neighbors that already had the same role are left to
/// `merge-consecutive-roles`. Idempotent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConvertSystemToUser;

impl TypedProcessor for ConvertSystemToUser {
    type Prepared = ConvertSettings;

    describe!(
        700,
        "convert-system-to-user",
        "Convert system to user",
        "Changes system messages (optionally also replies) to user messages, for models that reject them",
        optional
    );

    fn prepare(&self, input: &mut PrepareInput<'_>) -> ConvertSettings {
        ConvertSettings::read(&mut input.settings)
    }

    async fn run(&self, settings: &ConvertSettings, cx: &mut PipelineContext<'_>) -> ProcessorResult {
        let ConvertSettings { separator, scope } = settings;
        let first = cx.blackboard.get::<AppendOnly>().map_or(0, |sent| sent.sent_messages().len());
        let messages = (first..).zip(cx.draft.messages());
        let count = messages.filter(|(at, message)| scope.has(*at, message)).count();
        if count == 0 {
            return Ok(());
        }
        let reason = || phrase!("changed to role `user` and joined with its neighbors");
        let joining = MessageJoiner { separator, reason };
        let mut decisions: Vec<Decision> = Vec::new();
        let mut result: Vec<Message> = Vec::new();
        for stretch in split_runs(cx.draft.take_messages(), first, *scope) {
            result.extend(joining.runs(stretch, may_join, &mut decisions));
        }
        cx.draft.set_messages(result);
        cx.draft.decide_all(decisions);
        cx.log(phrase!("{messages} changed to role `user`", messages = count_of!(count, "message")));
        Ok(())
    }
}

settings! {
    pub(crate) ConvertSettings {
        separator: String = separator(),
        scope: Scope = ConfigField::select("scope", "Messages to convert", Scope::OPTIONS),
    }
}

choices! {
    Scope {
        All = ("all", "All system messages"),
        AfterFirst = ("after_first", "All system messages except a leading one"),
        Everyone = ("everyone", "Also replies, except tool calls and the continued reply"),
    }
}

impl Scope {
    fn has(self, at: usize, message: &Message) -> bool {
        let is_instruction = message.role.is_instruction();
        match self {
            Self::All => is_instruction,
            Self::AfterFirst => is_instruction && at > 0,
            Self::Everyone => is_instruction || (message.role == Role::Assistant && is_joinable(message)),
        }
    }
}

/// Splits the list between neighbors that had the same role.
fn split_runs(messages: Vec<Message>, first: usize, scope: Scope) -> Vec<Vec<Message>> {
    let mut stretches: Vec<Vec<Message>> = Vec::new();
    let mut before: Option<Role> = None;
    for (at, mut message) in (first..).zip(messages) {
        let role = message.role;
        if scope.has(at, &message) {
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
