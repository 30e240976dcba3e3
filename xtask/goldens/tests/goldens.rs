//! The runner itself, and the goldens that come with the specification where they are at hand.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use goldens::{Case, GoldenFile, Report, read_folder, run};
use serde_json::{Value, json};

fn case(kind: &str, input: Value, output: Value) -> Case {
    Case { id: "c".to_owned(), kind: kind.to_owned(), input, output }
}

fn report(cases: Vec<Case>) -> Report {
    run(&[GoldenFile { name: "own.json".to_owned(), cases: Ok(cases) }])
}

/// Checks the line that is printed for a file of one case.
#[track_caller]
fn check(case: Case, expected: &str) {
    let text = report(vec![case]).text();
    assert_eq!(text.lines().next(), Some(expected), "{text}");
}

fn output(engine2: &str, variables: &Value) -> Value {
    json!({ "engine2": engine2, "localVarsAfterEngine2": variables })
}

#[test]
fn a_case_passes_if_it_comes_out_as_it_was_observed() {
    let input = json!({ "text": "{{setvar::n::1}}{{incvar::n}} {{char}}", "char": "Ada" });
    let case = case("macro", input, output("2 Ada", &json!({ "n": 2 })));
    check(case, "own.json 1/1");
}

#[test]
fn variables_are_compared_too() {
    let case = case("macro", json!({ "text": "{{setvar::a::1}}" }), output("", &json!({ "a": 1 })));
    check(case, "own.json 0/1");
}

#[test]
fn an_unknown_kind_and_an_unusable_input_fail() {
    check(case("weather", json!({}), json!({})), "own.json 0/1");
    check(case("macro", json!({}), Value::Null), "own.json 0/1");
}

#[test]
fn messages_may_be_told_in_one_line() {
    let input = json!({
        "text": "{{lastMessage}} {{lastUserMessage}} {{allChatRange}} {{idleDuration}}",
        "chat": "a(char 9:00) b(user 9:30) c(char 10:00) 2026-01-01",
        "now": "2026-01-01T12:30:00Z",
    });
    check(case("macro", input, output("c b 0-2 3 hours", &json!({}))), "own.json 1/1");
}

