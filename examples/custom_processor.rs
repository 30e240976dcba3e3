//! Adds a custom processor: a step of the pipeline that builds a context.
//!
//! It hides email addresses, has a setting, records its changes, and can be disabled.
//!
//! `cargo run -p examples --bin custom_processor`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use ctx_engine::prelude::{
    Agent, Compile, ConfigField, Content, ContextProcessor, Decision, Descriptor, Engine, Outcome,
    PipelineContext, ProcessorError, Switches, TurnInput, async_trait, phrase, read_conversation,
};
use serde_json::json;

struct HideMail;

#[async_trait]
impl ContextProcessor for HideMail {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("hide-mail", "Hide mail", "Replaces email addresses").with(|descriptor| {
            // Run after the session loader (100), and before messages are counted.
            descriptor.priority = 210;
            descriptor.config_fields = vec![ConfigField::text("word", "Replacement text", "[mail]")];
        })
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let word = cx.config.text("word").to_owned();
        let mut hidden = Vec::new();
        for message in cx.draft.messages_mut() {
            let text = message.text().into_owned();
            let shown: Vec<&str> = text
                .split(' ')
                .map(|piece| if piece.contains('@') { word.as_str() } else { piece })
                .collect();
            if shown.join(" ") != text {
                hidden.push(message.source.clone());
                message.content = Content::Text(shown.join(" ").into());
            }
        }
        // Record a decision with a reason for each change.
        cx.log(phrase!("messages with an address: {hidden}", hidden = hidden.len()));
        let reason = phrase!("a mail address became `{word}`", word);
        cx.draft.decide_all(
            hidden.into_iter().map(|source| Decision::new(Outcome::Degraded, source, reason.clone())),
        );
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let mut engine = Engine::new();
    engine.register(Arc::new(HideMail))?;
    let chat = br#"[{ "role": "user", "content": "Write to robin@garden.example about the seeds" }]"#;
    let chat = read_conversation(chat, "chat.json")?;

    let settings = json!({ "processors": [{ "id": "hide-mail", "config": { "word": "(an address)" } }] });
    let off = Switches { disable: vec!["hide-mail".to_owned()], ..Switches::default() };
    for (title, with) in [
        ("as it comes", Compile::default()),
        (
            "with a setting of the user",
            Compile::default().with(|compile| compile.user_parameters = Some(settings)),
        ),
        ("switched off", Compile::default().with(|compile| compile.switches = off)),
    ] {
        let compiled = engine.compile(&Agent::default(), &with);
        let context = compiled.assemble_blocking(&chat.value, &TurnInput::default())?;
        println!("{title}:");
        context.messages.iter().for_each(|message| println!("  {}", message.text()));
        let stage = context.report.stages.iter().find(|stage| &*stage.id == "hide-mail");
        stage.into_iter().flat_map(|stage| &stage.log).for_each(|line| println!("  log: {line}"));
        context.report.changes().for_each(|decision| println!("  {decision}"));
        compiled.diagnostics().iter().for_each(|finding| println!("  {finding}"));
    }
    Ok(())
}
