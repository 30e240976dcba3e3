//! The parameters of an agent as settings of a chat-completion preset.

use serde_json::Value;

use super::put;
use crate::loose::{Object, flag, text};
use crate::sillytavern::parameters::{self, OLD_SAMPLERS, SAMPLERS};

/// The texts that are settings of processors: the processor, the setting, and the field of a preset.
const SETTINGS: [(&str, &str, &str); 7] = [
    ("dialogue-examples", "header", "new_example_chat_prompt"),
    ("generation-prompt", "continue", "continue_nudge_prompt"),
    ("generation-prompt", "impersonate", "impersonation_prompt"),
    ("generation-prompt", "sendIfEmpty", "send_if_empty"),
    ("generation-prompt", "prefill", "assistant_prefill"),
    ("generation-prompt", "impersonatePrefill", "assistant_impersonation"),
    ("worldbook-processor", "anchorFormat", "wi_format"),
];

/// Writes the settings that are not as they were.
pub(super) fn write(now: &Value, before: &Value, preset: &mut Object) {
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
    for (processor, key, theirs) in SETTINGS {
        let value = setting(now, processor, key);
        if let Some(value) = value.filter(|value| setting(before, processor, key).as_ref() != Some(value)) {
            put(preset, theirs, value);
        }
    }
    let mode = setting(now, "speaker-names", "mode");
    if mode != setting(before, "speaker-names", "mode") {
        let number = match mode.as_ref().and_then(Value::as_str) {
            Some("field") => 1,
            Some("prefix") => 2,
            _ => -1,
        };
        put(preset, "names_behavior", number.into());
    }
}

/// Writes what is on or off: how system messages are joined, how an answer goes on, and the form of strict providers.
fn switches(now: &Value, before: &Value, preset: &mut Object) {
    let squash = |agent: &Value| is_on(agent, "squash-system").unwrap_or(false);
    if squash(now) != squash(before) {
        put(preset, "squash_system_messages", squash(now).into());
    }
    let is_prefilled =
        |agent: &Value| setting(agent, "session-loader", "continuation").is_some_and(|way| way == "prefix");
    if is_prefilled(now) != is_prefilled(before) {
        put(preset, "continue_prefill", is_prefilled(now).into());
    }
    let strict = |agent: &Value| FORMATTERS.map(|(id, _)| is_on(agent, id).unwrap_or(false));
    if strict(now) != strict(before) {
        let is_set = |id: &str| is_on(now, id) == Some(true);
        let kind = FORMATTERS.iter().find(|(id, _)| is_set(id)).map_or("", |(_, kind)| kind);
        put(preset, "custom_prompt_post_processing", kind.into());
    }
}

/// The formatters for strict providers, each with the post-processing that has it, the strictest first.
const FORMATTERS: [(&str, &str); 3] = [
    ("convert-system-to-user", "strict"),
    ("ensure-alternating-roles", "semi"),
    ("merge-consecutive-roles", "merge"),
];

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
    if let Some(source) = text(preset, "chat_completion_source") {
        let source = if source == "makersuite" { "google" } else { source };
        put(preset, &format!("{source}_model"), model.into());
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

/// Returns a setting of a processor.
pub(super) fn setting(agent: &Value, processor: &str, key: &str) -> Option<Value> {
    listed(agent, processor)?.get("config")?.get(key).cloned()
}

/// Tells whether a processor is switched on; none if the agent says nothing of it.
fn is_on(agent: &Value, processor: &str) -> Option<bool> {
    Some(flag(listed(agent, processor)?, "enabled") != Some(false))
}

fn listed<'v>(agent: &'v Value, processor: &str) -> Option<&'v Object> {
    let list = agent.pointer("/parameters/processors")?.as_array()?;
    let is_named = |id: &str| id.rsplit(':').next() == Some(processor);
    let is_meant = |entry: &&Value| entry.get("id").and_then(Value::as_str).is_some_and(is_named);
    list.iter().find(is_meant)?.as_object()
}
