//! Greetings that old imports of character cards left among the entries of a preset.

use ctx_types::{Agent, Diagnostic, Greeting, Persist, PresetMessage, Reader, Role, plural};
use serde_json::Value;

use crate::codes;

/// Moves such entries to the greetings of an agent that has none.
///
/// The number of entries that AIO Hub shows (`displayPresetCount`) is lowered by theirs.
pub(crate) fn gather(agent: &mut Agent) -> Option<Diagnostic> {
    let readable = matches!(agent.kept.get("greetings"), None | Some(Value::Null | Value::Array(_)));
    let first = agent.preset_messages.iter().position(is_greeting)?;
    if !agent.greetings.is_empty() || !readable {
        return None;
    }
    let entries = std::mem::take(&mut agent.preset_messages);
    let (greetings, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_greeting);
    agent.preset_messages = entries;
    agent.greetings = greetings.iter().map(greeting).collect();
    let count = agent.greetings.len();
    lower_shown(agent, count);
    let verb = if count == 1 { "moves" } else { "move" };
    let greetings = plural(count, "greeting");
    let message = format!("{greetings} {verb} from the preset's entries to `greetings`");
    let pointer = format!("/presetMessages/{first}");
    Some(Diagnostic::info(codes::MIGRATED_GREETINGS, message).at_pointer(pointer))
}

fn is_name(name: &str) -> bool {
    name == "First Message" || name.starts_with("Alternate Greeting")
}

/// Tells whether an entry is a greeting by the name that the old import gave it.
fn is_greeting(entry: &PresetMessage) -> bool {
    let prompt = entry.kept.get("metadata").and_then(|metadata| metadata.get("stPromptName"));
    let names = [prompt.and_then(Value::as_str), entry.name.as_deref()];
    !entry.is_anchor() && !entry.kept.is_malformed() && names.into_iter().flatten().any(is_name)
}

/// Tells of each entry of a file whether [`gather`] moves it; none if it moves none.
pub(crate) fn moving(entries: &[Value], greetings: Option<&Value>) -> Option<Vec<bool>> {
    let has_none = match greetings {
        None | Some(Value::Null) => true,
        Some(greetings) => greetings.as_array().is_some_and(Vec::is_empty),
    };
    let moves: Vec<bool> = entries.iter().map(is_stored_greeting).collect();
    (has_none && moves.contains(&true)).then_some(moves)
}

/// As [`is_greeting`], of an entry that is not read yet.
fn is_stored_greeting(entry: &Value) -> bool {
    let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str);
    let is_anchor = !matches!(text("/type"), None | Some("message"));
    !is_anchor && [text("/metadata/stPromptName"), text("/name")].into_iter().flatten().any(is_name)
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
