//! What a turn makes of its worldbooks, and where settings of processors come from.

use serde_json::{Value, json};

use crate::client::{folder, project, start};

const BOOK: &str = r#"{"name": "Sky", "entries": {
    "7": {"uid": 7, "key": ["hello"], "content": "The moon is hollow.", "comment": "Moon"},
    "8": {"uid": 8, "key": ["MOON"], "content": "é", "caseSensitive": true},
    "9": {"uid": 9, "key": ["hollow"], "content": "Caves."}
}}"#;

#[test]
fn a_scan_tells_of_each_entry_what_the_engine_made_of_it() {
    let place = folder();
    std::fs::write(project(&place).join("sky.json"), BOOK).unwrap();
    let server = start(&place);
    let asked = json!({
        "window": "w1", "conversation": server.id("chat.json"), "worldbooks": [server.id("sky.json")],
        "turn": { "input": "oh, hello!" },
    });
    let told = server.ask("POST", "/api/worldbooks/scan", &asked).good();
    let entries = told["entries"].as_array().unwrap();
    let shown: Vec<Value> = entries
        .iter()
        .map(|entry| {
            json!([
                entry["pointer"],
                entry["state"],
                entry["pass"],
                entry["file"] == json!(server.id("sky.json"))
            ])
        })
        .collect();
    let expected = json!([
        ["/entries/7", "active", 1, true],
        ["/entries/9", "active", 2, true],
        ["/entries/8", "no key", null, true],
    ]);
    assert_eq!(json!(shown), expected);
    // Where keys stand: in the newest message that has one, and in the text of an entry.
    let place = |entry: usize| {
        let hit = &entries[entry]["hits"][0];
        let text = &told["texts"][usize::try_from(hit["text"].as_u64().unwrap()).unwrap()];
        let at = |key: &str| usize::try_from(hit["spans"][0][key].as_u64().unwrap()).unwrap();
        text["text"].as_str().unwrap()[at("start")..at("end")].to_owned()
    };
    assert_eq!([place(0), place(1)], ["hello", "hollow"]);
    // Reasons name messages and entries as people do, and inactive entries have their size.
    let why = [&entries[0]["why"], &entries[1]["why"]];
    assert_eq!(why, ["key `hello` in the user message", "key `hollow` in the content of `Moon`"]);
    assert!(entries[2]["tokens"].is_u64(), "{}", entries[2]);
    assert_eq!(told["passes"][1], "recursion");
    assert_eq!((&told["tokens"], &told["budget"]), (&json!(8), &json!(27_904)));
}

#[test]
fn each_layer_of_settings_has_its_file_and_the_places_of_its_entries() {
    let place = folder();
    let files = project(&place);
    let agent = std::fs::read_to_string(files.join("agent.yaml")).unwrap();
    let parameters = "parameters:\n  processors:\n    - {id: token-limiter, enabled: false}\n";
    std::fs::write(files.join("agent.yaml"), agent + parameters).unwrap();
    let settings = r#"{"processors": [{"id": "convert-system-to-user", "enabled": true, "priority": 710}]}"#;
    std::fs::write(files.join("model.json"), settings).unwrap();
    let of_all = "[[processors]]\nid = \"convert-system-to-user\"\n[[processors]]\nid = \"token-limiter\"\n";
    std::fs::write(files.join("ctx.toml"), "agent = \"agent.yaml\"\n".to_owned() + of_all).unwrap();
    let server = start(&place);
    let asked = json!({ "window": "w1", "modelSettings": server.id("model.json") });
    let told = server.ask("POST", "/api/pipeline", &asked).good();
    let layers: Vec<Value> = told["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| json!([layer["origin"], layer["file"], layer["base"], layer["entries"]]))
        .collect();
    let expected = json!([
        ["agent", server.id("agent.yaml"), "/parameters", { "token-limiter": "/parameters/processors/0" }],
        ["model", server.id("model.json"), "", { "convert-system-to-user": "/processors/0" }],
        ["user", server.id("ctx.toml"), "", {
            "convert-system-to-user": "/processors/0", "token-limiter": "/processors/1",
        }],
    ]);
    assert_eq!(json!(layers), expected);
    let settings = told["settings"].as_array().unwrap();
    let of = |id: &str| settings.iter().find(|setting| setting["id"] == id).unwrap();
    assert_eq!(of("token-limiter")["enabled"], json!({ "value": false, "origin": "agent" }));
    assert_eq!(of("convert-system-to-user")["priority"], json!({ "value": 710, "origin": "model" }));
    assert_eq!(of("convert-system-to-user")["overrules"], json!(["user"]));
    let priorities: Vec<i64> =
        settings.iter().map(|setting| setting["priority"]["value"].as_i64().unwrap()).collect();
    assert!(priorities.is_sorted(), "{priorities:?}");
}

#[test]
fn counts_changed_messages_of_each_stage() {
    let place = folder();
    let server = start(&place);
    let asked = json!({ "window": "w1", "conversation": server.id("chat.json") });
    let told = server.ask("POST", "/api/preview", &asked).good();
    let counts = |id: &str| {
        let stage = told["stages"].as_array().unwrap().iter().find(|stage| stage["id"] == id).unwrap();
        json!([stage["added"], stage["removed"], stage["changed"]])
    };
    assert_eq!(counts("session-loader"), json!([2, 0, 0]));
    assert_eq!(counts("injection-assembler"), json!([1, 0, 0]));
    assert_eq!(counts("token-limiter"), json!([0, 0, 0]));
}
