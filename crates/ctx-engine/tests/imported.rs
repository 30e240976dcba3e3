//! What is sent for files of SillyTavern that were imported.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctx_engine::{Compile, CompiledAgent, Context, Engine};
use ctx_preset_import::{Import, ImportOptions, SourceFile, import};
use ctx_types::{GenerationKind, LoadedWorldbook, Session, TurnInput};
use serde_json::{Value, json};

/// Imports files, each with a name of its own; a list is a chat, a line each.
fn imported(files: &[Value]) -> (CompiledAgent, Session) {
    let texts: Vec<(String, String)> = files
        .iter()
        .enumerate()
        .map(|(number, file)| match file.as_array() {
            Some(lines) => {
                let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
                (format!("{number}.jsonl"), lines.join("\n"))
            }
            None => (format!("{number}.json"), file.to_string()),
        })
        .collect();
    let sources: Vec<SourceFile<'_>> =
        texts.iter().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() }).collect();
    let Import { agent, worldbooks, profile, conversations, .. } =
        import(&sources, &ImportOptions::default());
    let books = worldbooks.into_iter().map(|named| LoadedWorldbook {
        id: named.name.as_str().into(),
        name: named.name.as_str().into(),
        book: std::sync::Arc::new(named.book),
        is_global: false,
    });
    let with = Compile { profile, worldbooks: books.collect(), ..Compile::default() };
    let session = conversations.into_iter().next().map_or_else(|| Session::new("s"), |chat| chat.session);
    (Engine::new().compile(&agent.unwrap(), &with), session)
}

fn assemble(files: &[Value], turn: &TurnInput) -> Context {
    let (agent, session) = imported(files);
    agent.assemble_blocking(&session, turn).unwrap()
}

/// Compares the texts that are sent.
#[track_caller]
fn check_turn(files: &[Value], turn: &TurnInput, expected: &[&str]) {
    let context = assemble(files, turn);
    let texts: Vec<String> = context.messages.iter().map(|message| message.text().into_owned()).collect();
    assert_eq!(texts, expected);
}

#[track_caller]
fn check(files: &[Value], expected: &[&str]) {
    check_turn(files, &TurnInput::default(), expected);
}

fn quiet(input: &str) -> TurnInput {
    TurnInput { kind: GenerationKind::Quiet, input: Some(input.into()), ..TurnInput::default() }
}

/// A preset with the given fields that sends a main prompt and the conversation below an empty line.
fn preset(fields: &Value) -> Value {
    let order = ["main", "chatHistory", "jailbreak"];
    let order: Vec<Value> = order.iter().map(|id| json!({ "identifier": id, "enabled": true })).collect();
    let mut preset = json!({
        "prompts": [{ "identifier": "main", "content": "Main." }],
        "prompt_order": [{ "character_id": 100_001, "order": order }],
        "new_chat_prompt": "", "new_example_chat_prompt": "",
    });
    preset.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    preset
}

fn card(fields: &Value) -> Value {
    let mut card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Ada" } });
    card["data"].as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    card
}

/// A chat with metadata, whose first message is the character's.
fn chat(metadata: &Value, messages: &[&str]) -> Value {
    let header = json!({ "user_name": "Kim", "character_name": "Ada", "chat_metadata": metadata });
    let line = |(at, text): (usize, &&str)| {
        let is_user = at % 2 == 1;
        json!({ "name": if is_user { "Kim" } else { "Ada" }, "is_user": is_user, "is_system": false, "mes": text })
    };
    std::iter::once(header).chain(messages.iter().enumerate().map(line)).collect()
}

#[test]
fn the_answer_is_a_part_of_the_context() {
    let limits = preset(&json!({ "openai_max_context": 300, "openai_max_tokens": 200 }));
    let available =
        |turn: &TurnInput| assemble(std::slice::from_ref(&limits), turn).report.usage.unwrap().available;
    assert_eq!(available(&TurnInput::default()), Some(97));
    assert_eq!(available(&TurnInput { reserve: Some(50), ..TurnInput::default() }), Some(247));
    assert_eq!(available(&TurnInput { context_tokens: Some(300), ..TurnInput::default() }), Some(297));
}

#[test]
fn the_budget_of_world_info_is_a_part_of_the_context_without_the_answer() {
    let limits = |answer: i64| preset(&json!({ "openai_max_context": 200, "openai_max_tokens": answer }));
    let settings = json!({ "power_user": {}, "world_info_settings": { "world_info_budget": 10 } });
    let book = json!({ "name": "Sea", "entries": { "0": {
        "uid": 0, "key": [], "constant": true, "position": 0, "content": "The harbour sleeps until the tide is high.",
    } } });
    let entry = "The harbour sleeps until the tide is high.";
    check(&[limits(20), settings.clone(), book.clone()], &["Main.", entry]);
    check(&[limits(120), settings, book], &["Main."]);
}

#[test]
fn a_card_shows_the_main_prompt_where_it_says_original() {
    let check = |system_prompt: &str, expected: &[&str]| {
        let card = card(&json!({ "system_prompt": system_prompt }));
        check(&[card, preset(&json!({}))], expected);
    };
    check("Card.", &["Card."]);
    check("{{original}} Card.", &["Main. Card."]);
    check("{{ original }} Card.", &["Main. Card."]);
    check("{{\nORIGINAL\t}} Card {{original}}.", &["Main. Card ."]);
    check("{{{original}}}", &["{Main.}"]);
    check("{{original}", &["{{original}"]);
    check("{{ originals }}{{ original }}", &["{{ originals }}Main."]);
}
