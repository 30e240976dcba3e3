//! Large files, many findings, readers that go away.

use std::io::Read as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::assemble::json as result;
use crate::{Folder, ctx};

/// A preset with this many entries, each with an unknown macro.
fn preset(entries: usize) -> String {
    let entry = |n| json!({ "id": format!("e{n}"), "role": "system", "content": format!("{n} {{{{usr}}}}") });
    json!({ "presetMessages": (0..entries).map(entry).collect::<Vec<_>>() }).to_string()
}

#[test]
fn of_many_findings_the_first_hundred_are_shown() {
    let answer = ctx("check a.json", &[("a.json", &preset(2_000))]);
    let last: Vec<&str> = answer.lines().rev().take(9).collect();
    assert_snapshot!(last.into_iter().rev().collect::<Vec<_>>().join("\n"), @r#"
    warning[CTX0300]: unknown macro `usr`
     --> a.json:1:5190
      |
    1 | ...{usr}}"},{"id":"e99","role":"system","content":"99 {{usr}}"},{"id":"e100","role":"system","content":"100 {{usr...
      |                                                       ^^^^^^^
      |
      = help: did you mean `user`?

    and 1900 more diagnostics; use `--json` with `check`, `assemble`, or `explain` to list all
    "#);
    assert_eq!(answer.matches("CTX0300").count(), 100);
    assert!(ctx("check a.json", &[("a.json", &preset(101))]).contains("and 1 more diagnostic;"));
}

#[test]
fn json_has_all_findings_with_their_columns() {
    let answer = ctx("check --json a.json", &[("a.json", &preset(2_000))]);
    let result = result(&answer);
    let findings = result["findings"].as_array().unwrap();
    let column = |finding: &Value| finding["position"]["column"].as_u64();
    assert_eq!((findings.len(), column(&findings[0])), (2_000, Some(60)));
    assert!(findings.windows(2).all(|pair| column(&pair[0]) < column(&pair[1])));
}

#[test]
fn of_many_decisions_the_first_fifty_are_shown() {
    let entry = |n| json!({ "id": format!("e{n}"), "content": "x", "isEnabled": n == 0 });
    let agent = json!({ "presetMessages": (0..60).map(entry).collect::<Vec<_>>() });
    let answer = ctx("assemble a.json", &[("a.json", &agent.to_string())]);
    let last: Vec<&str> = answer.lines().rev().take(2).collect();
    assert_snapshot!(last.into_iter().rev().collect::<Vec<_>>().join("\n"), @"
    hidden preset:e50: disabled
    and 9 more; use `--format json` to list all
    ");
}

/// Runs `ctx`, reads so many bytes of its output and goes away.
#[track_caller]
fn leaving_after(bytes: usize, folder: &Folder, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    command.current_dir(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut vec![0; bytes]).unwrap();
    drop(stdout);
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{errors}");
    assert!(!errors.contains("panicked") && !errors.contains("error"), "{errors}");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::with(&[("a.json", &preset(10_000).replace("{{usr}}", "x"))]);
    leaving_after(1, &folder, &["assemble", "a.json", "--json"]);
    leaving_after(1, &folder, &["assemble", "a.json"]);
    leaving_after(0, &folder, &["--help"]);
    leaving_after(0, &folder, &["anchors", "list"]);
}
