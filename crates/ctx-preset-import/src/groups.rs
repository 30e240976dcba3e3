//! What is odd about the groups of a preset.
//!
//! Groups stay data: the assembler leaves out the entries of a group that is switched off, and reports
//! entries whose group does not exist.

use std::collections::BTreeMap;

use ctx_types::internal::excerpt;
use ctx_types::{Agent, Diagnostic, PresetGroup, phrase};

use crate::codes;

/// Reports groups of alternatives (`radio`) with several entries switched on. O(entries · log groups).
pub(crate) fn check(agent: &Agent) -> Vec<Diagnostic> {
    let mut on: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, entry) in agent.preset_messages.iter().enumerate().filter(|(_, entry)| entry.is_enabled()) {
        if let Some(group) = entry.group_id.as_deref() {
            on.entry(group).or_default().push(index);
        }
    }
    let is_radio = |group: &&PresetGroup| {
        group.selection_mode.as_deref() == Some("radio") && group.enabled != Some(false)
    };
    let radio = agent.preset_groups.iter().filter(is_radio);
    // A second group with the same id is none.
    radio.filter_map(|group| several_on(group, &on.remove(group.id.as_deref()?)?)).collect()
}

fn several_on(group: &PresetGroup, on: &[usize]) -> Option<Diagnostic> {
    let [_, second, ..] = on else { return None };
    let name = excerpt(group.name.as_deref().or(group.id.as_deref()).unwrap_or_default());
    let message =
        phrase!("{on} entries of group `{name}` are enabled; only one is allowed", on = on.len(), name);
    let found = Diagnostic::warning(codes::SEVERAL_ALTERNATIVES, message);
    let help =
        phrase!("enable only one, or set the group's `selectionMode` to `checkbox`; all are sent until then");
    Some(found.at_pointer(format!("/presetMessages/{second}")).with_help(help))
}
