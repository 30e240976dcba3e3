use crate::case;
use crate::case::{Case, check};
use ctx_anchors::{AnchorDefinition, AnchorRegistry, Preset, RenderedText, Target, assemble};
use ctx_types::{Role, Window};

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
fn omits_placeholder_and_places_entries_around_it() {
    check(
        r#"[
            {"content": "A"},
            {"type": "placeholder", "id": "lore"},
            {"content": "B"},
            {"content": "below", "anchorTarget": "lore", "anchorPoint": "after"},
            {"content": "above", "anchorTarget": "lore", "anchorPoint": "before"},
            {"content": "nested", "injectionStrategy": {"type": "anchor", "anchorTarget": "lore", "anchorPosition": "before"}}
        ]"#,
        "u",
        "A above nested below B u1",
    );
}

#[test]
fn assembles_reference_example() {
    check(
        r#"[
            {"role": "system", "content": "global"},
            {"id": "world_info_placeholder", "type": "placeholder", "role": "user"},
            {"role": "user", "content": "world", "anchorTarget": "world_info_placeholder", "anchorPoint": "before"},
            {"type": "chat_history", "role": "user"},
            {"role": "user", "content": "remember", "insertionPoint": -2}
        ]"#,
        "uau",
        "global(s) world u1 remember a2 u3",
    );
}

#[test]
fn sorts_anchored_entries_by_order_and_tie_breaker() {
    check(
        r#"[
            {"type": "placeholder", "id": "lore"},
            {"content": "last", "anchorTarget": "lore", "order": 101},
            {"content": "lane", "injectionStrategy": {"anchorTarget": "lore", "lane": 1}},
            {"content": "one", "anchorTarget": "lore"},
            {"content": "two", "anchorTarget": "lore"},
            {"content": "first", "anchorTarget": "lore", "order": -1}
        ]"#,
        "",
        "first one two lane last",
    );
}

#[test]
fn defaults_to_history_without_target() {
    check(
        r#"[
            {"content": "below", "injectionStrategy": {"type": "anchor"}},
            {"content": "above", "anchorTarget": "__CHAT_HISTORY__", "anchorPoint": "before"},
            {"type": "chat_history"},
            {"content": "end"}
        ]"#,
        "u",
        "above u1 below end",
    );
}

#[test]
fn places_template_content_between_anchored_entries() {
    check(
        r#"[
            {"type": "user_profile", "role": "system", "content": "I_am_{{user}}"},
            {"content": "above", "anchorTarget": "user_profile", "anchorPoint": "before"},
            {"content": "below", "anchorTarget": "user_profile"}
        ]"#,
        "u",
        "above I_am_Ada(s) below u1",
    );
}

#[test]
fn keeps_blank_template_as_target() {
    check(
        r#"[
            {"type": "user_profile", "content": " \n"},
            {"type": "weather"},
            {"content": "at_profile", "anchorTarget": "user_profile"},
            {"content": "at_weather", "anchorTarget": "weather", "anchorPoint": "before"}
        ]"#,
        "u",
        "at_profile at_weather u1\n        dropped preset#0: blank content\n        dropped preset#1: blank content",
    );
}

#[test]
fn drops_entry_that_expands_to_empty_text() {
    check(
        r#"[{"type": "user_profile", "content": " {{empty}} "}, {"content": "{{empty}}"}]"#,
        "u",
        "u1\n        dropped preset#0: empty after macro expansion\n        dropped preset#1: empty after macro expansion",
    );
}

#[test]
fn sends_blank_template_with_attachment() {
    check(
        r#"[{"type": "user_profile", "content": "", "presetAttachments": [{"assetId": "a", "name": "cat.png"}]}]"#,
        "u",
        "@cat.png u1",
    );
}

#[test]
fn drops_blank_message() {
    check(
        r#"[{"role": "system"}, {"role": "system", "content": "  "}]"#,
        "u",
        "u1\ndropped preset#0: blank content\ndropped preset#1: blank content",
    );
}

