//! Files as people have them, with wrong and missing values among the right ones.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Any value at all.
pub(crate) fn wrong() -> impl Strategy<Value = Value> + Clone {
    select(vec![
        json!(null),
        json!(true),
        json!(-3),
        json!(7),
        json!(2.5),
        json!(""),
        json!(" "),
        json!("x"),
        json!("12"),
        json!([]),
        json!({}),
        json!([1, "a"]),
        json!({ "a": { "b": [] }, "c/d~e": 1 }),
    ])
}

/// A field: mostly right, sometimes wrong, sometimes not there.
fn field(right: BoxedStrategy<Value>) -> BoxedStrategy<Option<Value>> {
    prop_oneof![8 => right.prop_map(Some), 1 => wrong().prop_map(Some), 2 => Just(None)].boxed()
}

/// An object of fields, with one that nobody knows.
pub(crate) fn object(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let (keys, values): (Vec<_>, Vec<_>) = fields.into_iter().map(|(key, value)| (key, field(value))).unzip();
    let own = prop_oneof![3 => Just(None), 1 => wrong().prop_map(Some)];
    (values, own)
        .prop_map(move |(values, own)| {
            let keyed = keys.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?)));
            let own = own.map(|own| ("own/~key".to_owned(), own));
            Value::Object(keyed.chain(own).collect::<Map<_, _>>())
        })
        .boxed()
}

pub(crate) fn text() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => "[a-z {}<>]{0,10}".prop_map(Value::from),
        1 => select(vec![json!(""), json!("{{original}} and"), json!("Creator's notes go here."), json!("/a/g"), json!("@@depth 2\nx")]),
    ]
    .boxed()
}

pub(crate) fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

pub(crate) fn number() -> BoxedStrategy<Value> {
    prop_oneof![4 => (-2i64..6).prop_map(Value::from), 1 => select(vec![json!("3"), json!(1.5), json!(100)])]
        .boxed()
}

pub(crate) fn list(item: BoxedStrategy<Value>, most: usize) -> BoxedStrategy<Value> {
    let item = prop_oneof![9 => item, 1 => wrong()];
    prop::collection::vec(item, 0..=most).prop_map(Value::from).boxed()
}

pub(crate) fn texts() -> BoxedStrategy<Value> {
    prop_oneof![5 => list(text(), 3), 1 => Just(json!("a, b"))].boxed()
}

pub(crate) fn script() -> BoxedStrategy<Value> {
    let fields = object(vec![
        ("id", text()),
        ("scriptName", text()),
        ("replaceString", text()),
        ("trimStrings", list(text(), 2)),
        ("placement", list((0i64..8).prop_map(Value::from).boxed(), 3)),
        ("disabled", flag()),
        ("markdownOnly", flag()),
        ("promptOnly", flag()),
        ("runOnEdit", flag()),
        ("substituteRegex", number()),
        ("minDepth", number()),
        ("maxDepth", number()),
    ]);
    (fields, prop_oneof![9 => text(), 1 => wrong()])
        .prop_map(|(mut script, find)| {
            script["findRegex"] = find;
            script
        })
        .boxed()
}

/// One regex script, or a list of them.
pub(crate) fn scripts() -> BoxedStrategy<Value> {
    prop_oneof![1 => script(), 2 => prop::collection::vec(script(), 1..4).prop_map(Value::from)].boxed()
}

fn card_entry() -> BoxedStrategy<Value> {
    let extensions = object(vec![
        ("position", number()),
        ("depth", number()),
        ("probability", number()),
        ("selectiveLogic", number()),
        ("role", number()),
        ("group", text()),
        ("case_sensitive", flag()),
        ("delay_until_recursion", prop_oneof![flag(), number()].boxed()),
        ("sticky", number()),
        ("match_scenario", flag()),
        ("triggers", texts()),
        ("display_index", number()),
        ("automation_id", text()),
    ]);
    let entry = object(vec![
        ("id", prop_oneof![number(), text()].boxed()),
        ("keys", texts()),
        ("secondary_keys", texts()),
        ("comment", text()),
        ("name", text()),
        ("content", text()),
        ("constant", flag()),
        ("selective", flag()),
        ("enabled", flag()),
        ("insertion_order", number()),
        ("position", select(vec![json!("before_char"), json!("after_char"), json!("elsewhere")]).boxed()),
        ("case_sensitive", flag()),
        ("use_regex", flag()),
        ("priority", number()),
        ("extensions", extensions),
    ]);
    // Files that several applications wrote have both forms.
    let both = prop_oneof![7 => Just(None), 1 => texts().prop_map(Some)];
    (entry, both)
        .prop_map(|(mut entry, key)| {
            if let Some(key) = key {
                entry["key"] = key;
            }
            entry
        })
        .boxed()
}

