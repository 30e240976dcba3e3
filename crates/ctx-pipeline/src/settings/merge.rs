//! The highest layer that names a processor replaces lower entries completely.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::internal::excerpt;
use ctx_types::{ConfigField, Diagnostic, Fix, Phrase, phrase};
use serde_json::Value;

use super::findings::Findings;
use super::read::short_json;
use super::{
    Config, ConfigValue, EffectiveSetting, ProcessorSetting, SettingOrigin, SettingsLayer, SourcedValue,
};
use crate::codes;
use crate::processor::Descriptor;
use crate::registry::ProcessorRegistry;
use crate::spelling::{canonical_id, group_members};

impl ProcessorRegistry {
    /// Merges layers of settings, with the origin of each value, in order of registration. For an invalid value,
    /// the built-in default applies, with a diagnostic. O(processors + settings).
    #[doc(hidden)]
    pub fn resolve(&self, layers: &[SettingsLayer]) -> (Vec<EffectiveSetting>, Vec<Diagnostic>) {
        let mut findings = Findings::default();
        let entries = entries(self, layers, &mut findings);
        let settings = self.descriptors().map(|descriptor| {
            let entries = entries.get(&*descriptor.id).map_or(&[][..], Vec::as_slice);
            let winner = entries.last().copied();
            if let [.., overruled, winner] = entries {
                findings.report_overruled(&descriptor.id, *winner, *overruled);
            }
            EffectiveSetting {
                id: descriptor.id.clone(),
                decided_by: winner.map(|winner| winner.origin),
                overrules: entries.iter().rev().skip(1).map(|entry| entry.origin).collect(),
                enabled: enabled(descriptor, winner),
                priority: match winner.and_then(|winner| Some((winner.origin, winner.setting.priority?))) {
                    Some((origin, value)) => SourcedValue { value, origin },
                    None => SourcedValue::built_in(descriptor.priority),
                },
                config: config(descriptor, winner, &mut findings),
            }
        });
        (settings.collect(), findings.finish())
    }
}

#[derive(Clone, Copy)]
pub(super) struct Winner<'a> {
    pub(super) origin: SettingOrigin,
    pub(super) setting: &'a ProcessorSetting,
    /// Whether the entry names a group.
    is_group: bool,
    layer: usize,
}

/// At most one entry per id and layer, the highest last. O(settings · log settings).
fn entries<'a>(
    registry: &ProcessorRegistry,
    layers: &'a [SettingsLayer],
    findings: &mut Findings,
) -> BTreeMap<&'a str, Vec<Winner<'a>>> {
    let mut sorted: Vec<&SettingsLayer> = layers.iter().collect();
    // Stable: of two layers with one origin, the later applies.
    sorted.sort_by_key(|layer| layer.origin);
    let mut entries: BTreeMap<&str, Vec<Winner<'_>>> = BTreeMap::new();
    for (layer, SettingsLayer { origin, settings }) in sorted.into_iter().enumerate() {
        for setting in settings {
            let winner = Winner { origin: *origin, setting, is_group: false, layer };
            if let Some(members) = group_members(&setting.id) {
                check_group(registry, winner, members, findings);
                for member in members {
                    let entries = entries.entry(member).or_default();
                    take(entries, member, Winner { is_group: true, ..winner }, findings);
                }
                continue;
            }
            if registry.place(&setting.id).is_none() {
                findings.unknown_processor(registry, winner);
            }
            let id = canonical_id(&setting.id);
            take(entries.entry(id).or_default(), id, winner, findings);
        }
    }
    entries
}

/// An entry for a processor overrides one for its group in the same layer.
fn take<'a>(entries: &mut Vec<Winner<'a>>, id: &'a str, new: Winner<'a>, findings: &mut Findings) {
    let beside = entries.pop_if(|known| known.layer == new.layer);
    if let Some(known) = beside.filter(|known| new.is_group && !known.is_group) {
        entries.push(known);
        return;
    }
    if let Some(known) = beside.filter(|known| known.is_group == new.is_group && !new.is_group) {
        let message = phrase!(
            "processor `{id}` is set twice by {origin}; the second one is used",
            id = excerpt(id),
            origin = Phrase::from(new.origin.name())
        );
        findings.push(Diagnostic::warning(codes::DUPLICATE_SETTING, message), known.setting, None);
    }
    entries.push(new);
}

