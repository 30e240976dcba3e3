//! A compiled preset: each entry with its part, placement and switch, checked once.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::{
    Agent, Attachment, CHAT_HISTORY, Content, Diagnostic, Placement, PresetMessage, Role, Source,
    UnplacedHistory,
};

use crate::check;
use crate::model_match::{ModelRule, Target};
use crate::registry::AnchorRegistry;

/// A preset, ready to be assembled with any number of conversations. `Send + Sync`.
///
/// ```
/// use ctx_anchors::{AnchorRegistry, Preset};
/// use ctx_types::{Agent, Persist, Reader};
///
/// let file = serde_json::json!({ "presetMessages": [
///     { "role": "user", "content": "lost", "anchorTarget": "chat_histroy" },
/// ] });
/// let agent = Agent::read(file, &mut Reader::new());
/// let (preset, diagnostics) = Preset::compile(&agent, &AnchorRegistry::system());
/// assert_eq!(preset.entries().len(), 1);
/// assert_eq!(diagnostics[0].code.to_string(), "CTX0200");
/// ```
#[derive(Clone, Debug)]
pub struct Preset {
    pub(crate) entries: Vec<Entry>,
    pub(crate) unplaced: UnplacedHistory,
}

/// One entry of a compiled preset.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its position in the preset list, counted from 0.
    pub index: usize,
    /// What it is.
    pub part: Part,
    /// Who speaks it.
    pub role: Role,
    /// What it says, before macros are expanded.
    pub content: Content,
    /// Files that travel with it.
    pub attachments: Vec<Attachment>,
    /// Where it goes; always [`Placement::InOrder`] for an anchor.
    pub placement: Placement,
    /// The rank among others of the same order, before the kind of thing is compared.
    pub lane: i64,
    /// The source of the bytes that its author wrote.
    pub source: Source,
    pub(crate) switch: Switch,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A message.
    Message,
    /// The place of the conversation.
    History,
    /// A place for other things; its own content is never sent.
    Placeholder {
        /// The id of the anchor.
        anchor: Arc<str>,
    },
    /// A place for other things whose own content is sent too, unless it is blank.
    Template {
        /// The id of the anchor.
        anchor: Arc<str>,
    },
    /// Nothing: a malformed entry, a placeholder without an id, a second place of the conversation.
    Nothing,
}

/// Whether an entry takes part.
#[derive(Clone, Debug)]
pub(crate) enum Switch {
    On,
    /// Switched off, with the reason.
    Off(String),
    /// On for the targets that the rule admits.
    When(Arc<ModelRule>),
}

impl Preset {
    /// Compiles the preset of an agent and reports everything that is wrong with it at once.
    ///
    /// Diagnostics have JSON pointers into the agent's unified form, such as `/presetMessages/3`.
    /// O(entries · log entries).
    pub fn compile(agent: &Agent, registry: &AnchorRegistry) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let files = agent.preset_messages.iter().enumerate();
        let compile = |(index, file)| compile_entry(agent, registry, index, file, &mut diagnostics);
        let mut entries: Vec<Entry> = files.map(compile).collect();
        keep_one_history(&mut entries, &mut diagnostics);
        check::preset(agent, &entries, registry, &mut diagnostics);
        (Self { entries, unplaced: agent.unplaced_history() }, diagnostics)
    }

    /// Returns the entries in list order, switched off ones included.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the anchors at which things can stand, with the entry that declares each, for a target.
    pub(crate) fn anchors<'a>(&'a self, target: Target<'_>) -> BTreeMap<&'a str, usize> {
        let mut anchors = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.marks_place(target)) {
            if let Some(anchor) = entry.anchor() {
                anchors.entry(anchor).or_insert(entry.index);
            }
        }
        anchors
    }

    /// Tells whether the preset says where the conversation goes.
    pub fn places_history(&self) -> bool {
        self.entries.iter().any(|entry| entry.part == Part::History)
    }
}

impl Entry {
    /// Returns the id of the anchor that the entry declares.
    pub fn anchor(&self) -> Option<&str> {
        match &self.part {
            Part::History => Some(CHAT_HISTORY),
            Part::Placeholder { anchor } | Part::Template { anchor } => Some(anchor),
            Part::Message | Part::Nothing => None,
        }
    }

    /// Tells whether the entry's own content is sent: that of a message or of a template anchor.
    pub fn has_own_content(&self) -> bool {
        matches!(self.part, Part::Message | Part::Template { .. })
    }

