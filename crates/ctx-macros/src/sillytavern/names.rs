use ctx_types::{Text, Trust};

use crate::call::{Call, Value};
use crate::definition::Definition;
use crate::env::GroupMember;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::always("user", |call| call.env().user_name().into())
            .trust(Trust::User)
            .describe("Name of the user [default: `User`].", "{{user}}"),
        Definition::always("char", |call| call.env().agent_name().into())
            .describe("Name of the agent [default: `Assistant`].", "{{char}}"),
        Definition::always("group", |call| members(call, |_| true)).alias("charIfNotGroup").describe(
            "Names of the agents of a group, separated by commas; without a group, name of the agent.",
            "{{group}}",
        ),
        Definition::always("groupNotMuted", |call| members(call, |member| !member.is_muted)).describe(
            "Names of the unmuted agents of a group; without a group, name of the agent.",
            "{{groupNotMuted}}",
        ),
        Definition::always("notChar", others)
            .trust(Trust::User)
            .describe("Names of all participants except the speaking agent, the user last.", "{{notChar}}"),
    ]
}

fn members(call: &mut Call<'_>, is_meant: fn(&GroupMember) -> bool) -> Value {
    let env = call.env();
    if env.group.is_empty() {
        return env.agent_name().into();
    }
    let names = env.group.iter().filter(|member| is_meant(member)).map(|member| member.name.as_str());
    names.collect::<Vec<_>>().join(", ").into()
}

fn others(call: &mut Call<'_>) -> Value {
    let env = call.env();
    let (speaker, user) = (env.agent_name(), env.user_name());
    let members = env.group.iter().map(|member| &member.name).filter(|name| **name != speaker);
    let names = members.chain([&user]).map(Text::as_str);
    names.collect::<Vec<_>>().join(", ").into()
}
