//! `ctx processors list`: running order, settings, and who set them.

use insta::assert_snapshot;
use serde_json::Value;

use crate::assemble::json;
use crate::ctx;

const AGENT: &str = "\
presetMessages: [{ type: chat_history }]
parameters:
  processors:
    - { id: merge-consecutive-roles, priority: 450 }
    - { id: merge-system-to-head, config: { separator: '|', scop: all } }
";

const MODEL: &str = r#"{ "processors": [
  { "id": "merge-system-to-head", "config": { "scope": "all" } },
  { "id": "convert-system-to-user", "enabled": true, "config": { "prefx": "x" } }
] }"#;

#[track_caller]
fn list(arguments: &str) -> String {
    ctx(&format!("processors list {arguments}"), &[("a.yaml", AGENT), ("m.json", MODEL)])
}

/// Returns the values of a processor that somebody set, with who it was.
fn set(answer: &str, id: &str) -> Vec<String> {
    let list = json(answer);
    let processor = list.as_array().unwrap().iter().find(|processor| processor["id"] == id).unwrap();
    let config = processor["config"].as_array().unwrap().iter();
    let config = config.map(|value| (value["key"].as_str().unwrap(), value));
    let own = [("enabled", &processor["enabled"]), ("priority", &processor["priority"])];
    let all = own.into_iter().chain(config).filter(|(_, value)| value["origin"] != "built-in");
    all.map(|(key, value): (&str, &Value)| {
        format!("{key} {} {}", value["value"], value["origin"].as_str().unwrap())
    })
    .collect()
}

#[test]
fn built_in_processors_stand_in_running_order() {
    let told = list("");
    let rows = told.lines().filter(|line| line.starts_with(' ') && !line.starts_with("  "));
    let state = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let end = words.iter().position(|word| ["on", "off"].contains(word));
        end.map(|end| words[..=end].join(" "))
    };
    let rows: Vec<String> = rows.filter_map(state).collect();
    assert_eq!(
        rows,
        [
            "100 session-loader (core) on",
            "200 regex-processor on",
            "250 transcription-processor on",
            "280 worldbook-processor on",
            "290 author-note off",
            "295 dialogue-examples off",
            "300 injection-assembler (core) on",
            "305 speaker-names off",
            "310 merge-injections off",
            "320 generation-prompt off",
            "350 variable-processor on",
            "390 request-compressor off",
            "395 recall off",
            "400 token-limiter (core) on",
            "500 merge-system-to-head on",
            "510 squash-system off",
            "600 merge-consecutive-roles on",
            "700 convert-system-to-user off",
            "800 ensure-alternating-roles off",
            "10000 asset-resolver (core) on",
        ]
    );
    assert!(told.contains("  retainedCharacters = 0\n"), "{told}");
}

#[test]
fn an_agent_sets_what_it_names() {
    let told = list("a.yaml --model-settings m.json --disable token-limiter");
    let (table, errors) = told.split_once("=== errors\n").unwrap();
    let marks = ["(agent)", "(model)", "(command-line)", " over ", "default: "];
    let set = table.lines().filter(|line| marks.iter().any(|mark| line.contains(mark)));
    let set: Vec<String> = set.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        set,
        [
            "400 token-limiter (core) off (command-line) retainedCharacters = 0",
            r#"450 (agent) merge-consecutive-roles on separator = "\n\n---\n\n""#,
            "default: 600",
            r#"500 merge-system-to-head on separator = "|" (agent)"#,
            r#"agent over model scope = "preset""#,
            r#"scop = "all" (agent)"#,
            r#"700 convert-system-to-user on (model) separator = "\n\n---\n\n""#,
            r#"prefx = "x" (model)"#,
            "`agent over user`: the agent's settings of a processor replace all of the user's",
        ]
    );
    assert!(errors.contains("\n --> a.yaml:5:61\n") && errors.contains("\n --> m.json:3:66\n"), "{errors}");
}

#[test]
fn json_names_the_origin_of_every_value() {
    let answer = list("a.yaml --model-settings m.json --enable merge-injections --json");
    assert_eq!(set(&answer, "merge-injections"), ["enabled true command-line"]);
    assert_eq!(set(&answer, "convert-system-to-user"), ["enabled true model", "prefx \"x\" model"]);
    assert_eq!(set(&answer, "merge-consecutive-roles"), ["priority 450 agent"]);
    assert_eq!(set(&answer, "merge-system-to-head"), ["separator \"|\" agent", "scop \"all\" agent"]);
    let built_in = |id: &str| {
        let list = json(&answer);
        let processor = list.as_array().unwrap().iter().find(|processor| processor["id"] == id).unwrap();
        (processor["defaultEnabled"].clone(), processor["defaultPriority"].clone())
    };
    assert_eq!(built_in("merge-consecutive-roles"), (true.into(), 600.into()));
    assert_eq!(built_in("convert-system-to-user"), (false.into(), 700.into()));
    for processor in json(&answer).as_array().unwrap() {
        assert!(processor["enabled"]["origin"].is_string() && processor["priority"]["origin"].is_string());
        assert!(processor["config"].as_array().unwrap().iter().all(|value| value["origin"].is_string()));
    }
}

#[test]
fn json_has_what_a_settings_page_shows() {
    let list = json(&list("--json"));
    let merge = list.as_array().unwrap().iter().find(|processor| processor["id"] == "merge-system-to-head");
    let merge = merge.unwrap();
    let keys: Vec<&String> = merge.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "id",
            "name",
            "description",
            "isCore",
            "perMessage",
            "decidedBy",
            "overrules",
            "enabled",
            "defaultEnabled",
            "priority",
            "defaultPriority",
            "config",
            "configFields",
        ]
    );
    assert_snapshot!(merge["configFields"][0], @r#"{"key":"separator","label":"Separator","type":"text","default":"\n\n---\n\n","isRequired":false}"#);
}
