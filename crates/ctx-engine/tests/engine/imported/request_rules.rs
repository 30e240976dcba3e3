//! Rules of `SillyTavern` 1.18.0 about which messages a request has: `openai.js` and `PromptManager.js`.

use super::*;

fn prompt(identifier: &str, content: &str, fields: &Value) -> Value {
    let mut prompt =
        json!({ "identifier": identifier, "content": content, "role": "system", "system_prompt": false });
    prompt.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    prompt
}

fn at_depth(identifier: &str, role: &str, depth: u64) -> Value {
    let place = json!({ "role": role, "injection_position": 1, "injection_depth": depth });
    prompt(identifier, identifier, &place)
}

fn with_prompts(prompts: &[Value], order_of: &str, fields: &Value) -> Value {
    let mut fields = fields.clone();
    fields["prompts"] = prompts.into();
    fields["prompt_order"] = order(order_of);
    preset(&fields)
}

fn main_prompt(fields: &Value) -> Value {
    prompt("main", "Main.", fields)
}

#[test]
fn squashes_across_blank_messages() {
    let depths = [main_prompt(&json!({})), at_depth("two", "system", 2), at_depth("one", "system", 1)];
    let squash = json!({ "squash_system_messages": true });
    let check = |blank: &str, expected: &[&str]| {
        let preset = with_prompts(&depths, "main chatHistory two one", &squash);
        check(&[preset, chat(&json!({}), &["a", blank, "c"])], expected);
    };
    check("", &["Main.", "a", "two\none", "c"]);
    check("\r", &["Main.", "a", "two\none", "c"]);
    check(" ", &["Main.", "a", "two", " ", "one", "c"]);
}

#[test]
fn divides_squash_at_emptied_main_prompt() {
    let check = |order_of: &str, main: Value, expected: &[&str]| {
        let prompts = [main_prompt(&main), prompt("a", "A.", &json!({})), prompt("b", "B.", &json!({}))];
        check(&[with_prompts(&prompts, order_of, &json!({ "squash_system_messages": true }))], expected);
    };
    check("a -main b chatHistory", json!({}), &["A.\nB."]);
    check("a -main b chatHistory", json!({ "role": "user" }), &["A.", "B."]);
    check("a main b chatHistory", json!({ "role": "user" }), &["A.", "Main.", "B."]);
    let continued = json!({ "role": "user", "injection_trigger": ["continue"] });
    check("a main b chatHistory", continued, &["A.", "B."]);
    let everywhere = json!({ "role": "user", "injection_trigger": ["normal", "continue"] });
    check("a main b chatHistory", everywhere, &["A.", "Main.", "B."]);
    let in_chat = json!({ "role": "user", "injection_position": 1, "injection_depth": 0 });
    check("a -main b chatHistory", in_chat, &["A.\nB."]);
}

#[test]
fn answers_assistant_message_that_is_last() {
    let check = |kind: GenerationKind, injected: Value, said: &[&str], expected: &[&str]| {
        let prompts = [main_prompt(&json!({})), injected];
        let texts = json!({ "send_if_empty": "Go on.", "impersonation_prompt": "Be Kim.", "continue_nudge_prompt": "More." });
        let preset = with_prompts(&prompts, "main chatHistory x", &texts);
        check_sent(&[preset, chat(&json!({}), said)], kind, expected);
    };
    let (normal, unplaced) = (GenerationKind::Normal, || prompt("y", "", &json!({})));
    let main = "system: Main.";
    check(normal, unplaced(), &["a"], &[main, "assistant: a", "user: Go on."]);
    check(normal, unplaced(), &["a", "b"], &[main, "assistant: a", "user: b"]);
    check(normal, unplaced(), &["a", "b", ""], &[main, "assistant: a", "user: b", "user: Go on."]);
    check(normal, at_depth("x", "system", 0), &["a"], &[main, "assistant: a", "system: x"]);
    let injected = [main, "assistant: a", "user: b", "assistant: x", "user: Go on."];
    check(normal, at_depth("x", "assistant", 0), &["a", "b"], &injected);
    let impersonated = [main, "assistant: a", "user: Go on.", "system: Be Kim."];
    check(GenerationKind::Impersonate, unplaced(), &["a"], &impersonated);
    check(GenerationKind::Continue, unplaced(), &[], &[main]);
    check(GenerationKind::Continue, unplaced(), &["a"], &[main, "assistant: a", "system: More."]);
}

#[test]
fn removes_carriage_returns_of_conversation() {
    let said = chat(&json!({}), &["a\r\nb\r", "\r\n"]);
    let kept = preset(&json!({ "prompts": [{ "identifier": "main", "content": "One.\r\nTwo." }] }));
    check(&[kept, said], &["One.\r\nTwo.", "a\nb", "\n"]);
}

