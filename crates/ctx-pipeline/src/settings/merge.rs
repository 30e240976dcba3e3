//! Merging layers: the highest layer that names a processor wins whole.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::{ConfigField, Diagnostic, closest};
use serde_json::Value;

use super::read::shown;
use super::{Config, ConfigValue, EffectiveSetting, Origin, ProcessorSetting, SettingsLayer, Sourced};
use crate::codes;
use crate::processor::Descriptor;
use crate::registry::ProcessorRegistry;
use crate::spelling::{canonical_id, group_members};

/// Merges the layers for all processors of a registry, in the order of registration.
///
/// A value that its field does not take is a diagnostic, and the built-in default holds.
pub(crate) fn resolve(
    registry: &ProcessorRegistry,
    layers: &[SettingsLayer],
) -> (Vec<EffectiveSetting>, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let winners = winners(registry, layers, &mut findings);
    let settings = registry.descriptors().map(|descriptor| {
        let winner = winners.get(&*descriptor.id).copied();
        EffectiveSetting {
            id: descriptor.id.clone(),
            enabled: enabled(descriptor, winner),
            priority: match winner.and_then(|winner| Some((winner.origin, winner.setting.priority?))) {
                Some((origin, value)) => Sourced { value, origin },
                None => Sourced::built_in(descriptor.priority),
            },
            config: config(descriptor, winner, &mut findings),
        }
    });
    (settings.collect(), findings.finish())
}

/// The entry that counts for a processor.
#[derive(Clone, Copy)]
struct Winner<'a> {
    origin: Origin,
    setting: &'a ProcessorSetting,
    /// Whether the entry names a group that the processor belongs to, not the processor.
    is_group: bool,
    layer: usize,
}

/// Finds the entry that counts for each id that is named. O(settings · log settings).
fn winners<'a>(
    registry: &ProcessorRegistry,
    layers: &'a [SettingsLayer],
    findings: &mut Findings,
) -> BTreeMap<&'a str, Winner<'a>> {
    let mut sorted: Vec<&SettingsLayer> = layers.iter().collect();
    // Stable: of two layers of one origin the later counts.
    sorted.sort_by_key(|layer| layer.origin);
    let mut winners: BTreeMap<&str, Winner<'_>> = BTreeMap::new();
    for (layer, SettingsLayer { origin, settings }) in sorted.into_iter().enumerate() {
        for setting in settings {
            let winner = Winner { origin: *origin, setting, is_group: false, layer };
            if let Some(members) = group_members(&setting.id) {
                check_group(registry, winner, members, findings);
                for member in members {
                    take(&mut winners, member, Winner { is_group: true, ..winner }, findings);
                }
                continue;
            }
            if registry.place(&setting.id).is_none() {
                findings.unknown_processor(registry, winner);
            }
            take(&mut winners, canonical_id(&setting.id), winner, findings);
        }
    }
    winners
}

/// Lets an entry win, unless one of the same layer names the processor more closely.
fn take<'a>(
    winners: &mut BTreeMap<&'a str, Winner<'a>>,
    id: &'a str,
    new: Winner<'a>,
    findings: &mut Findings,
) {
    let beside = winners.get(id).filter(|known| known.layer == new.layer);
    if beside.is_some_and(|known| new.is_group && !known.is_group) {
        return;
    }
    if let Some(known) = beside.filter(|known| known.is_group == new.is_group && !new.is_group) {
        let message = format!("processor `{id}` is set twice by {}; the later counts", new.origin);
        findings.push(Diagnostic::warning(codes::DUPLICATE_SETTING, message), known.setting, None);
    }
    winners.insert(id, new);
}

fn enabled(descriptor: &Descriptor, winner: Option<Winner<'_>>) -> Sourced<bool> {
    let said = winner.and_then(|winner| {
        // A group that is on leaves each member as it is, on or off.
        let value = winner.setting.enabled.filter(|enabled| !(winner.is_group && *enabled))?;
        Some(Sourced { value, origin: winner.origin })
    });
    said.unwrap_or(Sourced::built_in(descriptor.default_enabled))
}

fn config(descriptor: &Descriptor, winner: Option<Winner<'_>>, findings: &mut Findings) -> Config {
    let fields = descriptor.config_fields.iter();
    let mut values: Vec<ConfigValue> = fields
        .map(|field| {
            let set = winner.and_then(|winner| Some((winner, winner.setting.config.get(&*field.key)?)));
            let setting = set.and_then(|(winner, value)| checked(descriptor, field, winner, value, findings));
            let default = || Sourced::built_in(field.default.clone());
            ConfigValue { key: field.key.to_string(), setting: setting.unwrap_or_else(default) }
        })
        .collect();
    if let Some(winner) = winner.filter(|winner| !winner.is_group) {
        values.extend(unknown_keys(descriptor, winner, findings));
    }
    Config::new(values)
}

