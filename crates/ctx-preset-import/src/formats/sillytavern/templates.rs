//! Templates of text completion: how turns are written, and in which order the parts of a prompt stand.

use serde_json::{Map, Value, json};

use super::parameters::place;
use super::story;
use crate::format::Format;
use crate::loose::Object;
use crate::source::{Source, SourceNode};

const TURNS: &str = "one template formats all turns of a role";
const NAMES: &str = "`speaker-names` handles names";
const WHOLE: &str = "replies are kept as the model wrote them";
const STORY: &str = "its parts become separate entries; adjacent ones are joined";
const CHOSEN: &str = "templates are chosen by name or by model";
const STOPS: &str = "the instruct template ends replies";
const REASONING: &str = "reasoning arrives in a separate field";
const PROMPT: &str = "a preset prompt sets it; otherwise it is empty";

/// The fields of templates that are no more than kept.
const INSTRUCT_KEPT: [(&str, &str); 11] = [
    ("first_input_sequence", TURNS),
    ("last_input_sequence", TURNS),
    ("first_output_sequence", TURNS),
    ("last_output_sequence", TURNS),
    ("last_system_sequence", TURNS),
    ("names_behavior", NAMES),
    ("names", NAMES),
    ("activation_regex", CHOSEN),
    ("bind_to_context", CHOSEN),
    ("skip_examples", "examples are sent as normal turns"),
    ("user_alignment_message", "no turns are added"),
];
const CONTEXT_KEPT: [(&str, &str); 9] = [
    ("name", "the template has no name here"),
    ("use_stop_strings", STOPS),
    ("names_as_stop_strings", STOPS),
    ("always_force_name2", NAMES),
    ("trim_sentences", WHOLE),
    ("single_line", WHOLE),
    ("include_newline", WHOLE),
    ("allow_jailbreak", "a card's post-history text is always allowed"),
    ("story_string_prefix", STORY),
];
const PROMPT_KEPT: [(&str, &str); 3] =
    [("name", "prompts are named by position"), ("content", PROMPT), ("post_history", PROMPT)];
const REASONING_KEPT: [(&str, &str); 4] = [
    ("name", "reasoning templates are not supported"),
    ("prefix", REASONING),
    ("suffix", REASONING),
    ("separator", REASONING),
];

/// Takes the fields of a template, of which something is made when all files are there.
///
/// `superseded` returns why a part of a master export is not used.
pub(crate) fn take(format: Format, file: Source<'_>, superseded: &dyn Fn(Format) -> Option<&'static str>) {
    match format {
        Format::InstructTemplate => drop(take_instruct(file)),
        Format::ContextTemplate => take_context(file, &mut Map::new()),
        Format::TextPreset => take_samplers(file, &mut Map::new()),
        // Whether its texts find a place is known later.
        Format::SystemPrompt => keep(file, &PROMPT_KEPT),
        Format::ReasoningTemplate => keep(file, &REASONING_KEPT),
        Format::MasterExport => {
            file.at("srw").keep("replies do not start with a user text");
            file.at("instruct").list().into("/template");
            for (key, format) in MASTER_PARTS {
                match superseded(format) {
                    Some(note) => file.at(key).keep(note),
                    None => take(format, file.at(key), superseded),
                }
            }
        }
        _ => {}
    }
}

fn keep(file: Source<'_>, fields: &[(&str, &'static str)]) {
    for (key, note) in fields {
        file.at(key).keep(note);
    }
}

pub(crate) const MASTER_PARTS: [(&str, Format); 5] = [
    ("instruct", Format::InstructTemplate),
    ("context", Format::ContextTemplate),
    ("preset", Format::TextPreset),
    ("reasoning", Format::ReasoningTemplate),
    ("sysprompt", Format::SystemPrompt),
];

