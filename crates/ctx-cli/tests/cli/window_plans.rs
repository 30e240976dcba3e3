//! `ctx compress budget`: what windows are used for, and what they leave for a conversation.

use insta::assert_snapshot;
use serde_json::Value;

use crate::assemble::json;
use crate::ctx;

/// A conversation with a long history.
fn talk() -> String {
    let said = |n: usize| {
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        format!(
            "{{\"role\":\"{role}\",\"content\":\"Message {n} of a long walk along the river, with many bridges and some mills.\"}}"
        )
    };
    let head = "{\"role\":\"system\",\"content\":\"You keep the diary of a walk.\"}".to_owned();
    let said = (0..301).map(said);
    format!("[{}]", std::iter::once(head).chain(said).collect::<Vec<_>>().join(","))
}

/// Models with small windows.
const MODELS: &str = r#"{ "models": [
  { "name": "small", "pattern": "small", "family": "openai", "contextWindow": 4000, "maxOutput": 1000 },
  { "name": "middle", "pattern": "middle", "family": "openai", "contextWindow": 8000, "maxOutput": 1000 },
  { "name": "large", "pattern": "large", "family": "anthropic", "contextWindow": 200000, "maxOutput": 8000 }
] }"#;

/// A tool whose description alone is large.
fn tools() -> String {
    format!(
        "[{{\"name\":\"look\",\"description\":\"{}\",\"parameters\":{{}}}}]",
        "Looks at things. ".repeat(900)
    )
}

#[track_caller]
fn budget(arguments: &str) -> String {
    let files = [("t.json", talk()), ("models.json", MODELS.to_owned()), ("tools.json", tools())];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    ctx(&format!("compress budget --session t.json --models models.json {arguments}"), &files)
}

#[test]
fn the_account_of_a_window_ends_in_what_is_left_for_history() {
    assert_snapshot!(budget("--model middle"), @"
    exit code 0
    === output
    context window of `middle`   8000
    response reserve            -1000
    reply prefix                   -3
    leading system messages       -11
    current turn                  -21
    available for history        6965
    history                      6300
    compresses the history from 6300 to 3466 tokens
    ");
}

#[test]
fn a_plan_that_cannot_work_names_the_culprit() {
    assert_snapshot!(budget("--model small --tools tools.json"), @"
    exit code 5
    === output
    context window of `small`   4000
    response reserve           -1000
    tools                      -3632
    reply prefix                  -3
    leading system messages      -11
    current turn                 -21
    available for history          0
    history                     6300
    impossible: 667 tokens over the budget, mostly tools (3632)
    ");
}

#[test]
fn other_models_stand_in_a_table() {
    let told = budget("--what-if small,middle,large,nobody --tools tools.json");
    let (table, errors) = told.split_once("=== errors\n").unwrap();
    assert!(
        errors.contains("CTX0400") && errors.contains("the context window of `nobody` is unknown"),
        "{errors}"
    );
    assert_snapshot!(table, @"
    exit code 0
    === output
     model    context window   needed   available   history   outcome
    ─────────────────────────────────────────────────────────────────────────────
     small    4000             4667     0           6300      impossible: tools
     middle   8000             4667     3333        6300      compressed to 1650
     large    200000           ~12003   187997      ~6600     fits, 143790 left
     nobody   -                ~3655    -           ~6300     no limit
    ");
    let all = json(&budget("--what-if all --json"));
    assert_eq!(all["plan"], Value::Null);
    assert!(all["whatIf"].as_array().unwrap().iter().any(|plan| plan["model"] == "small"));
    assert!(all["whatIf"].as_array().unwrap().len() > 20);
}

#[test]
fn json_has_every_figure() {
    let result = json(&budget("--model middle --what-if small --json"));
    assert_snapshot!(result["plan"], @r#"{"window":8000,"needs":[{"name":"response reserve","tokens":1000},{"name":"reply prefix","tokens":3},{"name":"leading system messages","tokens":11},{"name":"current turn","tokens":21}],"room":6965,"history":6300,"verdict":{"kind":"compressed","to":3466},"model":"middle","isExact":true}"#);
    assert_eq!(result["whatIf"][0]["verdict"]["kind"], "compressed");
}
