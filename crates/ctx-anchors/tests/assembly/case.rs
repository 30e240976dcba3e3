//! Test cases and results as text.

use ctx_anchors::{
    AnchorDefinition, AnchorRegistry, AssembledPreset, Preset, RenderRequest, RenderedText, Target, assemble,
};
use ctx_types::internal::Rank;
use ctx_types::session::Window;
use ctx_types::{
    Agent, Diagnostic, Injection, Message, Persist as _, Placement, PresetMessage, Reader, Role, Source,
    SourceKind, Text, ToolCall, Trust,
};
use serde_json::{Value, json};

#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    /// JSON list of entries, or an agent.
    pub(crate) preset: &'a str,
    /// See [`window`].
    pub(crate) history: &'a str,
    /// JSON list of entries with a `rank`.
    pub(crate) injections: &'a str,
    pub(crate) target: Target<'a>,
    pub(crate) setting: fn(Preset) -> Preset,
}

impl<'a> Case<'a> {
    pub(crate) fn new(preset: &'a str, history: &'a str) -> Self {
        Self { preset, history, injections: "[]", target: Target::default(), setting: |preset| preset }
    }

    /// Ignores indentation and empty lines in `expected`.
    #[track_caller]
    pub(crate) fn check(self, expected: &str) {
        let agent = agent(self.preset);
        let (preset, diagnostics) = Preset::compile(&agent, &registry());
        let preset = (self.setting)(preset);
        let assembled =
            assemble(&preset, window(self.history), injections(self.injections), self.target, &mut render);
        let mut lines = vec![texts(&assembled)];
        lines.extend(assembled.decisions.iter().map(ToString::to_string));
        lines.extend(diagnostics.iter().map(line));
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.join("\n"), expected.join("\n"));
    }
}

#[track_caller]
pub(crate) fn check(preset: &str, history: &str, expected: &str) {
    Case::new(preset, history).check(expected);
}

/// Omits the role of user and history messages.
pub(crate) fn texts(assembled: &AssembledPreset) -> String {
    let text = |message: &Message| {
        let mut text = message.text().into_owned();
        if message.source.kind != SourceKind::History && message.role != Role::User {
            text.extend(["(", &message.role.as_str()[..1], ")"]);
        }
        for attachment in &message.attachments {
            text.extend(["@", &*attachment.name]);
        }
        text
    };
    let texts: Vec<String> = assembled.messages.iter().map(text).collect();
    texts.join(" ")
}

fn line(diagnostic: &Diagnostic) -> String {
    let Diagnostic { code, severity, message, location, .. } = diagnostic;
    let pointer = location.pointer.as_deref().unwrap_or("nowhere");
    format!("{severity} {code} {}: {message}", pointer.trim_start_matches("/presetMessages"))
}

pub(crate) fn agent(json: &str) -> Agent {
    let value: Value = serde_json::from_str(json).unwrap();
    let value = if value.is_array() { json!({ "presetMessages": value }) } else { value };
    Agent::read(value, &mut Reader::new())
}

pub(crate) fn registry() -> AnchorRegistry {
    let mut registry = AnchorRegistry::system();
    for (id, has_template) in [("weather", true), ("code", false)] {
        let definition = AnchorDefinition {
            id: id.into(),
            name: id.into(),
            description: "".into(),
            is_system: false,
            has_template,
            default_template: None,
        };
        registry.register(definition).unwrap();
    }
    registry
}

/// One message per letter: `u`ser, `a`ssistant, `s`ystem, `c`all of as many tools as results follow, `t`ool
/// result, unfinished reply `p`. Messages before `|` are not loaded, except leading system messages.
pub(crate) fn window(letters: &str) -> Window {
    let (skipped, loaded) = letters.split_once('|').unwrap_or(("", letters));
    let all: Vec<char> = skipped.chars().chain(loaded.chars()).collect();
    let messages = (0..all.len()).map(|index| message(&all, index)).collect();
    let mut window = Window::from_messages(messages);
    window.skipped = skipped.len().saturating_sub(window.pinned.len());
    window.messages.drain(..window.skipped);
    window
}

fn message(letters: &[char], index: usize) -> Message {
    let letter = letters[index];
    let role = match letter {
        'u' => Role::User,
        't' => Role::Tool,
        's' => Role::System,
        'a' | 'c' | 'p' => Role::Assistant,
        other => panic!("no message is spelled `{other}`"),
    };
    let name = format!("{letter}{}", index + 1);
    let mut message = Message::new(role, name.as_str(), Source::history(name.as_str(), role));
    message.is_continuation_prefix = letter == 'p';
    if letter == 't' {
        message.tool_call_id = Some(index.to_string().into());
    }
    if letter == 'c' {
        let results = letters[index + 1..].iter().take_while(|letter| **letter == 't').count();
        let call = |offset: usize| ToolCall {
            id: (index + offset).to_string().into(),
            name: "f".into(),
            arguments: "{}".into(),
        };
        message.tool_calls = (1..=results.max(1)).map(call).collect();
    }
    message
}

fn injections(json: &str) -> Vec<Injection> {
    let list: Vec<Value> = serde_json::from_str(json).unwrap();
    list.into_iter().map(injection).collect()
}

fn injection(value: Value) -> Injection {
    let is_worldbook = value["rank"] == "worldbook";
    let lane = value["lane"].as_i64().unwrap_or(0);
    let entry = PresetMessage::read(value, &mut Reader::new());
    let (placement, _) = Placement::read(&entry);
    let text = entry.content.as_ref().map(|content| content.text().into_owned()).unwrap_or_default();
    let kind = if is_worldbook { SourceKind::Worldbook } else { SourceKind::Plugin };
    let source = Source::new(kind, Trust::Preset).with_id(text.as_str());
    let mut injection = Injection::plugin(text, placement, source);
    injection.rank = if is_worldbook { Rank::Worldbook } else { Rank::Plugin };
    injection.lane = lane;
    injection.role = entry.role.unwrap_or_default();
    injection
}

pub(crate) fn render(request: RenderRequest<'_>) -> RenderedText {
    if !request.text.contains("{{") {
        return RenderedText::unchanged(request.text);
    }
    let text = request.text.replace("{{user}}", "Ada").replace("{{empty}}", "");
    RenderedText { text: Text::from(text), written: Vec::new() }
}
