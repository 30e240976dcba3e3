//! Settings that a user changes and an application stores: only what differs from the built-in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ctx_types::Diagnostic;
use serde::Serialize;
use serde_json::Value;

use crate::processor::Descriptor;
use crate::registry::ProcessorRegistry;
use crate::reorder::{Rank, reordered};
use crate::settings::{Origin, ProcessorSetting, SettingsLayer};
use crate::spelling::{canonical_id, group_members};

/// The user's own settings, to be stored: only what differs from the built-in.
///
/// A processor that a later version adds is therefore on for everyone, and a reset restores everything. It is
/// written as the list that [`SettingsLayer::read`] reads. Settings of processors that are not registered
/// stay as they are: their plug-in may come back.
///
/// ```
/// use ctx_pipeline::{ProcessorRegistry, StoredSettings};
///
/// let registry = ProcessorRegistry::default();
/// let mut stored = StoredSettings::default();
/// stored.set_enabled(&registry, "token-limiter", false);
/// assert_eq!(serde_json::json!(stored), serde_json::json!([{ "id": "token-limiter", "enabled": false }]));
/// stored.reset();
/// assert!(stored.settings().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct StoredSettings {
    settings: Vec<ProcessorSetting>,
}

impl StoredSettings {
    /// Begins with settings that were stored.
    pub fn new(settings: Vec<ProcessorSetting>) -> Self {
        Self { settings }
    }

    /// Reads the list that was stored; what cannot be read is a diagnostic below `pointer`, and left out.
    pub fn read(list: &Value, pointer: &str) -> (Self, Vec<Diagnostic>) {
        let (layer, diagnostics) = SettingsLayer::read(Origin::User, list, pointer);
        (Self::new(layer.settings), diagnostics)
    }

    /// Returns what is to be stored.
    pub fn settings(&self) -> &[ProcessorSetting] {
        &self.settings
    }

    /// Returns the settings as the user's layer.
    pub fn layer(&self) -> SettingsLayer {
        SettingsLayer { origin: Origin::User, settings: self.settings.clone() }
    }

    /// Switches a processor, or all of a group, on or off.
    pub fn set_enabled(&mut self, registry: &ProcessorRegistry, id: &str, enabled: bool) {
        self.change(registry, id, |setting, _| setting.enabled = Some(enabled));
    }

    /// Sets when a processor runs.
    pub fn set_priority(&mut self, registry: &ProcessorRegistry, id: &str, priority: i64) {
        self.change(registry, id, |setting, _| setting.priority = Some(priority));
    }

    /// Sets one setting of a processor, or of those of a group that have a field for it.
    pub fn set(&mut self, registry: &ProcessorRegistry, id: &str, key: &str, value: &Value) {
        let is_group = group_members(id).is_some();
        self.change(registry, id, |setting, descriptor| {
            let has_field = |known: &Descriptor| known.config_fields.iter().any(|field| &*field.key == key);
            if !is_group || descriptor.is_some_and(has_field) {
                setting.config.insert(key.to_owned(), value.clone());
            }
        });
    }

    /// Makes the processors run in the given order; those that are not named keep their priority.
    ///
    /// As few as possible get another priority: the others move between the neighbours that they are given, or
    /// those after them give way where there is no number between. Ids that are not registered, or named twice,
    /// do not count. O((ids + stored settings) · log of these).
    pub fn reorder(&mut self, registry: &ProcessorRegistry, ids: &[&str]) {
        self.split_groups(registry);
        let named = self.ranks(registry, ids);
        let ranks: Vec<Rank> = named.iter().map(|(_, rank)| *rank).collect();
        let priorities = named.into_iter().zip(reordered(&ranks));
        let changed = priorities.filter(|((_, rank), priority)| rank.priority != *priority);
        let changed: Vec<(&str, i64)> = changed.map(|((id, _), priority)| (id, priority)).collect();
        let mut left: BTreeMap<&str, i64> = changed.iter().copied().collect();
        // Of two entries with one id the later counts.
        for setting in self.settings.iter_mut().rev() {
            if let Some(priority) = left.remove(canonical_id(&setting.id)) {
                setting.priority = Some(priority);
            }
        }
        for (id, priority) in changed.into_iter().filter(|(id, _)| left.contains_key(id)) {
            let priority = Some(priority);
            self.settings.push(ProcessorSetting {
                id: Arc::from(id),
                priority,
                ..ProcessorSetting::default()
            });
        }
        self.settings.retain_mut(|setting| keep_differences(setting, registry));
    }

