//! Contexts from imported SillyTavern files.

mod request_rules;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ctx_engine::{Compile, CompiledAgent, Context, Engine};
use ctx_preset_import::{Import, Importer, SourceFile};
use ctx_types::session::Session;
use ctx_types::worldbook::LoadedWorldbook;
use ctx_types::{Diagnostic, GenerationKind, TurnInput};
use serde_json::{Value, json};

/// Imports files with generated names; a list becomes a chat with one message per line.
fn imported(files: &[Value]) -> (CompiledAgent, Session) {
    let (_, agent, session) = import_all(&texts(files));
    (agent, session)
}

fn texts(files: &[Value]) -> Vec<(String, String)> {
    files
        .iter()
        .enumerate()
        .map(|(number, file)| match file.as_array() {
            Some(lines) => {
                let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
                (format!("{number}.jsonl"), lines.join("\n"))
            }
            None => (format!("{number}.json"), file.to_string()),
        })
        .collect()
}

fn import_all(texts: &[(String, String)]) -> (Vec<Diagnostic>, CompiledAgent, Session) {
    let sources: Vec<SourceFile<'_>> =
        texts.iter().map(|(name, text)| SourceFile { name, bytes: text.as_bytes() }).collect();
    let Import { agent, worldbooks, profile, conversations, report, .. } =
        Importer::default().import(&sources);
    let found = report.files.into_iter().flat_map(|file| file.diagnostics).collect();
    let books = worldbooks.into_iter().map(|named| LoadedWorldbook {
        id: named.name.as_str().into(),
        name: named.name.as_str().into(),
        book: std::sync::Arc::new(named.book),
        is_global: false,
    });
    let with = Compile::default().with(|compile| {
        compile.profile = profile;
        compile.worldbooks = books.collect();
    });
    let session = conversations.into_iter().next().map_or_else(|| Session::new("s"), |chat| chat.session);
    (found, Engine::new().compile(&agent.unwrap(), &with), session)
}

#[test]
fn matches_snapshots_of_fixture_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import");
    let mut cases: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|case| case.join("case.yaml").is_file());
    cases.sort();
    assert!(!cases.is_empty());
    for case in cases {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&case);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!("expected", show_case(&case)));
    }
}

fn show_case(case: &Path) -> String {
    let is_input = |path: &PathBuf| {
        !["case.yaml", "expected.snap", "expected.snap.new"].iter().any(|own| path.ends_with(own))
    };
    let mut paths: Vec<PathBuf> = fs::read_dir(case).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(is_input);
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    };
    let texts: Vec<(String, String)> = paths.iter().map(read).collect();
    let (found, agent, session) = import_all(&texts);
    let context = agent.assemble_blocking(&session, &TurnInput::default()).unwrap();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    format!("=== import\n{}\n{}", found.join("\n"), context.to_snapshot())
}

fn assemble(files: &[Value], turn: &TurnInput) -> Context {
    let (agent, session) = imported(files);
    agent.assemble_blocking(&session, turn).unwrap()
}

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
    TurnInput::default().with(|turn| {
        turn.kind = GenerationKind::Quiet;
        turn.input = Some(input.into());
    })
}

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

fn chat(metadata: &Value, messages: &[&str]) -> Value {
    let header = json!({ "user_name": "Kim", "character_name": "Ada", "chat_metadata": metadata });
    let line = |(at, text): (usize, &&str)| {
        let is_user = at % 2 == 1;
        json!({ "name": if is_user { "Kim" } else { "Ada" }, "is_user": is_user, "is_system": false, "mes": text })
    };
    std::iter::once(header).chain(messages.iter().enumerate().map(line)).collect()
}

