//! What becomes of each field of `SillyTavern`'s files.

use super::parameters::{SAMPLERS, SOURCES};
use super::processors::WORLD_INFO;
use crate::format::Format;
use crate::report::{Expect, Rule, RuleSet, approximated, kept, mapped};
use Expect::{Any, Flag, List, Number, Text};

/// Returns the rules for a format; none for one that has none.
pub(crate) fn rules(format: Format) -> RuleSet {
    match format {
        Format::CardV1 | Format::CardV2 | Format::CardV3 | Format::Pygmalion => {
            RuleSet::new(CARD.iter().chain(OLD_CARD).chain(CARD_BOOK).copied())
        }
        Format::ChatPreset => {
            RuleSet::new(PRESET.iter().copied().chain(samplers()).chain(sources()).chain(preset_scripts()))
        }
        Format::RegexScripts => RuleSet::new(scripts()),
        Format::SystemPrompt => RuleSet::new(SYSTEM_PROMPT.iter().copied()),
        Format::Personas => RuleSet::new(PERSONAS.iter().copied()),
        Format::Settings => RuleSet::new(SETTINGS.iter().copied().chain(world_info())),
        Format::Worldbook => RuleSet::new(WORLDBOOK.iter().copied()),
        Format::CardBook => RuleSet::new(STANDALONE_BOOK.iter().copied()),
        Format::OtherLorebook => RuleSet::new(OTHER_BOOKS.iter().copied()),
        Format::SillyTavernChat => RuleSet::new(CHAT.iter().copied()),
        _ => RuleSet::default(),
    }
}

/// Says of a template for text completion that it waits.
const MIRROR: &str = "older readers look here; what `data` says counts";
const CREATOR: &str = "a field of its own; nothing shows it to the model";

/// Since version 2 the fields stand below `data`.
const CARD: &[Rule] = &[
    mapped("/spec", Text, "/imported/card/spec"),
    mapped("/spec_version", Any, "/imported/card/spec_version"),
    mapped("/data/name", Text, "/name"),
    mapped("/data/description", Text, "/character/description"),
    mapped("/data/personality", Text, "/character/personality"),
    mapped("/data/scenario", Text, "/character/scenario"),
    mapped("/data/first_mes", Text, "/greetings/0/content"),
    mapped("/data/mes_example", Text, "/character/examples"),
    mapped("/data/creator_notes", Text, "/character/creatorNotes"),
    mapped("/data/system_prompt", Text, "/character/systemPrompt"),
    mapped("/data/post_history_instructions", Text, "/character/postHistory"),
    mapped("/data/alternate_greetings/*", Text, "/greetings"),
    mapped("/data/alternate_greetings", Any, "/greetings"),
    mapped("/data/tags/*", Text, "/tags/*"),
    mapped("/data/tags", Any, "/tags"),
    approximated("/data/creator", "/creator", CREATOR),
    mapped("/data/character_version", Text, "/character/version"),
    mapped("/data/nickname", Text, "/character/nickname"),
    mapped("/data/assets/*/type", Text, "/assets/*/usage"),
    mapped("/data/assets/*/uri", Text, "/assets/*/path"),
    mapped("/data/assets/*/name", Text, "/assets/*/id"),
    mapped("/data/assets/*/ext", Text, "/assets/*/extension"),
    mapped("/data/assets", List, "/assets"),
    mapped("/data/extensions/depth_prompt/prompt", Text, "/character/depthPrompt/prompt"),
    mapped("/data/extensions/depth_prompt/depth", Number, "/character/depthPrompt/depth"),
    mapped("/data/extensions/depth_prompt/role", Text, "/character/depthPrompt/role"),
    approximated("/data/extensions/talkativeness", "/character/talkativeness", "there are no groups"),
    approximated("/data/extensions/fav", "/character/isFavourite", "for people; nothing sorts by it"),
    mapped("/data/extensions/world", Text, "/worldbookIds"),
    mapped("/data/extensions/regex_scripts/*/id", Text, "/regexConfig/presets/*/rules"),
    mapped("/data/extensions/regex_scripts/*/scriptName", Text, "/regexConfig/presets/*/rules"),
    mapped("/data/extensions/regex_scripts/*/**", Any, "/regexConfig/presets/*/rules/**"),
    mapped("/data/extensions/regex_scripts", List, "/regexConfig/presets"),
    mapped("/data/regex_scripts/**", Any, "/regexConfig/presets/**"),
    approximated("/data/extensions", "/character", "there is nothing in it"),
    kept("/data/group_only_greetings/*", "there are no groups"),
    kept("/data/creation_date", "nothing reads it"),
    kept("/data/modification_date", "nothing reads it"),
    approximated("/name", "/name", MIRROR),
    approximated("/description", "/character/description", MIRROR),
    approximated("/personality", "/character/personality", MIRROR),
    approximated("/scenario", "/character/scenario", MIRROR),
    approximated("/first_mes", "/greetings/0/content", MIRROR),
    approximated("/mes_example", "/character/examples", MIRROR),
    approximated("/creatorcomment", "/character/creatorNotes", MIRROR),
    approximated("/tags/**", "/tags/**", MIRROR),
    approximated("/tags", "/tags", MIRROR),
    approximated("/talkativeness", "/character/talkativeness", MIRROR),
    approximated("/fav", "/character/isFavourite", MIRROR),
];