#[test]
fn expands_each_text_part() {
    check(
        r#"[{"content": [{"type": "text", "text": "Hi_{{user}}"}, {"type": "image_url"}, {"type": "text", "text": "!"}]}]"#,
        "",
        "Hi_Ada!",
    );
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
fn reports_unsent_placeholder_content() {
    check(
        r#"[{"type": "code", "content": "A"}, {"type": "placeholder", "id": "lore", "content": "B"}]"#,
        "u",
        "u1\n        hidden preset#0: position only; its content is not sent\n        hidden preset:lore: position only; its content is not sent\n        info CTX0207 /0/content: `code` is only a position; its content is not sent\n        info CTX0207 /1/content: `lore` is only a position; its content is not sent",
    );
}

#[test]
fn keeps_list_position_without_anchor() {
    check(
        r#"[{"content": "A"}, {"content": "x", "anchorTarget": "lore"}, {"type": "chat_history"}, {"content": "B"}]"#,
        "u",
        "A x u1 B\n        moved preset#1: the preset has no anchor `lore`; kept at its list position\n        error CTX0200 /1/anchorTarget: unknown anchor `lore`; the entry stays at its list position",
    );
    check(
        r#"[{"content": "A"}, {"content": "x", "injectionStrategy": {"anchorTarget": "user_profile"}}]"#,
        "u",
        "A x u1\n        moved preset#1: the preset has no anchor `user_profile`; kept at its list position\n        error CTX0200 /1/injectionStrategy/anchorTarget: no entry of type `user_profile`; this entry stays at its list position",
    );
}

#[test]
fn keeps_list_position_if_history_is_omitted() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [
            {"content": "x", "anchorTarget": "chat_history"}, {"content": "A"}
        ]}"#,
        "",
        "x A\n        moved preset#0: the preset has no anchor `chat_history`; kept at its list position\n        error CTX0200 /0/anchorTarget: no entry of type `chat_history`; this entry stays at its list position",
    );
}

#[test]
fn keeps_list_position_if_anchor_is_disabled() {
    check(
        r#"[
            {"type": "placeholder", "id": "lore", "isEnabled": false},
            {"content": "A"},
            {"content": "x", "anchorTarget": "lore", "anchorPoint": "before"}
        ]"#,
        "u",
        "A x u1\n        moved preset#2: the preset has no anchor `lore`; kept at its list position\n        error CTX0201 /2/anchorTarget: anchor `lore` is disabled; the entry stays at its list position",
    );
}

#[test]
fn rejects_message_id_as_anchor() {
    check(
        r#"[{"id": "lore", "content": "A"}, {"id": "x", "content": "X", "anchorTarget": "lore"}]"#,
        "",
        "A X\n        moved preset:x: the preset has no anchor `lore`; kept at its list position\n        error CTX0200 /1/anchorTarget: unknown anchor `lore`; the entry stays at its list position",
    );
}

