//! What is wrong with a preset, whatever the conversation.

use std::collections::BTreeMap;

use ctx_types::{Agent, CHAT_HISTORY, Diagnostic, Placement, UnplacedHistory, closest};

use crate::codes;
use crate::preset::{Entry, Part};
use crate::registry::AnchorRegistry;

/// Reports everything that can be known without a conversation.
pub(crate) fn preset(
    agent: &Agent,
    entries: &[Entry],
    registry: &AnchorRegistry,
    diagnostics: &mut Vec<Diagnostic>,
) {
    for entry in entries {
        types(agent, entry, registry, diagnostics);
        groups(agent, entry, diagnostics);
    }
    duplicates(entries, diagnostics);
    targets(agent, entries, registry, diagnostics);
    if let Some(other) = agent.history_when_unplaced.as_deref()
        && !matches!(other, "append" | "omit")
    {
        let message = format!("`{other}` is not a way to treat history; `append` is used");
        let unknown = Diagnostic::warning(codes::UNPLACED_HISTORY, message);
        diagnostics.push(unknown.at_pointer("/historyWhenUnplaced").with_help("use `append` or `omit`"));
    }
}

/// The finding about a further entry of type `chat_history`.
pub(crate) fn second_history(index: usize, chosen: usize) -> Diagnostic {
    let message = format!("a second `chat_history`; the one at entry {chosen} is used and this one ignored");
    Diagnostic::warning(codes::DUPLICATE_ANCHOR, message)
        .at_pointer(pointer(index, "/type"))
        .with_help("remove one of the two")
}

fn types(agent: &Agent, entry: &Entry, registry: &AnchorRegistry, diagnostics: &mut Vec<Diagnostic>) {
    let Some(file) = agent.preset_messages.get(entry.index) else { return };
    let Some(kind) = file.kind.as_deref().filter(|kind| *kind != "message") else { return };
    match &entry.part {
        Part::Message => {
            let known = registry.definitions().iter().map(|definition| &*definition.id);
            let help = match closest(kind, known.chain(["message", "placeholder"])) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "register the anchor, or use type `placeholder` with an id".to_owned(),
            };
            let message = format!("`{kind}` is not a registered anchor; the entry is an ordinary message");
            let unregistered = Diagnostic::warning(codes::UNREGISTERED_TYPE, message);
            diagnostics.push(unregistered.at_pointer(pointer(entry.index, "/type")).with_help(help));
        }
        Part::Nothing if kind == "placeholder" && !file.kept.is_malformed() => {
            let nameless = Diagnostic::warning(codes::NAMELESS_PLACEHOLDER, "a placeholder without an id");
            let help = "give it an `id`: that is the name of its anchor";
            diagnostics.push(nameless.at_pointer(pointer(entry.index, "")).with_help(help));
        }
        Part::Placeholder { anchor } if !entry.content.is_blank() => {
            let message = format!("`{anchor}` only marks a place; its content is not sent");
            let content = Diagnostic::info(codes::PLACEHOLDER_CONTENT, message);
            let help = format!("put the text into an entry with `anchorTarget: {anchor}`");
            diagnostics.push(content.at_pointer(pointer(entry.index, "/content")).with_help(help));
        }
        Part::Nothing | Part::Placeholder { .. } | Part::History | Part::Template { .. } => {}
    }
    let placed = file.injection_strategy.as_ref().is_some_and(|s| s.kind.as_deref() != Some("default"));
    let placed = placed || file.insertion_point.is_some() || file.anchor_target.is_some();
    if entry.part != Part::Message && placed {
        let message = "an anchor stands where the list has it; its own placement is ignored";
        diagnostics.push(
            Diagnostic::warning(codes::PLACED_ANCHOR, message)
                .at_pointer(pointer(entry.index, ""))
                .with_help("move the entry in the list, or make it an ordinary message"),
        );
    }
    if entry.part == Part::History && entry.off_reason().is_some() {
        let message = "`chat_history` is switched off; the history goes there all the same";
        let disabled = Diagnostic::warning(codes::DISABLED_HISTORY, message);
        let help = "remove the entry and set `historyWhenUnplaced: omit` to send no history";
        diagnostics.push(disabled.at_pointer(pointer(entry.index, "/isEnabled")).with_help(help));
    }
}