/// The fields of older cards, which stand at the top.
const OLD_CARD: &[Rule] = &[
    mapped("/char_name", Text, "/name"),
    mapped("/char_persona", Text, "/character/description"),
    mapped("/char_greeting", Text, "/greetings/0/content"),
    mapped("/example_dialogue", Text, "/character/examples"),
    mapped("/world_scenario", Text, "/character/scenario"),
    mapped("/context", Text, "/character/description"),
    mapped("/greeting", Text, "/greetings/0/content"),
];

const BOOK: &str = "the same field of the worldbook's entry";

/// The book of a card.
const CARD_BOOK: &[Rule] = &[
    mapped("/data/character_book/name", Text, "/worldbooks/*/name"),
    mapped("/data/character_book/description", Text, "/worldbooks/*/description"),
    mapped("/data/character_book/scan_depth", Number, "/worldbooks/*/scan_depth"),
    mapped("/data/character_book/token_budget", Number, "/worldbooks/*/token_budget"),
    mapped("/data/character_book/recursive_scanning", Flag, "/worldbooks/*/recursive_scanning"),
    approximated("/data/character_book", "/worldbookIds", "there is no book"),
    approximated("/data/character_book/entries", "/worldbooks/*/entries", "there are no entries"),
    mapped("/data/character_book/entries/*/id", Any, "/worldbooks/*/entries/*/uid"),
    mapped("/data/character_book/entries/*/keys/**", Text, "/worldbooks/*/entries/*/key/**"),
    mapped(
        "/data/character_book/entries/*/secondary_keys/**",
        Any,
        "/worldbooks/*/entries/*/keysecondary/**",
    ),
    mapped("/data/character_book/entries/*/keys", Any, "/worldbooks/*/entries/*/key"),
    mapped("/data/character_book/entries/*/name", Text, "/worldbooks/*/entries/*/comment"),
    mapped("/data/character_book/entries/*/comment", Text, "/worldbooks/*/entries/*/comment"),
    mapped("/data/character_book/entries/*/content", Text, "/worldbooks/*/entries/*/content"),
    mapped("/data/character_book/entries/*/constant", Flag, "/worldbooks/*/entries/*/constant"),
    mapped("/data/character_book/entries/*/selective", Flag, "/worldbooks/*/entries/*/selective"),
    mapped("/data/character_book/entries/*/enabled", Flag, "/worldbooks/*/entries/*/disable"),
    mapped("/data/character_book/entries/*/insertion_order", Number, "/worldbooks/*/entries/*/order"),
    mapped("/data/character_book/entries/*/position", Any, "/worldbooks/*/entries/*/position"),
    approximated(
        "/data/character_book/entries/*/use_regex",
        "/worldbooks/*/entries/*/key",
        "a key of the form /…/ is a regular expression, whatever this says",
    ),
    approximated(
        "/data/character_book/entries/*/case_sensitive",
        "/worldbooks/*/entries/*/caseSensitive",
        "counts in books of version 3; SillyTavern reads that of `extensions`",
    ),
    kept("/data/character_book/entries/*/priority", "no application orders by it"),
    mapped("/data/character_book/entries/*/extensions/*", Any, "/worldbooks/*/entries/*/*"),
    approximated("/data/character_book/entries/*/extensions/*/**", "/worldbooks/*/entries/*/**", BOOK),
    approximated(
        "/data/character_book/entries/*/extensions",
        "/worldbooks/*/entries/*",
        "there is nothing in it",
    ),
];

