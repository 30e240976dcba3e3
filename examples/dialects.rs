//! Encodes one context in five API dialects.
//!
//! The dialects differ in the form of instructions, calls and results. If a dialect cannot express something, a
//! diagnostic reports it.
//!
//! `cargo run -p examples --bin dialects`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::prelude::{Compile, Dialect, Engine, Request, TurnInput, read_agent, read_conversation};
use serde_json::{Map, json};

const AGENT: &str = "
presetMessages:
  - { role: system, content: You look after a garden. }
  - { type: chat_history }
  - { role: system, content: Answer in one sentence., insertionPoint: -1 }
";

const CHAT: &str = r#"[
    { "role": "user", "content": "Is the soil dry?" },
    { "role": "assistant", "content": "", "tool_calls": [
        { "id": "call_1", "type": "function", "function": { "name": "soil", "arguments": "{\"bed\":2}" } } ] },
    { "role": "tool", "tool_call_id": "call_1", "content": "{\"moisture\":0.12}" },
    { "role": "assistant", "content": "It is." },
    { "role": "user", "content": "Then water it." }
]"#;

fn main() -> anyhow::Result<()> {
    let engine = Engine::new();
    let agent = read_agent(AGENT.as_bytes(), "agent.yaml")?;
    let chat = read_conversation(CHAT.as_bytes(), "chat.json")?;
    let compiled = engine.compile(&agent.value, &Compile::default());

    let tools = [json!({ "type": "function", "function": {
        "name": "soil",
        "description": "Measures how wet a bed is",
        "parameters": { "type": "object", "properties": { "bed": { "type": "integer" } } },
    } })];
    let parameters = Map::from_iter([("temperature".to_owned(), json!(0.2))]);

    let models = ["gpt-5", "gpt-5", "claude-sonnet-4-5", "gemini-3-pro", "llama-3.1-8b"];
    for (dialect, model) in Dialect::ALL.into_iter().zip(models) {
        // The model and the dialect of the turn determine the budget and the form of attachments.
        let turn = TurnInput::default().with(|turn| {
            turn.model = Some(model.into());
            turn.dialect = Some(dialect.name().into());
        });
        let context = compiled.assemble_blocking(&chat.value, &turn)?;
        let body = context.encode(&Request { model, tools: &tools, parameters: &parameters });
        // `to_bytes` returns the request body; a JSON value can be printed with indentation.
        println!("== {} ({} bytes)\n{:#}", dialect.name(), body.to_bytes().len(), body.to_value());
        body.diagnostics.iter().for_each(|finding| println!("{finding}"));
    }
    Ok(())
}
