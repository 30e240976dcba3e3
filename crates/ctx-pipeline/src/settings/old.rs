//! Older spellings of AIO Hub's settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use ctx_types::{Diagnostic, Reader, phrase};
use serde_json::{Map, Value};

use super::read::{field, object, wrong_type};
use super::{ProcessorSetting, SettingPlace};
use crate::codes;
use crate::spelling::{canonical_id, group_members};

/// An id enables a formatter; an object has settings in its other keys.
pub(super) fn rule(item: &Value, reader: &mut Reader) -> Option<ProcessorSetting> {
    if let Some(id) = item.as_str() {
        return Some(ProcessorSetting { place: Some(place(reader)), ..ProcessorSetting::switch(id, true) });
    }
    let Some((rule, id)) = item.as_object().and_then(|rule| Some((rule, rule.get("type")?.as_str()?))) else {
        reader.report(wrong_type("a rule with the `type` of a processor", item));
        return None;
    };
    let settings = rule.iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "enabled"));
    Some(ProcessorSetting {
        id: Arc::from(id),
        enabled: field(rule, "enabled", "true or false", reader, Value::as_bool),
        priority: None,
        config: settings.map(|(key, value)| (key.clone(), value.clone())).collect(),
        place: Some(place(reader)),
    })
}

pub(super) fn management(value: &Value, reader: &mut Reader) -> Option<ProcessorSetting> {
    /// Same key as in the limiter's settings.
    const RETAINED: &str = "retainedCharacters";
    let management = object(value, reader)?;
    reader.check_keys(management, &["enabled", "maxContextTokens", RETAINED]);
    let enabled = field(management, "enabled", "true or false", reader, Value::as_bool);
    let retained = management.get(RETAINED).filter(|retained| !retained.is_null());
    let config: Map<String, Value> =
        retained.map(|retained| (RETAINED.to_owned(), retained.clone())).into_iter().collect();
    if enabled.is_none() && config.is_empty() {
        return None;
    }
    Some(ProcessorSetting {
        id: Arc::from("token-limiter"),
        enabled,
        priority: None,
        config,
        place: Some(place(reader)),
    })
}

/// Newer settings override these; reports differences.
pub(super) fn remove_overridden(
    settings: &mut Vec<ProcessorSetting>,
    new: &[ProcessorSetting],
    reader: &mut Reader,
) {
    let mut named: BTreeSet<&str> = new.iter().map(|setting| canonical_id(&setting.id)).collect();
    named.extend(new.iter().filter_map(|setting| group_members(&setting.id)).flatten());
    settings.retain(|setting| {
        let id = canonical_id(&setting.id);
        let gives_way = named.contains(id);
        let is_same = |newer: &ProcessorSetting| {
            canonical_id(&newer.id) == id && newer.enabled == setting.enabled && setting.config.is_empty()
        };
        if gives_way && !new.iter().any(is_same) {
            let message = phrase!("`processors` already sets `{id}`; this old key is ignored", id);
            let older = Diagnostic::info(codes::DUPLICATE_SETTING, message);
            let entry = setting.place.as_ref().map(|place| place.entry.to_string());
            reader.report(older.at_pointer(entry.unwrap_or_default()));
        }
        !gives_way
    });
}

fn place(reader: &Reader) -> SettingPlace {
    let entry: Arc<str> = reader.pointer().into();
    SettingPlace { config: entry.clone(), entry }
}