#[test]
fn suggests_similar_target() {
    check_help(
        r#"[{"type": "placeholder", "id": "world_info"}, {"content": "x", "anchorTarget": "world_inof"}]"#,
        &["did you mean `world_info`?"],
    );
    check_help(r#"[{"content": "x", "anchorTarget": "Chat_History"}]"#, &["did you mean `chat_history`?"]);
    check_help(
        r#"[{"content": "x", "anchorTarget": "lore"}]"#,
        &["add an entry with `type: placeholder` and `id: lore`, or use an anchor from `ctx anchors list`"],
    );
    check_help(
        r#"[{"content": "x", "anchorTarget": "user_profile"}]"#,
        &["add an entry with `type: user_profile` at the target position"],
    );
}

#[test]
fn suggests_similar_type() {
    check_help(r#"[{"content": "x", "type": "user_profil"}]"#, &["did you mean `user_profile`?"]);
    check_help(r#"[{"content": "x", "type": "mesage"}]"#, &["did you mean `message`?"]);
    check_help(
        r#"[{"content": "x", "type": "lore"}]"#,
        &["use type `placeholder` with an id, or a type from `ctx anchors list`"],
    );
}

#[test]
fn suggests_similar_builtin_anchor() {
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
fn treats_unregistered_type_as_message() {
    check(
        r#"[
            {"content": "A"},
            {"type": "lore", "content": "x"},
            {"type": "lore", "content": "y", "insertionPoint": 0},
            {"content": "z", "anchorTarget": "lore"}
        ]"#,
        "u",
        "A x z y u1\n        moved preset#3: the preset has no anchor `lore`; kept at its list position\n        warning CTX0202 /1/type: unknown anchor type `lore`; the entry is a normal message\n        warning CTX0202 /2/type: unknown anchor type `lore`; the entry is a normal message\n        error CTX0200 /3/anchorTarget: unknown anchor `lore`; the entry stays at its list position",
    );
}

#[test]
fn treats_empty_type_as_message() {
    check(r#"[{"type": "", "content": "A"}, {"type": "message", "content": "B"}]"#, "", "A B");
}

#[test]
fn reports_placeholder_without_id() {
    check(
        r#"[{"type": "placeholder"}, {"type": "placeholder", "id": " "}]"#,
        "u",
        "u1
        warning CTX0203 /0: the placeholder has no id
        warning CTX0203 /1: the placeholder has no id",
    );
}

#[test]
fn trims_anchor_names() {
    check(
        r#"[{"type": "placeholder", "id": " lore "}, {"content": "A"}, {"content": "x", "anchorTarget": "lore  "}]"#,
        "",
        "x A",
    );
}

#[test]
fn accepts_placeholder_as_history_position() {
    check(r#"[{"type": "placeholder", "id": "chat_history"}, {"content": "A"}]"#, "u", "u1 A");
    check(r#"[{"type": "placeholder", "id": "__CHAT_HISTORY__"}, {"content": "A"}]"#, "u", "u1 A");
}

#[test]
fn ignores_placement_of_anchor() {
    check(
        r#"[
            {"type": "placeholder", "id": "lore", "insertionPoint": 0},
            {"content": "x", "anchorTarget": "lore"},
            {"type": "user_profile", "content": "me", "injectionStrategy": {"type": "depth", "depth": 0}},
            {"type": "chat_history", "anchorTarget": "lore"}
        ]"#,
        "u",
        "x me u1\n        warning CTX0206 /0: an anchor has no placement of its own; the placement is ignored\n        warning CTX0206 /2: an anchor has no placement of its own; the placement is ignored\n        warning CTX0206 /3: an anchor has no placement of its own; the placement is ignored",
    );
}

#[test]
fn accepts_anchor_strategy_without_placement() {
    check(r#"[{"type": "chat_history", "injectionStrategy": {"order": 100}}]"#, "u", "u1");
    check(r#"[{"type": "chat_history", "injectionStrategy": {"type": "default", "depth": 4}}]"#, "u", "u1");
}

#[test]
fn ignores_second_history_entry() {
    check(
        r#"[
            {"type": "chat_history"},
            {"content": "A"},
            {"type": "chat_history"},
            {"content": "x", "anchorTarget": "chat_history"}
        ]"#,
        "u",
        "u1 x A\n        warning CTX0204 /2/type: duplicate `chat_history` is ignored; entry 0 is used",
    );
}

#[test]
fn inserts_history_at_disabled_entry() {
    check(
        r#"[
            {"type": "chat_history", "isEnabled": false},
            {"content": "A"},
            {"content": "x", "anchorTarget": "chat_history", "anchorPoint": "before"}
        ]"#,
        "u",
        "x u1 A\n        warning CTX0205 /0/isEnabled: `chat_history` is disabled; the history is still inserted here",
    );
    check(
        r#"{"presetGroups": [{"id": "g", "enabled": false}], "presetMessages": [
            {"type": "chat_history", "groupId": "g"}, {"content": "A"}
        ]}"#,
        "u",
        "u1 A\n        warning CTX0205 /0/groupId: `chat_history` is disabled; the history is still inserted here",
    );
}

#[test]
fn prefers_enabled_history_entry() {
    check(
        r#"[{"type": "chat_history", "isEnabled": false}, {"content": "A"}, {"type": "chat_history"}]"#,
        "u",
        "A u1\n        warning CTX0204 /0/type: duplicate `chat_history` is ignored; entry 2 is used",
    );
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
fn targets_first_anchor_of_duplicate_name() {
    check(
        r#"[
            {"type": "placeholder", "id": "lore"},
            {"type": "user_profile", "content": "me"},
            {"type": "placeholder", "id": "lore"},
            {"type": "user_profile", "content": "again"},
            {"content": "x", "anchorTarget": "lore"},
            {"content": "y", "anchorTarget": "user_profile"}
        ]"#,
        "",
        "x me y again\n        warning CTX0204 /2/id: duplicate `lore`; entries that target it go to entry 0\n        warning CTX0204 /3/type: duplicate `user_profile`; entries that target it go to entry 1",
    );
}

#[test]
fn sends_and_reports_entries_with_duplicate_id() {
    check(
        r#"[{"id": "a", "content": "A"}, {"id": "a", "content": "B"}, {"id": "a", "content": "C", "isEnabled": false}]"#,
        "",
        "A B\n        hidden preset:a: disabled\n        warning CTX0208 /1/id: duplicate id `a`, also used by entry 0",
    );
}

#[test]
fn hides_disabled_entries() {
    check(
        r#"[
            {"content": "A", "isEnabled": false},
            {"type": "user_profile", "content": "me", "isEnabled": false},
            {"content": "B", "isEnabled": true, "insertionPoint": 0},
            {"content": "C", "isEnabled": null}
        ]"#,
        "u",
        "C B u1\n        hidden preset#0: disabled\n        hidden preset#1: disabled",
    );
}

#[test]
fn hides_entries_of_disabled_group() {
    check(
        r#"{
            "presetGroups": [
                {"id": "off", "name": "Style", "enabled": false}, {"id": "on", "enabled": true}, {"id": "open"}
            ],
            "presetMessages": [
                {"content": "A", "groupId": "off"},
                {"content": "B", "groupId": "on"},
                {"content": "C", "groupId": "open"},
                {"content": "D", "groupId": "opne"},
                {"type": "placeholder", "id": "lore", "groupId": "off"},
                {"content": "x", "anchorTarget": "lore"}
            ]
        }"#,
        "",
        "B C D x\n        hidden preset#0: group `Style` is disabled\n        moved preset#5: the preset has no anchor `lore`; kept at its list position\n        info CTX0209 /3/groupId: unknown group `opne`; the entry is ungrouped\n        error CTX0201 /5/anchorTarget: anchor `lore` is disabled; the entry stays at its list position",
    );
}

const FOR_MODELS: &str = r#"[
    {"type": "weather", "content": "gpt", "modelMatch": {"enabled": true, "patterns": ["^gpt"]}},
    {"type": "weather", "content": "other", "modelMatch": {"enabled": true, "exclude": true, "patterns": ["^gpt"]}},
    {"type": "code", "modelMatch": {"enabled": true, "patterns": ["^gpt"]}},
    {"content": "x", "anchorTarget": "weather"},
    {"content": "y", "anchorTarget": "code"}
]"#;

