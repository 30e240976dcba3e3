//! `ctx.toml`: defaults for the command line.

use insta::assert_snapshot;

use crate::assemble::{AGENT, CHAT, json};
use crate::{Folder, ctx};

const CONFIG: &str = "\
agent = 'presets/a.yaml'
session = 'c.json'
model = 'gpt-4o'
context-tokens = 100
reserve = 20
tz = 'Asia/Shanghai'

[[processors]]
id = 'merge-consecutive-roles'
enabled = false
";

/// A project with defaults.
fn project() -> Folder {
    Folder::with(&[("ctx.toml", CONFIG), ("presets/a.yaml", AGENT), ("c.json", CHAT)])
}

/// Reports what is wrong with a file of defaults.
#[track_caller]
fn faults(config: &str) -> String {
    ctx("assemble --input Hi --format text", &[("ctx.toml", config)])
}

#[test]
fn it_gives_what_the_command_line_does_not_say() {
    let told = project().ctx("explain --at 2026-01-31T12:00:00Z");
    let budget = "\nbudget\n   100  context limit\n   -20  response reserve\n    -3  reply prefix\n";
    assert!(told.contains(budget) && told.contains("hidden preset:off: disabled"), "{told}");
    assert!(told.contains("5 messages loaded") && !told.contains("merge-consecutive-roles"), "{told}");
    let answer = project().ctx("assemble --at 2026-01-31T12:00:00Z --format text");
    assert!(answer.contains("it is 8:00 PM"), "{answer}");
}

