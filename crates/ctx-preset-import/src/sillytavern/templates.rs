//! Templates of text completion: how turns are written, and in which order the parts of a prompt stand.

use serde_json::{Map, Value, json};

use super::story;
use crate::loose::{Object, flag, text, whole};

/// Makes the template of turns that an instruct template stands for, as `--template` reads it.
///
/// `SillyTavern` puts a line break after a sequence, and after a turn without a suffix, where `wrap` is on.
pub(crate) fn of_instruct(instruct: &Object) -> Value {
    let said = |key: &str| text(instruct, key).filter(|text| !text.is_empty());
    let break_ = if flag(instruct, "wrap") == Some(false) { "" } else { "\n" };
    let frame = |sequence: &str, suffix: &str, old: &str| {
        let before = said(sequence).map_or_else(String::new, |before| format!("{before}{break_}"));
        let after = said(suffix).or_else(|| said(old)).unwrap_or(break_);
        json!({ "before": before, "after": after })
    };
    let user = frame("input_sequence", "input_suffix", "separator_sequence");
    let is_same = flag(instruct, "system_same_as_user") == Some(true);
    let system =
        if is_same { user.clone() } else { frame("system_sequence", "system_suffix", "separator_sequence") };
    let sequences = ["input_sequence", "output_sequence", "system_sequence"];
    let trimmed = |key: &&str| said(key).map(str::trim).filter(|text| !text.is_empty());
    let borders: Vec<&str> = sequences.iter().chain(&["stop_sequence"]).filter_map(trimmed).collect();
    let mut stop: Vec<&str> = said("stop_sequence").into_iter().collect();
    if flag(instruct, "sequences_as_stop_strings") == Some(true) {
        stop.extend(sequences.iter().filter_map(trimmed));
    }
    json!({
        "name": said("name").unwrap_or("imported"),
        "system": system,
        "user": user,
        "assistant": frame("output_sequence", "output_suffix", "separator_sequence"),
        "stop": distinct(stop),
        "borders": distinct(borders),
    })
}

fn distinct(texts: Vec<&str>) -> Vec<&str> {
    let mut seen = std::collections::BTreeSet::new();
    texts.into_iter().filter(|text| seen.insert(*text)).collect()
}

/// The samplers of text-completion presets, each with its name in those of chat completion.
pub(crate) const TEXT_SAMPLERS: [(&str, &str); 10] = [
    ("temp", "temperature"),
    ("top_p", "top_p"),
    ("top_k", "top_k"),
    ("top_a", "top_a"),
    ("min_p", "min_p"),
    ("rep_pen", "repetition_penalty"),
    ("freq_pen", "frequency_penalty"),
    ("presence_pen", "presence_penalty"),
    ("genamt", "openai_max_tokens"),
    ("max_length", "openai_max_context"),
];

/// Returns the chat-completion preset that a context template and a preset of text completion come nearest to.
pub(crate) fn as_chat_preset(context: Option<&Object>, samplers: Option<&Object>) -> Object {
    let mut preset = Map::new();
    for (theirs, ours) in TEXT_SAMPLERS {
        let value = samplers.and_then(|samplers| samplers.get(theirs));
        preset.extend(value.map(|value| (ours.to_owned(), value.clone())));
    }
    let Some(context) = context else { return preset };
    for (theirs, ours) in
        [("chat_start", "new_chat_prompt"), ("example_separator", "new_example_chat_prompt")]
    {
        preset.extend(text(context, theirs).map(|text| (ours.to_owned(), text.into())));
    }
    // There the story is one text.
    preset.insert("squash_system_messages".to_owned(), true.into());
    if let Some(story) = text(context, "story_string") {
        let in_chat = (whole(context, "story_string_position") == Some(1)).then(|| story::InChat {
            depth: whole(context, "story_string_depth").unwrap_or(1).max(0),
            role: super::role_of_number(whole(context, "story_string_role")),
        });
        story::write(story, in_chat, &mut preset);
    }
    preset
}
