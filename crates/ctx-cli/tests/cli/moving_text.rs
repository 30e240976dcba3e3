//! `ctx check`: text that moves each turn, and what it costs.

use insta::assert_snapshot;

use crate::ctx;

const MOVING: &str = "\
name: Ada
worldbookIds: [b]
presetMessages:
  - { id: rules, role: system, content: Be kind. }
  - { type: chat_history }
  - { id: note, role: system, content: Be calm., injectionStrategy: { type: depth, depth: 4 } }
  - { id: short, role: user, content: Be brief., insertionPoint: -1 }
  - { id: clock, role: system, content: 'It is {{time}}.', injectionStrategy: { type: depth, depth: 0 } }
";

const CONSTANT_BOOK: &str = r#"{ "entries": { "0": { "constant": true, "content": "The sea is near.", "position": 4, "depth": 2 } } }"#;

#[test]
fn lists_moving_text_with_its_cost() {
    let files = [("a.yaml", MOVING), ("b.json", CONSTANT_BOOK)];
    assert_snapshot!(ctx("check --deny-warnings a.yaml --worldbook b.json", &files), @"
    exit code 0
    === output
    checked `a.yaml` as an agent
    1 file checked: 0 errors, 0 warnings
    === errors
    info[CTX0707]: moving text breaks the prompt cache; tokens billed again in 50 turns, about: `preset:note` 17000, `worldbook:b.0` 9600, `preset:short` 2600
     --> a.yaml:1:1
      |
    1 | name: Ada
      | ^^^^^^^^^
      |
      = help: set `prefix: auto` to keep sent text in place, or `prefix: moving` to accept the cost
    ");
    for mode in ["moving", "append-only", "auto"] {
        let agent = format!("prefix: {mode}\n{MOVING}");
        let printed = ctx("check a.yaml --worldbook b.json", &[("a.yaml", &agent), files[1]]);
        assert!(printed.contains("0 errors, 0 warnings") && !printed.contains("CTX0707"), "{printed}");
    }
}

/// Checks which authors of moving text are listed, with their tokens.
#[track_caller]
fn check_moving_text(agent: &str, expected: &str) {
    let printed = ctx("check a.yaml", &[("a.yaml", agent)]);
    let line = printed.lines().find_map(|line| line.split_once("turns, about: "));
    assert_eq!(line.map(|(_, list)| list).unwrap_or_default(), expected, "{printed}");
}

#[test]
fn names_authors_of_moving_text() {
    let agent = |entry: &str| format!("presetMessages:\n  - {{ type: chat_history }}\n  - {entry}\n");
    check_moving_text(
        &agent("{ role: system, content: x, injectionStrategy: { type: depth, depth: 0 } }"),
        "",
    );
    check_moving_text(
        &agent("{ id: a, role: user, content: x, injectionStrategy: { type: depth, depth: 2 } }"),
        "`preset:a` 9200",
    );
    let several =
        "{ id: a, content: x, injectionStrategy: { type: advanced_depth, depthConfig: '3, 10~5' } }";
    check_moving_text(&agent(several), "`preset:a` 220000");
    let after = format!(
        "{{ id: a, role: user, content: {}, anchorTarget: chat_history, anchorPoint: after }}",
        "Be kind. ".repeat(30)
    );
    check_moving_text(&agent(&after), "`preset:a` 3300");
    let limited = "parameters:\n  contextManagement: { enabled: true, maxContextTokens: 8000 }\n  processors: [{ id: recall, enabled: true }]\n";
    check_moving_text(&(agent("{ content: x }") + limited), "`token-limiter` 120000, `recall` 7100");
}
