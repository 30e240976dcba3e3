use std::sync::Arc;

use ctx_engine::{Compile, Engine};
use ctx_pipeline::ProcessorError;
use ctx_types::session::Session;
use ctx_types::{Agent, Persist, Reader, ToolCall, TurnInput};
use serde_json::json;

use crate::pipeline::case::{Case, failing, plugin, texts, written};

#[test]
fn reports_repeated_failure_once() {
    let fails = failing("fails", 450, |_| Err(ProcessorError::failed("no luck")));
    let adds = plugin("adds", 900, |cx| cx.draft.messages_mut().push(written(&"more ".repeat(100))));
    let context = Case::talk(40, 400).with(fails).with(adds).context();
    assert_eq!(context.report.diagnostics.len(), 1);
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
fn subtracts_tools_from_budget() {
    let tool = ctx_types::ports::ToolDefinition {
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
