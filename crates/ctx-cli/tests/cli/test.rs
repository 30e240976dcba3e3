//! `ctx test`: cases, their results, and what differs.

use std::io::{BufRead as _, BufReader};

use insta::assert_snapshot;

use crate::assemble::{AGENT, CHAT, json};
use crate::{Folder, ctx};

const EXPECTED: &str = "tests/basil/expected.txt";

/// A folder with one case, whose result is as expected.
fn tested() -> Folder {
    let folder = Folder::with(&[("tests/basil/agent.yaml", AGENT), ("tests/basil/session.json", CHAT)]);
    folder.ctx("test tests --update");
    folder
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn a_case_passes_when_its_context_is_the_expected_one() {
    let folder = Folder::with(&[("tests/basil/agent.yaml", AGENT), ("tests/basil/session.json", CHAT)]);
    assert_snapshot!(folder.ctx("test tests"), @"
    exit code 1
    === output
    FAILED tests/basil: no `expected.txt`; write it with `--update`

    1 case: 0 passed, 1 failed
    ");
    assert_snapshot!(folder.ctx("test tests --update"), @"
    exit code 0
    === output
    wrote tests/basil/expected.txt
    1 case: 0 passed, 0 failed, 1 updated
    ");
    assert_snapshot!(folder.ctx("test tests"), @"
    exit code 0
    === output
    1 case: 1 passed, 0 failed
    ");
    let first = "--- 0 system · preset:identity · skeleton · 15 tokens\nYou are Robin; it is 12:00 AM.\n  0..8 preset:identity\n";
    let written = read(&folder, EXPECTED);
    assert!(written.starts_with(first) && written.ends_with("hidden preset:off: disabled\n"), "{written}");
}

#[test]
fn a_changed_entry_fails_with_the_lines_that_differ() {
    let folder = tested();
    folder.write("tests/basil/agent.yaml", AGENT.replace("Be brief.", "Be very brief.").as_bytes());
    assert_snapshot!(folder.ctx("test tests"), @"
    exit code 1
    === output
    FAILED tests/basil: the context differs from the expected one
      preset entry `tail` changed (message 3)
    @@ line 9 @@
      Hello
      --- 2 assistant · history:n2 · history · 5 tokens
      Hi!
    - --- 3 system · preset:tail · index -1 · 6 tokens
    - Be brief.
    + --- 3 system · preset:tail · index -1 · 7 tokens
    + Be very brief.
      --- 4 user · history:n3 · history · 9 tokens
      When do I sow basil?
      --- 5 assistant · history:n4 · history · 8 tokens
    @@ line 20 @@
      early spring
      or later
      === usage
    - 58 of 299997 tokens, exact as o200k_base
    + 59 of 299997 tokens, exact as o200k_base
        +400000 context window of `gpt-5`
        -100000 response reserve
        -3 reply prefix

    1 case: 0 passed, 1 failed
    ");
    assert!(folder.ctx("test tests --update").contains("updated tests/basil/expected.txt"));
    assert!(folder.ctx("test tests").starts_with("exit code 0"));
}

#[test]
fn results_are_written_for_build_servers() {
    let folder = tested();
    folder.write("tests/basil/agent.yaml", AGENT.replace("Be brief.", "Be <very> brief.").as_bytes());
    folder.write("tests/new/session.json", CHAT.as_bytes());
    folder.ctx("test tests --junit results.xml");
    let xml = read(&folder, "results.xml");
    let head = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="ctx test" tests="2" failures="2" errors="0">
  <testsuite name="ctx test" tests="2" failures="2" errors="0">
    <testcase classname="ctx test" name="tests/basil">
      <failure message="preset entry `tail` changed (message 3)">  preset entry `tail` changed (message 3)
@@ line 9 @@
"#;
    let end = r#"
    <testcase classname="ctx test" name="tests/new">
      <failure message="nothing is expected of it yet"></failure>
    </testcase>
  </testsuite>
</testsuites>
"#;
    assert!(
        xml.starts_with(head)
            && xml.trim_end().ends_with(end.trim_end())
            && xml.contains("+ Be &lt;very&gt; brief.\n"),
        "{xml}"
    );
}

#[test]
fn build_servers_read_nothing_that_turns_a_line() {
    let agent = |text: &str| {
        let id = r"\u001b[31mred\u202e\nx";
        format!(r#"{{"presetMessages": [{{"id": "{id}", "role": "system", "content": "{text}"}}]}}"#)
    };
    let name = "a\u{202e}b\u{fffe}c/agent.json";
    let folder = Folder::with(&[(name, &agent("One"))]);
    folder.ctx("test . --update");
    folder.write(name, agent("Two").as_bytes());
    let told = folder.ctx("test . --junit results.xml") + &folder.ctx("test . --lang zh");
    let xml = read(&folder, "results.xml");
    assert!(xml.contains("name=\"a\u{fffd}bc\"") && !xml.contains('\u{fffe}'), "{xml}");
    let all = told + &xml;
    let is_obeyed = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert_eq!(all.matches(is_obeyed).collect::<String>(), "", "{all}");
    assert_eq!(all.matches("\u{fffd}[31mred\u{fffd} x` ").count(), 4, "{all}");
}

#[test]
fn the_folder_itself_is_a_case_with_a_name() {
    let folder = Folder::with(&[("basil/agent.yaml", AGENT), ("basil/session.json", CHAT)]);
    for arguments in ["test", "test .", "test ./"] {
        let mut command = folder.command(&format!("{arguments} --junit results.xml"));
        command.current_dir(folder.path().join("basil")).output().unwrap();
        let xml = read(&folder, "basil/results.xml");
        let named = xml.lines().find(|line| line.contains("<testcase ")).map(str::trim);
        assert_eq!(named, Some(r#"<testcase classname="ctx test" name="basil">"#), "{arguments}");
    }
}

#[test]
fn the_options_of_a_case_describe_its_turn() {
    let case = "\
why: The window is small, and the model is another one.
agent: ../../agent.yaml
session: ../../chat.json
input: Thanks!
model: gpt-4o
at: 2026-02-03T04:05:06+01:00
tz: Asia/Shanghai
seed: 3
kind: quiet
context_tokens: 72
reserve: 10
disable: [merge-consecutive-roles]
user_parameters: { processors: [{ id: merge-system-to-head, enabled: false }] }
";
    let folder = Folder::with(&[("agent.yaml", AGENT), ("chat.json", CHAT), ("tests/a/case.yaml", case)]);
    folder.ctx("test tests --update");
    let written = read(&folder, "tests/a/expected.txt");
    let first = "--- 0 system · preset:identity · skeleton · 15 tokens\nYou are Robin; it is 11:05 AM.\n";
    assert!(written.starts_with(first) && written.contains("--- 6 user · input · history"), "{written}");
    let (_, usage) = written.split_once("=== usage\n").unwrap();
    assert_snapshot!(usage, @"
    59 of 59 tokens, exact as o200k_base
      +72 context limit
      -10 response reserve
      -3 reply prefix
    === decisions
    hidden preset:off: disabled
    dropped history:n1: does not fit the budget of 59 tokens (5 bytes, 1 token)
    ");
}

#[test]
fn the_request_body_can_be_compared_too() {
    let folder = Folder::with(&[("t/a/case.yaml", "{ input: Hi, openai: true }")]);
    folder.ctx("test t --update");
    assert_snapshot!(read(&folder, "t/a/expected.txt"), @r#"
    --- 0 user · input · history · 4 tokens
    Hi
    === openai
    {
      "model": "unspecified",
      "messages": [
        {
          "role": "user",
          "content": "Hi"
        }
      ]
    }
    "#);
}

#[test]
fn that_no_context_fits_can_be_expected() {
    let folder = Folder::with(&[("t/a/agent.yaml", AGENT), ("t/a/case.yaml", "context_tokens: 10")]);
    folder.ctx("test t --update");
    assert_snapshot!(read(&folder, "t/a/expected.txt"), @"
    === no context
    no context fits the budget: 7 tokens are available, but 21 cannot be dropped: preset 21 (preset:identity 15 and 1 more)
    ");
}

#[test]
fn what_a_case_says_wrongly_is_an_error() {
    let files = [
        ("t/b/case.yaml", "at: noon"),
        ("t/f/agent.yaml", AGENT),
        ("t/f/agent.json", "[]"),
        ("t/g/case.yaml", "- input"),
    ];
    let told = ctx("test t", &files);
    assert!(told.starts_with("exit code 3\n") && told.ends_with("\n3 cases: 0 passed, 3 failed\n"), "{told}");
    for (case, found) in [
        (
            "t/b",
            "error[CTX0902]: `at`: `noon` is not an RFC 3339 time such as 2026-01-31T12:00:00Z\n --> case.yaml:1:5\n",
        ),
        ("t/f", "found several `agent` files in the case: agent.json and agent.yaml; keep one\n"),
        ("t/g", "error[CTX0902]: expected an object with keys, found a list\n --> case.yaml:1:1\n"),
    ] {
        assert!(told.contains(&format!("FAILED {case}: cannot read the case\n{found}")), "{told}");
    }
}

#[test]
fn json_has_the_outcome_of_each_case() {
    let folder = tested();
    folder.write("tests/basil/agent.yaml", AGENT.replace("Be brief.", "Be very brief.").as_bytes());
    folder.write("tests/new/case.yaml", b"input: Hi");
    folder.write("tests/odd/case.yaml", b"input: [");
    folder.write("tests/other/case.yaml", b"input: Hi");
    folder.ctx("test tests/other --update");
    let answer = folder.ctx("test tests --json");
    assert!(answer.starts_with("exit code 3\n"));
    let result = json(&answer);
    let totals = ["passed", "failed", "updated"].map(|key| result[key].as_u64().unwrap());
    assert_eq!(totals, [1, 3, 0]);
    let cases = result["cases"].as_array().unwrap().iter();
    let cases: Vec<&str> = cases.map(|case| case["status"].as_str().unwrap()).collect();
    assert_eq!(cases, ["failed", "failed", "unreadable", "passed"]);
    assert!(result["cases"][0]["result"].as_str().unwrap().contains("Be very brief."));
    assert!(result["cases"][0]["expected"].as_str().unwrap().contains("Be brief."));
}

#[test]
fn a_defaults_file_has_no_effect_on_cases() {
    let folder = tested();
    folder.write("ctx.toml", b"context-tokens = 20\n");
    assert!(folder.ctx("test tests").starts_with("exit code 0"));
}

#[test]
fn an_agent_that_is_gone_is_named() {
    let expected = "--- 0 system · preset:tail · skeleton · 4 tokens\nBe brief.\n";
    let told = ctx("test t", &[("t/session.json", "[]"), ("t/expected.txt", expected)]);
    let gone = "FAILED t: cannot read the case\nerror[CTX0900]: no `agent.yaml` or `agent.json`, but `expected.txt` contains `preset:tail`\n";
    assert!(told.starts_with(&format!("exit code 3\n=== output\n{gone}")), "{told}");
}

#[test]
fn files_of_a_case_and_files_that_it_names_are_watched() {
    let agent = |text: &str| format!("presetMessages: [{{ id: tail, role: user, content: {text} }}]");
    let folder = Folder::with(&[
        ("src/agent.yaml", &agent("Old.")),
        ("tests/a/case.yaml", "agent: ../../src/agent.yaml"),
        ("tests/b/agent.yaml", &agent("Old.")),
    ]);
    folder.ctx("test tests --update");
    let mut running = folder.spawn("test tests --watch");
    let mut told = BufReader::new(running.stderr.take().unwrap()).lines();
    let mut shown = BufReader::new(running.stdout.take().unwrap()).lines();
    let mut wait_for = |line: &str| assert!(shown.any(|found| found.unwrap() == line), "no `{line}`");
    assert_eq!(told.next().unwrap().unwrap(), "waiting for changes; press Ctrl-C to stop");
    wait_for("2 cases: 2 passed, 0 failed");
    folder.write("tests/b/agent.yaml", agent("New.").as_bytes());
    wait_for("FAILED tests/b: the context differs from the expected one");
    wait_for("2 cases: 1 passed, 1 failed");
    folder.write("src/agent.yaml", agent("New.").as_bytes());
    wait_for("FAILED tests/a: the context differs from the expected one");
    running.kill().unwrap();
    running.wait().unwrap();
}
