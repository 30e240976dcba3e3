//! Cards, presets, scripts, books and agents, with wrong and missing values among the right ones.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Any value at all.
pub(crate) fn wrong() -> BoxedStrategy<Value> {
    one_of(json!([
        null, true, -3, 7, 2.5, "", " ", "x", "12", [], {}, [1, "a"], { "a": { "b": [] }, "c/d~e": 1 },
    ]))
}

/// One of the values of a list.
pub(crate) fn one_of(values: Value) -> BoxedStrategy<Value> {
    let Value::Array(values) = values else { panic!("not a list") };
    select(values).boxed()
}

pub(crate) fn always(value: Value) -> BoxedStrategy<Value> {
    Just(value).boxed()
}

/// A field: mostly right, sometimes wrong, sometimes missing.
fn field(right: BoxedStrategy<Value>) -> BoxedStrategy<Option<Value>> {
    prop_oneof![8 => right.prop_map(Some), 1 => wrong().prop_map(Some), 2 => Just(None)].boxed()
}

/// An object of fields, each kind of value with the names of its fields, and of an unknown field.
pub(crate) fn object<const N: usize>(
    fields: [(BoxedStrategy<Value>, &'static str); N],
) -> BoxedStrategy<Value> {
    let fields = fields
        .into_iter()
        .flat_map(|(value, names)| names.split_whitespace().map(move |name| (name, field(value.clone()))));
    let (keys, values): (Vec<_>, Vec<_>) = fields.unzip();
    let own = prop_oneof![3 => Just(None), 1 => wrong().prop_map(Some)];
    (values, own)
        .prop_map(move |(values, own)| {
            let keyed = keys.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?)));
            let own = own.map(|own| ("own/~key".to_owned(), own));
            Value::Object(keyed.chain(own).collect::<Map<_, _>>())
        })
        .boxed()
}

/// An object that has a field in any case.
pub(crate) fn with(
    object: BoxedStrategy<Value>,
    key: &'static str,
    value: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    (object, value)
        .prop_map(move |(mut object, value)| {
            object[key] = value;
            object
        })
        .boxed()
}

/// A value, or rarely a wrong one.
fn mostly(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![9 => value, 1 => wrong()].boxed()
}

pub(crate) fn text() -> BoxedStrategy<Value> {
    let special = json!(["", "{{original}} and", "Creator's notes go here.", "/a/g", "@@depth 2\nx"]);
    prop_oneof![4 => "[a-z {}<>]{0,10}".prop_map(Value::from), 1 => one_of(special)].boxed()
}

pub(crate) fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

fn integer(least: i64, end: i64) -> BoxedStrategy<Value> {
    (least..end).prop_map(Value::from).boxed()
}

pub(crate) fn number() -> BoxedStrategy<Value> {
    prop_oneof![4 => integer(-2, 6), 1 => one_of(json!(["3", 1.5, 100]))].boxed()
}

pub(crate) fn list(item: BoxedStrategy<Value>, most: usize) -> BoxedStrategy<Value> {
    prop::collection::vec(mostly(item), 0..=most).prop_map(Value::from).boxed()
}

pub(crate) fn texts() -> BoxedStrategy<Value> {
    prop_oneof![5 => list(text(), 3), 1 => Just(json!("a, b"))].boxed()
}

pub(crate) fn script() -> BoxedStrategy<Value> {
    let fields = object([
        (text(), "id scriptName replaceString"),
        (list(text(), 2), "trimStrings"),
        (list(integer(0, 8), 3), "placement"),
        (flag(), "disabled markdownOnly promptOnly runOnEdit"),
        (number(), "substituteRegex minDepth maxDepth"),
    ]);
    with(fields, "findRegex", mostly(text()))
}

/// One regex script, or a list of them.
pub(crate) fn scripts() -> BoxedStrategy<Value> {
    prop_oneof![1 => script(), 2 => prop::collection::vec(script(), 1..4).prop_map(Value::from)].boxed()
}

