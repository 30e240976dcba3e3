//! An anchor of one's own: a named place that authors of presets put entries at.
//!
//! `cargo run -p examples --bin custom_anchor`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use ctx_engine::prelude::{
    AnchorDefinition, Compile, Engine, Limits, Session, Switches, TurnInput, read_agent,
};

/// The entry of type `weather` says where the anchor is; two others are placed at it, in order of `order`.
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
    // An application that does not know the anchor loses nothing: the entries stay in the list, and it is told.
    show("without the anchor", &Engine::new())?;

    // The registry is a value of the engine, not a global: another engine may have other anchors.
    let mut engine = Engine::new();
    engine.anchors.register(AnchorDefinition {
        id: "weather".into(),
        name: "Weather".into(),
        description: "What the sky looks like".into(),
        is_system: false,
        // The entry that declares the anchor has a text of its own, and that is sent too.
        has_template: true,
        default_template: Some("## Weather".into()),
    })?;
    show("\nwith the anchor", &engine)
}

fn show(title: &str, engine: &Engine) -> anyhow::Result<()> {
    println!("{title}:");
    let agent = read_agent(AGENT.as_bytes(), "agent.yaml", &Limits::default(), &engine.anchors)?;
    // By default messages of one role that follow each other are sent as one; here each is to be seen.
    let joining = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned);
    let apart = Switches { disable: joining.into(), ..Switches::default() };
    let compiled = engine.compile(&agent.value, &Compile::default().with(|compile| compile.switches = apart));
    let turn = TurnInput::new("Shall I water today?");
    let context = compiled.assemble_blocking(&Session::new("chat"), &turn)?;
    for message in &context.messages {
        println!("  {:<6} {}", message.role.as_str(), message.text());
    }
    // What is wrong with a preset is known once it is compiled, whatever the conversation.
    for finding in agent.diagnostics.iter().chain(compiled.diagnostics()) {
        println!("  {finding}");
    }
    Ok(())
}
