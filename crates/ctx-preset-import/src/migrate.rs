//! Old spellings inside an agent, brought up to date.

mod document;

pub use document::{MigratedDocument, migrate_document};

use ctx_anchors::{AnchorDefinition, AnchorRegistry};
use ctx_types::{
    Agent, Content, Diagnostic, Greeting, InjectionStrategy, Persist as _, Placement, PresetMessage, Reader,
    Role, phrase,
};
use serde_json::Value;

use crate::codes;
use crate::imported::Moves;
use crate::parameters;

/// Brings an agent up to date and tells what was changed. Pure and idempotent: the second time nothing is.
///
/// 1. `parameters.custom` that is the parameters themselves becomes `{enabled, params}`.
/// 2. The formatter rules of AIO Hub, `parameters.contextPostProcessing.rules`, become entries of
///    `parameters.processors`, unless that list has the processor already.
/// 3. A template anchor whose content is one of the three fixed texts of the time before templates gets its
///    default template, so that what it stood for is rendered as it always was. Content that is blank, null
///    or absent stays: an emptied template says that nothing is to be rendered.
/// 4. An `injectionStrategy` without a `type` gets the one that its fields say. Where the entry goes never
///    changes by that.
/// 5. Greetings that old imports left among the preset's entries move to `greetings`, if there are none.
///
/// Pointers in the findings are those before the change.
///
/// ```
/// use ctx_anchors::AnchorRegistry;
/// use ctx_preset_import::migrate;
/// use ctx_types::{Agent, Persist, Reader};
///
/// let old = serde_json::json!({ "presetMessages": [{ "type": "user_profile", "content": "User Profile" }] });
/// let mut agent = Agent::read(old, &mut Reader::new());
/// assert_eq!(migrate(&mut agent, &AnchorRegistry::system()).len(), 1);
/// assert!(agent.write()["presetMessages"][0]["content"].as_str().unwrap().contains("{{persona}}"));
/// assert!(migrate(&mut agent, &AnchorRegistry::system()).is_empty());
/// ```
pub fn migrate(agent: &mut Agent, anchors: &AnchorRegistry) -> Vec<Diagnostic> {
    migrate_with_moves(agent, anchors).0
}

/// As [`migrate`]; also tells what moved.
pub(crate) fn migrate_with_moves(agent: &mut Agent, anchors: &AnchorRegistry) -> (Vec<Diagnostic>, Moves) {
    let (mut changes, rules) = spellings(agent, anchors);
    let (gathered, greetings) = gather_greetings(agent).unzip();
    changes.extend(gathered);
    (changes, Moves { greetings: greetings.unwrap_or_default(), rules, ..Moves::default() })
}

/// Brings up to date what stays in its list; also returns whether each formatter rule moved.
fn spellings(agent: &mut Agent, anchors: &AnchorRegistry) -> (Vec<Diagnostic>, Vec<bool>) {
    let (mut changes, rules) = agent.parameters.as_mut().map(parameters::migrate).unwrap_or_default();
    for (index, entry) in agent.preset_messages.iter_mut().enumerate() {
        changes.extend(legacy_template(entry, index, anchors));
        changes.extend(strategy_type(entry, index));
    }
    (changes, rules)
}

/// The texts that old presets hold where a template stands today; seed 001 §8.1 and AIO Hub's migration.
const LEGACY_TEXTS: [&str; 3] = ["用户档案", "user_profile", "User Profile"];

fn legacy_template(entry: &mut PresetMessage, index: usize, anchors: &AnchorRegistry) -> Option<Diagnostic> {
    let AnchorDefinition { has_template: true, default_template: Some(template), .. } =
        anchors.get(entry.kind.as_deref()?)?
    else {
        return None;
    };
    let Some(Content::Text(text)) = &entry.content else { return None };
    if !LEGACY_TEXTS.contains(&text.trim()) {
        return None;
    }
    let message =
        phrase!("fixed text `{text}` is replaced by the anchor's default template", text = text.trim());
    entry.content = Some(Content::Text(template.clone()));
    let pointer = format!("/presetMessages/{index}/content");
    Some(Diagnostic::info(codes::MIGRATED_TEMPLATE, message).at_pointer(pointer))
}