fn card_entry() -> BoxedStrategy<Value> {
    let extensions = object([
        (number(), "position depth probability selectiveLogic role sticky display_index"),
        (text(), "group automation_id"),
        (flag(), "case_sensitive match_scenario"),
        (prop_oneof![flag(), number()].boxed(), "delay_until_recursion"),
        (texts(), "triggers"),
    ]);
    let entry = || {
        object([
            (prop_oneof![number(), text()].boxed(), "id"),
            (texts(), "keys secondary_keys"),
            (text(), "comment name content"),
            (flag(), "constant selective enabled case_sensitive use_regex"),
            (number(), "insertion_order priority"),
            (one_of(json!(["before_char", "after_char", "elsewhere"])), "position"),
            (extensions.clone(), "extensions"),
        ])
    };
    // Files that several applications wrote have both forms.
    prop_oneof![7 => entry(), 1 => with(entry(), "key", texts())].boxed()
}

fn named(entries: BoxedStrategy<Value>, key: &'static str) -> BoxedStrategy<Value> {
    // The first entry tells which kind of book it is.
    let entries = prop::collection::vec(entries, 1..4).prop_map(move |mut entries| {
        entries[0][key] = json!(["k"]);
        entries
    });
    let keyed = |entries: Vec<Value>| {
        let entries = entries.into_iter().enumerate();
        entries.map(|(index, entry)| (format!("e{index}"), entry)).collect::<Value>()
    };
    prop_oneof![entries.clone().prop_map(Value::from), entries.prop_map(keyed)].boxed()
}

fn book_of(entries: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let around = object([
        (text(), "name description dialect"),
        (number(), "scan_depth token_budget"),
        (flag(), "recursive_scanning"),
        (wrong(), "extensions imported"),
    ]);
    with(around, "entries", entries)
}

fn card_book() -> BoxedStrategy<Value> {
    let entries = prop_oneof![6 => named(card_entry(), "keys"), 1 => wrong(), 1 => list(card_entry(), 2)];
    book_of(entries.boxed())
}

fn world_entry() -> BoxedStrategy<Value> {
    let filter = json!({ "isExclude": true, "names": ["a"], "tags": [] });
    object([
        (prop_oneof![number(), text()].boxed(), "uid"),
        (texts(), "keysecondary triggers"),
        (text(), "comment content outletName group automationId"),
        (flag(), "constant selective disable caseSensitive addMemo"),
        (number(), "selectiveLogic order position depth role probability sticky displayIndex"),
        (prop_oneof![flag(), number()].boxed(), "delayUntilRecursion"),
        (always(filter), "characterFilter"),
        (wrong(), "extensions"),
    ])
}

/// A lorebook by itself, of each kind.
pub(crate) fn book() -> BoxedStrategy<Value> {
    let risu_entry =
        object([(text(), "key secondkey content"), (flag(), "alwaysActive"), (number(), "insertorder")]);
    let risu = (list(risu_entry, 2), field(text())).prop_map(|(data, name)| match name {
        Some(name) => json!({ "type": "risu", "ver": 1, "data": data, "name": name }),
        None => json!({ "type": "risu", "ver": 1, "data": data }),
    });
    let novel_entry = object([
        (texts(), "keys"),
        (text(), "text displayName"),
        (flag(), "enabled forceActivation"),
        (always(json!({ "budgetPriority": 400, "prefix": "" })), "contextConfig"),
    ]);
    let novel = list(novel_entry, 2).prop_map(|entries| json!({ "lorebookVersion": 5, "entries": entries }));
    prop_oneof![
        book_of(named(world_entry(), "key")),
        book_of(named(card_entry(), "keys")),
        card_book().prop_map(|book| json!({ "spec": "lorebook_v3", "data": book, "beside": 1 })),
        risu,
        novel,
    ]
    .boxed()
}

