use std::sync::Arc;

use ctx_engine::{AssembleError, Compile, Engine, Ports};
use ctx_pipeline::{Cancel, ProcessorError};
use ctx_types::{
    Agent, GenerationKind, Node, Outcome, Persist, Reader, Role, Session, SessionOp, ToolCall, TurnInput,
};
use serde_json::json;

use crate::pipeline::case::{Case, failing, plugin, talk, texts, written};

#[test]
fn reports_failed_plugin_and_keeps_messages() {
    let case = Case::talk(5, 1_000);
    let fails = failing("fails", 450, |cx| {
        cx.draft.messages_mut().clear();
        Err(ProcessorError::failed("no luck"))
    });
    let context = case.clone().with(fails).context();
    assert_eq!(context.messages, case.context().messages);
    let found: Vec<String> = context.report.diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["error[CTX0453]: processor `fails` failed: no luck"]);
}

#[test]
fn keeps_messages_if_plugin_panics() {
    let case = Case::talk(5, 1_000);
    let panics = plugin("panics", 450, |cx| {
        cx.draft.messages_mut().clear();
        assert!(!cx.draft.messages().is_empty(), "panics on purpose");
    });
    assert_eq!(case.clone().with(panics).context().messages, case.context().messages);
}

#[test]
fn reports_repeated_failure_once() {
    let fails = failing("fails", 450, |_| Err(ProcessorError::failed("no luck")));
    let adds = plugin("adds", 900, |cx| cx.draft.messages_mut().push(written(&"more ".repeat(100))));
    let context = Case::talk(40, 400).with(fails).with(adds).context();
    assert_eq!(context.report.diagnostics.len(), 1);
}

#[test]
fn moves_plugin_message_before_tool_group() {
    let json = json!([
        { "role": "user", "content": "Where?" },
        { "role": "assistant", "content": "Looking.", "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "map", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": "c1", "content": "here" },
    ]);
    let session =
        ctx_engine::read_conversation(json.to_string().as_bytes(), "", &ctx_engine::Limits::default())
            .unwrap();
    let case = Case { session: Some(session.value), ..Case::talk(1, 1_000) };
    let splits = plugin("splits", 900, |cx| {
        let at = cx.draft.messages().len() - 1;
        cx.draft.messages_mut().insert(at, written("Between."));
    });
    let context = case.with(splits).context();
    assert_eq!(texts(&context), ["You help.", "Where?", "Between.", "Looking.", "here"]);
    assert!(context.report.decisions.iter().any(|decision| decision.outcome == Outcome::Moved));
}

#[test]
fn returns_no_context_if_cancelled() {
    let compiled = Engine::new().compile(&Agent::default(), &Compile::default());
    let cancel = Cancel::default();
    cancel.cancel();
    let ports = Ports::default().with(|ports| ports.cancel = Some(&cancel));
    let session = talk(3);
    let turn = TurnInput::default();
    let done = compiled.assemble_with(&session, &turn, ports);
    assert!(matches!(pollster::block_on(done), Err(AssembleError::Cancelled)));
}

#[test]
fn previews_messages_without_effects() {
    let notes = plugin("notes", 900, |cx| {
        cx.draft.effect(SessionOp::Toggle { id: "n1".into(), enabled: false });
        cx.draft.messages_mut().push(written("Noted."));
    });
    let mut case = Case::talk(40, 400).with(notes);
    let request = case.context();
    case.turn.preview = true;
    let preview = case.context();
    assert_eq!(preview.messages, request.messages);
    assert_eq!(preview.report, request.report);
    assert_eq!((request.effects.len(), preview.effects.len()), (1, 0));
}

#[test]
fn defaults_to_model_of_agent() {
    let file = json!({ "modelId": "gpt-4", "presetMessages": [
        { "role": "system", "content": "for gpt-4", "modelMatch": { "enabled": true, "patterns": ["gpt-4"] } },
        { "type": "chat_history" },
    ] });
    let agent = Agent::read(file, &mut Reader::new());
    let compiled = Engine::new().compile(&agent, &Compile::default());
    let assemble = |model: Option<&str>| {
        let turn = TurnInput::default().with(|turn| {
            turn.model = model.map(Into::into);
            turn.input = Some("Hello".into());
        });
        let context = compiled.assemble_blocking(&Session::new("s"), &turn).unwrap();
        let usage = context.report.usage.clone().unwrap();
        (texts(&context).len(), usage.available.is_some_and(|available| available < 8_192))
    };
    assert_eq!(assemble(None), (2, true));
    assert_eq!(assemble(Some("gpt-4o")).0, 2);
    assert_eq!(assemble(Some("claude-sonnet-4")), (1, false));
}

#[test]
fn keeps_question_of_long_unfinished_reply() {
    let nodes = [
        Node::new(Role::User, "An old question, long enough to be in the way of everything else here."),
        Node::new(Role::Assistant, "An old answer."),
        Node::new(Role::User, "Go on?"),
        Node::new(Role::Assistant, "word ".repeat(80)),
    ];
    let session = Session::linear("s", nodes).0;
    let mut case = Case { session: Some(session), ..Case::talk(1, 110) };
    case.turn.kind = GenerationKind::Continue;
    let context = case.context();
    assert_eq!(texts(&context)[1], "An old answer.");
    assert_eq!(texts(&context)[2], "Go on?");
    case.turn.context_tokens = Some(60);
    let error = case.assemble().unwrap_err().to_string();
    assert!(error.contains("current turn"), "{error}");
}

#[test]
fn subtracts_tools_from_budget() {
    let tool = ctx_types::ToolDefinition {
        name: "map".into(),
        description: Some("Shows where something is.".into()),
        parameters: Arc::new(json!({ "type": "object", "properties": { "place": { "type": "string" } } })),
    };
    let mut case = Case::talk(40, 400);
    let without = case.context();
    case.turn.tools = vec![tool];
    let with = case.context();
    let usage = with.report.usage.as_ref().unwrap();
    let tools = usage.budget.iter().find(|line| line.name == "tools").unwrap().tokens;
    assert_eq!(i64::from(usage.available.unwrap()), 400 - 3 + tools);
    assert!(tools < 0 && with.messages.len() < without.messages.len());
    // An existing tool call does not change the offered tools.
    assert!(with.messages.iter().all(|message| message.tool_calls == Vec::<ToolCall>::new()));
}
