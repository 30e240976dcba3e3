//! Settings that a user changes and an application stores: only what differs from the built-in.

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
    /// those after them give way where there is no number between. Ids that are not registered or named twice
    /// do not count. O(ids · (log ids + stored settings)).
    pub fn reorder(&mut self, registry: &ProcessorRegistry, ids: &[&str]) {
        let mut named: Vec<(&Descriptor, Rank)> = Vec::with_capacity(ids.len());
        let mut is_named = vec![false; registry.descriptors().count()];
        let stored: std::collections::BTreeMap<&str, i64> = self
            .settings
            .iter()
            .filter_map(|setting| Some((canonical_id(&setting.id), setting.priority?)))
            .collect();
        for id in ids {
            let (Some(place), Some(descriptor)) = (registry.place(id), registry.get(id)) else { continue };
            if is_named.get(place) == Some(&false) {
                is_named[place] = true;
                let priority = stored.get(&*descriptor.id).copied().unwrap_or(descriptor.priority);
                named.push((descriptor, Rank { priority, place }));
            }
        }
        let ranks: Vec<Rank> = named.iter().map(|(_, rank)| *rank).collect();
        for ((descriptor, rank), priority) in named.into_iter().zip(reordered(&ranks)) {
            if rank.priority != priority {
                self.set_priority(registry, &descriptor.id, priority);
            }
        }
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

    /// Changes the entry of a processor, and stores no more of it than what differs from the built-in.
    fn change(
        &mut self,
        registry: &ProcessorRegistry,
        id: &str,
        change: impl Fn(&mut ProcessorSetting, Option<&Descriptor>),
    ) {
        for id in members(id) {
            let id = canonical_id(id);
            let descriptor = registry.get(id);
            let found = self.settings.iter().rposition(|setting| canonical_id(&setting.id) == id);
            let mut setting = match found {
                Some(index) => self.settings[index].clone(),
                None => ProcessorSetting { id: Arc::from(id), ..ProcessorSetting::default() },
            };
            change(&mut setting, descriptor);
            if let Some(descriptor) = descriptor {
                keep_differences(&mut setting, descriptor);
            }
            match (found, is_empty(&setting)) {
                (Some(index), false) => self.settings[index] = setting,
                (Some(index), true) => drop(self.settings.remove(index)),
                (None, false) => self.settings.push(setting),
                (None, true) => {}
            }
        }
    }
}

/// The ids that an id stands for: those of a group, or itself.
fn members<'a>(id: &'a str) -> Vec<&'a str> {
    group_members(id).map_or_else(|| vec![id], <[&'a str]>::to_vec)
}

fn keep_differences(setting: &mut ProcessorSetting, descriptor: &Descriptor) {
    setting.enabled = setting.enabled.filter(|enabled| *enabled != descriptor.default_enabled);
    setting.priority = setting.priority.filter(|priority| *priority != descriptor.priority);
    for field in &descriptor.config_fields {
        if setting.config.get(&*field.key).is_some_and(|value| *value == field.default) {
            setting.config.shift_remove(&*field.key);
        }
    }
}

fn is_empty(setting: &ProcessorSetting) -> bool {
    setting.enabled.is_none() && setting.priority.is_none() && setting.config.is_empty()
}