/// Runs the program on a folder with one file; returns its exit code and what it printed.
fn program(name: &str, cases: &Value, arguments: &[&str]) -> io::Result<(Option<i32>, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("own.json"), json!({ "cases": cases }).to_string())?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_goldens"));
    let output = command.arg("--dir").arg(&folder).args(arguments).output()?;
    Ok((output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[test]
fn the_program_fails_where_a_golden_differs() {
    let cases = |text: &str| json!([{ "id": "c", "kind": "macro", "input": { "text": "{{noop}}x" }, "output": output(text, &json!({})) }]);
    let (code, printed) = program("good", &cases("x"), &[]).unwrap();
    assert_eq!((code, printed.as_str()), (Some(0), "own.json 1/1\n"));
    let (code, printed) = program("fault", &cases("y"), &[]).unwrap();
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.starts_with("own.json 0/1"), "{printed}");
    assert!(printed.contains("\"engine2\": \"y\"") && printed.contains("\"engine2\": \"x\""), "{printed}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault");
    fs::write(folder.join("b.json"), "[]").unwrap();
    let (code, printed) = program("fault", &cases("y"), &["--json"]).unwrap();
    let json: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((code, &json["own.json"]), (Some(1), &json!({ "c": output("x", &json!({})) })));
    assert!(json["b.json"]["error"].as_str().unwrap().ends_with("b.json: no list `cases`"), "{json}");
    fs::remove_file(folder.join("b.json")).unwrap();
}

#[test]
fn an_output_has_what_was_observed_and_no_more() {
    let only = |output: Value| case("macro", json!({ "text": "{{noop}}x" }), output);
    check(only(json!({ "engine2": "x" })), "own.json 1/1");
    check(only(json!({ "engine2": "y" })), "own.json 0/1");
    check(only(json!({ "engine2": "x", "legacyEngine": "y" })), "own.json 1/1");
    check(only(json!({ "engine2": "x", "engine3": "x" })), "own.json 0/1");
}

#[test]
fn a_regex_script_runs_on_one_text() {
    let script =
        json!({ "findRegex": "/(b)/g", "replaceString": "[$1{{user}}{{match}}]", "trimStrings": [] });
    let input = json!({ "script": script, "text": "abc", "user": "Mei", "char": "Ada" });
    check(case("regex_run", input.clone(), json!("a[bMeib]c")), "own.json 1/1");
    check(case("regex_run", input, json!("abc")), "own.json 0/1");
    check(case("regex_run", json!({}), Value::Null), "own.json 0/1");
}

#[test]
fn gates_and_depths_switch_a_script_on_and_off() {
    let gate = |markdown: bool, prompt: bool, mode: &str| json!({ "markdownOnly": markdown, "promptOnly": prompt, "mode": mode, "text": "a" });
    check(case("regex_gate", gate(true, false, "display"), json!("b")), "own.json 1/1");
    check(case("regex_gate", gate(true, true, "store"), json!("a")), "own.json 1/1");
    check(case("regex_gate", gate(false, false, "prompt"), json!("a")), "own.json 1/1");
    let depth = |depth: i64| json!({ "depth": depth, "minDepth": 1, "maxDepth": 2, "text": "a" });
    check(case("regex_depth", depth(2), json!("b")), "own.json 1/1");
    check(case("regex_depth", depth(3), json!("a")), "own.json 1/1");
}

/// The share of the cases of a kind, without those that are named as faults, that has to come out right.
const SHARES: [(&str, usize); 6] = [
    ("macro", 97),
    ("regex_run", 100),
    ("regex_gate", 100),
    ("regex_depth", 100),
    ("world_info_scan", 100),
    ("chat_completion_assembly", 95),
];

#[test]
fn the_goldens_of_the_specification_come_out_as_promised() {
    let Some(folder) = specification() else { return };
    let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let is_fault = |id: &str| readme.contains(&format!("`{id}`"));
    let files = read_folder(&folder).unwrap();
    let report = run(&files);
    for (kind, percent) in SHARES {
        let mut counted = (0, 0);
        for (file, (_, outcomes)) in files.iter().zip(&report.files) {
            let (cases, outcomes) = (file.cases.as_ref().unwrap(), outcomes.as_ref().unwrap());
            let of_kind = cases.iter().zip(outcomes).filter(|(case, _)| case.kind == kind);
            for (_, outcome) in of_kind.filter(|(case, _)| !is_fault(&case.id)) {
                counted = (counted.0 + usize::from(outcome.is_equal), counted.1 + 1);
            }
        }
        assert!(counted.0 * 100 >= counted.1 * percent, "{kind}: {counted:?}\n{}", report.text());
    }
}

/// Where the goldens are, beside the repository; not every clone has them.
fn specification() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    let folder = root.join("../shared/goldens");
    folder.is_dir().then_some(folder)
}

/// Checks what is sent for a small chat, as `role: content` and `role (name): content`; `changes` go into the input.
#[track_caller]
fn check_sent(changes: &Value, expected: &[&str]) {
    let order = ["main", "charDescription", "dialogueExamples", "chatHistory", "jailbreak", "near"];
    let order = order.map(|identifier| json!({ "identifier": identifier, "enabled": true }));
    let mut input = json!({
        "user": "Kim", "char": "Ada", "generationType": "normal",
        "card": { "description": "D of {{char}}", "mes_example": "" },
        "chatOldestFirst": [
            { "name": "Ada", "is_user": false, "mes": "Hello" },
            { "name": "Kim", "is_user": true, "mes": "Hi" },
            { "name": "Ada", "is_user": false, "mes": "Well" },
        ],
        "settings": { "new_chat_prompt": "[New]", "continue_nudge_prompt": "[On: {{lastChatMessage}}]" },
        "prompts": [
            { "identifier": "main", "content": "M" },
            { "identifier": "near", "role": "system", "content": "N", "injection_position": 1, "injection_depth": 1 },
            { "identifier": "jailbreak", "content": "J" },
        ],
        "promptOrder": order,
    });
    for (pointer, value) in changes.as_object().unwrap() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        input.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    let result = report(vec![case("chat_completion_assembly", input, Value::Null)]).json();
    let messages = result["own.json"]["c"]["messages"].as_array().unwrap_or_else(|| panic!("{result}"));
    let line = |message: &Value| match message["name"].as_str() {
        Some(name) => format!(
            "{} ({name}): {}",
            message["role"].as_str().unwrap(),
            message["content"].as_str().unwrap()
        ),
        None => format!("{}: {}", message["role"].as_str().unwrap(), message["content"].as_str().unwrap()),
    };
    assert_eq!(messages.iter().map(line).collect::<Vec<_>>(), expected);
}