fn named(entries: BoxedStrategy<Value>, key: &'static str) -> BoxedStrategy<Value> {
    // The first entry tells which kind of book it is.
    let entries = prop::collection::vec(entries, 1..4).prop_map(move |mut entries| {
        entries[0][key] = json!(["k"]);
        entries
    });
    prop_oneof![
        entries.clone().prop_map(Value::from),
        entries.prop_map(|entries| {
            let keyed = entries.into_iter().enumerate().map(|(index, entry)| (format!("e{index}"), entry));
            Value::Object(keyed.collect())
        }),
    ]
    .boxed()
}

fn book_of(entries: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let around = object(vec![
        ("name", text()),
        ("description", text()),
        ("scan_depth", number()),
        ("token_budget", number()),
        ("recursive_scanning", flag()),
        ("extensions", wrong().boxed()),
        ("imported", wrong().boxed()),
        ("dialect", text()),
    ]);
    (around, entries)
        .prop_map(|(mut book, entries)| {
            book["entries"] = entries;
            book
        })
        .boxed()
}

fn card_book() -> BoxedStrategy<Value> {
    let entries = prop_oneof![6 => named(card_entry(), "keys"), 1 => wrong(), 1 => list(card_entry(), 2)];
    book_of(entries.boxed())
}

fn world_entry() -> BoxedStrategy<Value> {
    object(vec![
        ("uid", prop_oneof![number(), text()].boxed()),
        ("keysecondary", texts()),
        ("comment", text()),
        ("content", text()),
        ("constant", flag()),
        ("selective", flag()),
        ("selectiveLogic", number()),
        ("order", number()),
        ("position", number()),
        ("depth", number()),
        ("role", number()),
        ("outletName", text()),
        ("disable", flag()),
        ("delayUntilRecursion", prop_oneof![flag(), number()].boxed()),
        ("probability", number()),
        ("group", text()),
        ("sticky", number()),
        ("caseSensitive", flag()),
        ("triggers", texts()),
        ("characterFilter", Just(json!({ "isExclude": true, "names": ["a"], "tags": [] })).boxed()),
        ("addMemo", flag()),
        ("displayIndex", number()),
        ("automationId", text()),
        ("extensions", wrong().boxed()),
    ])
}

