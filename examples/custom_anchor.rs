//! Adds a custom anchor: a named position at which presets place entries.
//!
//! `cargo run -p examples --bin custom_anchor`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::prelude::{AnchorDefinition, Compile, Engine, Session, Switches, TurnInput, read_agent};

/// The entry of type `weather` declares the anchor. Two other entries are placed at it, sorted by `order`.
const AGENT: &str = "
name: Robin
presetMessages:
  - { role: system, content: 'You are {{char}}.' }
  - { id: weather, type: weather, role: system, content: '## The sky over the garden' }
  - { type: chat_history }
  - { role: system, content: Wind from the west., anchorTarget: weather, anchorPoint: after, order: 20 }
  - { role: system, content: It rains., anchorTarget: weather, anchorPoint: after, order: 10 }
";

fn main() -> anyhow::Result<()> {
    // Without the anchor, the entries stay in the list, and a diagnostic reports it.
    show("without the anchor", &Engine::new())?;

    // Each engine has its own registry of anchors.
    let mut engine = Engine::new();
    engine.anchors.register(AnchorDefinition {
        id: "weather".into(),
        name: "Weather".into(),
        description: "The current weather".into(),
        is_system: false,
        // The text of the declaring entry is also sent.
        has_template: true,
        default_template: Some("## Weather".into()),
    })?;
    show("\nwith the anchor", &engine)
}

fn show(title: &str, engine: &Engine) -> anyhow::Result<()> {
    println!("{title}:");
    let agent = read_agent(AGENT.as_bytes(), "agent.yaml")?;
    // Disable merging to show each message separately.
    let joining = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned);
    let apart = Switches { disable: joining.into(), ..Switches::default() };
    let compiled = engine.compile(&agent.value, &Compile::default().with(|compile| compile.switches = apart));
    let turn = TurnInput::new("Shall I water today?");
    let context = compiled.assemble_blocking(&Session::new("chat"), &turn)?;
    for message in &context.messages {
        println!("  {:<6} {}", message.role.as_str(), message.text());
    }
    // Compiling reports the problems of a preset, before any conversation.
    for finding in agent.diagnostics.iter().chain(compiled.diagnostics()) {
        println!("  {finding}");
    }
    Ok(())
}
