//! What becomes of each field of templates for text completion.

use std::rc::Rc;

use crate::loose::Object;
use crate::report::Expect::{Among, Flag, List, Number, Text, Whole};
use crate::report::{Link, Rule, RuleSet, approximated, kept, mapped};
use crate::sillytavern::templates::TEXT_SAMPLERS;

const TURNS: &str = "a template writes every turn of a role alike";
const NAMES: &str = "names are a matter of `speaker-names`";
const WHOLE: &str = "answers come back as the model wrote them";
const STORY: &str = "its parts become entries of their own, which are joined where they meet";

const INSTRUCT: [Rule; 29] = [
    mapped("/name", Text, "/template/name"),
    mapped("/input_sequence", Text, "/template/user/before"),
    mapped("/input_suffix", Text, "/template/user/after"),
    mapped("/output_sequence", Text, "/template/assistant/before"),
    mapped("/output_suffix", Text, "/template/assistant/after"),
    mapped("/system_sequence", Text, "/template/system/before"),
    mapped("/system_suffix", Text, "/template/system/after"),
    mapped("/system_same_as_user", Flag, "/template/system"),
    mapped("/stop_sequence", Text, "/template/stop"),
    mapped("/sequences_as_stop_strings", Flag, "/template/stop"),
    mapped("/wrap", Flag, "/template"),
    approximated("/separator_sequence", "/template", "the suffix of roles that have none").of(Text),
    approximated("/macro", "/template", "sequences are written as they are").of(Flag),
    approximated("/enabled", "/template", "whoever names the template uses it").of(Flag),
    approximated(
        "/story_string_prefix",
        "/template/system/before",
        "the story stands in turns of the system",
    )
    .of(Text),
    approximated("/story_string_suffix", "/template/system/after", "the story stands in turns of the system")
        .of(Text),
    approximated(
        "/system_sequence_prefix",
        "/template/system/before",
        "the story stands in turns of the system",
    )
    .of(Text),
    approximated(
        "/system_sequence_suffix",
        "/template/system/after",
        "the story stands in turns of the system",
    )
    .of(Text),
    kept("/first_input_sequence", TURNS),
    kept("/last_input_sequence", TURNS),
    kept("/first_output_sequence", TURNS),
    kept("/last_output_sequence", TURNS),
    kept("/last_system_sequence", TURNS),
    kept("/names_behavior", NAMES),
    kept("/names", NAMES),
    kept("/activation_regex", "a template is named, or follows the model"),
    kept("/bind_to_context", "a template is named, or follows the model"),
    kept("/skip_examples", "examples are turns like all others"),
    kept("/user_alignment_message", "no turn is made up"),
];

const CONTEXT: [Rule; 15] = [
    approximated("/story_string", "/presetMessages", STORY).of(Text),
    approximated("/story_string_position", "/presetMessages", STORY).of(Among(&[0, 1])),
    approximated("/story_string_depth", "/presetMessages", STORY).of(Whole(0)),
    approximated("/story_string_role", "/presetMessages", STORY).of(Among(&[0, 1, 2])),
    approximated("/chat_start", "/presetMessages/new_chat/content", "a turn of the system").of(Text),
    approximated(
        "/example_separator",
        "/parameters/processors/dialogue-examples/config/header",
        "a turn of the system above each example",
    )
    .of(Text),
    kept("/name", "the template has no name of its own here"),
    kept("/use_stop_strings", "where answers end is a matter of the template of turns"),
    kept("/names_as_stop_strings", "where answers end is a matter of the template of turns"),
    kept("/always_force_name2", NAMES),
    kept("/trim_sentences", WHOLE),
    kept("/single_line", WHOLE),
    kept("/include_newline", WHOLE),
    kept("/allow_jailbreak", "a card's text after the conversation is always allowed"),
    kept("/story_string_prefix", STORY),
];

const REASONING: [Rule; 4] = [
    kept("/name", "there are no templates of reasoning"),
    kept("/prefix", "reasoning of models comes in a field of its own"),
    kept("/suffix", "reasoning of models comes in a field of its own"),
    kept("/separator", "reasoning of models comes in a field of its own"),
];

/// Returns the rules for a system prompt whose texts found no place.
pub(crate) fn of_system_prompt() -> RuleSet {
    RuleSet::new([
        kept("/name", "prompts are called by their places"),
        kept("/content", "a prompt of the preset says it, or there is nothing"),
        kept("/post_history", "a prompt of the preset says it, or there is nothing"),
    ])
}

pub(crate) fn of_instruct() -> RuleSet {
    RuleSet::new(INSTRUCT)
}

/// Returns the rules for a context template, which has an effect only where no chat-completion preset has.
pub(crate) fn of_context() -> RuleSet {
    RuleSet::new(CONTEXT)
}

pub(crate) fn of_reasoning() -> RuleSet {
    RuleSet::new(REASONING)
}

/// Returns the rules for the samplers of text completion.
pub(crate) fn of_text_preset() -> RuleSet {
    let mut rules = RuleSet::default();
    for (theirs, chat) in TEXT_SAMPLERS {
        let ours = crate::sillytavern::parameters::SAMPLERS.iter().find(|(known, _)| *known == chat);
        let rule = match ours {
            Some((_, ours)) => mapped("", Number, ours),
            None => mapped("", Whole(1), "/contextManagement/maxContextTokens"),
        };
        rules.link("", theirs, Link::new(&Rc::new(RuleSet::new([rule])), "/parameters"));
    }
    rules
}

/// Returns the rules for a master export: those of each part.
pub(crate) fn of_master(file: &Object) -> RuleSet {
    let mut rules = RuleSet::new([
        kept("/srw", "answers are not begun by the user"),
        kept("/srw/**", "answers are not begun by the user"),
        mapped("/instruct", List, "/template"),
    ]);
    let parts = [
        ("instruct", of_instruct()),
        ("context", of_context()),
        ("preset", of_text_preset()),
        ("reasoning", of_reasoning()),
        ("sysprompt", of_system_prompt()),
    ];
    for (key, part) in parts.into_iter().filter(|(key, _)| file.contains_key(*key)) {
        rules.link("", key, Link::new(&Rc::new(part), ""));
    }
    rules
}