/// A lorebook by itself, of each kind.
pub(crate) fn book() -> BoxedStrategy<Value> {
    let risu_entry = object(vec![
        ("key", text()),
        ("secondkey", text()),
        ("content", text()),
        ("alwaysActive", flag()),
        ("insertorder", number()),
    ]);
    let risu = (list(risu_entry, 2), field(text())).prop_map(|(data, name)| match name {
        Some(name) => json!({ "type": "risu", "ver": 1, "data": data, "name": name }),
        None => json!({ "type": "risu", "ver": 1, "data": data }),
    });
    let novel_entry = object(vec![
        ("keys", texts()),
        ("text", text()),
        ("displayName", text()),
        ("enabled", flag()),
        ("forceActivation", flag()),
        ("contextConfig", Just(json!({ "budgetPriority": 400, "prefix": "" })).boxed()),
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
    let note = object(vec![
        ("prompt", text()),
        ("depth", number()),
        ("role", select(vec![json!("system"), json!("user"), json!("narrator")]).boxed()),
    ]);
    let extensions = object(vec![
        ("depth_prompt", note),
        ("talkativeness", number()),
        ("fav", flag()),
        ("world", text()),
        ("regex_scripts", list(script(), 2)),
    ]);
    let asset = object(vec![("type", text()), ("uri", text()), ("name", text()), ("ext", text())]);
    object(vec![
        ("name", text()),
        ("description", text()),
        ("personality", text()),
        ("scenario", text()),
        ("first_mes", text()),
        ("mes_example", text()),
        ("creator_notes", text()),
        ("system_prompt", text()),
        ("post_history_instructions", text()),
        ("alternate_greetings", texts()),
        ("group_only_greetings", texts()),
        ("tags", texts()),
        ("creator", text()),
        ("character_version", text()),
        ("nickname", text()),
        ("extensions", extensions),
        ("regex_scripts", list(script(), 2)),
        ("assets", list(asset, 2)),
        ("character_book", card_book()),
        ("creation_date", number()),
        ("char_persona", text()),
        ("version", text()),
    ])
}

/// A character card of any version.
pub(crate) fn card() -> BoxedStrategy<Value> {
    let top = object(vec![
        ("name", text()),
        ("description", text()),
        ("first_mes", text()),
        ("creatorcomment", text()),
        ("tags", texts()),
        ("talkativeness", number()),
        ("fav", flag()),
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
    let old = object(vec![
        ("char_persona", text()),
        ("char_greeting", text()),
        ("example_dialogue", text()),
        ("world_scenario", text()),
        ("personality", text()),
    ]);
    let old = (old, text()).prop_map(|(mut card, name)| {
        card["char_name"] = name;
        card
    });
    prop_oneof![4 => layered, 1 => flat, 1 => old].boxed()
}

const IDENTIFIERS: [&str; 12] = [
    "main",
    "jailbreak",
    "nsfw",
    "own",
    "other",
    "charDescription",
    "charPersonality",
    "scenario",
    "personaDescription",
    "worldInfoBefore",
    "dialogueExamples",
    "chatHistory",
];

fn identifier() -> BoxedStrategy<Value> {
    select(IDENTIFIERS.to_vec()).prop_map(Value::from).boxed()
}

fn prompt() -> BoxedStrategy<Value> {
    object(vec![
        ("identifier", identifier()),
        ("name", text()),
        ("role", select(vec![json!("system"), json!("user"), json!("assistant")]).boxed()),
        ("content", text()),
        ("system_prompt", flag()),
        ("marker", flag()),
        ("enabled", flag()),
        ("injection_position", (0i64..3).prop_map(Value::from).boxed()),
        ("injection_depth", number()),
        ("injection_order", number()),
        ("injection_trigger", texts()),
        ("forbid_overrides", flag()),
    ])
}

/// A chat-completion preset.
pub(crate) fn preset() -> BoxedStrategy<Value> {
    let step = object(vec![("identifier", identifier()), ("enabled", flag())]);
    let owner = select(vec![json!(100_000), json!(100_001), json!("100001"), json!(7)]).boxed();
    let order = object(vec![("character_id", owner), ("order", list(step, 8))]);
    let extensions = object(vec![("regex_scripts", list(script(), 2))]);
    let fields = object(vec![
        ("prompts", list(prompt(), 6)),
        ("prompt_order", list(order, 2)),
        ("temperature", number()),
        ("top_p", number()),
        ("openai_max_tokens", number()),
        ("openai_max_context", prop_oneof![number(), Just(json!(4096))].boxed()),
        ("reasoning_effort", select(vec![json!("auto"), json!("high")]).boxed()),
        ("temp_openai", number()),
        ("main_prompt", text()),
        ("jailbreak_prompt", text()),
        ("new_example_chat_prompt", text()),
        ("continue_nudge_prompt", text()),
        ("impersonation_prompt", text()),
        ("send_if_empty", text()),
        ("assistant_prefill", text()),
        ("wi_format", text()),
        ("scenario_format", text()),
        ("personality_format", text()),
        ("names_behavior", number()),
        ("squash_system_messages", flag()),
        ("continue_prefill", flag()),
        ("stream_openai", flag()),
        ("chat_completion_source", select(vec![json!("claude"), json!("openai")]).boxed()),
        ("claude_model", text()),
        ("custom_prompt_post_processing", select(vec![json!("strict"), json!("")]).boxed()),
        ("extensions", extensions),
    ]);
    (fields, text())
        .prop_map(|(mut preset, text)| {
            preset["new_chat_prompt"] = text;
            preset
        })
        .boxed()
}

fn entry() -> BoxedStrategy<Value> {
    let strategy = object(vec![
        ("type", select(vec![json!("depth"), json!("anchor"), json!("default")]).boxed()),
        ("depth", number()),
        ("depthConfig", text()),
        ("anchorTarget", text()),
        ("order", number()),
    ]);
    object(vec![
        ("id", text()),
        ("parentId", text()),
        ("childrenIds", texts()),
        ("name", select(vec![json!("First Message"), json!("Alternate Greeting 1"), json!("n")]).boxed()),
        ("role", select(vec![json!("system"), json!("user"), json!("assistant")]).boxed()),
        ("type", select(vec![json!("message"), json!("user_profile"), json!("chat_history")]).boxed()),
        ("content", prop_oneof![3 => text(), 1 => Just(json!("User Profile"))].boxed()),
        ("status", text()),
        ("isEnabled", flag()),
        ("injectionStrategy", strategy),
        ("insertionPoint", number()),
        ("modelMatch", object(vec![("enabled", flag()), ("patterns", texts()), ("mode", text())])),
        ("metadata", wrong().boxed()),
    ])
}

fn parameters() -> BoxedStrategy<Value> {
    let rule = object(vec![
        ("type", select(vec![json!("post:merge-consecutive-roles"), json!("x")]).boxed()),
        ("enabled", flag()),
        ("separator", text()),
    ]);
    let processing = object(vec![("rules", list(rule, 3))]);
    let processor = object(vec![("id", Just(json!("x")).boxed()), ("config", wrong().boxed())]);
    object(vec![
        ("temperature", number()),
        ("maxTokens", number()),
        ("custom", object(vec![("enabled", flag()), ("foo", number())])),
        ("contextPostProcessing", processing),
        ("processors", list(processor, 2)),
        (
            "contextManagement",
            object(vec![("enabled", flag()), ("maxContextTokens", number()), ("includesAnswer", flag())]),
        ),
    ])
}

fn agent() -> BoxedStrategy<Value> {
    let content = prop_oneof![book_of(named(world_entry(), "key")), wrong()].boxed();
    let item = object(vec![("id", Just(json!("w")).boxed()), ("name", text()), ("content", content)]);
    let bundled = list(item, 3).prop_map(|mut items| {
        // Of two with one id it is not told which has the book.
        for (index, item) in items.as_array_mut().into_iter().flatten().enumerate() {
            if let Some(id) = item.get_mut("id").filter(|id| id.is_string()) {
                *id = json!(format!("w-{index}"));
            }
        }
        items
    });
    let greeting =
        object(vec![("id", text()), ("content", text()), ("role", text()), ("attachments", texts())]);
    let rule = object(vec![("regex", text()), ("applyTo", object(vec![("render", flag())]))]);
    let regex = object(vec![("presets", list(object(vec![("name", text()), ("rules", list(rule, 2))]), 2))]);
    object(vec![
        ("id", text()),
        ("name", text()),
        ("icon", text()),
        ("tags", texts()),
        ("category", text()),
        ("displayPresetCount", number()),
        ("character", object(vec![("description", text()), ("depthPrompt", wrong().boxed())])),
        ("presetGroups", list(object(vec![("id", text()), ("enabled", flag())]), 2)),
        ("greetings", list(greeting, 1)),
        ("parameters", parameters()),
        ("regexConfig", regex),
        ("virtualTimeConfig", object(vec![("virtualBaseTime", text()), ("timeScale", number())])),
        ("worldbookIds", select(vec![json!(["w-2", "x"]), json!(["w-1"]), json!([])]).boxed()),
        ("bundledWorldbooks", bundled.boxed()),
        ("toolCallConfig", wrong().boxed()),
        ("imported", wrong().boxed()),
    ])
}

/// An agent of AIO Hub, an export of agents, or a preset of either version.
pub(crate) fn aio() -> BoxedStrategy<Value> {
    let around = object(vec![("version", number()), ("exportedAt", text())]);
    let entries = || prop::collection::vec(prop_oneof![9 => entry(), 1 => wrong()], 0..4);
    let whole = || {
        (agent(), entries()).prop_map(|(mut agent, entries)| {
            agent["presetMessages"] = Value::from(entries);
            agent
        })
    };
    let export =
        (around, whole(), prop::collection::vec(wrong(), 0..3)).prop_map(|(mut export, first, others)| {
            export["type"] = json!("AIO_Agent_Export");
            export["agents"] = std::iter::once(first).chain(others).collect();
            export
        });
    let file = (agent(), entries()).prop_map(|(mut file, entries)| {
        file["messages"] = Value::from(entries);
        file["groups"] = json!([{ "id": "g", "own": 1 }]);
        file
    });
    let list = entries().prop_map(|mut entries| {
        entries.push(json!({ "type": "chat_history" }));
        Value::from(entries)
    });
    prop_oneof![2 => whole(), 2 => export, 1 => file, 1 => list].boxed()
}
