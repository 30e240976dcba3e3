use ctx_types::internal::excerpt;
use ctx_types::phrase;

use crate::assets::AgentAsset;
use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![Definition::new("assets", assets).arity(0, 1).describe(
        "List of the agent's assets, or of one group, with instructions for their use.",
        "{{assets::stickers}}",
    )]
}

fn assets(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (list, group) = (&call.env().assets, call.argument(0));
    let mut listed = list.iter_group(group).peekable();
    if listed.peek().is_none() {
        if group.is_empty() {
            return Ok("This agent has no files.".into());
        }
        call.warn(
            codes::BAD_ARGUMENT,
            phrase!("the agent has no files in group `{group}`", group = excerpt(group)),
        );
        return Ok(format!("This agent has no files in the group `{group}`.").into());
    }
    let mut text = match group {
        "" => "Files of this agent. ".to_owned(),
        _ => format!("Files of this agent in the group `{group}`. "),
    };
    text.push_str("Refer to one as `agent-asset://{group}/{id}.{ext}`:");
    for (asset, group) in listed {
        text.push_str(&line(asset, group));
        call.check_output(text.len())?;
    }
    Ok(text.into())
}

fn line(asset: &AgentAsset, group: &str) -> String {
    let AgentAsset { id, extension, kind, description, .. } = asset;
    let dot = if extension.is_empty() { "" } else { "." };
    let described = if description.is_empty() { "" } else { ": " };
    format!("\n- [{kind}] agent-asset://{group}/{id}{dot}{extension}{described}{description}")
}