#[test]
fn limits_anchor_to_matching_models() {
    let model = |model| Target { model: Some(model), profile: None, kind: None };
    Case { target: model("gpt-5"), ..Case::new(FOR_MODELS, "") }
        .check("gpt x y\n        not_activated preset#1: `modelMatch` excludes this model");
    Case { target: model("claude"), ..Case::new(FOR_MODELS, "") }.check(
        "other x y\n        not_activated preset#0: `modelMatch` excludes this model\n        moved preset#4: the preset has no anchor `code`; kept at its list position",
    );
}

#[test]
fn locates_invalid_model_pattern() {
    check(
        r#"[{"content": "A", "modelMatch": {"enabled": true, "patterns": [1, "("]}}]"#,
        "u",
        "u1\n        not_activated preset#0: `modelMatch` excludes this model\n        warning CTX0210 /0/modelMatch/patterns/1: invalid model pattern `(`: invalid pattern at byte 0: unterminated group",
    );
}

#[test]
fn skips_malformed_entries() {
    check(r#"[{"content": "A"}, 7, null, ["x"], "y", {"content": "B"}]"#, "u", "A B u1");
}

#[test]
fn ignores_values_of_wrong_type() {
    check(
        r#"[{"content": "A", "role": "bot", "type": 3, "insertionPoint": "0", "injectionStrategy": []}]"#,
        "u",
        "A u1",
    );
    check(r#"{"presetMessages": {"content": "A"}}"#, "u", "u1");
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
fn anchors_entries_to_history_only_if_sent() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [
            {"type": "chat_history", "isEnabled": false}, {"content": "x", "anchorTarget": "chat_history"}
        ]}"#,
        "u",
        "u1 x\n        warning CTX0205 /0/isEnabled: `chat_history` is disabled; the history is still inserted here",
    );
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [
            {"content": "x", "injectionStrategy": {"type": "anchor"}}
        ]}"#,
        "u",
        "x\n        moved preset#0: the preset has no anchor `chat_history`; kept at its list position\n        dropped history:u1: the preset has no `chat_history`, and `historyWhenUnplaced` is `omit`\n        error CTX0200 /0: no entry of type `chat_history`; this entry stays at its list position",
    );
}
