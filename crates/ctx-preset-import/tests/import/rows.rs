//! Rows of the report: pointer, status, and place.

use ctx_preset_import::FieldStatus;
use serde_json::{Value, json};

use super::{import_all, import_one, rows};

#[track_caller]
fn check(document: &Value, expected: &[&str]) {
    assert_eq!(rows(&import_one(document), 0).join("\n"), expected.join("\n"));
}

#[test]
fn reports_agents_of_aio_hub() {
    let book = json!({ "entries": [{ "key": ["moon"], "content": "Hollow.", "own": 1 }] });
    let agent = json!({
        "name": "Ada", "icon": "x", "own": { "a": 1 },
        "presetMessages": [
            { "name": "First Message", "content": "Hi" },
            { "type": "user_profile", "content": "User Profile", "status": "complete", "own": 1 },
            { "content": 5, "injectionStrategy": { "depth": 2, "own": 1 } },
        ],
        "parameters": {
            "temperature": "hot", "topP": 1, "custom": { "foo": 1 },
            "contextPostProcessing": { "rules": [{ "type": "a", "enabled": true, "separator": "s" }] },
        },
        "bundledWorldbooks": [{ "id": "w", "content": book }],
    });
    let agents = json!([agent, { "name": "Eve" }]);
    check(
        &json!({ "version": 1, "type": "AIO_Agent_Export", "agents": agents, "at": 5 }),
        &[
            "/version approximated ",
            "/type approximated ",
            "/agents/*/name mapped /name",
            "/agents/*/icon approximated /icon",
            "/agents/*/own kept /own",
            "/agents/*/presetMessages/*/name approximated /greetings/*/name",
            "/agents/*/presetMessages/*/content approximated /greetings/*/content",
            "/agents/*/presetMessages/*/type mapped /presetMessages/*/type",
            "/agents/*/presetMessages/*/content approximated /presetMessages/*/content",
            "/agents/*/presetMessages/*/status approximated /presetMessages/*/status",
            "/agents/*/presetMessages/*/own kept /presetMessages/*/own",
            "/agents/*/presetMessages/*/content kept /presetMessages/*/content",
            "/agents/*/presetMessages/*/injectionStrategy/depth mapped /presetMessages/*/injectionStrategy/depth",
            "/agents/*/presetMessages/*/injectionStrategy/own kept /presetMessages/*/injectionStrategy/own",
            "/agents/*/parameters/temperature kept /parameters/temperature",
            "/agents/*/parameters/topP mapped /parameters/topP",
            "/agents/*/parameters/custom approximated /parameters/custom/params",
            "/agents/*/parameters/contextPostProcessing/rules/*/type approximated /parameters/processors/*/id",
            "/agents/*/parameters/contextPostProcessing/rules/*/enabled approximated /parameters/processors/*/enabled",
            "/agents/*/parameters/contextPostProcessing/rules/*/separator approximated /parameters/processors/*/config/separator",
            "/agents/*/bundledWorldbooks/*/id mapped /bundledWorldbooks/*/id",
            "/agents/*/bundledWorldbooks/*/content/entries/*/key mapped /worldbooks/0/entries/*/key",
            "/agents/*/bundledWorldbooks/*/content/entries/*/content mapped /worldbooks/0/entries/*/content",
            "/agents/*/bundledWorldbooks/*/content/entries/*/own kept /worldbooks/0/entries/*/own",
            "/agents/*/name kept /imported/envelope/agents/*/name",
            "/at kept /imported/envelope/at",
        ],
    );
}

#[test]
fn reports_context_limits_by_type() {
    for (value, [number, flag]) in
        [(json!(5), ["mapped", "kept"]), (json!(true), ["kept", "mapped"]), (json!("x"), ["kept", "kept"])]
    {
        let fields = [
            ("maxTokens", number),
            ("contextManagement/enabled", flag),
            ("contextManagement/maxContextTokens", number),
            ("contextManagement/includesAnswer", flag),
            ("contextManagement/retainedCharacters", number),
            ("contextManagement/own", "kept"),
        ];
        let management = fields.iter().filter_map(|(field, _)| field.strip_prefix("contextManagement/"));
        let management: Value = management.map(|field| (field, value.clone())).collect();
        let parameters = json!({ "maxTokens": value, "contextManagement": management });
        let row = |(field, status): (&str, &str)| format!("/parameters/{field} {status} /parameters/{field}");
        assert_eq!(rows(&import_one(&json!({ "parameters": parameters })), 0), fields.map(row));
    }
}

