use crate::case;
use crate::case::{Case, check};
use ctx_anchors::{AnchorDefinition, AnchorRegistry, Preset, Rendered, Target, assemble};
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
fn a_placeholder_is_not_sent_and_things_stand_around_it() {
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
fn the_example_of_the_seed_assembles_as_it_says() {
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
fn things_at_one_side_stand_by_order_then_lane_then_list() {
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
fn without_a_target_things_stand_at_the_history() {
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
fn a_template_sends_its_content_between_what_stands_around_it() {
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
fn a_blank_template_is_not_sent_but_remains_a_target() {
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
fn a_template_that_expands_to_nothing_is_not_sent() {
    check(
        r#"[{"type": "user_profile", "content": " {{empty}} "}, {"content": "{{empty}}"}]"#,
        "u",
        "u1\n        dropped preset#0: empty after macro expansion\n        dropped preset#1: empty after macro expansion",
    );
}

#[test]
fn a_blank_template_with_a_file_is_sent() {
    check(
        r#"[{"type": "user_profile", "content": "", "presetAttachments": [{"assetId": "a", "name": "cat.png"}]}]"#,
        "u",
        "@cat.png u1",
    );
}

#[test]
fn a_blank_message_is_not_sent() {
    check(
        r#"[{"role": "system"}, {"role": "system", "content": "  "}]"#,
        "u",
        "u1\ndropped preset#0: blank content\ndropped preset#1: blank content",
    );
}

#[test]
fn the_texts_of_several_parts_are_expanded_each() {
    check(
        r#"[{"content": [{"type": "text", "text": "Hi_{{user}}"}, {"type": "image_url"}, {"type": "text", "text": "!"}]}]"#,
        "",
        "Hi_Ada!",
    );
}

#[test]
fn a_plugin_may_register_templates_and_placeholders() {
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
fn the_content_of_a_placeholder_is_not_sent_and_that_is_reported() {
    check(
        r#"[{"type": "code", "content": "A"}, {"type": "placeholder", "id": "lore", "content": "B"}]"#,
        "u",
        "u1\n        hidden preset#0: position only; its content is not sent\n        hidden preset:lore: position only; its content is not sent\n        info CTX0207 /0/content: `code` is only a position; its content is not sent\n        info CTX0207 /1/content: `lore` is only a position; its content is not sent",
    );
}

#[test]
fn an_entry_without_its_anchor_stays_where_the_list_has_it() {
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
fn an_entry_at_a_history_that_is_not_sent_stays_where_the_list_has_it() {
    check(
        r#"{"historyWhenUnplaced": "omit", "presetMessages": [
            {"content": "x", "anchorTarget": "chat_history"}, {"content": "A"}
        ]}"#,
        "",
        "x A\n        moved preset#0: the preset has no anchor `chat_history`; kept at its list position\n        error CTX0200 /0/anchorTarget: no entry of type `chat_history`; this entry stays at its list position",
    );
}

#[test]
fn an_entry_whose_anchor_is_switched_off_stays_where_the_list_has_it() {
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
fn the_id_of_a_message_is_not_an_anchor() {
    check(
        r#"[{"id": "lore", "content": "A"}, {"id": "x", "content": "X", "anchorTarget": "lore"}]"#,
        "",
        "A X\n        moved preset:x: the preset has no anchor `lore`; kept at its list position\n        error CTX0200 /1/anchorTarget: unknown anchor `lore`; the entry stays at its list position",
    );
}

#[test]
fn a_mistyped_target_is_guessed() {
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
fn a_mistyped_type_is_guessed() {
    check_help(r#"[{"content": "x", "type": "user_profil"}]"#, &["did you mean `user_profile`?"]);
    check_help(r#"[{"content": "x", "type": "mesage"}]"#, &["did you mean `message`?"]);
    check_help(
        r#"[{"content": "x", "type": "lore"}]"#,
        &["use type `placeholder` with an id, or a type from `ctx anchors list`"],
    );
}

#[test]
fn a_mistyped_anchor_of_the_built_in_ones_is_guessed_too() {
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
fn an_unregistered_type_is_an_ordinary_message() {
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
fn an_empty_type_is_an_ordinary_message() {
    check(r#"[{"type": "", "content": "A"}, {"type": "message", "content": "B"}]"#, "", "A B");
}

#[test]
fn a_placeholder_without_an_id_is_reported() {
    check(
        r#"[{"type": "placeholder"}, {"type": "placeholder", "id": " "}]"#,
        "u",
        "u1
        warning CTX0203 /0: the placeholder has no id
        warning CTX0203 /1: the placeholder has no id",
    );
}

#[test]
fn white_space_around_the_name_of_an_anchor_does_not_count() {
    check(
        r#"[{"type": "placeholder", "id": " lore "}, {"content": "A"}, {"content": "x", "anchorTarget": "lore  "}]"#,
        "",
        "x A",
    );
}

#[test]
fn a_placeholder_may_be_the_place_of_the_history() {
    check(r#"[{"type": "placeholder", "id": "chat_history"}, {"content": "A"}]"#, "u", "u1 A");
    check(r#"[{"type": "placeholder", "id": "__CHAT_HISTORY__"}, {"content": "A"}]"#, "u", "u1 A");
}

#[test]
fn a_placement_on_an_anchor_is_ignored() {
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
fn an_anchor_whose_strategy_names_no_place_has_none() {
    check(r#"[{"type": "chat_history", "injectionStrategy": {"order": 100}}]"#, "u", "u1");
    check(r#"[{"type": "chat_history", "injectionStrategy": {"type": "default", "depth": 4}}]"#, "u", "u1");
}

#[test]
fn a_second_place_of_the_history_is_ignored() {
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
fn the_history_stands_where_its_place_is_switched_off() {
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
fn of_two_places_of_the_history_the_one_that_is_on_is_used() {
    check(
        r#"[{"type": "chat_history", "isEnabled": false}, {"content": "A"}, {"type": "chat_history"}]"#,
        "u",
        "A u1\n        warning CTX0204 /0/type: duplicate `chat_history` is ignored; entry 2 is used",
    );
}

#[test]
fn the_history_stands_where_its_place_is_meant_for_another_model() {
    let preset = r#"[
        {"type": "chat_history", "modelMatch": {"enabled": true, "patterns": ["gpt"]}}, {"content": "A"}
    ]"#;
    let target = Target { model: Some("claude"), profile: None, kind: None };
    Case { target, ..Case::new(preset, "u") }.check(
        "u1 A\n        kept preset#0: `modelMatch` excludes this model; the history is still inserted here",
    );
}

#[test]
fn of_two_anchors_with_one_name_the_first_is_the_target() {
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
fn entries_with_one_id_are_both_sent_and_reported() {
    check(
        r#"[{"id": "a", "content": "A"}, {"id": "a", "content": "B"}, {"id": "a", "content": "C", "isEnabled": false}]"#,
        "",
        "A B\n        hidden preset:a: disabled\n        warning CTX0208 /1/id: duplicate id `a`, also used by entry 0",
    );
}

#[test]
fn an_entry_that_is_switched_off_is_not_sent() {
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
fn a_group_of_the_preset_switches_its_entries() {
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
fn an_anchor_exists_for_the_models_that_it_is_meant_for() {
    let model = |model| Target { model: Some(model), profile: None, kind: None };
    Case { target: model("gpt-5"), ..Case::new(FOR_MODELS, "") }
        .check("gpt x y\n        not_activated preset#1: `modelMatch` excludes this model");
    Case { target: model("claude"), ..Case::new(FOR_MODELS, "") }.check(
        "other x y\n        not_activated preset#0: `modelMatch` excludes this model\n        moved preset#4: the preset has no anchor `code`; kept at its list position",
    );
}

#[test]
fn a_bad_model_pattern_is_reported_where_it_stands() {
    check(
        r#"[{"content": "A", "modelMatch": {"enabled": true, "patterns": [1, "("]}}]"#,
        "u",
        "u1\n        not_activated preset#0: `modelMatch` excludes this model\n        warning CTX0210 /0/modelMatch/patterns/1: invalid model pattern `(`: invalid pattern at byte 0: unterminated group",
    );
}

#[test]
fn malformed_entries_are_passed_over() {
    check(r#"[{"content": "A"}, 7, null, ["x"], "y", {"content": "B"}]"#, "u", "A B u1");
}

#[test]
fn values_of_the_wrong_type_count_as_absent() {
    check(
        r#"[{"content": "A", "role": "bot", "type": 3, "insertionPoint": "0", "injectionStrategy": []}]"#,
        "u",
        "A u1",
    );
    check(r#"{"presetMessages": {"content": "A"}}"#, "u", "u1");
}

#[test]
fn a_message_that_no_anchor_takes_has_no_placement() {
    let agent =
        case::agent(r#"[{"content": "x", "anchorTarget": "lore"}, {"content": "y", "insertionPoint": 0}]"#);
    let (preset, _) = Preset::compile(&agent, &AnchorRegistry::system());
    let target = Target::default();
    let assembled = ctx_anchors::assemble(&preset, case::window(""), Vec::new(), target, &mut case::render);
    let placed: Vec<bool> = assembled.messages.iter().map(|message| message.placement.is_some()).collect();
    assert_eq!(placed, [false, true]);
}

#[test]
fn the_built_in_anchors_are_those_of_the_design() {
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
fn an_anchor_is_registered_once() {
    check_refused("weather", "anchor `weather` is registered already");
    check_refused("chat_history", "anchor `chat_history` is registered already");
}

#[test]
fn an_id_that_no_entry_can_name_is_refused() {
    for id in ["", "message", "placeholder", " lore", "__CHAT_HISTORY__"] {
        check_refused(id, &format!("`{id}` cannot be the id of an anchor"));
    }
}

#[test]
fn a_built_in_anchor_stays_registered_and_another_may_go() {
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
fn an_entry_with_triggers_is_for_these_kinds_of_generation() {
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
fn white_space_alone_is_sent_where_that_is_wanted() {
    let preset = r#"[
        {"content": "x"}, {"id": "space", "content": " ", "role": "system"}, {"id": "left", "content": "{{empty}} ", "role": "system"},
        {"id": "none", "content": "{{empty}}", "role": "system"}, {"id": "nothing", "content": "", "role": "system"},
        {"id": "sky", "type": "weather", "content": " "}
    ]"#;
    let decisions = "dropped preset:none: empty after macro expansion\n        dropped preset:nothing: blank content\n        dropped preset:sky: blank content";
    let setting = |preset: Preset| preset.sending_white_space(true);
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
fn empty_entry_of_another_role_is_silent() {
    let agent = case::agent(
        r#"[{"role": "system", "content": ""}, {"role": "assistant", "content": ""}, {"role": "user", "content": " "}]"#,
    );
    let (preset, _) = Preset::compile(&agent, &AnchorRegistry::system());
    let silent = |preset: &Preset| -> Vec<(Role, bool)> {
        let window = Window::whole(Vec::new());
        let assembled = assemble(preset, window, Vec::new(), Target::default(), &mut |request| {
            Rendered::unchanged(request.text)
        });
        assembled.messages.iter().map(|message| (message.role, message.is_silent)).collect()
    };
    assert_eq!(silent(&preset), []);
    let preset = preset.sending_white_space(true);
    assert_eq!(silent(&preset), [(Role::Assistant, true), (Role::User, false)]);
}

#[test]
fn what_goes_to_the_history_has_its_place_where_any_history_is_sent() {
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
