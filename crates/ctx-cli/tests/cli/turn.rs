//! `ctx assemble`: what the command line says about the turn, and may get wrong.

use insta::assert_snapshot;

use crate::assemble::{AGENT, CHAT, assemble, json};
use crate::{Folder, ctx};

#[test]
fn tools_stand_in_the_request_body_as_they_are() {
    let tools = r#"[{"type":"function","function":{"name":"season"}}]"#;
    let files = [("a.yaml", AGENT), ("t.json", tools), ("bad.json", "{}"), ("broken.json", "[1, \"x]")];
    let body = json(&ctx("assemble a.yaml --tools t.json --input Hi --format openai", &files));
    let keys: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["model", "messages", "tools"]);
    assert_eq!(body["tools"].to_string(), tools);
    assert_snapshot!(ctx("assemble a.yaml --tools bad.json", &files), @"
    exit code 3
    === errors
    error: `bad.json` is not a list of tool definitions
    ");
    let broken = ctx("assemble a.yaml --tools broken.json", &files);
    let expected = "exit code 3\n=== errors\nerror[CTX0602]: invalid JSON: the document ends too early\n --> broken.json:1:7\n";
    assert!(broken.starts_with(expected), "{broken}");
}

#[test]
fn one_of_the_files_may_be_standard_input() {
    let folder = Folder::with(&[("c.json", CHAT)]);
    let agent = "presetMessages: [{ role: system, content: '{{nobody}}' }]";
    assert_snapshot!(folder.ctx_reading("assemble - --format text", agent), @"
    exit code 0
    === output
    [system]
    {{nobody}}
    === errors
    warning[CTX0300]: unknown macro `nobody`
     --> standard input:1:44
      |
    1 | presetMessages: [{ role: system, content: '{{nobody}}' }]
      |                                            ^^^^^^^^^^
      |
      = help: list all macros with `ctx macros list`
    ");
    assert_snapshot!(folder.ctx_reading("assemble --session - --format text", "[{\"role\":\"user\",\"content\":\"Hi\"}]"), @"
    exit code 0
    === output
    [user]
    Hi
    ");
    assert_snapshot!(folder.ctx_reading("assemble - --session -", agent), @"
    exit code 2
    === errors
    error: standard input (`-`) can be read only once
    ");
}

#[test]
fn a_budget_that_nothing_fits_has_its_own_exit_code() {
    let fix =
        ["raise `--context-tokens`, or lower `--reserve`", "lower `--reserve`, or raise `--context-tokens`"];
    for (tokens, message, fix) in
        [(40, "no context fits the budget", fix[0]), (10, "no tokens left for messages", fix[1])]
    {
        let answer = assemble(&format!("a.yaml --session c.json --context-tokens {tokens} --reserve 10"));
        assert!(answer.starts_with(&format!("exit code 5\n=== errors\nerror: {message}: ")), "{answer}");
        assert!(answer.ends_with(&format!("; {fix}\n")), "{answer}");
    }
}

#[test]
fn the_last_answer_can_be_continued() {
    let chat =
        r#"[{ "role": "user", "content": "Count." }, { "role": "assistant", "content": "One, two," }]"#;
    let answer = ctx("assemble --session c.json --kind continue --json", &[("c.json", chat)]);
    assert_eq!(json(&answer)["messages"][1]["prefix"], true);
}

#[test]
fn nothing_to_send_is_said() {
    assert_snapshot!(ctx("assemble", &[]), @r#"
    exit code 0
    === output
    no messages
    === errors
    warning[CTX0702]: there is nothing to send: the context has no messages
     = help: add a conversation, an input, or a preset with messages

    to create an example, use `ctx init demo`; then `ctx assemble demo/agent.yaml --input "Hello"`
    "#);
}

#[test]
fn tools_that_are_none_are_reported() {
    let tools = r#"[{ "type": "function", "function": { "name": "season" } }, { "name": "water" }, 5, { "function": {} }]"#;
    let answer = ctx("assemble --input Hi --tools t.json --format text", &[("t.json", tools)]);
    let found = "warning[CTX0904]: 2 tool definitions without a name\n --> t.json:1:81\n";
    assert!(answer.starts_with("exit code 0\n") && answer.contains(found), "{answer}");
}

#[test]
fn settings_that_set_nothing_are_reported() {
    let files = [("agent.yaml", "parameters: { processors: [] }\n"), ("e.json", "{}")];
    let said =
        |file: &str| ctx(&format!("assemble --input Hi --model-settings {file} --format text"), &files);
    assert_snapshot!(said("agent.yaml"), @"
    exit code 0
    === output
    [user]
    Hi
    === errors
    warning[CTX0905]: the file has no processor settings
    --> agent.yaml
     = help: use a file that contains only the value of `parameters`
    ");
    assert!(!said("e.json").contains("=== errors"));
}

#[test]
fn a_name_is_not_empty() {
    let folder = Folder::with(&[]);
    for option in ["--model", "--enable", "--disable", "--session"] {
        let output = folder.command("assemble --input Hi").args([option, ""]).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.starts_with(&format!("error: a value is required for '{option} <")), "{errors}");
    }
}

#[test]
fn a_template_can_be_a_file() {
    let template = "user: { before: 'Q: ', after: ' ' }\nassistant: { before: 'A:' }\nstops: ['Q:']\n";
    let arguments = "assemble --input hi --format completion --model gpt-5 --template";
    let told = ctx(&format!("{arguments} t.yaml"), &[("t.yaml", template)]);
    assert_eq!(json(&told)["prompt"], "Q: hi A:");
    assert!(
        told.contains("warning[CTX0506]: unknown key `stops` in a template\n --> t.yaml:3:1\n"),
        "{told}"
    );
    let named = ctx(&format!("{arguments} alpaca"), &[]);
    assert_eq!(json(&named)["prompt"], "### Instruction:\nhi\n\n### Response:\n");
}

/// Command lines with a misspelled name, the file that they read, and the name.
const MISSPELLED: [(&str, &str, &str); 14] = [
    ("assemble a.yaml --input Hi", "presetMessages: [{ content: '{{datetime_locale::enUS}}' }]", "en-US"),
    ("assemble a.yaml --input Hi --enable token-limitr", "presetMessages: []", "token-limiter"),
    ("assemble a.yaml --input Hi --disable regex-procesor", "presetMessages: []", "regex-processor"),
    ("assemble --input Hi --model gtp-4o", "", "gpt-4o"),
    ("count --model gtp-4o a.yaml", "Hello", "gpt-4o"),
    ("assemble --input Hi --models a.json", r#"[{"pattern": "^m$", "contextWindo": 8000}]"#, "contextWindow"),
    ("assemble --input Hi --format completion --template chatlm", "", "chatml"),
    ("assemble --input Hi --format completion --template a.yaml", "name: mine\nusr: { before: a }\n", "user"),
    ("assemble --input Hi --format opnai", "", "openai"),
    ("asemble", "", "assemble"),
    ("assemble --inptu Hi", "", "--input"),
    ("assemble --input Hi --tz Asia/Shanghia", "", "Asia/Shanghai"),
    ("macros expand Hi --env a.json", r#"{"persna": "Alex"}"#, "persona"),
    (
        "compress plan --session a.json --budget 10 --strategy sentnces",
        r#"[{"role": "user", "content": "Hi"}]"#,
        "sentences",
    ),
];

#[test]
fn each_kind_of_name_has_a_suggestion() {
    for (arguments, file, meant) in MISSPELLED {
        let told = ctx(arguments, &[("a.yaml", file), ("a.json", file)]);
        let by_us = told.contains(&format!("did you mean `{meant}`?"));
        let by_parser = told.contains("tip: ") && told.contains(&format!("'{meant}'"));
        assert!(by_us || by_parser, "no `{meant}` in\n{told}");
    }
}

#[test]
fn suggests_worldbook_of_a_similar_name() {
    let agent = ("a.yaml", "presetMessages: []\nworldbookIds: [skyy]\n");
    let files = [agent, ("sky.json", r#"{"name": "sky", "entries": {}}"#)];
    let told = ctx("check --json a.yaml --worldbook sky.json", &files);
    assert!(told.contains("did you mean `sky`?"), "{told}");
}

#[test]
fn an_option_of_another_program_has_a_suggestion() {
    let check = |arguments: &str, tip: &str| {
        let told = ctx(arguments, &[]);
        let option = arguments.rsplit(' ').find(|word| word.starts_with("--")).unwrap();
        let head =
            format!("exit code 2\n=== errors\nerror: unexpected argument '{option}' found\n\n  tip: {tip}\n");
        assert!(told.starts_with(&head), "{told}");
    };
    let size = "a similar argument exists: '--context-tokens'";
    check("assemble --budget 1000", size);
    check("worldbook scan --max-tokens 100", size);
    for verb in ["assemble", "explain", "chat"] {
        let both = "some similar arguments exist: '--context-tokens', '--reserve'";
        check(&format!("{verb} --max-tokens"), both);
    }
    let chinese = ctx("assemble --budget 1000 --lang zh", &[]);
    assert!(chinese.contains("'--context-tokens'") && !chinese.contains("-- --budget"), "{chinese}");
    let help = ctx("assemble --help", &[]);
    assert!(!help.contains("--budget") && !help.contains("--max-tokens"), "{help}");
}