#[test]
fn reports_profiles_and_conversations() {
    check(
        &json!({ "name": "Kim", "content": "Tea.", "icon": "x", "own": 1 }),
        &[
            "/name mapped /profile/name",
            "/content mapped /profile/content",
            "/icon approximated /profile/icon",
            "/own kept /profile/own",
        ],
    );
    let message = json!({ "id": "u", "role": "user", "content": "Hi", "own": 1, "metadata": { "z": 1 } });
    let detail = json!({ "id": "s", "rootNodeId": "r", "nodes": { "u": message }, "updatedAt": "b" });
    check(
        &json!({ "index": { "id": "s", "name": "S", "updatedAt": "a" }, "detail": detail }),
        &[
            "/index/id approximated /conversations/0/id",
            "/index/name mapped /conversations/0/name",
            "/index/updatedAt kept /conversations/0/imported/index/updatedAt",
            "/detail/id mapped /conversations/0/id",
            "/detail/rootNodeId mapped /conversations/0/rootNodeId",
            "/detail/nodes/*/id mapped /conversations/0/nodes/*/id",
            "/detail/nodes/*/role mapped /conversations/0/nodes/*/role",
            "/detail/nodes/*/content mapped /conversations/0/nodes/*/content",
            "/detail/nodes/*/own kept /conversations/0/nodes/*/own",
            "/detail/nodes/*/metadata/z kept /conversations/0/nodes/*/metadata/z",
            "/detail/updatedAt approximated /conversations/0/updatedAt",
        ],
    );
    check(
        &json!([{ "role": "user", "content": "Hi", "createdAt": "t", "runId": "r" }]),
        &[
            "/*/role mapped /conversations/0/nodes/*/role",
            "/*/content mapped /conversations/0/nodes/*/content",
            "/*/createdAt mapped /conversations/0/nodes/*/timestamp",
            "/*/runId kept /conversations/0/nodes/*/runId",
        ],
    );
    check(
        &json!([
            { "user_name": "Kim", "chat_metadata": { "note_prompt": "N", "note_depth": 2, "tainted": true } },
            { "name": "Ada", "is_user": false, "mes": "Hi", "extra": { "reasoning": "r" }, "id": 5, "gen": 1 },
        ]),
        &[
            "/*/user_name mapped /conversations/0/user_name",
            "/*/chat_metadata/note_prompt mapped /conversations/0/authorNote/content",
            "/*/chat_metadata/note_depth mapped /conversations/0/authorNote/injectionStrategy/depth",
            "/*/chat_metadata/tainted kept /conversations/0/chat_metadata/tainted",
            "/*/name mapped /conversations/0/nodes/*/name",
            "/*/is_user mapped /conversations/0/nodes/*/role",
            "/*/mes mapped /conversations/0/nodes/*/content",
            "/*/extra/reasoning mapped /conversations/0/nodes/*/metadata/reasoningContent",
            "/*/id kept /conversations/0/nodes/*/imported/id",
            "/*/gen kept /conversations/0/nodes/*/gen",
        ],
    );
    check(
        &json!([
            { "role": "assistant", "id": "a", "tool_calls": [{ "function": { "name": "n" } }, 5], "createdAt": "t" },
            null,
            { "role": "robot", "id": "a", "timestamp": "s", "createdAt": "t", "parentId": "p", "imported": 1 },
        ]),
        &[
            "/*/role mapped /conversations/0/nodes/*/role",
            "/*/id mapped /conversations/0/nodes/*/id",
            "/*/tool_calls/* approximated /conversations/0/nodes/*/toolCalls",
            "/*/tool_calls/* kept /conversations/0/nodes/*/imported/tool_calls/*",
            "/*/createdAt mapped /conversations/0/nodes/*/timestamp",
            "/* kept /conversations/0/nodes/*",
            "/*/role kept /conversations/0/nodes/*/imported/role",
            "/*/id unsupported -",
            "/*/timestamp mapped /conversations/0/nodes/*/timestamp",
            "/*/createdAt kept /conversations/0/nodes/*/createdAt",
            "/*/parentId kept /conversations/0/nodes/*/imported/parentId",
            "/*/imported kept /conversations/0/nodes/*/imported/imported",
        ],
    );
}

#[test]
fn reports_books_and_modules() {
    check(
        &json!({ "kind": "memory", "entries": [{ "keywords": ["k"], "entry": "e", "own": 1 }] }),
        &[
            "/kind kept /worldbooks/0/imported/file/kind",
            "/entries/*/keywords/* mapped /worldbooks/0/entries/*/key",
            "/entries/*/entry mapped /worldbooks/0/entries/*/content",
            "/entries/*/own kept /worldbooks/0/entries/*/imported/own",
        ],
    );
    check(
        &json!({ "entries": { "7": { "key": ["k"], "content": "c", "own": 1, "depth": "x" } }, "name": 5 }),
        &[
            "/entries/*/key mapped /worldbooks/0/entries/*/key",
            "/entries/*/content mapped /worldbooks/0/entries/*/content",
            "/entries/*/own kept /worldbooks/0/entries/*/own",
            "/entries/*/depth kept /worldbooks/0/entries/*/depth",
            "/name kept /worldbooks/0/imported/name",
        ],
    );
    check(
        &json!({
            "type": "risuModule", "lorebook": [{ "key": "k", "content": "c", "mode": "x" }], "regex": [{ "in": "a" }],
        }),
        &[
            "/type kept /imported/risu_module/type",
            "/lorebook/*/key mapped /worldbooks/0/entries/*/key",
            "/lorebook/*/content mapped /worldbooks/0/entries/*/content",
            "/lorebook/*/mode kept /imported/risu_module/lorebook/*/mode",
            "/regex/*/in approximated /regexConfig/presets/0/rules/*/regex",
        ],
    );
}