/// Returns a value if its field takes it; null is as if it were absent.
fn checked(
    descriptor: &Descriptor,
    field: &ConfigField,
    winner: Winner<'_>,
    value: &Value,
    findings: &mut Findings,
) -> Option<Sourced<Value>> {
    if value.is_null() {
        return None;
    }
    let Err(expected) = field.check(value) else {
        return Some(Sourced { value: value.clone(), origin: winner.origin });
    };
    let (id, key, origin) = (&descriptor.id, &field.key, winner.origin);
    let message =
        format!("`{key}` of processor `{id}` is `{}` (set by {origin}), expected {expected}", shown(value));
    let default = format!("its default `{}` is used", shown(&field.default));
    let help = match field.suggest(value) {
        Some(question) if question.ends_with('?') => format!("{question} Until then {default}"),
        Some(suggestion) => format!("{suggestion}; until then {default}"),
        None => default,
    };
    let wrong = Diagnostic::warning(codes::SETTING_TYPE, message).with_help(help);
    findings.push(wrong, winner.setting, Some(key));
    None
}

/// Keeps the keys that a processor has no field for, and reports them.
fn unknown_keys(descriptor: &Descriptor, winner: Winner<'_>, findings: &mut Findings) -> Vec<ConfigValue> {
    let fields: BTreeSet<&str> = descriptor.config_fields.iter().map(|field| &*field.key).collect();
    let mut values = Vec::new();
    for (key, value) in winner.setting.config.iter().filter(|(key, _)| !fields.contains(key.as_str())) {
        let message = format!("processor `{}` has no setting `{key}`", descriptor.id);
        findings.unknown_setting(message, winner.setting, key, &fields);
        values.push(ConfigValue {
            key: key.clone(),
            setting: Sourced { value: value.clone(), origin: winner.origin },
        });
    }
    values
}

/// Reports the keys of a group's entry that no member has a field for.
fn check_group(registry: &ProcessorRegistry, winner: Winner<'_>, members: &[&str], findings: &mut Findings) {
    let members = members.iter().filter_map(|member| registry.get(member));
    let fields: BTreeSet<&str> =
        members.flat_map(|member| member.config_fields.iter().map(|field| &*field.key)).collect();
    for key in winner.setting.config.keys().filter(|key| !fields.contains(key.as_str())) {
        let message = format!("no processor of `{}` has a setting `{key}`", winner.setting.id);
        findings.unknown_setting(message, winner.setting, key, &fields);
    }
}

fn quoted(names: &BTreeSet<&str>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What is wrong with settings, so far.
struct Findings {
    diagnostics: Vec<Diagnostic>,
    suppressed: usize,
    /// How many more names are compared for suggestions.
    comparisons_left: usize,
}

/// How many findings one merge reports before the rest is only counted.
const MAX_FINDINGS: usize = 1_000;

/// How many names one merge compares for suggestions, since each comparison costs microseconds.
const MAX_COMPARISONS: usize = 20_000;

impl Default for Findings {
    fn default() -> Self {
        Self { diagnostics: Vec::new(), suppressed: 0, comparisons_left: MAX_COMPARISONS }
    }
}

impl Findings {
    /// Reports a finding at an entry, or at one of its settings.
    fn push(&mut self, diagnostic: Diagnostic, setting: &ProcessorSetting, key: Option<&str>) {
        if self.diagnostics.len() == MAX_FINDINGS {
            self.suppressed += 1;
            return;
        }
        self.diagnostics.push(match (&setting.place, key) {
            (None, _) => diagnostic,
            (Some(place), None) => diagnostic.at_pointer(&*place.entry),
            (Some(place), Some(key)) => {
                let key = key.replace('~', "~0").replace('/', "~1");
                diagnostic.at_pointer(format!("{}/{key}", place.config))
            }
        });
    }

    fn unknown_processor(&mut self, registry: &ProcessorRegistry, winner: Winner<'_>) {
        let message = format!("no processor `{}` (set by {})", winner.setting.id, winner.origin);
        let unknown = Diagnostic::warning(codes::UNKNOWN_PROCESSOR, message);
        let known = registry.descriptors().map(|descriptor| &*descriptor.id);
        let near = self.near(canonical_id(&winner.setting.id), known);
        let unknown =
            unknown.with_help(near.unwrap_or_else(|| "`ctx processors list` names them all".to_owned()));
        self.push(unknown, winner.setting, None);
    }

    fn unknown_setting(
        &mut self,
        message: String,
        setting: &ProcessorSetting,
        key: &str,
        fields: &BTreeSet<&str>,
    ) {
        let unknown = Diagnostic::warning(codes::UNKNOWN_SETTING, message);
        let near = self.near(key, fields.iter().copied());
        let help = near.unwrap_or_else(|| match fields.is_empty() {
            true => "it has no settings".to_owned(),
            false => format!("known settings: {}", quoted(fields)),
        });
        self.push(unknown.with_help(help), setting, Some(key));
    }

    /// Asks whether the nearest known name was meant, while there are comparisons left.
    fn near<'n>(&mut self, name: &str, known: impl Iterator<Item = &'n str>) -> Option<String> {
        let left = &mut self.comparisons_left;
        let known = known.take_while(|_| {
            let may_compare = *left > 0;
            *left = left.saturating_sub(1);
            may_compare
        });
        closest(name, known).map(|near| format!("did you mean `{near}`?"))
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        if self.suppressed > 0 {
            self.diagnostics.push(Diagnostic::more(self.suppressed, "settings of processors"));
        }
        self.diagnostics
    }
}
