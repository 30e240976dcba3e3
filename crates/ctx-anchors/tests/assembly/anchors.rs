use crate::case;
use crate::case::{Case, check};
use ctx_anchors::{AnchorDefinition, AnchorRegistry, Preset, RenderedText, Target, assemble};
use ctx_types::Role;
use ctx_types::session::Window;

#[track_caller]
fn check_help(preset: &str, expected: &[&str]) {
    let (_, diagnostics) = Preset::compile(&case::agent(preset), &case::registry());
    let found: Vec<_> = diagnostics
        .iter()
        .map(|found| found.help.as_ref().map(ToString::to_string).unwrap_or_default())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn supports_plugin_templates_and_placeholders() {
    check(
        r#"[
            {"type": "weather", "content": "sunny"},
            {"type": "code"},
            {"content": "x", "anchorTarget": "weather"},
            {"content": "y", "anchorTarget": "code"}
        ]"#,
        "",
        "sunny x y",
    );
}

#[test]
fn suggests_similar_name() {
    check_help(r#"[{"content": "x", "anchorTarget": "Chat_History"}]"#, &["did you mean `chat_history`?"]);
    check_help(r#"[{"content": "x", "type": "mesage"}]"#, &["did you mean `message`?"]);
    let help = |name: &str| format!("did you mean `{name}`? Then also add an entry with `type: {name}`");
    check_help(r#"[{"content": "x", "anchorTarget": "wrold_info_before"}]"#, &[&help("world_info_before")]);
    check_help(r#"[{"content": "x", "anchorTarget": "user_profil"}]"#, &[&help("user_profile")]);
    // Suggests the most similar name only.
    check_help(
        r#"[{"content": "x", "anchorTarget": "char_descripton"}, {"type": "char_description"}]"#,
        &["did you mean `char_description`?"],
    );
    check_help(
        r#"[{"content": "x", "anchorTarget": "wrold_info_before"}, {"type": "world_info_after"}]"#,
        &[&help("world_info_before")],
    );
}

#[test]
fn accepts_anchor_strategy_without_placement() {
    check(r#"[{"type": "chat_history", "injectionStrategy": {"order": 100}}]"#, "u", "u1");
    check(r#"[{"type": "chat_history", "injectionStrategy": {"type": "default", "depth": 4}}]"#, "u", "u1");
}

#[test]
fn inserts_history_at_entry_for_other_model() {
    let preset = r#"[
        {"type": "chat_history", "modelMatch": {"enabled": true, "patterns": ["gpt"]}}, {"content": "A"}
    ]"#;
    let target = Target { model: Some("claude"), profile: None, kind: None };
    Case { target, ..Case::new(preset, "u") }.check(
        "u1 A\n        kept preset#0: `modelMatch` excludes this model; the history is still inserted here",
    );
}

#[test]
fn sets_no_placement_without_anchor() {
    let agent =
        case::agent(r#"[{"content": "x", "anchorTarget": "lore"}, {"content": "y", "insertionPoint": 0}]"#);
    let (preset, _) = Preset::compile(&agent, &AnchorRegistry::system());
    let target = Target::default();
    let assembled = ctx_anchors::assemble(&preset, case::window(""), Vec::new(), target, &mut case::render);
    let placed: Vec<bool> = assembled.messages.iter().map(|message| message.placement.is_some()).collect();
    assert_eq!(placed, [false, true]);
}

#[test]
fn lists_builtin_anchors() {
    let registry = AnchorRegistry::system();
    let ids: Vec<&str> = registry.definitions().iter().map(|definition| &*definition.id).collect();
    assert_eq!(
        ids,
        [
            "chat_history",
            "user_profile",
            "world_info_before",
            "world_info_after",
            "char_description",
            "char_personality",
            "scenario",
            "dialogue_examples",
            "author_note"
        ]
    );
    assert!(registry.definitions().iter().all(|definition| definition.is_system));
    let templates = registry.definitions().iter().filter(|definition| definition.has_template);
    let templates: Vec<&str> = templates.map(|definition| &*definition.id).collect();
    assert_eq!(templates, ["user_profile", "char_description", "char_personality", "scenario"]);
}

fn definition(id: &str) -> AnchorDefinition {
    AnchorDefinition {
        id: id.into(),
        name: "".into(),
        description: "".into(),
        is_system: false,
        has_template: false,
        default_template: None,
    }
}

#[track_caller]
fn check_refused(id: &str, expected: &str) {
    assert_eq!(case::registry().register(definition(id)).unwrap_err().to_string(), expected);
}

#[test]
fn rejects_duplicate_anchor() {
    check_refused("weather", "anchor `weather` is registered already");
    check_refused("chat_history", "anchor `chat_history` is registered already");
}

#[test]
fn rejects_invalid_anchor_id() {
    for id in ["", "message", "placeholder", " lore", "__CHAT_HISTORY__"] {
        check_refused(id, &format!("`{id}` cannot be the id of an anchor"));
    }
}

#[test]
fn unregisters_only_custom_anchors() {
    let mut registry = case::registry();
    let refused = registry.unregister("user_profile").unwrap_err();
    assert_eq!(refused.to_string(), "anchor `user_profile` is built in and cannot be unregistered");
    assert_eq!(registry.unregister("lore").unwrap_err().to_string(), "unknown anchor `lore`");
    assert_eq!(&*registry.unregister("weather").unwrap().id, "weather");
    assert!(registry.get("weather").is_none());
    assert!(registry.register(definition("weather")).is_ok());
}

#[track_caller]
fn check_kind(kind: Option<&str>, preset: &str, expected: &str) {
    let target = Target { kind, ..Target::default() };
    Case { target, ..Case::new(preset, "u") }.check(expected);
}

#[test]
fn limits_entry_to_generation_types() {
    let preset = r#"[
        {"content": "a", "triggers": ["normal", "continue"]},
        {"type": "weather", "content": "b", "triggers": ["quiet"]},
        {"content": "c"},
        {"content": "d", "triggers": ["quiet"], "isEnabled": false}
    ]"#;
    check_kind(
        Some("continue"),
        preset,
        "a c u1\n        not_activated preset#1: not for this generation type\n        hidden preset#3: disabled",
    );
    check_kind(
        Some("quiet"),
        preset,
        "b c u1\n        not_activated preset#0: not for this generation type\n        hidden preset#3: disabled",
    );
    check_kind(None, preset, "a b c u1\nhidden preset#3: disabled");
}

#[test]
fn sends_whitespace_only_if_enabled() {
    let preset = r#"[
        {"content": "x"}, {"id": "space", "content": " ", "role": "system"}, {"id": "left", "content": "{{empty}} ", "role": "system"},
        {"id": "none", "content": "{{empty}}", "role": "system"}, {"id": "nothing", "content": "", "role": "system"},
        {"id": "sky", "type": "weather", "content": " "}
    ]"#;
    let decisions = "dropped preset:none: empty after macro expansion\n        dropped preset:nothing: blank content\n        dropped preset:sky: blank content";
    let setting = |preset: Preset| preset.send_white_space(true);
    Case { setting, ..Case::new(preset, "u") }.check(&format!("x  (s)  (s) u1\n{decisions}"));
    check(
        preset,
        "u",
        &format!(
            "x u1\n            dropped preset:space: blank content\n            dropped preset:left: empty after macro expansion\n            {decisions}"
        ),
    );
}

#[test]
fn marks_empty_assistant_entry_as_silent() {
    let agent = case::agent(
        r#"[{"role": "system", "content": ""}, {"role": "assistant", "content": ""}, {"role": "user", "content": " "}]"#,
    );
    let (preset, _) = Preset::compile(&agent, &AnchorRegistry::system());
    let silent = |preset: &Preset| -> Vec<(Role, bool)> {
        let window = Window::from_messages(Vec::new());
        let assembled = assemble(preset, window, Vec::new(), Target::default(), &mut |request| {
            RenderedText::unchanged(request.text)
        });
        assembled.messages.iter().map(|message| (message.role, message.is_silent)).collect()
    };
    assert_eq!(silent(&preset), []);
    let preset = preset.send_white_space(true);
    assert_eq!(silent(&preset), [(Role::Assistant, true), (Role::User, false)]);
}

#[test]
fn anchors_entries_to_disabled_history() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [
            {"type": "chat_history", "isEnabled": false}, {"content": "x", "anchorTarget": "chat_history"}
        ]}"#,
        "u",
        "u1 x\n        warning CTX0205 /0/isEnabled: `chat_history` is disabled; the history is still inserted here",
    );
}
