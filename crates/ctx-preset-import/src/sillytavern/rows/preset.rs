//! What becomes of each field of chat-completion presets.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use crate::loose::{Object, flag, objects, text, whole};
use crate::report::Expect::{Among, Flag, List, Named, Number, Text, Texts, Value as Scalar, Whole};
use crate::report::{Link, Rule, RuleSet, approximated, kept, mapped};
use crate::sillytavern::arrange::{self, Marker};
use crate::sillytavern::parameters::{self, OLD_SAMPLERS, SAMPLERS};
use crate::sillytavern::preset::{ChatPreset, LEGACY_TEXTS, Prompt};

/// What a preset became part of.
pub(crate) struct Made<'v> {
    /// Where the entries of the agent are, by their ids.
    entries: BTreeMap<&'v str, usize>,
    /// The identifiers of the prompts over which a card's own text stands, without the former in it.
    overridden: Vec<&'static str>,
}

impl<'v> Made<'v> {
    pub(crate) fn new(list: &'v [Value], overridden: Vec<&'static str>) -> Self {
        let ids = list.iter().enumerate().filter_map(|(at, entry)| Some((entry.get("id")?.as_str()?, at)));
        let mut entries = BTreeMap::new();
        ids.for_each(|(id, at)| {
            entries.entry(id).or_insert(at);
        });
        Self { entries, overridden }
    }

    /// Returns where the entry of a prompt is.
    fn entry(&self, identifier: &str) -> Option<usize> {
        self.entries.get(identifier).copied()
    }
}

const ORDERED: &str = "the order of 100001 counts, then 100000; this one has no effect, as there";
const WINDOW: &str = "for the window of that application; it changes nothing of what is sent, here or there";
const TWICE: &str = "the prompt stands in the order before, which counts";
const OVER: &str = "the card's text stands over it";
const SOURCE: &str =
    "stands by its source; the model of the chosen one is `modelId`, the rest is for applications";
const NOBODY: &str = "no prompt has this identifier";
const PROXY: &str = "where requests go is not for a file of somebody else to say";
const GROUPS: &str = "there are no groups";
const PREFILL: &str = "/parameters/processors/generation-prompt/config/prefill";
const IMPERSONATION: &str = "/parameters/processors/generation-prompt/config/impersonatePrefill";

/// The fields of a preset that count whatever else it says.
const PRESET: [Rule; 27] = [
    mapped("/prompts", List, "/presetMessages"),
    approximated("/prompt_order", "/presetMessages", "there is no order"),
    approximated("/prompt_order/*/character_id", "/presetMessages", ORDERED),
    approximated("/prompt_order/*/order/**", "/presetMessages", ORDERED),
    approximated("/max_context_unlocked", "", WINDOW),
    approximated("/show_external_models", "", WINDOW),
    approximated("/bypass_status_check", "", WINDOW),
    mapped("/new_example_chat_prompt", Text, "/parameters/processors/dialogue-examples/config/header"),
    mapped("/continue_nudge_prompt", Text, "/parameters/processors/generation-prompt/config/continue"),
    mapped("/impersonation_prompt", Text, "/parameters/processors/generation-prompt/config/impersonate"),
    mapped("/send_if_empty", Text, "/parameters/processors/generation-prompt/config/sendIfEmpty"),
    mapped("/wi_format", Text, "/parameters/processors/worldbook-processor/config/anchorFormat"),
    mapped("/scenario_format", Text, "/presetMessages/scenario/content"),
    mapped("/personality_format", Text, "/presetMessages/charPersonality/content"),
    mapped("/names_behavior", Among(&[-1, 0, 1, 2]), "/parameters/processors/speaker-names/config/mode"),
    mapped("/squash_system_messages", Flag, "/parameters/processors/squash-system/enabled"),
    mapped("/continue_prefill", Flag, "/parameters/processors/session-loader/config/continuation"),
    mapped("/openai_max_context", Whole(1), "/parameters/contextManagement/maxContextTokens"),
    mapped("/stream_openai", Flag, "/parameters/stream"),
    approximated("/custom_prompt_post_processing", "/parameters/processors", "formatters that come nearest")
        .of(Text),
    kept("/new_group_chat_prompt", GROUPS),
    kept("/group_nudge_prompt", GROUPS),
    kept("/continue_postfix", "what a model wrote is joined to what was there by the application"),
    kept("/reverse_proxy", PROXY),
    kept("/proxy_password", PROXY),
    kept("/custom_url", PROXY),
    approximated("/extensions", "/regexConfig", "there is nothing in it"),
];