fn strategy_type(entry: &mut PresetMessage, index: usize) -> Option<Diagnostic> {
    let strategy = entry.injection_strategy.as_ref()?;
    // A type that is there and no text stays as the file has it.
    if strategy.kind.is_some() || strategy.kept.get("type").is_some_and(|kind| !kind.is_null()) {
        return None;
    }
    let (before, _) = Placement::read(entry);
    let kind = type_of(strategy, &before)?;
    let strategy = entry.injection_strategy.as_mut()?;
    strategy.kind = Some(kind.into());
    if Placement::read(entry).0 != before {
        // The flat fields of seed 000 say something else; they keep their say.
        entry.injection_strategy.as_mut()?.kind = None;
        return None;
    }
    let message = phrase!("the injection strategy gets type `{kind}`, as its fields imply", kind);
    let pointer = format!("/presetMessages/{index}/injectionStrategy");
    Some(Diagnostic::info(codes::MIGRATED_STRATEGY, message).at_pointer(pointer))
}

fn type_of(strategy: &InjectionStrategy, placement: &Placement) -> Option<&'static str> {
    let several = strategy.depth_config.as_deref().is_some_and(|config| !config.trim().is_empty());
    match placement {
        Placement::InOrder => Some("default"),
        Placement::Index { .. } => None,
        Placement::Depth { .. } if several => Some("advanced_depth"),
        Placement::Depth { .. } => Some("depth"),
        Placement::Anchor { .. } => Some("anchor"),
    }
}

/// Moves greetings from the entries, where old imports of cards put them, to an agent without greetings.
///
/// The number of entries that AIO Hub shows (`displayPresetCount`) is lowered by theirs. Also returns whether
/// each entry moved.
fn gather_greetings(agent: &mut Agent) -> Option<(Diagnostic, Vec<bool>)> {
    let is_readable = matches!(agent.kept.get("greetings"), None | Some(Value::Null | Value::Array(_)));
    if !is_readable || !agent.greetings.is_empty() {
        return None;
    }
    let moves: Vec<bool> = agent.preset_messages.iter().map(is_greeting).collect();
    let first = moves.iter().position(|is_greeting| *is_greeting)?;
    let entries = std::mem::take(&mut agent.preset_messages);
    let (greetings, entries): (Vec<_>, Vec<_>) =
        entries.into_iter().zip(&moves).partition(|(_, is_greeting)| **is_greeting);
    agent.preset_messages = entries.into_iter().map(|(entry, _)| entry).collect();
    agent.greetings = greetings.iter().map(|(entry, _)| greeting(entry)).collect();
    let count = agent.greetings.len();
    if let Some(shown) = agent.kept.get("displayPresetCount").and_then(Value::as_u64) {
        let left = shown.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        agent.kept.set("displayPresetCount", Value::from(left));
    }
    let message = if count == 1 {
        phrase!("1 greeting moves from the preset's entries to `greetings`")
    } else {
        phrase!("{count} greetings move from the preset's entries to `greetings`", count)
    };
    let pointer = format!("/presetMessages/{first}");
    Some((Diagnostic::info(codes::MIGRATED_GREETINGS, message).at_pointer(pointer), moves))
}

/// Returns whether an entry is a greeting by the name that the old import gave it.
fn is_greeting(entry: &PresetMessage) -> bool {
    let prompt = entry.kept.get("metadata").and_then(|metadata| metadata.get("stPromptName"));
    let mut names = [prompt.and_then(Value::as_str), entry.name.as_deref()].into_iter().flatten();
    let has_name = names.any(|name| name == "First Message" || name.starts_with("Alternate Greeting"));
    has_name && !entry.is_anchor() && !entry.kept.is_malformed()
}

/// Makes a greeting of an entry, with all that its file held.
fn greeting(entry: &PresetMessage) -> Greeting {
    let mut greeting = Greeting::read(entry.write(), &mut Reader::new());
    // Without a role, it is the assistant's. An invalid role is unchanged.
    if greeting.role.is_some_and(|role| role != Role::User) {
        greeting.role = Some(Role::Assistant);
    }
    greeting
}
