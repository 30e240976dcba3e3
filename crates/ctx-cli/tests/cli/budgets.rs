//! How many tokens a context may have: one rule wherever the number stands, and one true thing said once.

use insta::assert_snapshot;

use crate::assemble::{AGENT, CHAT};
use crate::{Folder, ctx};

/// What is no number of tokens, as a command line, JSON, YAML and TOML spell it.
const BAD: [&str; 6] = ["-1", "1000000001", "4294967295", "18446744073709551615", "1e30", "0.5"];

#[test]
fn on_the_command_line_what_is_no_number_of_tokens_is_a_usage_error() {
    for option in ["--context-tokens", "--reserve"] {
        for number in BAD.iter().chain(&["99999999999999999999999999999999999999999", "x", "1k", "NaN"]) {
            let answer = ctx(&format!("assemble --input Hi {option} {number}"), &[]);
            let start =
                format!("exit code 2\n=== errors\nerror: invalid value '{number}' for '{option} <N>': ");
            assert!(answer.starts_with(&start), "{answer}");
            assert!(answer.contains(": expected a whole number from 0 to 1000000000"), "{answer}");
        }
    }
    assert_snapshot!(ctx("assemble --input Hi --context-tokens -1", &[]), @"
    exit code 2
    === errors
    error: invalid value '-1' for '--context-tokens <N>': expected a whole number from 0 to 1000000000; use 0 for the model's context window

    For more information, try '--help'.
    ");
    assert_snapshot!(ctx("assemble --input Hi --reserve -1", &[]), @"
    exit code 2
    === errors
    error: invalid value '-1' for '--reserve <N>': expected a whole number from 0 to 1000000000

    For more information, try '--help'.
    ");
    let answer = ctx("assemble --input Hi --context-tokens 1000000000 --format text", &[]);
    assert_snapshot!(answer, @"
    exit code 0
    === output
    [user]
    Hi
    ");
}

#[test]
fn in_ctx_toml_it_is_an_error_in_the_same_words() {
    for key in ["context-tokens", "reserve"] {
        for number in BAD {
            let answer = ctx("assemble --input Hi", &[("ctx.toml", &format!("{key} = {number}"))]);
            let start = format!(
                "exit code 3\n=== errors\nerror[CTX0902]: `{key}`: expected a whole number from 0 to 1000000000, found `"
            );
            assert!(answer.starts_with(&start), "{answer}");
        }
    }
    assert_snapshot!(ctx("assemble --input Hi", &[("ctx.toml", "context-tokens = 18446744073709551615")]), @"
    exit code 3
    === errors
    error[CTX0902]: `context-tokens`: expected a whole number from 0 to 1000000000, found `18446744073709551615`
     --> ctx.toml:1:18
      |
    1 | context-tokens = 18446744073709551615
      |                  ^^^^^^^^^^^^^^^^^^^^
      |
      = help: write a whole number from 0 to 1000000000, or remove `context-tokens`
    ");
}

#[test]
fn in_a_case_it_is_an_error_in_the_same_words() {
    let case = "agent: ../a.yaml\ncontext_tokens: -1\n";
    assert_snapshot!(ctx("test tests", &[("tests/case.yaml", case), ("a.yaml", AGENT)]), @"
    exit code 3
    === output
    FAILED tests: cannot read the case
    error[CTX0902]: `context_tokens`: expected a whole number from 0 to 1000000000, found `-1`
     --> case.yaml:2:17
      |
    2 | context_tokens: -1
      |                 ^^
      |
      = help: write a whole number from 0 to 1000000000, or remove `context_tokens`

    1 case: 0 passed, 1 failed
    ");
}

#[test]
fn in_the_file_of_an_agent_it_is_a_finding_and_the_work_goes_on() {
    for number in BAD {
        let parameters = format!("{{ contextManagement: {{ enabled: true, maxContextTokens: {number} }} }}");
        let agent = format!("presetMessages: [{{ content: Hi }}]\nparameters: {parameters}\n");
        let files = [("a.yaml", &*agent), ("m.yaml", &*parameters)];
        let checked = ctx("check a.yaml", &files);
        assert!(checked.contains("\n1 file checked: 1 error,"), "{checked}");
        let assembled = ctx("assemble a.yaml --model-settings m.yaml --format text", &files);
        assert!(assembled.starts_with("exit code 1\n=== output\n[user]\nHi\n"), "{assembled}");
        assert_eq!(assembled.matches("a whole number from 0 to 1000000000").count(), 2, "{assembled}");
    }
    let agent =
        "presetMessages: []\nparameters:\n  contextManagement: { enabled: true, maxContextTokens: 1e30 }\n";
    assert_snapshot!(ctx("check a.yaml", &[("a.yaml", agent)]), @"
    exit code 1
    === output
    checked `a.yaml` as an agent
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0703]: `maxContextTokens` must be a whole number from 0 to 1000000000, found `1e+30`
     --> a.yaml:3:57
      |
    3 |   contextManagement: { enabled: true, maxContextTokens: 1e30 }
      |                                                         ^^^^
      |
      = help: write a number, or 0 for the model's context window; the value is ignored until then
    ");
}

/// What a command line is told about its model and its limit.
#[track_caller]
fn said(arguments: &str) -> String {
    let answer = ctx(&format!("assemble --input Hi --format text {arguments}"), &[]);
    let (_, said) = answer.split_once("Hi\n").unwrap();
    said.to_owned()
}

#[test]
fn a_model_that_nobody_knows_is_said_to_be_unknown() {
    assert_snapshot!(said("--model gtp-4o"), @"
    === errors
    warning[CTX0400]: unknown model `gtp-4o`; tokens are estimated
     = help: did you mean `gpt-4o`?

    warning[CTX0410]: the context window of `gtp-4o` is unknown; the context has no token limit
     = help: add the model to a table for `--models FILE`, or assemble with `--context-tokens N`
    ");
    assert_snapshot!(said("--model mine --context-tokens 0"), @"
    === errors
    warning[CTX0400]: unknown model `mine`; tokens are estimated
     = help: add the model to a table for `--models FILE`

    warning[CTX0410]: the context window of `mine` is unknown; the context has no token limit
     = help: add the model to a table for `--models FILE`, or assemble with `--context-tokens N`
    ");
    assert_snapshot!(said("--model mine --context-tokens 100"), @"
    === errors
    warning[CTX0400]: unknown model `mine`; tokens are estimated
     = help: add the model to a table for `--models FILE`
    ");
}

#[test]
fn a_window_is_missed_only_where_it_is_asked_for() {
    assert_eq!(said(""), "");
    assert_eq!(said("--context-tokens 100"), "");
    assert_snapshot!(said("--context-tokens 0"), @"
    === errors
    warning[CTX0410]: no model is set; the context has no token limit
     = help: choose a model with `--model NAME`, or assemble with `--context-tokens N`
    ");
}

#[test]
fn counting_asks_for_no_window() {
    let folder = Folder::with(&[("c.json", CHAT)]);
    let answer = folder.ctx("count c.json --model mine");
    assert!(answer.contains("CTX0400") && !answer.contains("CTX0410"), "{answer}");
}