fn card_fields() -> BoxedStrategy<Value> {
    let note = object([
        (text(), "prompt"),
        (number(), "depth"),
        (one_of(json!(["system", "user", "narrator"])), "role"),
    ]);
    let extensions = object([
        (note, "depth_prompt"),
        (number(), "talkativeness"),
        (flag(), "fav"),
        (text(), "world"),
        (list(script(), 2), "regex_scripts"),
    ]);
    let texts_of_card = "name description personality scenario first_mes mes_example creator_notes system_prompt \
        post_history_instructions creator character_version nickname char_persona version";
    object([
        (text(), texts_of_card),
        (texts(), "alternate_greetings group_only_greetings tags"),
        (extensions, "extensions"),
        (list(script(), 2), "regex_scripts"),
        (list(object([(text(), "type uri name ext")]), 2), "assets"),
        (card_book(), "character_book"),
        (number(), "creation_date"),
    ])
}

/// A character card of any version.
pub(crate) fn card() -> BoxedStrategy<Value> {
    let top = object([
        (text(), "name description first_mes creatorcomment"),
        (texts(), "tags"),
        (number(), "talkativeness"),
        (flag(), "fav"),
    ]);
    let spec = select(vec!["chara_card_v2", "chara_card_v3"]);
    let layered =
        (top, card_fields(), spec, any::<bool>()).prop_map(|(mut card, data, spec, is_mirrored)| {
            if is_mirrored && let Some(name) = data.get("name") {
                card["name"] = name.clone();
            }
            card["spec"] = json!(spec);
            card["spec_version"] = json!("3.0");
            card["data"] = data;
            card
        });
    let flat = card_fields().prop_map(|mut card| {
        if card.get("first_mes").is_none() {
            card["first_mes"] = json!("Hi");
        }
        card
    });
    let old = object([(text(), "char_persona char_greeting example_dialogue world_scenario personality")]);
    prop_oneof![4 => layered, 1 => flat, 1 => with(old, "char_name", text())].boxed()
}

fn identifier() -> BoxedStrategy<Value> {
    let known = "main jailbreak nsfw own other charDescription charPersonality scenario personaDescription \
        worldInfoBefore dialogueExamples chatHistory";
    select(known.split_whitespace().collect::<Vec<_>>()).prop_map(Value::from).boxed()
}

fn role() -> BoxedStrategy<Value> {
    one_of(json!(["system", "user", "assistant"]))
}

/// A chat-completion preset.
pub(crate) fn preset() -> BoxedStrategy<Value> {
    let prompt = object([
        (identifier(), "identifier"),
        (text(), "name content"),
        (role(), "role"),
        (flag(), "system_prompt marker enabled forbid_overrides"),
        (integer(0, 3), "injection_position"),
        (number(), "injection_depth injection_order"),
        (texts(), "injection_trigger"),
    ]);
    let step = object([(identifier(), "identifier"), (flag(), "enabled")]);
    let owner = one_of(json!([100_000, 100_001, "100001", 7]));
    let order = object([(owner, "character_id"), (list(step, 8), "order")]);
    let texts_of_preset = "main_prompt jailbreak_prompt new_example_chat_prompt continue_nudge_prompt \
        impersonation_prompt send_if_empty assistant_prefill wi_format scenario_format personality_format claude_model";
    let fields = object([
        (list(prompt, 6), "prompts"),
        (list(order, 2), "prompt_order"),
        (number(), "temperature top_p openai_max_tokens temp_openai names_behavior"),
        (prop_oneof![number(), Just(json!(4096))].boxed(), "openai_max_context"),
        (one_of(json!(["auto", "high"])), "reasoning_effort"),
        (text(), texts_of_preset),
        (flag(), "squash_system_messages continue_prefill stream_openai"),
        (one_of(json!(["claude", "openai"])), "chat_completion_source"),
        (one_of(json!(["strict", ""])), "custom_prompt_post_processing"),
        (object([(list(script(), 2), "regex_scripts")]), "extensions"),
    ]);
    with(fields, "new_chat_prompt", text())
}

