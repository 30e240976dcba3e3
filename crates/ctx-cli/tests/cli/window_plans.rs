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
    window of `middle`       8000
    reserve for the answer  -1000
    start of the answer        -3
    leading instructions      -11
    current turn              -21
    left for history         6965
    history has              6300
    history is compressed from 6300 to 3466 tokens
    ");
    assert_snapshot!(budget("--model middle --reserve 0 --loop-start 297"), @"
    exit code 0
    === output
    window of `middle`    8000
    start of the answer     -3
    leading instructions   -11
    current turn          -105
    left for history      7881
    history has           6216
    fits; compression begins after 65 more tokens
    ");
}

#[test]
fn a_plan_that_cannot_work_names_the_culprit() {
    assert_snapshot!(budget("--model small --tools tools.json"), @"
    exit code 5
    === output
    window of `small`        4000
    reserve for the answer  -1000
    tools                   -3632
    start of the answer        -3
    leading instructions      -11
    current turn              -21
    left for history            0
    history has              6300
    impossible: 667 tokens too many, mostly tools (3632)
    ");
}

#[test]
fn a_plan_that_would_never_come_to_rest_names_the_culprit() {
    assert_snapshot!(budget("--model middle --loop-start 20"), @"
    exit code 0
    === output
    window of `middle`       8000
    reserve for the answer  -1000
    start of the answer        -3
    leading instructions      -11
    current turn            -5922
    left for history         1064
    history has               399
    every turn would compress: protected content is 336 tokens above the trigger, mostly current turn (5922)
    ");
}

#[test]
fn other_models_stand_in_a_table() {
    assert_snapshot!(budget("--what-if small,middle,large,nobody --tools tools.json"), @"
    exit code 0
    === output
     model    window   needed   left     history   outcome
    ──────────────────────────────────────────────────────────────────
     small    4000     4667     0        6300      impossible: tools
     middle   8000     4667     3333     6300      compressed to 1650
     large    200000   ~12003   187997   ~6600     fits, 143790 free
     nobody   -        ~3655    -        ~6300     unlimited
    === errors
    warning[CTX0400]: the model `nobody` is unknown: its tokens are estimated
     |
     = help: describe it in a table of models

    warning[CTX0410]: the window of `nobody` is unknown, so nothing limits the context
     |
     = help: say how many tokens the context may have, or give the model's window in a table of models
    ");
    let all = json(&budget("--what-if all --json"));
    assert_eq!(all["plan"], Value::Null);
    assert!(all["whatIf"].as_array().unwrap().iter().any(|plan| plan["model"] == "small"));
    assert!(all["whatIf"].as_array().unwrap().len() > 20);
}

#[test]
fn json_has_every_figure() {
    let result = json(&budget("--model middle --what-if small --json"));
    assert_snapshot!(result["plan"], @r#"{"window":8000,"needs":[{"name":"reserve for the answer","tokens":1000},{"name":"start of the answer","tokens":3},{"name":"leading instructions","tokens":11},{"name":"current turn","tokens":21}],"room":6965,"history":6300,"verdict":{"kind":"compressed","to":3466},"model":"middle","isExact":true}"#);
    assert_eq!(result["whatIf"][0]["verdict"]["kind"], "compressed");
}

#[test]
fn a_model_has_to_be_named() {
    assert_snapshot!(budget(""), @"
    exit code 2
    === errors
    error: name a model with `--model`, or models to compare with `--what-if`
    ");
}
