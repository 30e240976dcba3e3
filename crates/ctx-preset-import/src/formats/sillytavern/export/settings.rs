//! The parameters of an agent as settings of a chat-completion preset.

use ctx_types::{Diagnostic, phrase};
use serde_json::Value;

use super::put;
use crate::codes;
use crate::formats::sillytavern::parameters::{self, OLD_SAMPLERS, SAMPLERS};
use crate::formats::sillytavern::processors::{self, Formatters, NAMES, TOOLS, is_for, is_for_formatter};
use crate::loose::{Object, flag, text, whole};

/// Writes the settings that are not as they were; returns what of them no preset can say.
pub(super) fn write(now: &Value, before: &Value, preset: &mut Object) -> Option<Diagnostic> {
    let parameter = |agent: &Value, key: &str| agent.pointer(&format!("/parameters/{key}")).cloned();
    for (theirs, ours) in SAMPLERS.into_iter().chain([("stream_openai", "stream")]) {
        match (parameter(now, ours), parameter(before, ours)) {
            (Some(value), earlier) if earlier.as_ref() != Some(&value) => put(preset, theirs, value),
            (None, Some(_)) => {
                let names = OLD_SAMPLERS.iter().filter(|(_, name)| *name == ours).map(|(old, _)| *old);
                names.chain([theirs]).for_each(|name| drop(preset.shift_remove(name)));
            }
            _ => {}
        }
    }
    switches(now, before, preset);
    sources(now, before, preset);
    if let Some(window) = window(now).filter(|tokens| window(before) != Some(*tokens)) {
        put(preset, "openai_max_context", window.into());
    }
    for (processor, key, theirs) in processors::TEXTS {
        let value = setting(now, processor, key);
        if let Some(value) = value.filter(|value| setting(before, processor, key).as_ref() != Some(value)) {
            put(preset, theirs, value);
        }
    }
    let lost = formatters(now, before, preset);
    names(now, before, preset);
    lost
}

/// Writes what is on or off: how system messages are joined, and how an answer goes on.
fn switches(now: &Value, before: &Value, preset: &mut Object) {
    let squash = |agent: &Value| is_on(agent, "squash-system").unwrap_or(false);
    if squash(now) != squash(before) {
        put(preset, "squash_system_messages", squash(now).into());
    }
    let is_prefilled = |agent: &Value| {
        let way = setting(agent, "session-loader", "continuation");
        way.as_ref().and_then(Value::as_str).is_some_and(|way| matches!(way, "prefix" | "last"))
    };
    if is_prefilled(now) != is_prefilled(before) {
        put(preset, "continue_prefill", is_prefilled(now).into());
    }
}

const PROCESSING: &str = "custom_prompt_post_processing";

/// Writes the kind of post-processing that has the formatters of the agent; where none has, it stays.
fn formatters(now: &Value, before: &Value, preset: &mut Object) -> Option<Diagnostic> {
    let formatters = |agent: &Value| Formatters::of(listed(agent));
    if formatters(now) == formatters(before) {
        return None;
    }
    let wanted = formatters(now).unwrap_or(Formatters::BUILT_IN);
    let given = text(preset, PROCESSING).unwrap_or_default();
    if Formatters::of_kind(given).as_ref() == Some(&wanted) {
        return None;
    }
    if let Some(kind) = wanted.kind(given.ends_with(TOOLS)) {
        put(preset, PROCESSING, kind.into());
        return None;
    }
    let number = listed(now).iter().rposition(is_for_formatter);
    let number = number.map(|number| format!("/{number}")).unwrap_or_default();
    let message = phrase!("no SillyTavern post-processing matches the agent's formatters; it is unchanged");
    let help = phrase!("choose the post-processing in SillyTavern");
    let found = Diagnostic::warning(codes::PRESET_CANNOT_SAY, message).with_help(help);
    Some(found.at_pointer(format!("/parameters/processors{number}")))
}

/// Writes where names stand, also where another post-processing would have them elsewhere.
fn names(now: &Value, before: &Value, preset: &mut Object) {
    let mode = |agent: &Value| setting(agent, "speaker-names", "mode");
    let wanted = mode(now);
    let name = wanted.as_ref().and_then(Value::as_str);
    let number = match name {
        Some("field") => 1,
        Some("prefix") => 2,
        Some("forced") => 0,
        _ => -1,
    };
    let processing = text(preset, PROCESSING).unwrap_or_default();
    let is_said = |number| name == Some(processors::names(number, processing));
    if wanted != mode(before) || (!is_said(whole(preset, NAMES)) && is_said(Some(number))) {
        put(preset, NAMES, number.into());
    }
}

/// Writes how sources of models are set up, and the model of the one that is chosen.
fn sources(now: &Value, before: &Value, preset: &mut Object) {
    let at = |agent: &Value, source: &str, field: &str| {
        agent.get("parameters")?.get("sources")?.get(source)?.get(field).cloned()
    };
    let all = now.pointer("/parameters/sources").and_then(Value::as_object).into_iter().flatten();
    for (source, fields) in all {
        for (field, value) in fields.as_object().into_iter().flatten() {
            let key = format!("{source}_{field}");
            let is_field = parameters::source_field(&key).is_some();
            if is_field && at(before, source, field).as_ref() != Some(value) {
                put(preset, &key, value.clone());
            }
        }
    }
    let model = now.get("modelId").and_then(Value::as_str);
    let earlier = before.get("modelId").and_then(Value::as_str);
    let Some(model) = model.filter(|model| Some(*model) != earlier) else { return };
    if let Some(field) = text(preset, "chat_completion_source").map(parameters::model_field) {
        put(preset, &field, model.into());
    }
}

/// Returns how many tokens a context has with its answer, which is a part of it there; none without a limit.
fn window(agent: &Value) -> Option<u64> {
    let parameters = agent.get("parameters")?;
    let limit = parameters.get("contextManagement")?.as_object()?;
    let tokens = limit.get("maxContextTokens").and_then(Value::as_u64).filter(|tokens| *tokens > 0)?;
    if flag(limit, "enabled") != Some(true) {
        return None;
    }
    let answer = match flag(limit, "includesAnswer") {
        Some(true) => 0,
        _ => parameters.get("maxTokens").and_then(Value::as_u64).unwrap_or(0),
    };
    Some(tokens.saturating_add(answer))
}

pub(super) fn setting(agent: &Value, processor: &str, key: &str) -> Option<Value> {
    of_processor(agent, processor)?.get("config")?.get(key).cloned()
}

/// Returns whether a processor is switched on; none if the agent says nothing of it.
fn is_on(agent: &Value, processor: &str) -> Option<bool> {
    Some(flag(of_processor(agent, processor)?, "enabled") != Some(false))
}

/// Returns the setting of a processor; of two the later, which counts.
fn of_processor<'v>(agent: &'v Value, processor: &str) -> Option<&'v Object> {
    listed(agent).iter().rfind(|setting| is_for(setting, processor))?.as_object()
}

/// Returns the settings of processors.
fn listed(agent: &Value) -> &[Value] {
    let list = agent.pointer("/parameters/processors").and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}
