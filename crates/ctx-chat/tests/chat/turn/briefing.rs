//! What a model is told beside the preset and the conversation.

use ctx_chat::{
    Briefing, Mode, Persona, ToolPolicy, TurnRequest, data_context, extra_message, run_directive, user_input,
};
use ctx_engine::{Compile, Engine};
use ctx_types::{Agent, Persist as _, Reader, TurnInput};
use serde_json::{Value, json};

use crate::room::{Room, block_on};
use crate::server::Answer;

fn agent(file: &Value) -> Agent {
    Agent::read(file.clone(), &mut Reader::new())
}

fn ada() -> Value {
    json!({
        "id": "ada",
        "metadata": { "name": "Ada" },
        "persona": {
            "role": "Keeper of the lamps",
            "identity": "Has kept them for years.",
            "communication_style": "Short.",
            "principles": ["Light first.", "{{char}} is never late."],
        },
        "tools": { "deny": { "categories": ["shell"] } },
    })
}

/// Compares the leading instructions that a request has, sections apart.
#[track_caller]
fn check(file: &Value, mode: Mode, expected: &str) {
    let agent = agent(file);
    let policy = agent.kept.get("tools").map(ToolPolicy::read).unwrap_or_default();
    let briefing =
        Briefing { base_rules: Some("Be honest.".into()), policy, persona: Persona::of(&agent), mode };
    let mut room = Room::new([Answer::text("Hi")]);
    room.agent = Engine::new().compile(&briefing.apply(&agent), &Compile::default());
    room.turn("Hello", |_| ());
    let messages = room.server.requests()[0].messages();
    assert_eq!((messages[0].0.as_str(), messages[0].1.as_str()), ("system", expected));
    assert_eq!(messages.last().unwrap().1, "Hello");
    assert_eq!(room.stored(), ["user: Hello", "assistant: Hi"], "what the model is told is not stored");
}

const TOOLS: &str = "## Tools\n\n- Never use tools of `shell`.";

fn banner(mode: &str) -> String {
    format!(
        "# Mode: {mode}\n\nEarlier messages may come from other modes. Follow the instructions of this one."
    )
}

#[test]
fn an_agent_is_told_its_persona() {
    let persona = "## Agent Persona\n\n**Name:** Ada\n**Role:** Keeper of the lamps\n**Identity:** Has kept them for years.\n\
                   **Communication style:** Short.\n\n**Principles:**\n- Light first.\n- Ada is never late.";
    let mut file = ada();
    file["name"] = json!("Ada");
    let expected = ["Be honest.", TOOLS, persona, &banner("AGENT")].join("\n\n---\n\n");
    check(&file, Mode::Agent, &expected);
}

#[test]
fn in_a_chat_there_is_no_persona() {
    check(&ada(), Mode::Chat, &["Be honest.", TOOLS, &banner("CHAT")].join("\n\n---\n\n"));
}

#[test]
fn a_system_prompt_takes_the_place_of_the_persona() {
    let mut file = ada();
    file["systemPrompt"] = json!("You are a lamp.");
    check(&file, Mode::Run, &["Be honest.", TOOLS, "You are a lamp.", &banner("RUN")].join("\n\n---\n\n"));
}

#[test]
fn an_agent_of_another_kind_has_no_persona() {
    assert_eq!(Persona::of(&agent(&json!({ "name": "Ada", "persona": "odd" }))), None);
}

#[test]
fn a_policy_of_several_levels_is_told_level_by_level() {
    let policy = ToolPolicy::read(&json!({ "allow": { "tools": ["read"], "categories": ["files"] } }))
        .and(ToolPolicy::read(&json!({ "allow": { "tools": [] }, "deny": { "tools": ["run"] } })));
    let briefing = Briefing { policy, ..Briefing::default() };
    let entries = briefing.apply(&Agent::default()).preset_messages;
    let text = entries[0].content.as_ref().unwrap().text().into_owned();
    assert_eq!(
        text,
        "## Tools\n\n- Use only `read` and tools of `files`.\n- Use only no tool.\n- Never use `run`."
    );
}

#[test]
fn what_comes_with_a_turn_is_sent_after_it_and_not_stored() {
    let mut room = Room::new([Answer::text("Hi"), Answer::text("Ho")]);
    let blocks = run_directive("Work off the steps.", Some("Step 2: light {{char}}."));
    let extras = [
        extra_message("EXEC_SCRIPT\nlight()"),
        extra_message(" "),
        data_context("Lamps", "lamps.csv", "a,b"),
    ];
    let turn = TurnInput::default().with(|turn| {
        turn.input = Some(user_input("Go on"));
        turn.further = blocks.into_iter().chain(extras).collect();
    });
    room.request(TurnRequest { turn, ..TurnRequest::default() }, |_| ()).unwrap();
    let sent = room.server.requests()[0].messages().last().unwrap().1.clone();
    let expected = [
        "USER_INPUT\nGo on",
        "RUN_DIRECTIVE\nWork off the steps.",
        "NODE_BRIEF\nStep 2: light {{char}}.",
        "EXEC_SCRIPT\nlight()",
        "DATA_CONTEXT\n- Label: Lamps\n- Path: lamps.csv\n\na,b",
    ];
    assert_eq!(sent, expected.join("\n\n---\n\n"));
    assert_eq!(room.stored(), ["user: USER_INPUT\nGo on", "assistant: Hi"]);
    room.turn("And now?", |_| ());
    assert!(!room.server.requests()[1].json().to_string().contains("RUN_DIRECTIVE"));
}

#[test]
fn a_run_that_is_done_has_no_step() {
    assert_eq!(run_directive("Sum up.", None).len(), 1);
    assert_eq!(run_directive("Sum up.", Some(" ")).len(), 1);
}

#[test]
fn macros_of_the_user_are_expanded_once_where_they_want_that() {
    let mut room = Room::new([Answer::text("Hi")]);
    let turn = TurnInput::default().with(|turn| {
        turn.input = Some("It is {{date::YYYY}}, {{user}}".into());
        turn.at_millis = Some(0);
    });
    let prepared = room.agent.prepare_input(room.conversation.session(), &turn);
    let turn = turn.with(|turn| turn.input = Some(prepared.text.clone()));
    room.request(TurnRequest { turn, raw: Some(prepared.raw), ..TurnRequest::default() }, |_| ()).unwrap();
    let node = room.conversation.session().path()[0].clone();
    let raw = node.metadata.as_ref().unwrap().kept.get("rawContent").cloned();
    assert_eq!(raw, Some(json!("It is {{date::YYYY}}, {{user}}")));
    assert!(!room.stored()[0].contains("{{user}}"), "{:?}", room.stored());
}

#[test]
fn a_change_of_mode_keeps_the_conversation() {
    let mut room = Room::new([Answer::text("Hi"), Answer::text("Ho")]);
    let agent = agent(&ada());
    for (mode, text) in [(Mode::Chat, "A"), (Mode::Agent, "B")] {
        let briefing = Briefing { persona: Persona::of(&agent), mode, ..Briefing::default() };
        room.agent = Engine::new().compile(&briefing.apply(&agent), &Compile::default());
        room.turn(text, |_| ());
    }
    let sent = room.server.requests()[1].messages();
    assert!(sent[0].1.ends_with(&banner("AGENT")) && sent.iter().any(|(_, text)| text == "A"));
    let again = block_on(ctx_chat::Conversation::load(&room.store, "c")).unwrap();
    assert_eq!(again.session().path().len(), 4);
}