/// Returns the rules for a preset that became part of an agent.
pub(crate) fn of(preset: &Object, made: &Made<'_>) -> RuleSet {
    let mut rules = RuleSet::default();
    prompts(preset, made, &mut rules);
    order(preset, made, &mut rules);
    conditional(preset, made, &mut rules);
    for (theirs, ours) in SAMPLERS {
        let expect = if parameters::is_word(theirs) { Scalar } else { Number };
        let set = Rc::new(RuleSet::new([mapped("", expect, ours)]));
        rules.link("", theirs, Link::new(&set, "/parameters"));
    }
    for (theirs, ours) in OLD_SAMPLERS {
        let rule = match parameters::is_said_newer(preset, ours) {
            true => kept("", "the newer name says it"),
            false => approximated("", ours, "another name of it").of(Number),
        };
        rules.link("", theirs, Link::new(&Rc::new(RuleSet::new([rule])), "/parameters"));
    }
    for (key, _) in preset.iter().filter(|(key, _)| parameters::source_field(key).is_some()) {
        let is_shown = ["_sort_models", "_group_models"].iter().any(|end| key.ends_with(end));
        let note = if is_shown { WINDOW } else { SOURCE };
        rules.single("", key.as_str(), approximated("", "/parameters/sources", note));
    }
    if let Some(list) = ChatPreset(preset).scripts() {
        rules.link("/extensions", "regex_scripts", Link::of_scripts(list));
    }
    rules.add(PRESET);
    rules
}

/// Fields that count only beside others.
fn conditional(preset: &Object, made: &Made<'_>, rules: &mut RuleSet) {
    let source = text(preset, "chat_completion_source");
    let mut say = |key: &'static str, counts: bool, to: &'static str, otherwise: &'static str| {
        let rule = if counts { mapped("", Text, to) } else { kept("", otherwise) };
        rules.field("", key, rule);
    };
    for (id, legacy) in LEGACY_TEXTS {
        let own = ChatPreset(preset).prompt(id).and_then(Prompt::content);
        let otherwise = match made.overridden.contains(&id) {
            true => Some(OVER),
            false if own.is_some_and(|own| !own.is_empty()) => Some("the prompt has a text, which counts"),
            false => made.entry(id).is_none().then_some("the order has no place for the prompt"),
        };
        say(legacy, otherwise.is_none(), "/presetMessages", otherwise.unwrap_or_default());
    }
    say(
        "new_chat_prompt",
        made.entry("new_chat").is_some(),
        "/presetMessages/new_chat/content",
        "the conversation has no place",
    );
    let has_model = parameters::model(preset).is_some();
    say("chat_completion_source", has_model, "/modelId", "the preset names no model of it");
    let is_claude = source == Some("claude");
    let only = "only Claude's messages can begin with a part of the answer";
    say("assistant_prefill", is_claude, PREFILL, only);
    say("assistant_impersonation", is_claude, IMPERSONATION, only);
}

/// Rules for each prompt.
fn prompts(preset: &Object, made: &Made<'_>, rules: &mut RuleSet) {
    let kinds = Kinds::new();
    let mut seen = BTreeSet::new();
    for (index, prompt) in objects(preset, "prompts") {
        let identifier = text(prompt, "identifier");
        let place = identifier.filter(|id| seen.insert(*id)).and_then(|id| made.entry(id).map(|at| (id, at)));
        let Some((id, at)) = place else {
            let note = match identifier {
                None => "a prompt without an identifier is never sent",
                Some(_) => "another prompt has this identifier, or it stands for nothing",
            };
            rules.single("/prompts", index.to_string(), kept("", note));
            continue;
        };
        let to = format!("/presetMessages/{at}");
        let is_in_chat = whole(prompt, "injection_position") == Some(1);
        let set = match arrange::marker(id) {
            Some(marker) => kinds.of_marker(marker, is_in_chat),
            None if flag(prompt, "marker") == Some(true) => &kinds.silent,
            None if made.overridden.contains(&id) => &kinds.overridden,
            None => &kinds.plain,
        };
        rules.link("/prompts", index.to_string(), Link::new(set, to));
    }
}

/// Rules for the steps of the order that counts.
fn order(preset: &Object, made: &Made<'_>, rules: &mut RuleSet) {
    let Some(order) = ChatPreset(preset).ordered_by() else { return };
    let mut steps = RuleSet::default();
    let repeated: BTreeSet<usize> = order.repeated().map(|(index, _)| index).collect();
    let sent = [mapped("/identifier", Text, "/id"), mapped("/enabled", Flag, "/isEnabled")];
    let [sent, twice, nobody] = [RuleSet::new(sent), all_kept(TWICE), all_kept(NOBODY)].map(Rc::new);
    let below = if order.owner.is_some() { "/order" } else { "/prompt_order" };
    let into = if order.owner.is_some() { &mut steps } else { &mut *rules };
    for (index, step) in order.steps {
        let entry = text(step, "identifier").map(|id| (id, made.entry(id)));
        let (set, to) = match entry {
            _ if repeated.contains(&index) => (&twice, String::new()),
            Some((_, Some(at))) => (&sent, format!("/presetMessages/{at}")),
            // Without its marker the conversation is not sent.
            Some(("chatHistory", None)) => (&sent, "/presetMessages".to_owned()),
            _ => (&nobody, String::new()),
        };
        into.link(below, index.to_string(), Link::new(set, to));
    }
    let Some(chosen) = order.owner else { return };
    steps.add([
        approximated("/character_id", "", "the order of 100001 counts, then 100000"),
        approximated("/order", "", "nothing is ordered"),
    ]);
    rules.link("/prompt_order", chosen.to_string(), Link::new(&Rc::new(steps), "/presetMessages"));
}