/// A lorebook of version 3, or a card's book by itself.
const STANDALONE_BOOK: &[Rule] = &[
    mapped("/spec", Text, "/dialect"),
    mapped("/data/name", Text, "/name"),
    mapped("/data/description", Text, "/description"),
    mapped("/data/scan_depth", Number, "/scan_depth"),
    mapped("/data/token_budget", Number, "/token_budget"),
    mapped("/data/recursive_scanning", Flag, "/recursive_scanning"),
    mapped("/data/entries/*/**", Any, "/entries/*/**"),
    mapped("/name", Text, "/name"),
    mapped("/description", Text, "/description"),
    mapped("/scan_depth", Number, "/scan_depth"),
    mapped("/token_budget", Number, "/token_budget"),
    mapped("/recursive_scanning", Flag, "/recursive_scanning"),
    mapped("/entries/*/**", Any, "/entries/*/**"),
];

/// World info, which is our own form of worldbooks too.
const WORLDBOOK: &[Rule] = &[
    mapped("/name", Text, "/name"),
    mapped("/description", Text, "/description"),
    mapped("/scan_depth", Number, "/scan_depth"),
    mapped("/token_budget", Number, "/token_budget"),
    mapped("/recursive_scanning", Flag, "/recursive_scanning"),
    mapped("/entries", Any, "/entries"),
    kept("/entries/*/automationId", "there are no quick replies"),
    mapped("/entries/*/extensions/**", Any, "/entries/*/extensions/**"),
    mapped("/entries/*/**", Any, "/entries/*/**"),
    kept("/originalData/**", "what the file was converted from; nothing reads it"),
    kept("/extensions/**", "of other applications"),
];

/// The lorebooks of NovelAI, Agnai and RisuAI.
const OTHER_BOOKS: &[Rule] = &[
    mapped("/name", Text, "/name"),
    mapped("/description", Text, "/description"),
    mapped("/entries/*/keys/**", Any, "/entries/*/key/**"),
    mapped("/entries/*/keywords/**", Any, "/entries/*/key/**"),
    mapped("/entries/*/text", Text, "/entries/*/content"),
    mapped("/entries/*/entry", Text, "/entries/*/content"),
    mapped("/entries/*/displayName", Text, "/entries/*/comment"),
    mapped("/entries/*/name", Text, "/entries/*/comment"),
    mapped("/entries/*/contextConfig/budgetPriority", Number, "/entries/*/order"),
    mapped("/entries/*/weight", Number, "/entries/*/order"),
    mapped("/entries/*/enabled", Flag, "/entries/*/disable"),
    mapped("/data/*/key", Text, "/entries/*/key"),
    mapped("/data/*/secondkey", Text, "/entries/*/keysecondary"),
    mapped("/data/*/comment", Text, "/entries/*/comment"),
    mapped("/data/*/content", Text, "/entries/*/content"),
    mapped("/data/*/alwaysActive", Flag, "/entries/*/constant"),
    mapped("/data/*/selective", Flag, "/entries/*/selective"),
    mapped("/data/*/insertorder", Number, "/entries/*/order"),
    mapped("/data/*/activationPercent", Number, "/entries/*/probability"),
];

const ORDERED: &str = "another order than the one that counts";