fn entry() -> BoxedStrategy<Value> {
    let strategy = object([
        (one_of(json!(["depth", "anchor", "default"])), "type"),
        (number(), "depth order"),
        (text(), "depthConfig anchorTarget"),
    ]);
    object([
        (text(), "id parentId status"),
        (texts(), "childrenIds"),
        (one_of(json!(["First Message", "Alternate Greeting 1", "n"])), "name"),
        (role(), "role"),
        (one_of(json!(["message", "user_profile", "chat_history"])), "type"),
        (prop_oneof![3 => text(), 1 => Just(json!("User Profile"))].boxed(), "content"),
        (flag(), "isEnabled"),
        (strategy, "injectionStrategy"),
        (number(), "insertionPoint"),
        (object([(flag(), "enabled"), (texts(), "patterns"), (text(), "mode")]), "modelMatch"),
        (wrong(), "metadata"),
    ])
}

fn parameters() -> BoxedStrategy<Value> {
    let rule = object([
        (one_of(json!(["post:merge-consecutive-roles", "x"])), "type"),
        (flag(), "enabled"),
        (text(), "separator"),
    ]);
    let processor = object([(always(json!("x")), "id"), (wrong(), "config")]);
    object([
        (number(), "temperature maxTokens"),
        (object([(flag(), "enabled"), (number(), "foo")]), "custom"),
        (object([(list(rule, 3), "rules")]), "contextPostProcessing"),
        (list(processor, 2), "processors"),
        (object([(flag(), "enabled includesAnswer"), (number(), "maxContextTokens")]), "contextManagement"),
    ])
}

fn agent() -> BoxedStrategy<Value> {
    let content = prop_oneof![book_of(named(world_entry(), "key")), wrong()].boxed();
    let item = object([(always(json!("w")), "id"), (text(), "name"), (content, "content")]);
    let bundled = list(item, 3).prop_map(|mut items| {
        // Of two with one id it is not told which has the book.
        for (index, item) in items.as_array_mut().into_iter().flatten().enumerate() {
            if let Some(id) = item.get_mut("id").filter(|id| id.is_string()) {
                *id = json!(format!("w-{index}"));
            }
        }
        items
    });
    let rule = object([(text(), "regex"), (object([(flag(), "render")]), "applyTo")]);
    let rules = object([(text(), "name"), (list(rule, 2), "rules")]);
    let greeting = object([(text(), "id content role"), (texts(), "attachments")]);
    object([
        (text(), "id name icon category"),
        (texts(), "tags"),
        (number(), "displayPresetCount"),
        (object([(text(), "description"), (wrong(), "depthPrompt")]), "character"),
        (list(object([(text(), "id"), (flag(), "enabled")]), 2), "presetGroups"),
        (list(greeting, 1), "greetings"),
        (parameters(), "parameters"),
        (object([(list(rules, 2), "presets")]), "regexConfig"),
        (object([(text(), "virtualBaseTime"), (number(), "timeScale")]), "virtualTimeConfig"),
        (one_of(json!([["w-2", "x"], ["w-1"], []])), "worldbookIds"),
        (bundled.boxed(), "bundledWorldbooks"),
        (wrong(), "toolCallConfig imported"),
    ])
}

/// An agent of AIO Hub, an export of agents, or a preset of either version.
pub(crate) fn aio() -> BoxedStrategy<Value> {
    let entries = || prop::collection::vec(mostly(entry()), 0..4).prop_map(Value::from).boxed();
    let whole = || with(agent(), "presetMessages", entries());
    let around = object([(number(), "version"), (text(), "exportedAt")]);
    let agents = (whole(), prop::collection::vec(wrong(), 0..3))
        .prop_map(|(first, others)| std::iter::once(first).chain(others).collect::<Value>());
    let export = with(around, "type", always(json!("AIO_Agent_Export")));
    let groups = always(json!([{ "id": "g", "own": 1 }]));
    let list = entries().prop_map(|mut entries| {
        entries.as_array_mut().unwrap().push(json!({ "type": "chat_history" }));
        entries
    });
    prop_oneof![
        2 => whole(),
        2 => with(export, "agents", agents.boxed()),
        1 => with(with(agent(), "messages", entries()), "groups", groups),
        1 => list,
    ]
    .boxed()
}
