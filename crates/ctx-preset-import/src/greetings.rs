//! Greetings that old imports of character cards left among the entries of a preset.

use ctx_types::{Agent, Diagnostic, Greeting, Persist, PresetMessage, Reader, Role, phrase};
use serde_json::Value;

use crate::codes;

/// Moves such entries to the greetings of an agent that has none.
///
/// The number of entries that AIO Hub shows (`displayPresetCount`) is lowered by theirs. Also tells of each entry whether
/// it moved.
pub(crate) fn gather(agent: &mut Agent) -> Option<(Diagnostic, Vec<bool>)> {
    let moves = moves(agent)?;
    let first = moves.iter().position(|is_greeting| *is_greeting)?;
    let entries = std::mem::take(&mut agent.preset_messages);
    let (greetings, entries): (Vec<_>, Vec<_>) =
        entries.into_iter().zip(&moves).partition(|(_, is_greeting)| **is_greeting);
    agent.preset_messages = entries.into_iter().map(|(entry, _)| entry).collect();
    agent.greetings = greetings.iter().map(|(entry, _)| greeting(entry)).collect();
    let count = agent.greetings.len();
    lower_shown(agent, count);
    let message = if count == 1 {
        phrase!("1 greeting moves from the preset's entries to `greetings`")
    } else {
        phrase!("{count} greetings move from the preset's entries to `greetings`", count)
    };
    let pointer = format!("/presetMessages/{first}");
    Some((Diagnostic::info(codes::MIGRATED_GREETINGS, message).at_pointer(pointer), moves))
}

fn is_name(name: &str) -> bool {
    name == "First Message" || name.starts_with("Alternate Greeting")
}

/// Returns whether an entry is a greeting by the name that the old import gave it.
fn is_greeting(entry: &PresetMessage) -> bool {
    let prompt = entry.kept.get("metadata").and_then(|metadata| metadata.get("stPromptName"));
    let names = [prompt.and_then(Value::as_str), entry.name.as_deref()];
    !entry.is_anchor() && !entry.kept.is_malformed() && names.into_iter().flatten().any(is_name)
}

/// Reports each entry of an agent whether it moves; none if none does.
fn moves(agent: &Agent) -> Option<Vec<bool>> {
    let is_readable = matches!(agent.kept.get("greetings"), None | Some(Value::Null | Value::Array(_)));
    let has_room = agent.greetings.is_empty() && is_readable;
    let moves: Vec<bool> = agent.preset_messages.iter().map(is_greeting).collect();
    (has_room && moves.contains(&true)).then_some(moves)
}

/// Makes a greeting of an entry, with all that its file held.
fn greeting(entry: &PresetMessage) -> Greeting {
    let mut greeting = Greeting::read(entry.write(), &mut Reader::new());
    // Without a role it is the assistant's, and a role that is none stays as the file has it.
    if greeting.role.is_some_and(|role| role != Role::User) {
        greeting.role = Some(Role::Assistant);
    }
    greeting
}

fn lower_shown(agent: &mut Agent, count: usize) {
    if let Some(shown) = agent.kept.get("displayPresetCount").and_then(Value::as_u64) {
        let left = shown.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        agent.kept.set("displayPresetCount", Value::from(left));
    }
}
