use std::sync::Arc;

use ctx_pipeline::SettingOrigin;
use ctx_pipeline::internal::{CompileContext, Pipeline, Run, SettingsLayer};
use ctx_types::internal::is_partition;
use ctx_types::{
    Agent, Content, ContentPart, Message, Persist as _, Reader, Role, Source, TurnInput, UserProfile,
};
use serde_json::{Value, json};

use crate::inputs::{execute, registry};

fn run(agent: Value, profile: Value, settings: Value, messages: Vec<Message>) -> (Pipeline, Run) {
    let agent = Agent::read(agent, &mut Reader::new());
    let profile = UserProfile::read(profile, &mut Reader::new());
    let parameters = json!({ "processors": [{ "id": "regex-processor", "config": settings }] });
    let (layer, found) = SettingsLayer::from_parameters(SettingOrigin::User, &parameters, "");
    assert_eq!(found, []);
    let around = CompileContext { profile: Some(&profile), ..CompileContext::default() };
    let pipeline = Pipeline::compile(&registry(&["regex-processor"]), &agent, around, &[layer]);
    let mut run = Run::default();
    run.draft.set_messages(messages);
    execute(&pipeline, &mut run, &agent, Some(&profile), &TurnInput::default());
    (pipeline, run)
}

fn message(role: Role, text: &str) -> Message {
    Message::new(role, text, Source::history("n", role))
}

fn rules(rules: Value) -> Value {
    json!({ "regexConfig": { "presets": [{ "rules": rules }] } })
}

#[track_caller]
fn check(agent: Value, messages: Vec<Message>, expected: &[&str]) {
    let (_, run) = run(agent, json!({}), json!({}), messages);
    let found: Vec<String> =
        run.draft.messages().iter().map(|message| format!("{}: {}", message.role, message.text())).collect();
    assert_eq!(found, expected);
    for message in run.draft.messages() {
        assert!(is_partition(&message.segments(), message.content.len()));
    }
}

#[test]
fn orders_rules_of_settings_agent_and_profile() {
    let preset =
        |regex: &str, to: &str| json!([{ "rules": [{ "name": to, "regex": regex, "replacement": to }] }]);
    let (pipeline, run) = run(
        json!({ "regexConfig": { "presets": preset("b", "c") } }),
        json!({ "regexConfig": { "presets": preset("c", "d") } }),
        json!({ "presets": preset("a", "b") }),
        vec![message(Role::User, "a")],
    );
    assert_eq!(pipeline.diagnostics(), []);
    assert_eq!(run.draft.messages()[0].text(), "d");
    assert_eq!(run.stages[0].log[0].message, "3 rules changed 1 message");
}

#[test]
fn names_file_in_diagnostics() {
    let bad = json!({ "presets": [{ "rules": [{ "regex": "(" }] }] });
    let (pipeline, _) = run(
        json!({ "regexConfig": bad }),
        json!({ "regexConfig": bad }),
        json!({ "presets": [{ "rules": [{ "regex": "(" }, 7] }] }),
        Vec::new(),
    );
    let found: Vec<String> = pipeline.diagnostics().iter().map(|found| found.location.to_string()).collect();
    assert_eq!(
        found,
        [
            "settings of `regex-processor` /presets/0/rules/1",
            "settings of `regex-processor` /presets/0/rules/0/regex",
            "/regexConfig/presets/0/rules/0/regex",
            "profile /regexConfig/presets/0/rules/0/regex",
        ]
    );
}

#[test]
fn changes_each_text_part_in_place() {
    let parts = vec![
        ContentPart::Text("a1".into()),
        ContentPart::Other(Arc::new(json!({ "type": "image_url" }))),
        ContentPart::Text("2a".into()),
    ];
    let mut before = message(Role::User, "");
    before.content = Content::Parts(parts);
    let (_, run) = run(
        rules(json!([{ "id": "r", "regex": "a", "replacement": "bb" }])),
        json!({}),
        json!({}),
        vec![before],
    );
    let after = &run.draft.messages()[0];
    let Content::Parts(parts) = &after.content else { unreachable!("the message has parts") };
    assert_eq!((parts[0].as_text(), parts[2].as_text()), (Some("bb1"), Some("2bb")));
    let segments: Vec<String> = after
        .segments()
        .iter()
        .map(|segment| format!("{}-{} {}", segment.span.start, segment.span.end, segment.source))
        .collect();
    assert_eq!(segments, ["0-2 rule:r", "2-3 history:n", "3-4 history:n", "4-6 rule:r"]);
}

#[test]
fn drops_emptied_messages_except_newest() {
    let all = rules(json!([{ "regex": ".+", "targetRoles": ["user", "assistant", "tool"] }]));
    let messages = || vec![message(Role::User, "a"), message(Role::Tool, "b"), message(Role::User, "c")];
    check(all.clone(), messages(), &["tool: ", "user: "]);
    let (_, run) = run(all, json!({}), json!({}), messages());
    let decisions: Vec<String> = run.draft.decisions().iter().map(ToString::to_string).collect();
    assert_eq!(decisions, ["dropped history:n: empty after the regex rules"]);
}

#[test]
fn shares_unchanged_messages() {
    let before = vec![message(Role::User, "a")];
    let (_, run) = run(rules(json!([{ "regex": "z" }])), json!({}), json!({}), before.clone());
    assert!(run.draft.messages()[0].is_shared_with(&before[0]));
    assert_eq!(run.stages[0].log[0].message, "no rule changed a message");
}

#[test]
fn limits_steps_by_setting() {
    let (_, run) = run(
        rules(json!([{ "regex": r"(a+)+\1!", "replacement": "" }])),
        json!({}),
        json!({ "steps": 100 }),
        vec![message(Role::User, &"a".repeat(1_000))],
    );
    assert_eq!(run.diagnostics.len(), 1);
    let expected = "warning[CTX0774]: the regex rules exceed 100 steps in total, at the rule";
    assert!(run.diagnostics[0].to_string().starts_with(expected), "{}", run.diagnostics[0]);
}