fn groups(agent: &Agent, entry: &Entry, diagnostics: &mut Vec<Diagnostic>) {
    let Some(id) = agent.preset_messages.get(entry.index).and_then(|file| file.group_id.as_deref()) else {
        return;
    };
    if agent.preset_group(id).is_none() {
        let message = format!("no group `{id}`; the entry takes part by itself");
        let known = agent.preset_groups.iter().filter_map(|group| group.id.as_deref());
        let unknown = Diagnostic::info(codes::UNKNOWN_GROUP, message);
        let unknown = unknown.at_pointer(pointer(entry.index, "/groupId"));
        diagnostics.push(match closest(id, known) {
            Some(near) => unknown.with_help(format!("did you mean `{near}`?")),
            None => unknown,
        });
    }
}

fn duplicates(entries: &[Entry], diagnostics: &mut Vec<Diagnostic>) {
    let mut ids = BTreeMap::new();
    let mut anchors = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.off_reason().is_none()) {
        if let Some(id) = entry.source.id.as_deref()
            && let Some(first) = ids.insert(id, entry.index)
        {
            let message = format!("entry {first} has the id `{id}` too");
            let duplicate = Diagnostic::warning(codes::DUPLICATE_ID, message);
            let help = "give each entry its own id, so that reports can name it";
            diagnostics.push(duplicate.at_pointer(pointer(entry.index, "/id")).with_help(help));
        }
        let anchor = entry.anchor().filter(|_| entry.part != Part::History);
        if let Some(anchor) = anchor
            && let Some(first) = anchors.get(anchor)
        {
            let message = format!("a second `{anchor}`; things placed at it stand at entry {first}");
            let duplicate = Diagnostic::warning(codes::DUPLICATE_ANCHOR, message);
            diagnostics.push(duplicate.at_pointer(pointer(entry.index, "/type")));
        } else if let Some(anchor) = anchor {
            anchors.insert(anchor, entry.index);
        }
    }
}

fn targets(agent: &Agent, entries: &[Entry], registry: &AnchorRegistry, diagnostics: &mut Vec<Diagnostic>) {
    let on: Vec<&str> = declared(entries, |entry| entry.off_reason().is_none());
    let any: Vec<&str> = declared(entries, |_| true);
    let implied = agent.unplaced_history() == UnplacedHistory::Append || any.contains(&CHAT_HISTORY);
    for entry in entries.iter().filter(|entry| entry.off_reason().is_none()) {
        let Placement::Anchor { target, .. } = &entry.placement else { continue };
        if on.contains(&&**target) || (&**target == CHAT_HISTORY && implied) {
            continue;
        }
        let is_off = any.contains(&&**target);
        let finding = match (is_off, registry.get(target).is_some()) {
            (true, _) => Diagnostic::error(
                codes::DISABLED_TARGET,
                format!("anchor `{target}` is switched off; the entry stays where the list has it"),
            )
            .with_help(format!("switch the entry of `{target}` on, or place this one elsewhere")),
            (false, true) => Diagnostic::error(
                codes::MISSING_TARGET,
                format!("no entry of type `{target}`; the entry stays where the list has it"),
            )
            .with_help(format!("add an entry with `type: {target}` where its things should stand")),
            (false, false) => Diagnostic::error(
                codes::MISSING_TARGET,
                format!("no anchor `{target}`; the entry stays where the list has it"),
            )
            .with_help(missing_help(target, &on)),
        };
        diagnostics.push(finding.at_pointer(target_pointer(agent, entry.index)));
    }
}

fn missing_help(target: &str, declared: &[&str]) -> String {
    match closest(target, declared.iter().copied().chain([CHAT_HISTORY])) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add an entry with `type: placeholder` and `id: {target}`"),
    }
}

fn declared(entries: &[Entry], mut wanted: impl FnMut(&Entry) -> bool) -> Vec<&str> {
    entries.iter().filter(|entry| wanted(entry)).filter_map(Entry::anchor).collect()
}

/// Points at the spelling of the target that the file uses.
fn target_pointer(agent: &Agent, index: usize) -> String {
    let file = agent.preset_messages.get(index);
    let strategy = file.and_then(|file| file.injection_strategy.as_ref());
    let key = match strategy.and_then(|strategy| strategy.anchor_target.as_ref()) {
        Some(_) => "/injectionStrategy/anchorTarget",
        None if file.is_some_and(|file| file.anchor_target.is_some()) => "/anchorTarget",
        None => "",
    };
    pointer(index, key)
}

fn pointer(index: usize, key: &str) -> String {
    format!("/presetMessages/{index}{key}")
}