#[test]
fn the_command_line_wins() {
    let folder = project();
    folder.write("b.yaml", b"presetMessages: [{ role: system, content: Other. }]");
    let arguments = "b.yaml --session other.json --model gpt-5 --context-tokens 0 --reserve 5 --tz UTC";
    folder.write("other.json", br#"[{ "role": "user", "content": "Hi" }]"#);
    let report = json(&folder.ctx(&format!("explain {arguments} --json")));
    assert_snapshot!(report["usage"]["budget"], @r#"[{"name":"context window of `gpt-5`","tokens":400000},{"name":"response reserve","tokens":-5},{"name":"reply prefix","tokens":-3}]"#);
    assert_eq!(report["stages"][0]["messagesAfter"], 1);
    let on = folder.ctx("explain --enable merge-consecutive-roles");
    assert!(on.contains("\n merge-consecutive-roles "), "{on}");
}

#[test]
fn it_can_be_ignored() {
    assert_snapshot!(project().ctx("assemble --no-config --input Hi"), @"
    exit code 0
    === output
     #   role   tokens   source   text
    ───────────────────────────────────
     0   user        4   input    Hi

    1 message, about 4 tokens
    ");
}

#[test]
fn it_is_found_above_the_working_folder_and_names_files_beside_itself() {
    let folder = project();
    folder.write("deep/er/notes.txt", b"");
    let mut command = folder.command("assemble --format text --context-tokens 0");
    let output = command.current_dir(folder.path().join("deep/er")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("[system]\nYou are Robin;"), "{text}");
    folder.write("deep/ctx.toml", b"agent = 'missing.yaml'");
    let mut command = folder.command("assemble");
    let output = command.current_dir(folder.path().join("deep/er")).output().unwrap();
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"
    error[CTX0900]: no file `../missing.yaml`
     --> ../ctx.toml:1:9
      |
    1 | agent = 'missing.yaml'
      |         ^^^^^^^^^^^^^^
    ");
}

#[test]
fn its_processors_are_the_layer_of_the_user() {
    let answer = project().ctx("processors list --json");
    let list = json(&answer);
    let merge =
        list.as_array().unwrap().iter().find(|entry| entry["id"] == "merge-consecutive-roles").unwrap();
    assert_eq!(merge["enabled"], serde_json::json!({ "value": false, "origin": "user" }));
}

#[test]
fn unknown_keys_are_named_and_the_run_goes_on() {
    let told = faults("modle = 'gpt-5'");
    let found = "exit code 0\n=== output\n[user]\nHi\n=== errors\nwarning[CTX0901]: unknown key `modle`\n --> ctx.toml:1:1\n";
    assert!(told.starts_with(found) && told.contains("= help: did you mean `model`?\n"), "{told}");
    let misplaced = faults("dialect = 'openai'");
    assert!(misplaced.contains("= help: move it below `[endpoint]`\n"), "{misplaced}");
}

#[test]
fn values_of_wrong_types_are_errors() {
    assert_snapshot!(faults("context-tokens = -1"), @"
    exit code 3
    === errors
    error[CTX0902]: `context-tokens`: expected a whole number from 0 to 1000000000, found `-1`
     --> ctx.toml:1:18
      |
    1 | context-tokens = -1
      |                  ^^
      |
      = help: write a whole number from 0 to 1000000000, or remove `context-tokens`
    ");
}

#[test]
fn what_is_no_toml_is_an_error() {
    for (text, help) in [
        ("model = 'a'\nagent = ]", "put strings in quotes, and close each quote and bracket"),
        ("a = 1\na = 2", "delete one of the keys"),
        (r#"agent = "C:\users\a.yaml""#, r"put paths with `\` in single quotes, such as `'C:\dir'`"),
        (r#"agent = "C:\dir\a.yaml""#, r"put paths with `\` in single quotes, such as `'C:\dir'`"),
        ("agent agent.yaml", "write `key = value`"),
        ("agent: \"a\"", "write `key = value`"),
        ("ask = True", "write `true` or `false`"),
    ] {
        let told = faults(text);
        assert!(told.contains(&format!("= help: {help}\n")), "{text}: {told}");
    }
    let deep = faults(&format!("a = {}", "[".repeat(10_000)));
    assert!(deep.starts_with("exit code 3\n=== errors\nerror[CTX0903]: invalid TOML: "), "{deep}");
    let large = faults(&" ".repeat(2_000_000));
    assert_eq!(large, "exit code 3\n=== errors\nerror: `ctx.toml` is larger than 1024 KiB\n");
    let folder = Folder::with(&[]);
    folder.write("ctx.toml", b"agent = '\xff'");
    let told = folder.ctx("assemble");
    let expected = "error[CTX0601]: the document is not text: invalid byte at 9\n --> ctx.toml:1:10\n";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_dash_is_a_file_there() {
    let folder = Folder::with(&[("ctx.toml", "session = '-'"), ("-", CHAT)]);
    assert!(folder.ctx("assemble --format text").contains("Hello"));
}

#[test]
fn a_dash_is_a_file_in_a_case_too() {
    let folder = Folder::with(&[("case.yaml", "session: '-'\n"), ("-", CHAT)]);
    assert!(folder.ctx_reading("check case.yaml", "not for this").starts_with("exit code 0\n"));
    assert!(folder.ctx_reading("test --update", "not for this").starts_with("exit code 0\n"));
    let result = std::fs::read_to_string(folder.path().join("expected.txt")).unwrap();
    assert!(result.contains("\nHello\n"), "{result}");
}

#[test]
fn a_file_that_it_names_must_exist_where_it_is_used() {
    let files = [
        ("ctx.toml", "model = 'gpt-5'\nagent = 'presets/none.yaml'\nmodels = 'none.json'\n"),
        ("a.yaml", AGENT),
    ];
    let folder = Folder::with(&files);
    assert_snapshot!(folder.ctx("assemble"), @"
    exit code 3
    === errors
    error[CTX0900]: no file `presets/none.yaml`
     --> ctx.toml:2:9
      |
    2 | agent = 'presets/none.yaml'
      |         ^^^^^^^^^^^^^^^^^^^
    ");
    assert_eq!(folder.ctx("anchors list"), folder.ctx("assemble"));
    assert_eq!(folder.ctx("processors list"), folder.ctx("assemble"));
    assert!(folder.ctx("anchors list a.yaml").starts_with("exit code 0\n"));
    assert_snapshot!(folder.ctx("count a.yaml"), @"
    exit code 3
    === errors
    error[CTX0900]: no file `none.json`
     --> ctx.toml:3:10
      |
    3 | models = 'none.json'
      |          ^^^^^^^^^^^
    ");
}

#[test]
fn what_it_gives_beside_named_files_is_told() {
    let config = "agent = 'a.yaml'\nsession = 'c.json'\nprofile = 'p.txt'\n";
    let other = "presetMessages: [{ role: system, content: Other. }]";
    let files =
        [("ctx.toml", config), ("a.yaml", AGENT), ("c.json", CHAT), ("p.txt", "Me"), ("b.yaml", other)];
    let folder = Folder::with(&files);
    folder.write("d.json", CHAT.as_bytes());
    let check = |arguments: &str, expected: &str| {
        let output = folder.command(arguments).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected, "{arguments}");
    };
    let all = "session `c.json`, profile `p.txt`";
    let told = |named: &str| format!("from `ctx.toml`: {named}; use `--no-config` to ignore these\n");
    check("assemble b.yaml", &told(all));
    check("explain b.yaml --json", &told(all));
    check("assemble --session d.json", &told("agent `a.yaml`, profile `p.txt`"));
    check("assemble b.yaml --session d.json", &told("profile `p.txt`"));
    check("assemble b.yaml --session d.json --profile p.txt", "");
    check("assemble b.yaml --no-config", "");
    check("assemble", "");
    check("assemble --model gpt-5", "");
    check("chat b.yaml --once Hi --dry-run --model gpt-5", &told("profile `p.txt`"));
    let chinese = "来自 `ctx.toml`：对话 `c.json`、用户档案 `p.txt`；用 `--no-config` 忽略\n";
    check("assemble b.yaml --lang zh", chinese);
}

#[test]
fn a_chat_needs_no_conversation_of_it() {
    let files = [("ctx.toml", "session = 'gone.json'"), ("b.yaml", "presetMessages: []")];
    let told = ctx("chat b.yaml --once Hi --dry-run --model gpt-5", &files);
    assert!(told.starts_with("exit code 0\n"), "{told}");
}

#[test]
fn agents_are_compared_with_its_files() {
    let entries = "presetMessages: [{ type: user_profile, content: 'About: {{persona}}' }]";
    let config = "session = 'c.json'\nprofile = 'p.txt'\ncolour = 'blue'\n";
    let files = [("ctx.toml", config), ("a.yaml", entries), ("c.json", CHAT), ("p.txt", "sows basil")];
    let folder = Folder::with(&files);
    folder.write("b.yaml", b"presetMessages: []");
    folder.ctx("assemble a.yaml --json --report saved.json");
    let told = folder.ctx("diff a.yaml b.yaml");
    assert!(told.contains("About: sows basil"), "{told}");
    assert_eq!(told.matches("from `ctx.toml`: session `c.json`, profile `p.txt`").count(), 1, "{told}");
    assert_eq!(told.matches("CTX0901").count(), 1, "{told}");
    let told = folder.ctx("diff a.yaml b.yaml --no-config");
    assert!(!told.contains("sows basil") && !told.contains("ctx.toml"), "{told}");
}

#[test]
fn verbs_of_compression_take_its_conversation() {
    let folder = Folder::with(&[
        ("ctx.toml", "session = 'c.json'\nagent = 'a.yaml'"),
        ("c.json", CHAT),
        ("a.yaml", AGENT),
    ]);
    let check = |arguments: &str, note: &str| {
        let given = folder.ctx(&format!("compress {arguments} --session c.json"));
        let taken = folder.ctx(&format!("compress {arguments}"));
        assert_eq!(given.replace(note, ""), taken, "{arguments}");
    };
    let note = "=== errors\nfrom `ctx.toml`: agent `a.yaml`; use `--no-config` to ignore these\n";
    check("plan --budget 100", "");
    check("run --budget 100", "");
    check("plan --mask", note);
    check("budget --model gpt-4o", "");
    check("report", "");
    check("report --budget 100", "");
    check("disable n1", "");
    let none = "exit code 2\n=== errors\nerror: no conversation given; name a file, or set `session` in `ctx.toml`\n";
    for verb in ["plan --budget 9", "run --mask", "budget --model gpt-4o", "report", "disable n1"] {
        assert_eq!(folder.ctx(&format!("compress {verb} --no-config")), none);
    }
}