    /// Returns when each registered processor runs as things stand, in the order in which they are named.
    fn ranks<'a>(&self, registry: &ProcessorRegistry, ids: &[&'a str]) -> Vec<(&'a str, Rank)> {
        let stored = self.settings.iter();
        let stored = stored.filter_map(|setting| Some((canonical_id(&setting.id), setting.priority?)));
        let stored: BTreeMap<&str, i64> = stored.collect();
        let mut seen = BTreeSet::new();
        let ids = ids.iter().map(|id| canonical_id(id)).filter(|id| seen.insert(*id));
        ids.filter_map(|id| {
            let priority = stored.get(id).copied().unwrap_or(registry.get(id)?.priority);
            Some((id, Rank { priority, place: registry.place(id)? }))
        })
        .collect()
    }

    /// Restores the built-in settings of all processors: enabled, priority and config.
    pub fn reset(&mut self) {
        self.settings.clear();
    }

    /// Restores the built-in settings of one processor, or of all of a group.
    pub fn reset_one(&mut self, id: &str) {
        for id in members(id) {
            self.settings.retain(|setting| canonical_id(&setting.id) != canonical_id(id));
        }
    }

    /// Puts an entry for each member in the place of a group's, so that members can be changed one by one.
    fn split_groups(&mut self, registry: &ProcessorRegistry) {
        if self.settings.iter().all(|setting| group_members(&setting.id).is_none()) {
            return;
        }
        let own: BTreeSet<String> =
            self.settings.iter().map(|setting| canonical_id(&setting.id).to_owned()).collect();
        let split = |setting: ProcessorSetting| match group_members(&setting.id) {
            None => vec![setting],
            Some(members) => {
                let members = members.iter().filter(|member| !own.contains(**member));
                members.map(|member| share(&setting, member, registry)).collect()
            }
        };
        self.settings = std::mem::take(&mut self.settings).into_iter().flat_map(split).collect();
    }

    /// Changes the entry of a processor, and stores no more of it than what differs from the built-in.
    fn change(
        &mut self,
        registry: &ProcessorRegistry,
        id: &str,
        change: impl Fn(&mut ProcessorSetting, Option<&Descriptor>),
    ) {
        self.split_groups(registry);
        for id in members(id) {
            let id = canonical_id(id);
            let found = self.settings.iter().rposition(|setting| canonical_id(&setting.id) == id);
            let index = found.unwrap_or_else(|| {
                self.settings.push(ProcessorSetting { id: Arc::from(id), ..ProcessorSetting::default() });
                self.settings.len() - 1
            });
            if let Some(setting) = self.settings.get_mut(index) {
                change(setting, registry.get(id));
            }
        }
        self.settings.retain_mut(|setting| keep_differences(setting, registry));
    }
}

/// What an entry of a group says about one of its members.
fn share(group: &ProcessorSetting, member: &'static str, registry: &ProcessorRegistry) -> ProcessorSetting {
    let fields = registry.get(member).map(|descriptor| &*descriptor.config_fields).unwrap_or_default();
    let has_field = |key: &str| fields.iter().any(|field| &*field.key == key);
    let config = group.config.iter().filter(|(key, _)| has_field(key));
    ProcessorSetting {
        id: Arc::from(member),
        enabled: group.enabled.filter(|enabled| !enabled),
        priority: group.priority,
        config: config.map(|(key, value)| (key.clone(), value.clone())).collect(),
        place: None,
    }
}

/// The ids that an id stands for: those of a group, or itself.
fn members<'a>(id: &'a str) -> Vec<&'a str> {
    group_members(id).map_or_else(|| vec![id], <[&'a str]>::to_vec)
}

/// Takes out what is as built in; tells whether anything is left.
fn keep_differences(setting: &mut ProcessorSetting, registry: &ProcessorRegistry) -> bool {
    if let Some(descriptor) = registry.get(&setting.id) {
        setting.enabled = setting.enabled.filter(|enabled| *enabled != descriptor.default_enabled);
        setting.priority = setting.priority.filter(|priority| *priority != descriptor.priority);
        for field in &descriptor.config_fields {
            if setting.config.get(&*field.key).is_some_and(|value| *value == field.default) {
                setting.config.shift_remove(&*field.key);
            }
        }
    }
    setting.enabled.is_some() || setting.priority.is_some() || !setting.config.is_empty()
}