const PRESET: &[Rule] = &[
    mapped("/prompts/*/identifier", Text, "/presetMessages/*/id"),
    mapped("/prompts/*/name", Text, "/presetMessages/*/name"),
    mapped("/prompts/*/role", Text, "/presetMessages/*/role"),
    mapped("/prompts/*/content", Text, "/presetMessages/*/content"),
    mapped("/prompts/*/marker", Flag, "/presetMessages/*/type"),
    approximated(
        "/prompts/*/system_prompt",
        "/presetMessages/*/id",
        "the id tells prompts of the application",
    ),
    approximated("/prompts/*/enabled", "/presetMessages/*/isEnabled", "the order decides"),
    mapped("/prompts/*/injection_position", Number, "/presetMessages/*/injectionStrategy/type"),
    mapped("/prompts/*/injection_depth", Number, "/presetMessages/*/injectionStrategy/depth"),
    mapped("/prompts/*/injection_order", Number, "/presetMessages/*/injectionStrategy/order"),
    mapped("/prompts/*/injection_trigger/**", Any, "/presetMessages/*/triggers/**"),
    mapped("/prompts/*/injection_trigger", List, "/presetMessages/*/triggers"),
    approximated(
        "/prompts/*/forbid_overrides",
        "/presetMessages/*/content",
        "decided when card and preset meet",
    ),
    mapped("/prompts", List, "/presetMessages"),
    mapped("/prompt_order/*/order/*/identifier", Text, "/presetMessages/*/id"),
    mapped("/prompt_order/*/order/*/enabled", Flag, "/presetMessages/*/isEnabled"),
    approximated(
        "/prompt_order/*/character_id",
        "/presetMessages",
        "the order of 100001 counts, then 100000",
    ),
    approximated("/prompt_order/*/order", "/presetMessages", ORDERED),
    mapped("/main_prompt", Text, "/presetMessages"),
    mapped("/nsfw_prompt", Text, "/presetMessages"),
    mapped("/jailbreak_prompt", Text, "/presetMessages"),
    mapped("/new_chat_prompt", Text, "/presetMessages/new_chat/content"),
    mapped("/new_example_chat_prompt", Text, "/parameters/processors/dialogue-examples/config/header"),
    mapped("/continue_nudge_prompt", Text, "/parameters/processors/generation-prompt/config/continue"),
    mapped("/impersonation_prompt", Text, "/parameters/processors/generation-prompt/config/impersonate"),
    mapped("/send_if_empty", Text, "/parameters/processors/generation-prompt/config/sendIfEmpty"),
    mapped("/assistant_prefill", Text, "/parameters/processors/generation-prompt/config/prefill"),
    mapped(
        "/assistant_impersonation",
        Text,
        "/parameters/processors/generation-prompt/config/impersonatePrefill",
    ),
    mapped("/wi_format", Text, "/parameters/processors/worldbook-processor/config/anchorFormat"),
    mapped("/scenario_format", Text, "/presetMessages/scenario/content"),
    mapped("/personality_format", Text, "/presetMessages/charPersonality/content"),
    mapped("/names_behavior", Number, "/parameters/processors/speaker-names/config/mode"),
    mapped("/squash_system_messages", Flag, "/parameters/processors/squash-system/enabled"),
    mapped("/continue_prefill", Flag, "/parameters/processors/session-loader/config/continuation"),
    mapped("/openai_max_context", Number, "/parameters/contextManagement/maxContextTokens"),
    mapped("/stream_openai", Flag, "/parameters/stream"),
    mapped("/chat_completion_source", Text, "/modelId"),
    approximated("/custom_prompt_post_processing", "/parameters/processors", "formatters that come nearest"),
    approximated("/temp_openai", "/parameters/temperature", "the older name"),
    approximated("/freq_pen_openai", "/parameters/frequencyPenalty", "the older name"),
    approximated("/pres_pen_openai", "/parameters/presencePenalty", "the older name"),
    approximated("/top_p_openai", "/parameters/topP", "the older name"),
    kept("/new_group_chat_prompt", "there are no groups"),
    kept("/group_nudge_prompt", "there are no groups"),
    kept("/continue_postfix", "what a model wrote is joined to what was there by the application"),
    kept("/reverse_proxy", "where requests go is not for a file of somebody else to say"),
    kept("/proxy_password", "where requests go is not for a file of somebody else to say"),
    kept("/custom_url", "where requests go is not for a file of somebody else to say"),
];

fn samplers() -> impl Iterator<Item = Rule> {
    const RULES: [Rule; SAMPLERS.len()] = [
        mapped("/temperature", Number, "/parameters/temperature"),
        mapped("/top_p", Number, "/parameters/topP"),
        mapped("/top_k", Number, "/parameters/topK"),
        mapped("/top_a", Number, "/parameters/topA"),
        mapped("/min_p", Number, "/parameters/minP"),
        mapped("/frequency_penalty", Number, "/parameters/frequencyPenalty"),
        mapped("/presence_penalty", Number, "/parameters/presencePenalty"),
        mapped("/repetition_penalty", Number, "/parameters/repetitionPenalty"),
        mapped("/openai_max_tokens", Number, "/parameters/maxTokens"),
        mapped("/seed", Number, "/parameters/seed"),
        mapped("/n", Number, "/parameters/candidates"),
        mapped("/reasoning_effort", Any, "/parameters/reasoningEffort"),
        mapped("/verbosity", Any, "/parameters/verbosity"),
    ];
    RULES.into_iter()
}

