use std::sync::Arc;

use ctx_types::internal::{Argument, Divider, NearestName, excerpt};
use ctx_types::{Diagnostic, Fix, Phrase, Reader, phrase};
use serde_json::{Map, Value};

use super::{ProcessorSetting, SettingOrigin, SettingPlace, SettingsLayer, old};
use crate::codes;

const MAX_SETTINGS: usize = 20_000;

/// Maximum absolute priority, which leaves space for other processors on both sides.
pub const MAX_PRIORITY: i64 = 1_000_000_000;

const PRIORITY: &str = "a whole number from -1000000000 to 1000000000";

const KEYS: [&str; 4] = ["id", "enabled", "priority", "config"];

impl SettingsLayer {
    /// Reads processor settings from the `parameters` of an agent, model or user, including AIO Hub's older
    /// spellings.
    ///
    /// - `processors`: `[{id, enabled, priority, config}]`, up to 20,000 entries. Overrides the older spellings,
    ///   with a diagnostic.
    /// - `contextPostProcessing.rules`: AIO Hub's formatter rules, `[{type, enabled, …}]` with settings in
    ///   the other keys, or ids to enable. Missing settings take the built-in default. An empty separator or
    ///   placeholder is used as is; AIO Hub treats it as not set.
    /// - `contextManagement {enabled, retainedCharacters}`: settings of `token-limiter`. `enabled: false`
    ///   disables it, because it means no limit in AIO Hub. `maxContextTokens` is part of the budget and not
    ///   read here.
    pub fn from_parameters(
        origin: SettingOrigin,
        parameters: &Value,
        pointer: &str,
    ) -> (Self, Vec<Diagnostic>) {
        let mut reader = Reader::new();
        let parameters = object(parameters, &mut reader);
        let mut settings =
            parameters.map_or(Vec::new(), |parameters| read_parameters(parameters, &mut reader));
        let mut diagnostics = reader.finish();
        for place in settings.iter_mut().filter_map(|setting| setting.place.as_mut()) {
            place.entry = format!("{pointer}{}", place.entry).into();
            place.config = format!("{pointer}{}", place.config).into();
        }
        for below in diagnostics.iter_mut().filter_map(|diagnostic| diagnostic.location.pointer.as_mut()) {
            below.insert_str(0, pointer);
        }
        (Self { origin, settings }, diagnostics)
    }
}

const PARAMETERS: [&str; 3] = ["processors", "contextPostProcessing", "contextManagement"];

fn read_parameters(parameters: &Map<String, Value>, reader: &mut Reader) -> Vec<ProcessorSetting> {
    reader.check_keys(parameters, &PARAMETERS);
    let mut at = |key: &str, read: fn(&Value, &mut Reader) -> Vec<ProcessorSetting>| match parameters.get(key)
    {
        Some(value) => reader.at_key(key, |reader| read(value, reader)),
        None => Vec::new(),
    };
    let new = at("processors", |list, reader| entries(list, reader, entry));
    let mut settings = at("contextPostProcessing", |processing, reader| {
        let rules = object(processing, reader).and_then(|processing| {
            reader.check_keys(processing, &["rules"]);
            processing.get("rules")
        });
        let read = |reader: &mut Reader| entries(rules.unwrap_or(&Value::Null), reader, old::rule);
        reader.at_key("rules", read)
    });
    settings.extend(at("contextManagement", |management, reader| {
        old::management(management, reader).into_iter().collect()
    }));
    old::remove_overridden(&mut settings, &new, reader);
    settings.extend(new);
    settings
}

/// Treats null as an empty list.
fn entries(
    list: &Value,
    reader: &mut Reader,
    read: impl Fn(&Value, &mut Reader) -> Option<ProcessorSetting>,
) -> Vec<ProcessorSetting> {
    let Some(items) = list.as_array() else {
        if !list.is_null() {
            reader.report(wrong_type("a list", list));
        }
        return Vec::new();
    };
    if let Some(rest) = items.len().checked_sub(MAX_SETTINGS).filter(|rest| *rest > 0) {
        let message =
            phrase!("more than {limit} entries; the last {rest} are ignored", limit = MAX_SETTINGS, rest);
        reader.report(Diagnostic::warning(codes::TOO_MANY_SETTINGS, message));
    }
    let items = items.iter().take(MAX_SETTINGS).enumerate();
    items.filter_map(|(index, item)| reader.at_index(index, |reader| read(item, reader))).collect()
}

fn entry(item: &Value, reader: &mut Reader) -> Option<ProcessorSetting> {
    let Some((object, id)) = item.as_object().and_then(|object| Some((object, object.get("id")?.as_str()?)))
    else {
        reader.report(wrong_type("an object with the `id` of a processor", item));
        return None;
    };
    reader.unknown_fields(object, &KEYS, unknown_key);
    let config = field(object, "config", "an object", reader, |value| value.as_object().cloned());
    let pointer = reader.pointer();
    Some(ProcessorSetting {
        id: Arc::from(id),
        enabled: field(object, "enabled", "true or false", reader, Value::as_bool),
        priority: field(object, "priority", PRIORITY, reader, priority),
        config: config.unwrap_or_default(),
        place: Some(SettingPlace { config: format!("{pointer}/config").into(), entry: pointer.into() }),
    })
}

/// Treats null as missing.
pub(super) fn field<T>(
    object: &Map<String, Value>,
    key: &str,
    expected: &'static str,
    reader: &mut Reader,
    read: impl Fn(&Value) -> Option<T>,
) -> Option<T> {
    reader.field(object, key, &read, |value| {
        let unquoted = value.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
        match unquoted.filter(|meant| read(meant).is_some()) {
            Some(meant) => {
                let help = phrase!("write `{meant}` without quotes", meant = meant.to_string());
                wrong_type(expected, value).with_help(help).with_fix(Fix::value(meant))
            }
            None => wrong_type(expected, value),
        }
    })
}

/// Treats null as missing; reports anything but an object.
pub(super) fn object<'v>(value: &'v Value, reader: &mut Reader) -> Option<&'v Map<String, Value>> {
    if value.as_object().is_none() && !value.is_null() {
        reader.report(wrong_type("an object", value));
    }
    value.as_object()
}

pub(super) fn wrong_type(expected: &'static str, found: &Value) -> Diagnostic {
    let message = phrase!(
        "expected {expected}, found `{found}`; the value is ignored",
        expected = Phrase::from(expected),
        found = short_json(found)
    );
    Diagnostic::warning(codes::SETTING_TYPE, message)
}

/// Shortens long values.
pub(super) fn short_json(value: &Value) -> String {
    excerpt(&value.to_string()).into_owned()
}

/// JSON has one number type: `500.0` is an integer too.
#[expect(clippy::cast_possible_truncation, reason = "an integer; saturates")]
fn priority(value: &Value) -> Option<i64> {
    let whole = value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64);
    whole.filter(|priority| (-MAX_PRIORITY..=MAX_PRIORITY).contains(priority))
}

fn unknown_key(key: &str, near: Option<NearestName<'_>>) -> Diagnostic {
    let message = phrase!("unknown key `{key}` in an entry of `processors`", key = excerpt(key));
    Diagnostic::warning(codes::UNKNOWN_SETTING, message).with_guess_or(near, Fix::key, || {
        phrase!(
            "use one of {keys}; put processor settings in `config`",
            keys = Argument::names(KEYS, Divider::Comma)
        )
    })
}
