//! Who talks with whom.

use ctx_types::{Text, Trust};

use crate::call::{Call, Value};
use crate::definition::Definition;
use crate::env::GroupMember;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", |call| user(call).into())
            .trust(Trust::User)
            .describe("The name of the user; `User` if there is none.", "{{user}}"),
        Definition::always("char", |call| char(call).into())
            .describe("The name of the agent; `Assistant` if there is none.", "{{char}}"),
        Definition::always("group", |call| members(call, |_| true)).alias("charIfNotGroup").describe(
            "The names of a group's agents, with commas; the name of the agent where there is no group.",
            "{{group}}",
        ),
        Definition::always("groupNotMuted", |call| members(call, |member| !member.is_muted)).describe(
            "The names of a group's agents that may speak; the name of the agent where there is no group.",
            "{{groupNotMuted}}",
        ),
        Definition::always("notChar", others).trust(Trust::User).describe(
            "The names of all who take part but the agent that speaks, the user last.",
            "{{notChar}}",
        ),
    ]
}

fn user(call: &Call<'_>) -> Text {
    named(call.env().user.as_ref(), "User")
}

fn char(call: &mut Call<'_>) -> Text {
    call.limit_trust(call.env().agent_trust);
    named(call.env().char.as_ref(), "Assistant")
}

fn members(call: &mut Call<'_>, is_meant: fn(&GroupMember) -> bool) -> Value {
    let env = call.env();
    if env.group.is_empty() {
        return char(call).into();
    }
    call.limit_trust(env.agent_trust);
    let names = env.group.iter().filter(|member| is_meant(member)).map(|member| member.name.as_str());
    names.collect::<Vec<_>>().join(", ").into()
}

fn others(call: &mut Call<'_>) -> Value {
    let speaker = char(call);
    let members = call.env().group.iter().map(|member| &member.name).filter(|name| **name != speaker);
    let user = user(call);
    let names = members.chain([&user]).map(Text::as_str);
    names.collect::<Vec<_>>().join(", ").into()
}

fn named(name: Option<&Text>, default: &'static str) -> Text {
    match name {
        Some(name) if !name.is_empty() => name.clone(),
        _ => Text::from(default),
    }
}