/// Fields of sources of models, of which each has several.
fn sources() -> impl Iterator<Item = Rule> {
    const MODEL: &str = "used where the preset chooses this source";
    debug_assert!(SOURCES.contains(&"claude"));
    SOURCE_FIELDS.iter().map(|at| approximated(at, "/parameters/sources", MODEL))
}

const SOURCE_FIELDS: [&str; 40] = [
    "/openai_model",
    "/claude_model",
    "/openrouter_model",
    "/openrouter_use_fallback",
    "/openrouter_group_models",
    "/openrouter_sort_models",
    "/openrouter_providers",
    "/openrouter_providers/*",
    "/openrouter_allow_fallbacks",
    "/openrouter_middleout",
    "/ai21_model",
    "/mistralai_model",
    "/cohere_model",
    "/perplexity_model",
    "/groq_model",
    "/chutes_model",
    "/chutes_sort_models",
    "/minimax_model",
    "/minimax_endpoint",
    "/electronhub_model",
    "/electronhub_sort_models",
    "/electronhub_group_models",
    "/nanogpt_model",
    "/deepseek_model",
    "/aimlapi_model",
    "/xai_model",
    "/pollinations_model",
    "/moonshot_model",
    "/fireworks_model",
    "/cometapi_model",
    "/custom_model",
    "/google_model",
    "/vertexai_model",
    "/siliconflow_model",
    "/zai_model",
    "/windowai_model",
    "/scale_model",
    "/blockentropy_model",
    "/01ai_model",
    "/azure_openai_model",
];

fn preset_scripts() -> [Rule; 2] {
    [
        mapped("/extensions/regex_scripts/*/**", Any, "/regexConfig/presets/*/rules/**"),
        mapped("/extensions/regex_scripts", List, "/regexConfig/presets"),
    ]
}

/// The fields of a script, at the top of a file or in a list.
fn scripts() -> Vec<Rule> {
    let field = |one: &'static str, many: &'static str, expect: Expect, to: &'static str| {
        [mapped(one, expect, to), mapped(many, expect, to)]
    };
    let fields = [
        field("/id", "/*/id", Text, "/regexConfig/presets/0/rules/*/id"),
        field("/scriptName", "/*/scriptName", Text, "/regexConfig/presets/0/rules/*/name"),
        field("/findRegex", "/*/findRegex", Text, "/regexConfig/presets/0/rules/*/regex"),
        field("/replaceString", "/*/replaceString", Text, "/regexConfig/presets/0/rules/*/replacement"),
        field("/trimStrings", "/*/trimStrings", List, "/regexConfig/presets/0/rules/*/trimStrings"),
        field("/trimStrings/*", "/*/trimStrings/*", Text, "/regexConfig/presets/0/rules/*/trimStrings/*"),
        field("/placement", "/*/placement", List, "/regexConfig/presets/0/rules/*/targetRoles"),
        field("/placement/*", "/*/placement/*", Number, "/regexConfig/presets/0/rules/*/targetRoles"),
        field("/disabled", "/*/disabled", Flag, "/regexConfig/presets/0/rules/*/enabled"),
        field("/markdownOnly", "/*/markdownOnly", Flag, "/regexConfig/presets/0/rules/*/applyTo/render"),
        field("/promptOnly", "/*/promptOnly", Flag, "/regexConfig/presets/0/rules/*/applyTo/request"),
        field("/runOnEdit", "/*/runOnEdit", Flag, "/regexConfig/presets/0/rules/*/runOnEdit"),
        field(
            "/substituteRegex",
            "/*/substituteRegex",
            Any,
            "/regexConfig/presets/0/rules/*/substitutionMode",
        ),
        field("/minDepth", "/*/minDepth", Number, "/regexConfig/presets/0/rules/*/depthRange/min"),
        field("/maxDepth", "/*/maxDepth", Number, "/regexConfig/presets/0/rules/*/depthRange/max"),
    ];
    fields.into_iter().flatten().collect()
}

