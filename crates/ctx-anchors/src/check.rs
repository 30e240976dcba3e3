use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::{NearestName, closest, excerpt, nearest};
use ctx_types::{
    Agent, CHAT_HISTORY, Code, Diagnostic, Fix, Phrase, Placement, PrefixMode, PresetMessage,
    UnplacedHistory, phrase,
};

use crate::codes;
use crate::preset::{Entry, EntryPart, Switch};
use crate::registry::AnchorRegistry;

/// Limits the work for suggestions.
const MAX_GUESSES: usize = 5_000;

/// O(entries · log entries).
pub(crate) fn preset(
    agent: &Agent,
    entries: &[Entry],
    registry: &AnchorRegistry,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut check = Check { agent, entries, registry, guesses: MAX_GUESSES, diagnostics };
    for entry in entries {
        check.kind(entry);
        check.content(entry);
        check.history(entry);
    }
    check.groups();
    check.ids();
    check.anchors();
    check.targets();
    check.check_unplaced();
    check.check_prefix();
}

pub(crate) fn second_history(index: usize, chosen: usize) -> Diagnostic {
    let message = phrase!("duplicate `chat_history` is ignored; entry {chosen} is used", chosen);
    Diagnostic::warning(codes::DUPLICATE_ANCHOR, message)
        .at_pointer(pointer(index, "/type"))
        .with_help(phrase!("remove one of the two"))
}

pub(crate) fn pointer(index: usize, key: &str) -> String {
    format!("/presetMessages/{index}{key}")
}