/// Makes the template of turns that an instruct template stands for, as `--template` reads it.
///
/// `SillyTavern` puts a line break after a sequence, and after a turn without a suffix, where `wrap` is on.
pub(crate) fn take_instruct(instruct: Source<'_>) -> Value {
    let take = |key: &str, to: &'static str| instruct.at(key).text().into(to).filter(|text| !text.is_empty());
    let flag = |key: &str, to: &'static str| instruct.at(key).flag().into(to);
    let break_ = if flag("wrap", "/template") == Some(false) { "" } else { "\n" };
    let separator =
        instruct.at("separator_sequence").text().approximated("the suffix of roles without their own");
    let separator = separator.into("/template").filter(|text| !text.is_empty());
    let frame = |before: Option<&str>, after: Option<&str>| {
        let before = before.map_or_else(String::new, |before| format!("{before}{break_}"));
        json!({ "before": before, "after": after.or(separator).unwrap_or(break_) })
    };
    let sequences = [
        take("input_sequence", "/template/user/before"),
        take("output_sequence", "/template/assistant/before"),
        take("system_sequence", "/template/system/before"),
    ];
    let [input, output, system] = sequences;
    let user = frame(input, take("input_suffix", "/template/user/after"));
    let system = frame(system, take("system_suffix", "/template/system/after"));
    let is_same = flag("system_same_as_user", "/template/system") == Some(true);
    let system = if is_same { user.clone() } else { system };
    let end = take("stop_sequence", "/template/stop");
    let trimmed =
        |text: Option<&'_ str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let borders = distinct(sequences.into_iter().chain([end]).filter_map(trimmed));
    let also = flag("sequences_as_stop_strings", "/template/stop") == Some(true);
    let also = sequences.into_iter().filter(|_| also).filter_map(trimmed);
    let stop = distinct(end.map(str::to_owned).into_iter().chain(also));
    for (key, note) in
        [("macro", "sequences are written unchanged"), ("enabled", "used when the template is selected")]
    {
        instruct.at(key).flag().approximated(note).into("/template");
    }
    for (key, to) in [
        ("story_string_prefix", "/template/system/before"),
        ("story_string_suffix", "/template/system/after"),
        ("system_sequence_prefix", "/template/system/before"),
        ("system_sequence_suffix", "/template/system/after"),
    ] {
        instruct.at(key).text().approximated("the story goes into system turns").into(to);
    }
    keep(instruct, &INSTRUCT_KEPT);
    json!({
        "name": take("name", "/template/name").unwrap_or("imported"),
        "system": system,
        "user": user,
        "assistant": frame(output, take("output_suffix", "/template/assistant/after")),
        "stop": stop,
        "borders": borders,
    })
}

fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
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
pub(crate) fn as_chat_preset(context: Option<&Value>, samplers: Option<&Value>) -> Object {
    let mut preset = Map::new();
    if let Some(samplers) = samplers {
        take_samplers(SourceNode::new(samplers).source(), &mut preset);
    }
    if let Some(context) = context {
        take_context(SourceNode::new(context).source(), &mut preset);
    }
    preset
}

fn take_samplers(samplers: Source<'_>, preset: &mut Object) {
    for (theirs, chat) in TEXT_SAMPLERS {
        let field = samplers.at(theirs);
        match chat {
            "openai_max_context" => drop(field.whole(1).into(place(chat))),
            _ => drop(field.number().into(place(chat))),
        }
        preset.extend(field.value().map(|value| (chat.to_owned(), value.clone())));
    }
}

fn take_context(context: Source<'_>, preset: &mut Object) {
    const HEADER: &str = "/parameters/processors/*/config/header";
    for (theirs, chat, note, to) in [
        ("chat_start", "new_chat_prompt", "a system turn", "/presetMessages/*/content"),
        ("example_separator", "new_example_chat_prompt", "a system turn before each example", HEADER),
    ] {
        let text = context.at(theirs).text().approximated(note).into(to);
        preset.extend(text.map(|text| (chat.to_owned(), text.into())));
    }
    // There the story is one text.
    preset.insert("squash_system_messages".to_owned(), true.into());
    let [position, depth, role] =
        ["story_string_position", "story_string_depth", "story_string_role"].map(|key| context.at(key));
    let in_chat = position.among(&[0, 1]).approximated(STORY).into("/presetMessages") == Some(1);
    depth.whole(0).approximated(STORY).into("/presetMessages");
    let role = role.among(&[0, 1, 2]).approximated(STORY).into("/presetMessages");
    if let Some(story) = context.at("story_string").text().approximated(STORY).into("/presetMessages") {
        let in_chat = in_chat.then(|| story::InChat {
            depth: depth.as_whole().unwrap_or(1).max(0),
            role: super::role_of_number(role),
        });
        story::write(story, in_chat, preset);
    }
    keep(context, &CONTEXT_KEPT);
}