const SYSTEM_PROMPT: &[Rule] = &[
    mapped("/name", Text, "/presetMessages/main/name"),
    mapped("/content", Text, "/presetMessages/main/content"),
    mapped("/post_history", Text, "/presetMessages/jailbreak/content"),
];

const PERSONAS: &[Rule] = &[
    mapped("/personas/*", Text, "/profile/name"),
    mapped("/persona_descriptions/*/description", Text, "/profile/content"),
    mapped("/persona_descriptions/*/position", Number, "/presetMessages"),
    mapped("/persona_descriptions/*/depth", Number, "/presetMessages"),
    mapped("/persona_descriptions/*/role", Number, "/presetMessages"),
    mapped("/persona_descriptions/*/lorebook", Text, "/profile/worldbookIds"),
    approximated("/default_persona", "/profile", "the persona that is read"),
];

const SETTINGS: &[Rule] = &[
    mapped("/username", Text, "/profile/name"),
    approximated("/user_avatar", "/profile", "the persona that is read"),
    mapped("/power_user/persona_description", Text, "/profile/content"),
    mapped("/power_user/persona_description_position", Number, "/presetMessages"),
    mapped("/power_user/persona_description_depth", Number, "/presetMessages"),
    mapped("/power_user/persona_description_role", Number, "/presetMessages"),
    mapped("/power_user/prefer_character_prompt", Flag, "/presetMessages/main/content"),
    mapped("/power_user/prefer_character_jailbreak", Flag, "/presetMessages/jailbreak/content"),
    mapped("/power_user/personas/*", Text, "/profile/name"),
    mapped("/power_user/persona_descriptions/*/description", Text, "/profile/content"),
    mapped("/extension_settings/regex/**", Any, "/regexConfig/presets/**"),
    mapped(
        "/extension_settings/note/defaultInterval",
        Number,
        "/parameters/processors/author-note/config/interval",
    ),
    mapped(
        "/extension_settings/note/defaultDepth",
        Number,
        "/parameters/processors/author-note/config/depth",
    ),
];

fn world_info() -> impl Iterator<Item = Rule> {
    debug_assert!(WORLD_INFO.len() == 12);
    let at = [
        "/world_info_settings/world_info_depth",
        "/world_info_settings/world_info_budget",
        "/world_info_settings/world_info_budget_cap",
        "/world_info_settings/world_info_min_activations",
        "/world_info_settings/world_info_min_activations_depth_max",
        "/world_info_settings/world_info_max_recursion_steps",
        "/world_info_settings/world_info_recursive",
        "/world_info_settings/world_info_include_names",
        "/world_info_settings/world_info_case_sensitive",
        "/world_info_settings/world_info_match_whole_words",
        "/world_info_settings/world_info_use_group_scoring",
        "/world_info_settings/world_info_character_strategy",
    ];
    at.into_iter().map(|at| mapped(at, Any, "/parameters/processors/worldbook-processor/config"))
}

/// The lines of a chat; the first may be its header.
const CHAT: &[Rule] = &[
    mapped("/*/mes", Text, "/nodes/*/content"),
    mapped("/*/name", Text, "/nodes/*/name"),
    mapped("/*/is_user", Flag, "/nodes/*/role"),
    mapped("/*/is_system", Flag, "/nodes/*/isEnabled"),
    mapped("/*/send_date", Any, "/nodes/*/timestamp"),
    mapped("/*/extra/reasoning", Text, "/nodes/*/metadata/reasoningContent"),
    mapped("/*/extra/type", Text, "/nodes/*/role"),
    mapped("/*/chat_metadata/note_prompt", Text, "/authorNote/content"),
    mapped("/*/chat_metadata/note_interval", Number, "/authorNote/interval"),
    mapped("/*/chat_metadata/note_position", Number, "/authorNote/injectionStrategy"),
    mapped("/*/chat_metadata/note_depth", Number, "/authorNote/injectionStrategy/depth"),
    mapped("/*/chat_metadata/note_role", Number, "/authorNote/role"),
    mapped("/*/chat_metadata/world_info", Text, "/chat_metadata/world_info"),
    mapped("/*/**", Any, "/nodes/*/**"),
];