    /// Returns why the entry takes no part, if it is switched off whatever the target.
    pub fn off_reason(&self) -> Option<&str> {
        match &self.switch {
            Switch::Off(reason) => Some(reason),
            Switch::On | Switch::When(_) => None,
        }
    }

    /// Tells whether the entry takes part for a target.
    pub fn is_active(&self, target: Target<'_>) -> bool {
        match &self.switch {
            Switch::On => true,
            Switch::Off(_) => false,
            Switch::When(rule) => rule.admits(target),
        }
    }

    /// Tells whether the entry's place exists: the place of the history does even when it is switched off.
    pub(crate) fn marks_place(&self, target: Target<'_>) -> bool {
        self.part == Part::History || self.is_active(target)
    }
}

fn compile_entry(
    agent: &Agent,
    registry: &AnchorRegistry,
    index: usize,
    file: &PresetMessage,
    diagnostics: &mut Vec<Diagnostic>,
) -> Entry {
    let mut found = Vec::new();
    let part = read_part(file, registry);
    let placement = if part == Part::Message {
        let (placement, mut unclear) = Placement::of(file);
        found.append(&mut unclear);
        placement
    } else {
        Placement::InOrder
    };
    let switch = read_switch(agent, file, &mut found);
    let prefix = format!("/presetMessages/{index}");
    diagnostics.extend(found.into_iter().map(|mut diagnostic| {
        let inner = diagnostic.location.pointer.take().unwrap_or_default();
        diagnostic.at_pointer(prefix.clone() + &inner)
    }));
    Entry {
        index,
        part,
        role: file.role.unwrap_or_default(),
        content: file.content.clone().unwrap_or_else(|| Content::Text("".into())),
        attachments: file.all_attachments(),
        placement,
        lane: file.injection_strategy.as_ref().and_then(|strategy| strategy.lane).unwrap_or(0),
        source: Source::preset(file.id.clone(), index, file.name.clone()),
        switch,
    }
}

/// An unregistered type makes an ordinary message, so that its content is not lost.
fn read_part(file: &PresetMessage, registry: &AnchorRegistry) -> Part {
    if file.kept.is_malformed() {
        return Part::Nothing;
    }
    match file.kind.as_deref() {
        None | Some("message") => Part::Message,
        Some(CHAT_HISTORY) => Part::History,
        Some("placeholder") => match file.id.clone().filter(|id| !id.trim().is_empty()) {
            Some(anchor) if &*anchor == CHAT_HISTORY => Part::History,
            Some(anchor) => Part::Placeholder { anchor },
            None => Part::Nothing,
        },
        Some(kind) => match registry.get(kind) {
            Some(definition) if definition.has_template => Part::Template { anchor: definition.id.clone() },
            Some(definition) => Part::Placeholder { anchor: definition.id.clone() },
            None => Part::Message,
        },
    }
}

fn read_switch(agent: &Agent, file: &PresetMessage, diagnostics: &mut Vec<Diagnostic>) -> Switch {
    if file.kept.is_malformed() {
        return Switch::Off("the entry is not an object".to_owned());
    }
    if !file.is_enabled() {
        return Switch::Off("switched off".to_owned());
    }
    let group = file.group_id.as_deref().and_then(|id| agent.preset_group(id));
    if let Some(group) = group
        && group.enabled == Some(false)
    {
        let name = group.name.as_deref().or(group.id.as_deref()).unwrap_or_default();
        return Switch::Off(format!("its group `{name}` is switched off"));
    }
    let rule = file.model_match.as_ref().and_then(|rule| ModelRule::compile(rule, diagnostics));
    rule.map_or(Switch::On, |rule| Switch::When(Arc::new(rule)))
}

/// Keeps the first switched-on place of the conversation, or else the first; reports and ignores the others.
fn keep_one_history(entries: &mut [Entry], diagnostics: &mut Vec<Diagnostic>) {
    let is_place = |entry: &&Entry| entry.part == Part::History;
    let places = || entries.iter().filter(is_place);
    let chosen = places().find(|entry| entry.off_reason().is_none()).or_else(|| places().next());
    let Some(chosen) = chosen.map(|entry| entry.index) else { return };
    for entry in entries.iter_mut().filter(|entry| entry.part == Part::History && entry.index != chosen) {
        diagnostics.push(check::second_history(entry.index, chosen));
        entry.part = Part::Nothing;
    }
}