#[test]
fn takes_world_info_budget_from_context_without_response() {
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
fn inserts_main_prompt_at_original_macro() {
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

#[test]
fn does_not_treat_quiet_prompt_as_user_message() {
    let book = json!({ "name": "Sea", "entries": { "0": {
        "uid": 0, "key": ["tide"], "content": "The tide is high.", "position": 0,
    } } });
    let note = |interval: i64| json!({ "note_prompt": "Note.", "note_interval": interval, "note_position": 1, "note_depth": 0 });
    let last = preset(&json!({ "prompts": [{ "identifier": "main", "content": "<{{lastMessage}}>" }] }));
    let files = |interval: i64| [last.clone(), book.clone(), chat(&note(interval), &["Hello.", "Well?"])];
    let ask = quiet("Sum up the tide.");
    check_turn(&files(2), &ask, &["<Well?>", "Hello.", "Well?", "Sum up the tide."]);
    check_turn(&files(1), &ask, &["<Well?>", "Hello.", "Well?", "Note.", "Sum up the tide."]);
    let said = ask.with(|turn| turn.kind = GenerationKind::Normal);
    let expected =
        ["<Sum up the tide.>", "Hello.", "Well?", "Sum up the tide.", "Note.", "The tide is high."];
    check_turn(&files(2), &said, &expected);
}

#[test]
fn uses_sillytavern_defaults_for_missing_texts() {
    let examples = card(&json!({ "mes_example": "<START>\n{{char}}: One." }));
    let said = chat(&json!({}), &["Hello."]);
    check(&[examples.clone(), said.clone()], &["[Example Chat]", "One.", "[Start a new Chat]", "Hello."]);
    check(
        &[said.clone(), preset(&json!({ "new_chat_prompt": null }))],
        &["Main.", "[Start a new Chat]", "Hello."],
    );
    check(&[said.clone(), preset(&json!({}))], &["Main.", "Hello."]);
    let go_on = TurnInput::default().with(|turn| turn.kind = GenerationKind::Continue);
    let nudge = "[Continue your last message without repeating its original content.]";
    check_turn(&[said.clone(), preset(&json!({}))], &go_on, &["Main.", "Hello.", nudge]);
    let blank = preset(&json!({ "continue_nudge_prompt": "" }));
    check_turn(&[said.clone(), blank], &go_on, &["Main.", "Hello."]);
    let story = json!({ "story_string": "{{description}}", "name": "Plain" });
    check(&[examples, story, said], &["One.", "Hello."]);
}

#[test]
fn places_post_history_of_text_completion_below_conversation() {
    let prompt = || json!({ "name": "Plain", "content": "Main.", "post_history": "Last." });
    let said = || chat(&json!({}), &["Hello."]);
    check(&[prompt(), said()], &["Main.", "[Start a new Chat]", "Hello.", "Last."]);
    check(&[prompt(), card(&json!({})), said()], &["Main.", "[Start a new Chat]", "Hello.", "Last."]);
    let own = card(&json!({ "post_history_instructions": "Card." }));
    check(&[prompt(), own, said()], &["Main.", "[Start a new Chat]", "Hello.", "Card."]);
}

#[test]
fn inserts_world_info_at_each_format_placeholder() {
    let book = json!({ "name": "Sea", "entries": { "0": {
        "uid": 0, "key": [], "constant": true, "content": "Tide.", "position": 0,
    } } });
    let check = |format: &str, expected: &str| {
        check(&[preset(&json!({ "wi_format": format })), book.clone()], &["Main.", expected]);
    };
    check("<{0}{0}>", "<Tide.Tide.>");
    check("{0}", "Tide.");
    check("", "Tide.");
    check("Lore: ", "Lore: Tide.");
}

#[test]
fn imports_variables_and_user_name_of_chat() {
    let variables = json!({ "variables": { "mood": "calm", "count": 2, "list": ["a"], "none": null } });
    let main = "{{user}}: {{getvar::mood}} {{incvar::count}} {{getvar::list}} [{{getvar::none}}]";
    let shown = preset(&json!({ "prompts": [{ "identifier": "main", "content": main }] }));
    check(&[shown.clone(), chat(&variables, &["Hello."])], &["Kim: calm 3 [\"a\"] []", "Hello."]);
    let mut unused = chat(&json!({}), &["Hello."]);
    unused[0]["user_name"] = "unused".into();
    check(&[shown.clone(), unused], &["User:  1  []", "Hello."]);
    let settings = json!({ "username": "Mei", "power_user": {} });
    check(&[shown, settings, chat(&json!({}), &["Hello."])], &["Mei:  1  []", "Hello."]);
}

#[track_caller]
fn check_sent(files: &[Value], kind: GenerationKind, expected: &[&str]) {
    let turn = TurnInput::default().with(|turn| turn.kind = kind);
    let sent = assemble(files, &turn).messages;
    let sent: Vec<String> =
        sent.iter().map(|message| format!("{}: {}", message.role, message.text())).collect();
    assert_eq!(sent, expected);
}

/// An order of prompts; `-` marks a disabled prompt.
fn order(identifiers: &str) -> Value {
    let step =
        |word: &str| json!({ "identifier": word.trim_start_matches('-'), "enabled": !word.starts_with('-') });
    let steps: Vec<Value> = identifiers.split_whitespace().map(step).collect();
    json!([{ "character_id": 100_001, "order": steps }])
}

fn prompts(at_depths: &[(&str, &str, u64)]) -> Value {
    let main = json!({ "identifier": "main", "content": "Main." });
    let prompt = |(name, role, depth): &(&str, &str, u64)| json!({ "identifier": name, "content": name, "role": role, "injection_position": 1, "injection_depth": depth });
    std::iter::once(main).chain(at_depths.iter().map(prompt)).collect()
}

#[test]
fn omits_world_info_of_disabled_placeholder() {
    let entry = |position: u64, content: &str| json!({ "uid": position, "key": [], "constant": true, "position": position, "content": content });
    let book = json!({ "name": "Sea", "entries": { "0": entry(0, "Before."), "1": entry(1, "After.") } });
    let check = |identifiers: &str, prompt: Value, expected: &[&str]| {
        let mut list = vec![json!({ "identifier": "main", "content": "Main." })];
        list.push(prompt);
        let preset = preset(&json!({ "prompts": list, "prompt_order": order(identifiers) }));
        check(&[preset, book.clone(), card(&json!({ "description": "Ada counts." }))], expected);
    };
    let all = "main worldInfoBefore charDescription worldInfoAfter chatHistory";
    check(all, json!({}), &["Main.", "Before.", "Ada counts.", "After."]);
    let off = "main -worldInfoBefore charDescription -worldInfoAfter chatHistory";
    check(off, json!({}), &["Main.", "Ada counts."]);
    check(
        "main charDescription -worldInfoAfter chatHistory",
        json!({}),
        &["Main.", "Ada counts.", "Before."],
    );
    let continued =
        json!({ "identifier": "worldInfoAfter", "marker": true, "injection_trigger": ["continue"] });
    check(all, continued, &["Main.", "Before.", "Ada counts.", "After."]);
    let without = order("main -worldInfoBefore charDescription worldInfoAfter chatHistory");
    let context =
        assemble(&[preset(&json!({ "prompt_order": without })), book.clone()], &TurnInput::default());
    let dropped: Vec<String> = context.report.decisions.iter().map(ToString::to_string).collect();
    assert!(dropped.iter().any(|one| one.contains("anchor `world_info_before` is disabled")), "{dropped:?}");
}

#[test]
fn places_persona_once() {
    let marker = json!({ "identifier": "personaDescription", "marker": true, "injection_position": 1, "injection_depth": 1, "role": "user" });
    let list = json!([{ "identifier": "main", "content": "Main." }, marker]);
    let preset =
        preset(&json!({ "prompts": list, "prompt_order": order("main personaDescription chatHistory") }));
    let note = json!({ "note_prompt": "Note.", "note_interval": 1, "note_position": 1, "note_depth": 0 });
    let check = |position: u64, expected: &[&str]| {
        let place = json!({ "description": "Kim rows.", "position": position, "depth": 0, "role": 0 });
        let personas = json!({ "personas": { "k": "Kim" }, "persona_descriptions": { "k": place } });
        check(&[preset.clone(), personas, chat(&note, &["Hello.", "Well?"])], expected);
    };
    check(0, &["Main.", "Hello.", "Kim rows.", "Well?", "Note."]);
    check(2, &["Main.", "Hello.", "Well?", "Kim rows.\nNote."]);
    check(4, &["Main.", "Hello.", "Well?", "Note.\nKim rows."]);
    check(9, &["Main.", "Hello.", "Well?", "Note."]);
}

#[test]
fn applies_formats_to_nonblank_texts() {
    let order = order("main charPersonality scenario chatHistory");
    let formats = json!({ "prompt_order": order, "personality_format": "P: {{personality}}", "scenario_format": "S: {{scenario}}" });
    let check = |text: &str, expected: &[&str]| {
        let card = card(&json!({ "personality": text, "scenario": text, "description": "" }));
        let sent = preset(&formats);
        let texts: Vec<String> = assemble(&[sent, card], &TurnInput::default())
            .messages
            .iter()
            .map(|one| one.text().into_owned())
            .collect();
        let expected: Vec<&str> = std::iter::once("Main.").chain(expected.iter().copied()).collect();
        assert_eq!(texts, expected);
    };
    check("kind", &["P: kind", "S: kind"]);
    check("0", &["P: 0", "S: 0"]);
    check("False", &["P: False", "S: False"]);
    check(" off ", &["P: off", "S: off"]);
    check("", &[]);
    check(" \n", &[]);
}

#[test]
fn places_deep_entries_first_in_empty_conversation() {
    let depths = prompts(&[("one", "system", 1), ("nine", "system", 9), ("two", "user", 2)]);
    let last = json!({ "identifier": "jailbreak", "content": "Last." });
    let list: Vec<Value> = depths.as_array().unwrap().iter().cloned().chain([last]).collect();
    let fields = json!({ "prompts": list, "prompt_order": order("main one nine two chatHistory jailbreak"), "continue_prefill": true });
    let note = card(&json!({ "extensions": { "depth_prompt": { "prompt": "Card.", "depth": 1 } } }));
    let above = ["system: Main.", "system: nine", "user: two", "system: one\nCard.", "system: Last."];
    let greeted = [preset(&fields), note.clone(), chat(&json!({}), &["Hello."])];
    check_sent(&greeted, GenerationKind::Continue, &[&above[..], &["assistant: Hello."]].concat());
    let mut hidden = chat(&json!({}), &["Hello."]);
    hidden[1]["is_system"] = true.into();
    check_sent(&[preset(&fields), note, hidden], GenerationKind::Normal, &above);
}

#[test]
fn keeps_continued_message_last_outside_depth_count() {
    let list = prompts(&[("one", "system", 1)]);
    let fields = json!({ "prompts": list, "prompt_order": order("main one chatHistory jailbreak"), "continue_prefill": true });
    let check = |messages: &[&str], expected: &[&str]| {
        check_sent(&[preset(&fields), chat(&json!({}), messages)], GenerationKind::Continue, expected);
    };
    let mine = ["system: Main.", "system: one", "assistant: Hello.", "user: Well"];
    check(&["Hello.", "Well"], &mine);
    let yours = ["system: Main.", "assistant: Hello.", "system: one", "user: Well?", "assistant: So"];
    check(&["Hello.", "Well?", "So"], &yours);
}

#[test]
fn repeats_last_message_without_name() {
    let fields = json!({ "names_behavior": 2, "continue_nudge_prompt": "[On: {{lastChatMessage}}]" });
    let sent = ["system: Main.", "assistant: Ada: Hello.", "system: [On: Hello.]"];
    check_sent(&[preset(&fields), chat(&json!({}), &["Hello."])], GenerationKind::Continue, &sent);
}

#[test]
fn counts_narrator_messages_in_depth() {
    let fields = json!({ "prompts": prompts(&[("two", "system", 2), ("four", "system", 4)]), "prompt_order": order("main two four chatHistory") });
    let mut told = chat(&json!({}), &["Once.", "Well?"]);
    told[1]["extra"] = json!({ "type": "narrator" });
    let sent = ["system: Main.", "system: four", "system: two", "system: Once.", "user: Well?"];
    check_sent(&[preset(&fields), told], GenerationKind::Normal, &sent);
}

#[test]
fn joins_and_converts_roles_for_strict_providers() {
    let list = json!([{ "identifier": "main", "content": "Main." }, { "identifier": "jailbreak", "content": "Last." }]);
    let examples = card(&json!({ "mes_example": "<START>\nKim: Ask.\nAda: Say." }));
    let check = |kind: &str, expected: &[&str]| {
        let fields = json!({
            "prompts": list, "custom_prompt_post_processing": kind, "names_behavior": 1,
            "prompt_order": order("main dialogueExamples chatHistory jailbreak"),
        });
        let said = chat(&json!({}), &["Hello.", "Well?"]);
        check_sent(&[preset(&fields), examples.clone(), said], GenerationKind::Normal, expected);
    };
    let apart = ["system: Ask.", "system: Say.", "assistant: Hello.", "user: Well?", "system: Last."];
    check("", &[&["system: Main."], &apart[..]].concat());
    let head = "system: Main.\n\nKim: Ask.\n\nAda: Say.";
    let hello = "assistant: Ada: Hello.";
    check("merge", &[head, hello, "user: Kim: Well?", "system: Last."]);
    check("semi", &[head, hello, "user: Kim: Well?\n\nLast."]);
    check("strict", &[head, "user: [Start a new chat]", hello, "user: Kim: Well?\n\nLast."]);
    check("single", &["user: Main.\n\nKim: Ask.\n\nAda: Say.\n\nAda: Hello.\n\nKim: Well?\n\nLast."]);
}

#[test]
fn rejects_files_of_other_applications() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import/files_of_others_are_refused");
    let texts = fs::read(folder.join("files.yaml")).unwrap();
    let texts: BTreeMap<String, String> = serde_yaml::from_slice(&texts).unwrap();
    let mut shown = String::new();
    for (name, text) in &texts {
        let made = Importer::default().import(&[SourceFile { name, bytes: text.as_bytes() }]);
        let is_nothing = made.agent.is_none() && made.profile.is_none() && made.worldbooks.is_empty();
        assert!(
            is_nothing && made.conversations.is_empty(),
            "{name} is imported as {:?}",
            made.report.files[0].format
        );
        for finding in made.diagnostics() {
            shown += &[
                finding.to_string().as_str(),
                "\n  help: ",
                finding.help.as_ref().map(ToString::to_string).as_deref().unwrap_or("-"),
                "\n",
            ]
            .concat();
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("expected", shown));
}
