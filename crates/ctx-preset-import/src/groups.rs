//! What is odd about the groups of a preset.
//!
//! Groups stay data: the assembler leaves out the entries of a group that is switched off, and reports
//! entries whose group does not exist.

use ctx_types::{Agent, Diagnostic, PresetGroup};

use crate::codes;

/// Reports groups of alternatives (`radio`) with several entries switched on.
pub(crate) fn check(agent: &Agent) -> Vec<Diagnostic> {
    let radio = |group: &&PresetGroup| group.selection_mode.as_deref() == Some("radio");
    agent.preset_groups.iter().filter(radio).filter_map(|group| several_on(agent, group)).collect()
}

fn several_on(agent: &Agent, group: &PresetGroup) -> Option<Diagnostic> {
    let id = group.id.as_deref()?;
    let entries = agent.preset_messages.iter().enumerate();
    let on = entries.filter(|(_, entry)| entry.is_enabled() && entry.group_id.as_deref() == Some(id));
    let on: Vec<usize> = on.map(|(index, _)| index).collect();
    let [_, second, ..] = on.as_slice() else { return None };
    let name = group.name.as_deref().unwrap_or(id);
    let message = format!("{} entries of the group `{name}` are on, of which only one should be", on.len());
    let found = Diagnostic::warning(codes::SEVERAL_ALTERNATIVES, message);
    let help = "switch all but one off, or make the group's `selectionMode` `checkbox`; all of them are sent";
    Some(found.at_pointer(format!("/presetMessages/{second}")).with_help(help))
}