fn enabled(descriptor: &Descriptor, winner: Option<Winner<'_>>) -> SourcedValue<bool> {
    let said = winner.and_then(|winner| {
        // An enabled group does not change its members.
        let value = winner.setting.enabled.filter(|enabled| !(winner.is_group && *enabled))?;
        Some(SourcedValue { value, origin: winner.origin })
    });
    said.unwrap_or(SourcedValue::built_in(descriptor.default_enabled))
}

fn config(descriptor: &Descriptor, winner: Option<Winner<'_>>, findings: &mut Findings) -> Config {
    let fields = descriptor.config_fields.iter();
    let mut values: Vec<ConfigValue> = fields
        .map(|field| {
            let set = winner.and_then(|winner| Some((winner, winner.setting.config.get(&*field.key)?)));
            let setting =
                set.and_then(|(winner, value)| check_value(descriptor, field, winner, value, findings));
            let default = || SourcedValue::built_in(field.default.clone());
            ConfigValue { key: field.key.to_string(), setting: setting.unwrap_or_else(default) }
        })
        .collect();
    if let Some(winner) = winner.filter(|winner| !winner.is_group) {
        values.extend(unknown_keys(descriptor, winner, findings));
    }
    Config::new(values)
}

/// Treats null as missing.
fn check_value(
    descriptor: &Descriptor,
    field: &ConfigField,
    winner: Winner<'_>,
    value: &Value,
    findings: &mut Findings,
) -> Option<SourcedValue<Value>> {
    if value.is_null() {
        return None;
    }
    let Err(expected) = field.check(value) else {
        return Some(SourcedValue { value: value.clone(), origin: winner.origin });
    };
    let (id, key, origin) = (&descriptor.id, &field.key, winner.origin);
    let message = phrase!(
        "`{key}` of processor `{id}` is `{value}` (set by {origin}); expected {expected}",
        key,
        id,
        value = short_json(value),
        origin = Phrase::from(origin.name()),
        expected
    );
    let default = short_json(&field.default);
    let help = match field.suggest(value) {
        Some(question) if question.template().ends_with('?') => {
            phrase!("{question} The default `{default}` is used until then", question, default)
        }
        Some(suggestion) => {
            phrase!("{suggestion}; the default `{default}` is used until then", suggestion, default)
        }
        None => phrase!("correct the value; the default `{default}` is used until then", default),
    };
    let mut wrong = Diagnostic::warning(codes::SETTING_TYPE, message).with_help(help);
    wrong.fix = field.find_correction(value).map(|meant| Box::new(Fix::value(meant)));
    findings.push(wrong, winner.setting, Some(key));
    None
}

fn unknown_keys(descriptor: &Descriptor, winner: Winner<'_>, findings: &mut Findings) -> Vec<ConfigValue> {
    let fields: BTreeSet<&str> = descriptor.config_fields.iter().map(|field| &*field.key).collect();
    let mut values = Vec::new();
    for (key, value) in winner.setting.config.iter().filter(|(key, _)| !fields.contains(key.as_str())) {
        let message = phrase!(
            "processor `{descriptor}` has no setting `{key}`",
            descriptor = descriptor.id,
            key = excerpt(key)
        );
        findings.unknown_setting(message, winner.setting, key, &fields);
        values.push(ConfigValue {
            key: key.clone(),
            setting: SourcedValue { value: value.clone(), origin: winner.origin },
        });
    }
    values
}

fn check_group(registry: &ProcessorRegistry, winner: Winner<'_>, members: &[&str], findings: &mut Findings) {
    let members = members.iter().filter_map(|member| registry.get(member));
    let fields: BTreeSet<&str> =
        members.flat_map(|member| member.config_fields.iter().map(|field| &*field.key)).collect();
    for key in winner.setting.config.keys().filter(|key| !fields.contains(key.as_str())) {
        let message = phrase!(
            "no processor in `{setting}` has a setting `{key}`",
            setting = excerpt(&winner.setting.id),
            key = excerpt(key)
        );
        findings.unknown_setting(message, winner.setting, key, &fields);
    }
}