struct Check<'a> {
    agent: &'a Agent,
    entries: &'a [Entry],
    registry: &'a AnchorRegistry,
    guesses: usize,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Check<'a> {
    fn file(&self, entry: &Entry) -> &'a PresetMessage {
        &self.agent.preset_messages[entry.index]
    }

    fn kind(&mut self, entry: &Entry) {
        let file = self.file(entry);
        let kind = file.kind.as_deref().unwrap_or_default();
        if matches!(kind, "" | "message") {
            return;
        }
        if entry.part == EntryPart::Message {
            let known = self.registry.definitions().iter().map(|definition| &*definition.id);
            let near = find_nearest(&mut self.guesses, kind, known.chain(["message", "placeholder"]));
            let kind = excerpt(kind);
            let message = phrase!("unknown anchor type `{kind}`; the entry is a normal message", kind);
            let unknown = Diagnostic::warning(codes::UNREGISTERED_TYPE, message);
            let unknown = unknown.at_pointer(pointer(entry.index, "/type"));
            let help = phrase!("use type `placeholder` with an id, or a type from `ctx anchors list`");
            self.diagnostics.push(unknown.with_guess_or(near, Fix::text, || help));
        } else if Placement::read(file).0 != Placement::InOrder {
            let message = phrase!("an anchor has no placement of its own; the placement is ignored");
            let help = phrase!("move the entry in the list, or change it to a normal message");
            self.warn(codes::PLACED_ANCHOR, message, pointer(entry.index, ""), help);
        }
    }

    fn content(&mut self, entry: &Entry) {
        let file = self.file(entry);
        let is_nameless = file.id.as_deref().is_none_or(|id| id.trim().is_empty());
        match &entry.part {
            EntryPart::Nothing if is_nameless && file.kind.as_deref() == Some("placeholder") => {
                let message = phrase!("the placeholder has no id");
                let help = phrase!("add an `id`: it is the anchor's name");
                self.warn(codes::NAMELESS_PLACEHOLDER, message, pointer(entry.index, ""), help);
            }
            EntryPart::Placeholder { anchor } if !entry.content.is_blank() => {
                let anchor = excerpt(anchor);
                let message = phrase!("`{anchor}` is only a position; its content is not sent", anchor);
                let content = Diagnostic::info(codes::PLACEHOLDER_CONTENT, message);
                let help = phrase!("move the text to an entry with `anchorTarget: {anchor}`", anchor);
                self.diagnostics.push(content.at_pointer(pointer(entry.index, "/content")).with_help(help));
            }
            _ => {}
        }
    }

    fn history(&mut self, entry: &Entry) {
        let file = self.file(entry);
        if entry.part == EntryPart::History && entry.off_reason().is_some() {
            let key = if file.is_enabled == Some(false) { "/isEnabled" } else { "/groupId" };
            let message = phrase!("`chat_history` is disabled; the history is still inserted here");
            let help = phrase!("to send no history, remove the entry and set `historyWhenUnplaced: omit`");
            self.warn(codes::DISABLED_HISTORY, message, pointer(entry.index, key), help);
        }
    }

    fn groups(&mut self) {
        let known = || self.agent.preset_groups.iter().filter_map(|group| group.id.as_deref());
        let declared: BTreeSet<&str> = known().collect();
        let files = self.agent.preset_messages.iter().enumerate();
        let named = files.filter_map(|(index, file)| Some((index, file.group_id.as_deref()?)));
        for (index, id) in named.filter(|(_, id)| !declared.contains(id)) {
            let message = phrase!("unknown group `{id}`; the entry is ungrouped", id = excerpt(id));
            let unknown = Diagnostic::info(codes::UNKNOWN_GROUP, message);
            let unknown = unknown.at_pointer(pointer(index, "/groupId"));
            let near = find_nearest(&mut self.guesses, id, declared.iter().copied());
            self.diagnostics.push(match near {
                Some(near) => unknown.with_guess(near, Fix::text),
                None => unknown,
            });
        }
    }

    /// Allows anchors named by their id.
    fn ids(&mut self) {
        let mut ids = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.off_reason().is_none()) {
            let Some(id) = entry.source.id.as_deref() else { continue };
            let Some(first) = ids.insert(id, entry.index) else { continue };
            if entry.anchor() != Some(id) {
                let message =
                    phrase!("duplicate id `{id}`, also used by entry {first}", first, id = excerpt(id));
                let help = phrase!("give each entry a unique id, so that reports can name it");
                self.warn(codes::DUPLICATE_ID, message, pointer(entry.index, "/id"), help);
            }
        }
    }

    /// Ignores anchors with a model match or triggers, which may exclude each other.
    fn anchors(&mut self) {
        let mut anchors = BTreeMap::new();
        let is_always = |entry: &&Entry| matches!(entry.switch, Switch::On) && entry.triggers.is_empty();
        let always = self.entries.iter().filter(is_always);
        for entry in always.filter(|entry| entry.part != EntryPart::History) {
            let Some(anchor) = entry.anchor() else { continue };
            let first = *anchors.entry(anchor).or_insert(entry.index);
            if first != entry.index {
                let anchor = excerpt(anchor);
                let message = phrase!(
                    "duplicate `{anchor}`; entries that target it go to entry {first}",
                    anchor,
                    first
                );
                let kind = self.file(entry).kind.as_deref();
                let key = if kind == Some("placeholder") { "/id" } else { "/type" };
                let help = phrase!("remove one of the two, or change its id");
                self.warn(codes::DUPLICATE_ANCHOR, message, pointer(entry.index, key), help);
            }
        }
    }

    fn targets(&mut self) {
        let on = self.declared_ids(|entry| entry.off_reason().is_none());
        let any = self.declared_ids(|_| true);
        let is_implied =
            self.agent.unplaced_history() == UnplacedHistory::Append || any.contains(CHAT_HISTORY);
        for entry in self.entries.iter().filter(|entry| entry.off_reason().is_none()) {
            let Placement::Anchor { target, .. } = &entry.placement else { continue };
            let target = &**target;
            if on.contains(target) || (target == CHAT_HISTORY && is_implied) {
                continue;
            }
            let finding = if any.contains(target) {
                disabled_target(&excerpt(target))
            } else {
                self.unknown_target(target, &on)
            };
            let key = target_key(self.file(entry));
            self.diagnostics.push(finding.at_pointer(pointer(entry.index, key)));
        }
    }

    fn unknown_target(&mut self, target: &str, on: &BTreeSet<&str>) -> Diagnostic {
        if self.registry.get(target).is_some() {
            let message =
                phrase!("no entry of type `{target}`; this entry stays at its list position", target);
            let help = phrase!("add an entry with `type: {target}` at the target position", target);
            return Diagnostic::error(codes::MISSING_TARGET, message).with_help(help);
        }
        let shown = excerpt(target);
        let message = phrase!("unknown anchor `{name}`; the entry stays at its list position", name = shown);
        let missing = Diagnostic::error(codes::MISSING_TARGET, message);
        let declared = find_nearest(&mut self.guesses, target, on.iter().copied().chain([CHAT_HISTORY]));
        let registered = self.registry.definitions().iter().map(|definition| &*definition.id);
        let registered = find_nearest(&mut self.guesses, target, registered);
        let names = [declared, registered].into_iter().flatten().map(|near| near.name);
        // Prefers the more similar name; if equal, the declared anchor.
        let meant = closest(target, names);
        if let Some(near) = declared.filter(|near| meant == Some(near.name)) {
            return missing.with_guess(near, Fix::text);
        }
        if let Some(name) = meant {
            let help = phrase!("did you mean `{name}`? Then also add an entry with `type: {name}`", name);
            return missing.with_help(help);
        }
        missing.with_help(phrase!(
            "add an entry with `type: placeholder` and `id: {name}`, or use an anchor from `ctx anchors list`",
            name = shown
        ))
    }

    fn declared_ids(&self, mut wanted: impl FnMut(&Entry) -> bool) -> BTreeSet<&'a str> {
        self.entries.iter().filter(|entry| wanted(entry)).filter_map(Entry::anchor).collect()
    }

    fn check_unplaced(&mut self) {
        const WORDS: [&str; 2] = ["append", "omit"];
        let other = self.agent.history_when_unplaced.as_deref();
        let Some(other) = other.filter(|other| !WORDS.contains(other)) else { return };
        let message = phrase!(
            "invalid `historyWhenUnplaced` value `{other}`; `append` is used",
            other = excerpt(other)
        );
        let unknown =
            Diagnostic::warning(codes::UNPLACED_HISTORY, message).at_pointer("/historyWhenUnplaced");
        let help = || phrase!("use `append` or `omit`");
        self.diagnostics.push(unknown.with_guess_or(nearest(other, WORDS), Fix::text, help));
    }

    fn check_prefix(&mut self) {
        let other = self.agent.prefix.as_deref();
        let Some(other) = other.filter(|other| PrefixMode::parse(other).is_none()) else { return };
        let message = phrase!("invalid `prefix` value `{other}`; `moving` is used", other = excerpt(other));
        let unknown = Diagnostic::warning(codes::PREFIX_MODE, message).at_pointer("/prefix");
        let help = || phrase!("use `moving`, `append-only`, or `auto`");
        self.diagnostics.push(unknown.with_guess_or(nearest(other, PrefixMode::WORDS), Fix::text, help));
    }

    fn warn(&mut self, code: Code, message: Phrase, pointer: String, help: Phrase) {
        self.diagnostics.push(Diagnostic::warning(code, message).at_pointer(pointer).with_help(help));
    }
}

fn disabled_target(target: &str) -> Diagnostic {
    let message = phrase!("anchor `{target}` is disabled; the entry stays at its list position", target);
    let help = phrase!("enable the entry of `{target}`, or choose another anchor", target);
    Diagnostic::error(codes::DISABLED_TARGET, message).with_help(help)
}

fn find_nearest<'n>(
    left: &mut usize,
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
) -> Option<NearestName<'n>> {
    let known: Vec<&str> = known.into_iter().take(*left).collect();
    *left -= known.len();
    nearest(name, known)
}

fn target_key(file: &PresetMessage) -> &'static str {
    let strategy = file.injection_strategy.as_ref();
    if strategy.is_some_and(|strategy| strategy.anchor_target.is_some()) {
        "/injectionStrategy/anchorTarget"
    } else if file.anchor_target.is_some() {
        "/anchorTarget"
    } else {
        ""
    }
}