#[test]
fn names_speakers_by_behavior() {
    let check = |behavior: i64, expected: &[&str]| {
        let mut said = chat(&json!({}), &["a", "b", "c", "d", "e"]);
        said[3]["extra"] = json!({ "type": "narrator" });
        for (line, name) in [(3, "Note"), (4, "Zoe"), (5, "Bob")] {
            said[line]["name"] = name.into();
        }
        for (line, avatar) in [(2, "k.png"), (3, "n.png"), (4, "z.png"), (5, "")] {
            said[line]["force_avatar"] = avatar.into();
        }
        let squashed = json!({ "names_behavior": behavior, "squash_system_messages": true });
        let sent = assemble(&[preset(&squashed), said], &TurnInput::default()).messages;
        let name = |message: &ctx_types::Message| message.name.as_deref().unwrap_or("-").to_owned();
        let sent: Vec<String> =
            sent.iter().skip(1).map(|message| format!("{} {}", name(message), message.text())).collect();
        assert_eq!(sent, expected);
    };
    let mut unnamed = chat(&json!({}), &["a", "b"]);
    unnamed[0]["user_name"] = "unused".into();
    unnamed[1]["force_avatar"] = "a.png".into();
    unnamed[2]["force_avatar"] = "k.png".into();
    super::check(&[preset(&json!({})), unnamed], &["Main.", "Ada: a", "b"]);
    check(-1, &["- a", "- b", "- c", "- d", "- e"]);
    check(0, &["- a", "- b", "- c", "- Zoe: d", "- e"]);
    check(1, &["Ada a", "Kim b", "Note c", "Zoe d", "Bob e"]);
    check(2, &["- Ada: a", "- Kim: b", "- c", "- Zoe: d", "- Bob: e"]);
}

#[test]
fn sends_prompts_for_other_generation_types() {
    let continued = json!({ "injection_trigger": ["continue"] });
    let check = |kind: GenerationKind, limited: &str, expected: &[&str]| {
        let fields = |identifier: &str| if identifier == limited { &continued } else { &Value::Null };
        let marker = |identifier: &str| {
            let mut marker = json!({ "identifier": identifier, "marker": true });
            marker.as_object_mut().unwrap().extend(
                fields(identifier)
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            marker
        };
        let mut main = marker("main");
        main["content"] = "Main.".into();
        let others = ["worldInfoBefore", "charDescription", "chatHistory"].map(marker);
        let prompts: Vec<Value> = std::iter::once(main).chain(others).collect();
        let texts = json!({ "new_chat_prompt": "New.", "continue_nudge_prompt": "" });
        let preset = with_prompts(&prompts, "main worldInfoBefore charDescription chatHistory", &texts);
        let book = json!({ "name": "Sea", "entries": { "0": { "uid": 0, "key": [], "constant": true, "position": 0, "content": "Tide." } } });
        let card = card(&json!({ "system_prompt": "Card. {{original}}", "description": "Ada counts." }));
        let turn = TurnInput::default().with(|turn| turn.kind = kind);
        check_turn(&[preset, book, card, chat(&json!({}), &["Hello."])], &turn, expected);
    };
    let (normal, all) = (GenerationKind::Normal, ["Card. Main.", "Tide.", "Ada counts.", "New.", "Hello."]);
    for limited in ["main", "worldInfoBefore", "charDescription", "chatHistory"] {
        check(GenerationKind::Continue, limited, &all);
    }
    check(normal, "", &all);
    check(normal, "main", &["Card. ", "Tide.", "Ada counts.", "New.", "Hello."]);
    check(normal, "worldInfoBefore", &["Card. Main.", "Ada counts.", "New.", "Hello.", "Tide."]);
    check(normal, "charDescription", &["Card. Main.", "Tide.", "New.", "Hello.", "Ada counts."]);
    check(normal, "chatHistory", &["Card. Main.", "Tide.", "Ada counts."]);
}

#[test]
fn trims_prompts_of_cards() {
    let check = |system_prompt: &str, expected: &str| {
        check(&[card(&json!({ "system_prompt": system_prompt })), preset(&json!({}))], &[expected]);
    };
    check(" {{trim}} ", "Main.");
    check("\n{{noop}}\n", "Main.");
    check("{{noop}}\n{{// nothing}}", "\n");
    check(" Card.\r\nMore.\n", "Card.\nMore.");
}

#[test]
fn sends_prompts_at_depth_as_often_as_ordered() {
    let check = |order_of: &str, expected: &[&str]| {
        let prompts = [
            main_prompt(&json!({})),
            at_depth("x", "system", 0),
            at_depth("y", "system", 0),
            prompt("z", "z", &json!({})),
        ];
        check(&[with_prompts(&prompts, order_of, &json!({}))], expected);
    };
    check("main x y x chatHistory x", &["Main.", "x\ny\nx\nx"]);
    check("main -x y x chatHistory -x", &["Main.", "y\nx"]);
    check("main z chatHistory z", &["Main.", "z"]);
    check("main -z chatHistory z", &["Main."]);
}

#[test]
fn sends_own_text_of_persona_marker_without_persona() {
    let check = |order_of: &str, personas: Value, expected: &[&str]| {
        let marker = prompt("personaDescription", "Own {{char}}.", &json!({ "marker": true }));
        let preset = with_prompts(&[main_prompt(&json!({})), marker], order_of, &json!({}));
        check(&[preset, personas, card(&json!({}))], expected);
    };
    let persona = |text: &str, position: u64| {
        let place = json!({ "description": text, "position": position, "depth": 0, "role": 0 });
        json!({ "personas": { "k": "Kim" }, "persona_descriptions": { "k": place } })
    };
    let order_of = "main personaDescription chatHistory";
    check(order_of, persona("", 0), &["Main.", "Own Ada."]);
    check(order_of, persona("Kim rows.", 0), &["Main.", "Kim rows."]);
    check(order_of, persona("Kim rows.", 4), &["Main.", "Own Ada.", "Kim rows."]);
    check(order_of, persona("Kim rows.", 9), &["Main.", "Own Ada."]);
    check("main -personaDescription chatHistory", persona("", 0), &["Main."]);
    check("main chatHistory", persona("Kim rows.", 0), &["Main.", "Kim rows."]);
}
