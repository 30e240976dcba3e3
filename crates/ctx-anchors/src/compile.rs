use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::{
    Agent, CHAT_HISTORY, Content, Diagnostic, Placement, PresetGroup, PresetMessage, Role, Source, anchor_id,
    phrase,
};

use crate::check;
use crate::model_match::{ModelRule, Patterns};
use crate::preset::{Entry, EntryPart, Preset, Switch, WORLD_INFO};
use crate::registry::AnchorRegistry;

impl Preset {
    /// Compiles the preset of an agent and returns all diagnostics.
    ///
    /// JSON pointers refer to the agent's unified form, such as `/presetMessages/3`. O(entries · log
    /// entries).
    pub fn compile(agent: &Agent, registry: &AnchorRegistry) -> (Self, Vec<Diagnostic>) {
        let (entries, mut diagnostics) = entries(agent, registry);
        check::preset(agent, &entries, registry, &mut diagnostics);
        let unplaced = agent.unplaced_history();
        let preset = Self {
            entries,
            unplaced,
            omits_at_switched_off: false,
            sends_white_space: false,
            places_world_info: false,
        };
        (preset, diagnostics)
    }
}

fn entries(agent: &Agent, registry: &AnchorRegistry) -> (Vec<Entry>, Vec<Diagnostic>) {
    let mut compiler = Compiler::new(agent, registry);
    let files = agent.preset_messages.iter().enumerate();
    let mut entries: Vec<Entry> = files.map(|(index, file)| compiler.entry(index, file)).collect();
    let mut diagnostics = compiler.diagnostics;
    keep_one_history(&mut entries, &mut diagnostics);
    (entries, diagnostics)
}

struct Compiler<'a> {
    registry: &'a AnchorRegistry,
    groups: BTreeMap<&'a str, &'a PresetGroup>,
    patterns: Patterns,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Compiler<'a> {
    fn new(agent: &'a Agent, registry: &'a AnchorRegistry) -> Self {
        let mut groups = BTreeMap::new();
        for group in &agent.preset_groups {
            if let Some(id) = group.id.as_deref() {
                groups.entry(id).or_insert(group);
            }
        }
        Self { registry, groups, patterns: Patterns::default(), diagnostics: Vec::new() }
    }

    fn entry(&mut self, index: usize, file: &PresetMessage) -> Entry {
        let part = read_part(file, self.registry);
        let (placement, mut found) = match &part {
            EntryPart::Message => Placement::read(file),
            // `check` reports the placement unless the preset uses it.
            EntryPart::Placeholder { anchor } if WORLD_INFO.contains(&&**anchor) => {
                let placement = Some(Placement::read(file).0);
                let in_history = placement.filter(|placement| matches!(placement, Placement::Depth { .. }));
                (in_history.unwrap_or(Placement::InOrder), Vec::new())
            }
            _ => (Placement::InOrder, Vec::new()),
        };
        let switch = self.switch(file, &mut found);
        self.diagnostics.extend(found.into_iter().map(|mut diagnostic| {
            let inner = diagnostic.location.pointer.take().unwrap_or_default();
            diagnostic.at_pointer(check::pointer(index, &inner))
        }));
        let default_role = match part {
            EntryPart::Placeholder { .. } => Role::System,
            _ => Role::default(),
        };
        Entry {
            index,
            part,
            role: file.role.unwrap_or(default_role),
            content: file.content.as_ref().map_or_else(|| Content::Text("".into()), Content::sound),
            attachments: file.all_attachments(),
            placement,
            lane: file.injection_strategy.as_ref().and_then(|strategy| strategy.lane).unwrap_or(0),
            source: Source::preset(file.id.clone(), index, file.name.clone()),
            triggers: file.triggers.clone(),
            switch,
        }
    }

    fn switch(&mut self, file: &PresetMessage, diagnostics: &mut Vec<Diagnostic>) -> Switch {
        if file.kept.is_malformed() {
            return Switch::Off(phrase!("the entry is not an object"));
        }
        if !file.is_enabled() {
            return Switch::Off(phrase!("disabled"));
        }
        let group = file.group_id.as_deref().and_then(|id| self.groups.get(id));
        if let Some(group) = group
            && group.enabled == Some(false)
        {
            let name = group.name.as_deref().or(group.id.as_deref()).unwrap_or_default();
            return Switch::Off(phrase!("group `{name}` is disabled", name = excerpt(name)));
        }
        let rule = file.model_match.as_ref();
        let rule = rule.and_then(|rule| ModelRule::compile(rule, &mut self.patterns, diagnostics));
        rule.map_or(Switch::On, |rule| Switch::When(Arc::new(rule)))
    }
}

/// An unregistered type is an ordinary message, to keep its content.
fn read_part(file: &PresetMessage, registry: &AnchorRegistry) -> EntryPart {
    if file.kept.is_malformed() {
        return EntryPart::Nothing;
    }
    match file.kind.as_deref() {
        None | Some("" | "message") => EntryPart::Message,
        Some("placeholder") => match file.id.as_deref().map(str::trim) {
            None | Some("") => EntryPart::Nothing,
            Some(id) if anchor_id(id) == CHAT_HISTORY => EntryPart::History,
            Some(id) => EntryPart::Placeholder { anchor: Arc::from(id) },
        },
        Some(kind) if anchor_id(kind) == CHAT_HISTORY => EntryPart::History,
        Some(kind) => match registry.get(kind) {
            Some(definition) if definition.has_template => {
                EntryPart::Template { anchor: definition.id.clone() }
            }
            Some(definition) => EntryPart::Placeholder { anchor: definition.id.clone() },
            None => EntryPart::Message,
        },
    }
}

/// Prefers an enabled history position.
fn keep_one_history(entries: &mut [Entry], diagnostics: &mut Vec<Diagnostic>) {
    let is_place = |entry: &&Entry| entry.part == EntryPart::History;
    let places = || entries.iter().filter(is_place);
    let chosen = places().find(|entry| entry.off_reason().is_none()).or_else(|| places().next());
    let Some(chosen) = chosen.map(|entry| entry.index) else { return };
    for entry in entries.iter_mut().filter(|entry| entry.part == EntryPart::History && entry.index != chosen)
    {
        diagnostics.push(check::second_history(entry.index, chosen));
        entry.part = EntryPart::Nothing;
    }
}