/// Rules for what is no more than kept.
fn all_kept(why: &'static str) -> RuleSet {
    RuleSet::new([kept("/**", why)])
}

/// The rules for kinds of prompts.
struct Kinds {
    plain: Rc<RuleSet>,
    /// A card's text stands over its own.
    overridden: Rc<RuleSet>,
    /// A marker that stands for nothing.
    silent: Rc<RuleSet>,
    /// Markers of texts, in the list and in the conversation.
    text: [Rc<RuleSet>; 2],
    /// The other markers.
    anchor: Rc<RuleSet>,
}

const SYSTEM: Rule = approximated("/system_prompt", "/id", "the id tells prompts of the application");
const MARKER: Rule = approximated("/marker", "/type", "the id tells markers");
const ENABLED: Rule = approximated("/enabled", "/isEnabled", "the order decides");
const IDENTIFIER: Rule = mapped("/identifier", Text, "/id");
const ROLE: Rule = mapped("/role", Named(&["system", "user", "assistant"]), "/role");
const FORBIDS: Rule = approximated("/forbid_overrides", "/content", "decided when card and preset meet");
const OWN_TEXT: Rule = kept("/content", "what the marker stands for takes its place");

const TRIGGERS: [Rule; 2] =
    [mapped("/injection_trigger", Texts, "/triggers"), mapped("/injection_trigger/*", Text, "/triggers")];

const STRATEGY: [Rule; 3] = [
    mapped("/injection_position", Among(&[0, 1]), "/injectionStrategy/type"),
    mapped("/injection_depth", Whole(0), "/injectionStrategy/depth"),
    mapped("/injection_order", Whole(i64::MIN), "/injectionStrategy/order"),
];

const SILENT: &str = "a marker that stands for nothing is not sent, as there";

const IN_LIST: &str = "a marker in the list has no depth";

impl Kinds {
    fn new() -> Self {
        let shared = || [SYSTEM, MARKER, ENABLED, IDENTIFIER, FORBIDS].into_iter().chain(TRIGGERS);
        let name = mapped("/name", Text, "/name");
        let plain = shared().chain(STRATEGY).chain([ROLE, name]);
        let content = mapped("/content", Text, "/content");
        let over = kept("/content", OVER);
        let silent = [
            approximated("/content", "/content", SILENT),
            kept("/injection_position", SILENT),
            mapped("/injection_depth", Whole(0), "/injectionStrategy/depth"),
            mapped("/injection_order", Whole(i64::MIN), "/injectionStrategy/order"),
            ROLE,
            name,
        ];
        let depths = || {
            [
                mapped("/injection_position", Among(&[0, 1]), "/injectionStrategy/type"),
                kept("/injection_depth", IN_LIST),
                kept("/injection_order", IN_LIST),
            ]
        };
        let nowhere = |at| kept(at, "the marker stays where the order has it");
        let anchor = [
            name,
            OWN_TEXT,
            kept("/role", "what stands here has roles of its own"),
            nowhere("/injection_position"),
            nowhere("/injection_depth"),
            nowhere("/injection_order"),
        ];
        let in_chat = [OWN_TEXT, ROLE, kept("/name", "what stands at a depth has no name")];
        Self {
            plain: Rc::new(RuleSet::new(plain.clone().chain([content]))),
            silent: Rc::new(RuleSet::new(shared().chain(silent))),
            overridden: Rc::new(RuleSet::new(plain.chain([over]))),
            text: [
                Rc::new(RuleSet::new(shared().chain([OWN_TEXT, ROLE, name]).chain(depths()))),
                Rc::new(RuleSet::new(shared().chain(in_chat).chain(STRATEGY))),
            ],
            anchor: Rc::new(RuleSet::new(shared().chain(anchor))),
        }
    }

    fn of_marker(&self, marker: &Marker, is_in_chat: bool) -> &Rc<RuleSet> {
        let [in_list, in_chat] = &self.text;
        match (marker.has_text(), is_in_chat) {
            (false, _) => &self.anchor,
            (true, false) => in_list,
            (true, true) => in_chat,
        }
    }
}
