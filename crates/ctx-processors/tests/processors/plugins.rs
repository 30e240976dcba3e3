//! Plug-ins of other crates.

mod motto;
mod shout;
mod weather;

use std::sync::Arc;

use ctx_anchors::AnchorRegistry;
use ctx_pipeline::{ContextProcessor, Pipeline, ProcessorRegistry, Run};
use ctx_processors::{MacroParts, default_set};
use ctx_types::{Agent, Persist as _, Reader, TurnInput};
use serde_json::{Value, json};

use crate::inputs::execute;

#[track_caller]
fn check(plugins: &[Arc<dyn ContextProcessor>], preset: Value, expected: &[&str]) {
    let mut anchors = AnchorRegistry::system();
    anchors.register(motto::anchor()).unwrap();
    let mut registry = default_set(anchors, MacroParts::default());
    for plugin in plugins {
        registry.register(plugin.clone()).unwrap();
    }
    let run = run(&registry, preset);
    let messages = run.draft.messages().iter();
    let found: Vec<String> =
        messages.map(|message| format!("{}: {}", message.role, message.text())).collect();
    assert_eq!(found, expected);
    assert_eq!(run.diagnostics, []);
}

fn run(registry: &ProcessorRegistry, preset: Value) -> Run {
    let agent = Agent::read(json!({ "presetMessages": preset }), &mut Reader::new());
    let pipeline = Pipeline::compile(registry, &agent, &[]);
    let mut run = Run::default();
    execute(&pipeline, &mut run, &agent, None, &TurnInput::new("Hello"));
    run
}

/// An example has fewer than 20 lines without blank lines and comments, including its registration.
#[track_caller]
fn check_length(example: &str) {
    let lines = example.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let count = lines.count() + 1;
    assert!(count < 20, "{count} lines");
}

#[test]
fn runs_custom_processor_after_formatters() {
    check(
        &[Arc::new(shout::ShoutProcessor)],
        json!([{ "role": "system", "content": "Be kind." }, { "type": "chat_history" }]),
        &["system: BE KIND.", "user: HELLO"],
    );
    check_length(include_str!("plugins/shout.rs"));
}

#[test]
fn places_custom_injection_in_history() {
    check(
        &[Arc::new(weather::WeatherProcessor)],
        json!([{ "role": "system", "content": "Be kind." }, { "type": "chat_history" }]),
        &["system: Be kind.\n\n---\n\nIt rains.", "user: Hello"],
    );
    check_length(include_str!("plugins/weather.rs"));
}

#[test]
fn places_custom_anchor_in_preset() {
    check(
        &[],
        json!([
            { "type": "chat_history" },
            { "role": "user", "content": "Now speak.", "anchorTarget": "motto", "anchorPoint": "after" },
            { "role": "assistant", "type": "motto", "content": "Onward!" },
        ]),
        &["user: Hello", "assistant: Onward!", "user: Now speak."],
    );
    check_length(include_str!("plugins/motto.rs"));
}