#[test]
fn reports_only_the_first_persona_as_read() {
    let profile = json!({ "content": "Tea.", "name": "Kim", "displayName": "Kim" });
    let personas = json!({
        "personas": { "k.png": "Lee" },
        "persona_descriptions": { "k.png": { "description": "Coffee.", "position": 0, "lorebook": "b" } },
    });
    assert_eq!(
        rows(&import_all(&[("file.json", personas), ("file.json", profile)]), 0),
        [
            "/personas/* kept /imported/personas/personas/*",
            "/persona_descriptions/*/description kept /imported/personas/persona_descriptions/*/description",
            "/persona_descriptions/*/position mapped /presetMessages",
            "/persona_descriptions/*/lorebook kept /imported/personas/persona_descriptions/*/lorebook",
        ]
    );
    let persona = json!({
        "personas": { "a.png": "Kim" }, "default_persona": "a.png",
        "persona_descriptions": { "a.png": { "description": "Kind.", "position": 0 } },
    });
    let settings =
        json!({ "username": "Mei", "user_avatar": "a.png", "power_user": persona, "world_info_depth": 3 });
    assert_eq!(
        rows(&import_all(&[("personas.json", persona), ("settings.json", settings)]), 1),
        [
            "/username kept /imported/settings/username",
            "/user_avatar kept /imported/settings/user_avatar",
            "/power_user/personas kept /imported/settings/power_user/personas",
            "/power_user/default_persona kept /imported/settings/power_user/default_persona",
            "/power_user/persona_descriptions kept /imported/settings/power_user/persona_descriptions",
            "/world_info_depth mapped /parameters/processors/*/config/depth",
        ]
    );
}

/// `settings.json` with a preset in use with a field of each kind.
fn settings_with_preset() -> Value {
    let script = |find: &str| json!([{ "findRegex": find, "placement": [2] }]);
    let steps = ["main", "chatHistory"].map(|id| json!({ "identifier": id, "enabled": true }));
    json!({
        "power_user": { "prefer_character_prompt": false },
        "extension_settings": { "regex": script("g") },
        "oai_settings": {
            "prompts": [{ "identifier": "main", "content": "Main." }],
            "prompt_order": [{ "character_id": 100_000, "order": [] }, { "character_id": 100_001, "order": steps }],
            "temp_openai": 0.5, "top_k_openai": 3, "jailbreak_system": true, "extensions": { "regex_scripts": script("p") },
        },
    })
}

#[test]
fn reports_the_preset_in_use_of_settings() {
    let made = import_one(&settings_with_preset());
    assert_eq!(
        rows(&made, 0),
        [
            "/power_user/prefer_character_prompt approximated /presetMessages",
            "/extension_settings/regex/*/findRegex mapped /regexConfig/presets/0/rules/*/regex",
            "/extension_settings/regex/*/placement/* mapped /regexConfig/presets/0/rules/*/targetRoles",
            "/oai_settings/prompts/*/identifier mapped /presetMessages/*/id",
            "/oai_settings/prompts/*/content mapped /presetMessages/*/content",
            "/oai_settings/prompt_order/*/character_id approximated /presetMessages",
            "/oai_settings/prompt_order/*/order approximated /presetMessages",
            "/oai_settings/prompt_order/*/character_id approximated /presetMessages",
            "/oai_settings/prompt_order/*/order/*/identifier mapped /presetMessages/*/id",
            "/oai_settings/prompt_order/*/order/*/enabled mapped /presetMessages/*/isEnabled",
            "/oai_settings/temp_openai approximated /parameters/temperature",
            "/oai_settings/top_k_openai approximated /parameters/topK",
            "/oai_settings/jailbreak_system kept /imported/settings/oai_settings/jailbreak_system",
            "/oai_settings/extensions/regex_scripts/*/findRegex mapped /regexConfig/presets/1/rules/*/regex",
            "/oai_settings/extensions/regex_scripts/*/placement/* mapped /regexConfig/presets/1/rules/*/targetRoles",
        ]
    );
    let agent = super::written_agent(made);
    assert_eq!(agent["presetMessages"][1]["content"], "Main.");
    assert_eq!(agent["parameters"]["temperature"], 0.5);
    assert_eq!(agent["imported"].as_object().unwrap().len(), 1, "{}", agent["imported"]);
}

#[test]
fn keeps_the_preset_in_use_where_another_preset_is_imported() {
    let context = json!({ "story_string": "{{description}}" });
    for preset in [json!({ "prompts": [], "prompt_order": [], "temperature": 1 }), context] {
        for number in [0, 1] {
            let mut files = vec![("p.json", preset.clone())];
            files.insert(number, ("settings.json", settings_with_preset()));
            let made = import_all(&files);
            let rows = made.report.files[number].fields.iter();
            for row in rows.filter(|row| row.pointer.starts_with("/oai_settings")) {
                let note = Some("set by the imported preset");
                assert_eq!((row.status, row.note), (FieldStatus::Kept, note));
            }
        }
    }
}
