//! The whole way in one page: an agent and a conversation become the messages of a request.
//!
//! `cargo run -p examples --bin minimal`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::prelude::{Compile, Engine, Limits, Request, TurnInput, read_agent, read_conversation};

/// What the author of the agent wrote: a list of entries, most of them with a place of their own.
const AGENT: &str = "
name: Robin
presetMessages:
  - { id: identity, role: system, content: 'You are {{char}}, a patient gardener.' }
  - { type: chat_history }
  - { id: reminder, role: system, content: Answer in two sentences., insertionPoint: -1 }
";

/// What was said so far: a list of chat messages is one of the many forms that are read.
const CHAT: &str = r#"[
    { "role": "user", "content": "Which herbs grow on a small balcony that faces south?" },
    { "role": "assistant", "content": "Rosemary, thyme and sage do: they like it hot and dry." },
    { "role": "user", "content": "When do I sow basil?" },
    { "role": "assistant", "content": "Indoors from March, outdoors once the nights stay warm." }
]"#;

fn main() -> anyhow::Result<()> {
    // Once per application: the anchors, macros and processors that its agents may use.
    let engine = Engine::new();

    // Reading fails only where a file cannot be read at all; what is merely odd in it is in `diagnostics`.
    let limits = Limits::default();
    let agent = read_agent(AGENT.as_bytes(), "agent.yaml", &limits, &engine.anchors)?;
    let chat = read_conversation(CHAT.as_bytes(), "chat.json", &limits)?;
    assert!(agent.diagnostics.is_empty() && chat.diagnostics.is_empty());

    // Once per agent: everything that needs no conversation.
    let compiled = engine.compile(&agent.value, &Compile::default());

    // Once per turn. All that may differ between two turns is in here, time and chance too.
    let turn = TurnInput::new("And how often does it need water?").with(|turn| {
        turn.model = Some("gpt-5".into());
        // By default that is the model's window, less what its answer needs.
        turn.context_tokens = Some(70);
        turn.reserve = Some(0);
    });
    let context = compiled.assemble_blocking(&chat.value, &turn)?;

    println!("What is sent, and where it comes from:");
    for (message, tokens) in context.messages.iter().zip(context.tokens()) {
        let role = message.role.as_str();
        println!("{role:>9} {tokens:>3} tokens  {:<16} {}", message.source.to_string(), message.text());
    }

    println!("\nWhat is not sent as it was meant, and why:");
    for decision in context.report.changes() {
        println!("  {decision}");
    }

    println!("\nThe bytes of the request:\n{}", context.encode(&Request::new("gpt-5")));
    Ok(())
}
