//! Names and values of parameters.

use ctx_types::internal::{excerpt, nearest_key, pointer_step};
use ctx_types::{Diagnostic, phrase};

use super::refused;
use crate::codes;
use crate::json::{Json, Object};

/// A parameter of other API dialects.
pub(super) struct ForeignParameter {
    name: &'static str,
    /// The parameter to use instead, or an empty text.
    replacement: &'static str,
}

/// Pairs each foreign name with its replacement.
macro_rules! foreign_parameters {
    ($($name:literal => $replacement:literal),* $(,)?) => {
        &[$(ForeignParameter { name: $name, replacement: $replacement }),*]
    };
}

pub(super) const CHAT: &[ForeignParameter] = foreign_parameters! {
    "input" => "messages",
    "max_output_tokens" => "max_completion_tokens",
    "stop_sequences" => "stop",
};

/// Parameters of other servers' chat completions.
pub(super) const OTHER_CHAT: &[ForeignParameter] = foreign_parameters! {
    "min_p" => "",
    "repetition_penalty" => "",
};

pub(super) const RESPONSES: &[ForeignParameter] = foreign_parameters! {
    "max_completion_tokens" => "max_output_tokens",
    "max_tokens" => "max_output_tokens",
    "messages" => "input",
    "reasoning_effort" => "reasoning.effort",
    "response_format" => "text.format",
    "seed" => "",
    "stop" => "",
    "system" => "instructions",
};

pub(super) const ANTHROPIC: &[ForeignParameter] = foreign_parameters! {
    "max_completion_tokens" => "max_tokens",
    "max_output_tokens" => "max_tokens",
    "reasoning_effort" => "output_config.effort",
    "stop" => "stop_sequences",
    "user" => "metadata.user_id",
};

pub(super) const GEMINI: &[ForeignParameter] = foreign_parameters! {
    "maxOutputTokens" => "generationConfig.maxOutputTokens",
    "max_output_tokens" => "generationConfig.maxOutputTokens",
    "max_tokens" => "generationConfig.maxOutputTokens",
    "messages" => "contents",
    "system" => "systemInstruction",
    "temperature" => "generationConfig.temperature",
    "topK" => "generationConfig.topK",
    "topP" => "generationConfig.topP",
    "top_k" => "generationConfig.topK",
    "top_p" => "generationConfig.topP",
};

pub(super) const GEMINI_CONFIG: &[ForeignParameter] = foreign_parameters! {
    "max_completion_tokens" => "maxOutputTokens",
    "max_tokens" => "maxOutputTokens",
    "stop" => "stopSequences",
};

/// Finds parameters that the API dialect does not have. `place` is a pointer to the object.
pub(super) fn check_names(
    object: &Json<'_>,
    place: &str,
    foreign: &[ForeignParameter],
    found: &mut Vec<Diagnostic>,
) {
    let is_set = |name: &str| object.get(name).is_some_and(|value| !value.is_null());
    for ForeignParameter { name, replacement } in foreign.iter().filter(|parameter| is_set(parameter.name)) {
        let text = phrase!("this API dialect has no parameter `{name}`", name = *name);
        let help = if replacement.is_empty() {
            phrase!("delete the parameter")
        } else {
            phrase!("use `{name}`", name = *replacement)
        };
        let finding = Diagnostic::error(codes::REJECTED_PARAMETER, text).with_help(help);
        found.push(finding.at_pointer(format!("{place}/{name}")));
    }
}

/// Parameters of all API dialects that are often written by hand.
const KNOWN: [&str; 32] = [
    "contents",
    "frequency_penalty",
    "generationConfig",
    "input",
    "instructions",
    "logit_bias",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "min_tokens",
    "model",
    "models",
    "presence_penalty",
    "reasoning",
    "reasoning_effort",
    "response_format",
    "safetySettings",
    "seed",
    "stop",
    "stop_sequences",
    "stream",
    "stream_options",
    "systemInstruction",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_a",
    "top_k",
    "top_p",
];

/// Suggests a name for each misspelled parameter whose right name is not set. Other unknown parameters may belong to a
/// server, so the suggestion is not applied as a fix.
pub(super) fn check_spelling(body: &Json<'_>, found: &mut Vec<Diagnostic>) {
    let keys = body.as_object().into_iter().flat_map(Object::iter).map(|(key, _)| &**key);
    for key in keys.filter(|key| !KNOWN.contains(key)) {
        // Gemini accepts both spellings.
        let is_gemini = |known: &&str| key.replace('_', "").eq_ignore_ascii_case(known);
        let is_meant = |near: &&str| !is_gemini(near) && body.get(near).is_none();
        let Some(near) = nearest_key(key, KNOWN).filter(is_meant) else { continue };
        let text = phrase!("unknown parameter `{name}`", name = excerpt(key));
        let finding = Diagnostic::warning(codes::REJECTED_PARAMETER, text).with_suggestion(near);
        found.push(finding.at_pointer(format!("/{}", pointer_step(key))));
    }
}

/// The values that a parameter accepts.
pub(super) struct Range {
    name: &'static str,
    lowest: i32,
    highest: i32,
}

/// `OpenAI`'s ranges.
pub(super) const OPENAI_RANGES: &[Range] = &[
    Range { name: "temperature", lowest: 0, highest: 2 },
    Range { name: "top_p", lowest: 0, highest: 1 },
    Range { name: "frequency_penalty", lowest: -2, highest: 2 },
    Range { name: "presence_penalty", lowest: -2, highest: 2 },
];

pub(super) const ANTHROPIC_RANGES: &[Range] =
    &[Range { name: "temperature", lowest: 0, highest: 1 }, Range { name: "top_p", lowest: 0, highest: 1 }];

pub(super) const GEMINI_RANGES: &[Range] = &[
    Range { name: "temperature", lowest: 0, highest: 2 },
    Range { name: "topP", lowest: 0, highest: 1 },
    Range { name: "top_p", lowest: 0, highest: 1 },
];

/// Finds values outside their range. `place` is a pointer to the object.
pub(super) fn check_ranges(object: &Json<'_>, place: &str, ranges: &[Range], found: &mut Vec<Diagnostic>) {
    for Range { name, lowest, highest } in ranges {
        let Some(Json::Number(number)) = object.get(name) else { continue };
        let accepted = f64::from(*lowest)..=f64::from(*highest);
        if number.as_f64().is_some_and(|number| !accepted.contains(&number)) {
            let text = phrase!(
                "`{name}` must be between {lowest} and {highest}",
                name = *name,
                lowest = lowest.to_string(),
                highest = highest.to_string()
            );
            found.push(refused(codes::DIALECT_LIMIT, text).at_pointer(format!("{place}/{name}")));
        }
    }
}
