//! Builds a request from an agent and a conversation.
//!
//! `cargo run -p examples --bin minimal`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::prelude::{Compile, Engine, Request, TurnInput, read_agent, read_conversation};

/// The agent: a list of entries, most of them with a position.
const AGENT: &str = "
name: Robin
presetMessages:
  - { id: identity, role: system, content: 'You are {{char}}, a patient gardener.' }
  - { type: chat_history }
  - { id: reminder, role: system, content: Answer in two sentences., insertionPoint: -1 }
";

/// The conversation: a list of chat messages, one of several supported formats.
const CHAT: &str = r#"[
    { "role": "user", "content": "Which herbs grow on a small balcony that faces south?" },
    { "role": "assistant", "content": "Rosemary, thyme and sage do: they like it hot and dry." },
    { "role": "user", "content": "When do I sow basil?" },
    { "role": "assistant", "content": "Indoors from March, outdoors once the nights stay warm." }
]"#;

fn main() -> anyhow::Result<()> {
    // Once per application: the available anchors, macros and processors.
    let engine = Engine::new();

    // Reading fails only for an unreadable file. `diagnostics` contains other problems.
    let agent = read_agent(AGENT.as_bytes(), "agent.yaml")?;
    let chat = read_conversation(CHAT.as_bytes(), "chat.json")?;
    assert!(agent.diagnostics.is_empty() && chat.diagnostics.is_empty());

    // Once per agent: all work that does not depend on a conversation.
    let compiled = engine.compile(&agent.value, &Compile::default());

    // Once per turn: all inputs that change between turns, including the time and the random seed.
    let turn = TurnInput::new("And how often does it need water?").with(|turn| {
        turn.model = Some("gpt-5".into());
        // The default is the model's context window, minus a response reserve.
        turn.context_tokens = Some(70);
        turn.reserve = Some(0);
    });
    let context = compiled.assemble_blocking(&chat.value, &turn)?;

    println!("Messages and their sources:");
    for (message, tokens) in context.messages.iter().zip(context.tokens()) {
        let role = message.role.as_str();
        println!("{role:>9} {tokens:>3} tokens  {:<16} {}", message.source.to_string(), message.text());
    }

    println!("\nChanges and their reasons:");
    for decision in context.report.changes() {
        println!("  {decision}");
    }

    println!("\nRequest body:\n{}", context.encode(&Request::new("gpt-5")));
    Ok(())
}
