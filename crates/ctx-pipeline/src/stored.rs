//! Settings that a user changes and an application stores: only what differs from the built-in.

use std::sync::Arc;

use serde_json::Value;

use crate::registry::ProcessorRegistry;
use crate::settings::{Origin, ProcessorSetting, SettingsLayer, canonical_id};

/// The user's own settings, to be stored: only what differs from the built-in.
///
/// A processor that a later version adds is therefore on for everyone, and a reset restores everything.
///
/// ```
/// use ctx_pipeline::{ProcessorRegistry, StoredSettings};
///
/// let registry = ProcessorRegistry::default();
/// let mut stored = StoredSettings::default();
/// stored.set_enabled("token-limiter", false);
/// assert_eq!(stored.settings().len(), 1);
/// stored.reset();
/// assert!(stored.settings().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredSettings {
    settings: Vec<ProcessorSetting>,
}

impl StoredSettings {
    /// Begins with settings that were stored.
    pub fn new(settings: Vec<ProcessorSetting>) -> Self {
        Self { settings }
    }

    /// Returns what is to be stored.
    pub fn settings(&self) -> &[ProcessorSetting] {
        &self.settings
    }

    /// Returns the settings as the user's layer.
    pub fn layer(&self) -> SettingsLayer {
        SettingsLayer { origin: Origin::User, settings: self.settings.clone() }
    }

    /// Switches a processor on or off.
    pub fn set_enabled(&mut self, id: &str, enabled: bool) {
        self.setting(id).enabled = Some(enabled);
    }

    /// Sets one setting of a processor.
    pub fn set(&mut self, id: &str, key: &str, value: Value) {
        self.setting(id).config.insert(key.to_owned(), value);
    }

    /// Makes the processors run in the given order; those that are not named keep their priority.
    ///
    /// Only priorities that must change are stored: each named processor that would not run after the one
    /// before it gets that one's priority, and ties go by registration or else one more.
    pub fn reorder(&mut self, registry: &ProcessorRegistry, ids: &[&str]) {
        let position = |id: &str| registry.descriptors().position(|descriptor| &*descriptor.id == id);
        let mut previous: Option<(i64, usize)> = None;
        for id in ids.iter().map(|id| canonical_id(id)) {
            let (Some(place), Some(descriptor)) = (position(id), registry.get(id)) else { continue };
            let stored = self.settings.iter().find(|setting| canonical_id(&setting.id) == id);
            let current = stored.and_then(|setting| setting.priority).unwrap_or(descriptor.priority);
            let priority = match previous {
                Some((before, registered)) if (current, place) < (before, registered) => {
                    before + i64::from(place < registered)
                }
                _ => current,
            };
            if priority != current {
                self.setting(id).priority = Some(priority);
            }
            previous = Some((priority, place));
        }
    }

    /// Restores the built-in settings of all processors: enabled, priority and config.
    pub fn reset(&mut self) {
        self.settings.clear();
    }

    /// Restores the built-in settings of one processor.
    pub fn reset_one(&mut self, id: &str) {
        self.settings.retain(|setting| canonical_id(&setting.id) != canonical_id(id));
    }

    fn setting(&mut self, id: &str) -> &mut ProcessorSetting {
        let id = canonical_id(id);
        let found = self.settings.iter().position(|setting| canonical_id(&setting.id) == id);
        let index = found.unwrap_or_else(|| {
            self.settings.push(ProcessorSetting { id: Arc::from(id), ..ProcessorSetting::default() });
            self.settings.len() - 1
        });
        &mut self.settings[index]
    }
}