#[test]
fn files_of_a_chat_become_the_messages_that_are_sent() {
    let before = ["system: M", "system: D of Ada", "system: [New]"];
    let chat = ["assistant: Hello", "user: Hi", "system: N", "assistant: Well", "system: J"];
    check_sent(&json!({}), &[&before[..], &chat].concat());
    check_sent(
        &json!({ "/settings/names_behavior": 1 }),
        &[
            &before[..],
            &["assistant (Ada): Hello", "user (Kim): Hi", "system: N", "assistant (Ada): Well", "system: J"],
        ]
        .concat(),
    );
    check_sent(
        &json!({ "/settings/squash_system_messages": true }),
        &[&["system: M\nD of Ada", "system: [New]"][..], &chat].concat(),
    );
    check_sent(
        &json!({ "/card/mes_example": "<START>\n{{user}}: Q" }),
        &[&before[..2], &["system: [Example Chat]", "system (example_user): Q"], &before[2..], &chat]
            .concat(),
    );
    check_sent(
        &json!({ "/settings/send_if_empty": "Go" }),
        &[&before[..], &chat[..4], &["user: Go", "system: J"]].concat(),
    );
}

#[test]
fn an_answer_is_continued_behind_everything_else() {
    let before = ["system: M", "system: D of Ada", "system: [New]", "assistant: Hello"];
    check_sent(
        &json!({ "/generationType": "continue" }),
        &[&before[..], &["user: Hi", "system: N", "system: J", "assistant: Well", "system: [On: Well]"]]
            .concat(),
    );
    let prefill = json!({ "/generationType": "continue", "/settings/continue_prefill": true });
    check_sent(&prefill, &[&before[..], &["system: N", "user: Hi", "system: J", "assistant: Well"]].concat());
    let quiet = json!({ "/generationType": "quiet", "/quietPrompt": "Sum {{char}} up." });
    check_sent(
        &quiet,
        &[&before[..], &["user: Hi", "system: N", "assistant: Well", "system: J", "system: Sum Ada up."]]
            .concat(),
    );
}

#[test]
fn a_note_that_is_not_due_takes_what_stands_around_it_along() {
    let before = ["system: M", "system: D of Ada", "system: [New]", "assistant: Hello", "user: Hi"];
    let note = |interval: u64, position: u64| json!({ "prompt": "A", "interval": interval, "position": position, "depth": 0 });
    let book = json!({ "B": [{ "constant": true, "position": 3, "content": "W" }] });
    let after = ["system: N", "assistant: Well"];
    check_sent(
        &json!({ "/authorsNote": note(2, 1), "/worldInfo": book }),
        &[&before[..], &after, &["system: J"]].concat(),
    );
    check_sent(
        &json!({ "/authorsNote": note(1, 1), "/worldInfo": book }),
        &[&before[..], &after, &["system: A\nW", "system: J"]].concat(),
    );
    check_sent(
        &json!({ "/authorsNote": note(1, 0) }),
        &[&before[..1], &["system: A"], &before[1..], &after, &["system: J"]].concat(),
    );
    check_sent(
        &json!({ "/authorsNote": note(1, 2) }),
        &[&["system: A"], &before[..], &after, &["system: J"]].concat(),
    );
}
