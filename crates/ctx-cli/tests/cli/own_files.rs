//! `ctx check` of the command's own files: `case.yaml` and `ctx.toml`.

use insta::assert_snapshot;

use crate::{Folder, ctx};

#[test]
fn a_case_is_checked_as_ctx_test_reads_it() {
    let case = "agnet: ../a.yaml\nsession: ../chta.json\n";
    let files = [("c/case.yaml", case), ("chat.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]")];
    assert_snapshot!(ctx("check c", &files), @"
    exit code 1
    === output
    checked `c/case.yaml` as a case of `ctx test`
    1 file checked: 2 errors, 0 warnings
    === errors
    error[CTX0901]: unknown key `agnet`
     --> c/case.yaml:1:1
      |
    1 | agnet: ../a.yaml
      | ^^^^^
      |
      = help: did you mean `agent`?

    error[CTX0900]: no file `c/../chta.json`
     --> c/case.yaml:2:10
      |
    2 | session: ../chta.json
      |          ^^^^^^^^^^^^
      |
      = help: did you mean `../chat.json`?
    ");
    let kinds = ctx("check c --json", &files);
    assert!(kinds.contains("\"c/case.yaml\": \"case\""), "{kinds}");
    // The command itself stops at the first of them, in the same words.
    let told = ctx("test c", &[("c/case.yaml", "session: ../chta.json\n"), files[1]]);
    let start =
        "exit code 3\n=== output\nFAILED c: cannot read the case\nerror[CTX0900]: no file `c/../chta.json`\n";
    assert!(told.starts_with(start) && told.contains("= help: did you mean `../chat.json`?\n"), "{told}");
}

#[test]
fn a_misspelt_key_of_a_case_can_be_fixed() {
    let folder = Folder::with(&[("c/case.yaml", "inptu: Hi # said\n")]);
    assert_snapshot!(folder.ctx("check c/case.yaml --fix"), @"
    exit code 0
    === output
    changed c/case.yaml
    @@ line 1 @@
    - inptu: Hi # said
    + input: Hi # said
    fixed 1 diagnostic in 1 file
    checked `c/case.yaml` as a case of `ctx test`
    1 file checked: 0 errors, 0 warnings
    ");
}

/// Defaults with a fault of each kind.
const FAULTY: &str = "\
agnt = 'a.yaml'
session = 'chta.json'
context-tokens = 'many'
[[processors]]
id = 'token-limitr'
[endpoint]
key-file = 'key'
[endpoint.headers]
x-a = 'abcdefgh'
x-b = 3
[compression]
minHistoryCount = 'x'
[tools]
folder = 'notes'
deny = { tool = ['x'] }
";

#[test]
fn defaults_are_checked_as_each_verb_reads_them() {
    let files = [("ctx.toml", FAULTY), ("chat.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]")];
    assert_snapshot!(ctx("check .", &files), @r#"
    exit code 1
    === output
    checked `./chat.json` as a list of chat messages
    checked `./ctx.toml` as defaults for the command line
    2 files checked: 5 errors, 4 warnings
    === errors
    warning[CTX0901]: unknown key `agnt`
     --> ./ctx.toml:1:1
      |
    1 | agnt = '******'
      | ^^^^
      |
      = help: did you mean `agent`?

    error[CTX0900]: no file `./chta.json`
     --> ./ctx.toml:2:11
      |
    2 | session = 'chta.json'
      |           ^^^^^^^^^^^
      |
      = help: did you mean `chat.json`?

    error[CTX0902]: `context-tokens`: expected a whole number from 0 to 1000000000, found `"many"`
     --> ./ctx.toml:3:18
      |
    3 | context-tokens = 'many'
      |                  ^^^^^^
      |
      = help: write a whole number from 0 to 1000000000, or remove `context-tokens`

    warning[CTX0452]: unknown processor `token-limitr` (set by user)
     --> ./ctx.toml:4:1
      |
    4 | [[processors]]
      | ^^^^^^^^^^^^^^
      |
      = help: did you mean `token-limiter`?

    error[CTX0900]: no file `./key`
     --> ./ctx.toml:7:12
      |
    7 | key-file = 'key'
      |            ^^^^^

    error[CTX0902]: `headers` must be a table whose values are strings
      --> ./ctx.toml:10:7
       |
    10 | x-b = 3
       |       ^
       |
       = help: write each header as `name = "value"`

    warning[CTX0825]: compression setting `minHistoryCount` is `"x"`; expected a whole number from 0 to 1000000000000
      --> ./ctx.toml:12:19
       |
    12 | minHistoryCount = 'x'
       |                   ^^^
       |
       = help: use a value that the diagnostic allows, and numbers without quotes

    error[CTX0900]: no folder `./notes`
      --> ./ctx.toml:14:10
       |
    14 | folder = 'notes'
       |          ^^^^^^^

    warning[CTX0901]: unknown key `tool`
      --> ./ctx.toml:15:10
       |
    15 | deny = { tool = ['x'] }
       |          ^^^^
       |
       = help: did you mean `tools`?
    "#);
    let kinds = ctx("check ctx.toml --json", &files);
    assert!(kinds.contains("\"ctx.toml\": \"config\"") && !kinds.contains("abcdefgh"), "{kinds}");
}

#[test]
fn defaults_that_are_no_toml_are_unreadable() {
    assert_snapshot!(ctx("check ctx.toml", &[("ctx.toml", "agent =")]), @"
    exit code 3
    === output
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0903]: invalid TOML: string values must be quoted, expected literal string
     --> ctx.toml:1:8
      |
    1 | agent =
      |        ^
      |
      = help: put strings in quotes, and close each quote and bracket
    ");
}

#[test]
fn a_file_that_may_be_meant_is_named_with_its_folder() {
    let folder = Folder::with(&[
        ("chat.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]"),
        ("deep/ctx.toml", "session = '../chta.json'"),
    ]);
    folder.ctx("trust deep");
    let told = folder.ctx("check deep/ctx.toml");
    assert!(told.contains("no file `deep/../chta.json`"), "{told}");
    assert!(told.contains("= help: did you mean `../chat.json`?"), "{told}");
    let mut command = folder.command("assemble");
    let told = command.current_dir(folder.path().join("deep")).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("no file `../chta.json`"), "{told}");
    assert!(told.contains("= help: did you mean `../chat.json`?"), "{told}");
}

/// Checks what is found in `case.yaml` and in `ctx.toml` that name a file of the folder under a key.
#[track_caller]
fn check_naming(folder: &Folder, file: &str, expected: &str) {
    folder.write("case.yaml", format!("session: {file}\n").as_bytes());
    folder.write("ctx.toml", format!("session = '{file}'\n").as_bytes());
    for (name, place) in [("case.yaml", "1:10"), ("ctx.toml", "1:11")] {
        let told = folder.ctx(&format!("check {name}"));
        assert!(told.contains(&format!("{expected}\n --> {name}:{place}\n")), "{told}");
    }
}

#[test]
fn a_named_file_that_cannot_be_read_is_told_where_it_is_named() {
    let folder = Folder::with(&[]);
    let file = std::fs::File::create(folder.path().join("large.json")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    check_naming(&folder, "large.json", "error[CTX0900]: `large.json` is larger than 64 MiB");
}

#[test]
#[cfg(unix)]
fn a_pipe_that_is_named_is_not_waited_for() {
    let folder = Folder::with(&[]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let expected = "info[CTX0900]: did not check `pipe`: it is not a regular file";
    check_naming(&folder, "pipe", expected);
}

#[test]
fn a_case_of_comments_only_has_no_options() {
    let files = [("c/case.yaml", "# nothing yet\n"), ("c/agent.yaml", "presetMessages: [{ content: Hi }]\n")];
    let tested = ctx("test c --update", &files);
    assert!(tested.contains("1 case: 0 passed, 0 failed, 1 updated"), "{tested}");
}

#[test]
fn defaults_are_never_changed_and_that_is_told() {
    let folder = Folder::with(&[("ctx.toml", "modle = 'gpt-4o'\n")]);
    assert_snapshot!(folder.ctx("check ctx.toml --fix"), @"
    exit code 0
    === output
    fixed 0 diagnostics in 0 files
    checked `ctx.toml` as defaults for the command line
    1 file checked: 0 errors, 1 warning
    === errors
    warning[CTX0901]: unknown key `modle`
     --> ctx.toml:1:1
      |
    1 | modle = '******'
      | ^^^^^
      |
      = help: did you mean `model`?

    ctx.toml /modle: cannot fix CTX0901: `ctx check --fix` never changes `ctx.toml`
    ");
    assert!(!folder.ctx("check ctx.toml --json").contains("\"fix\""));
}

#[test]
fn a_broken_file_is_reported_where_it_is_checked() {
    let folder = Folder::with(&[
        ("a.yaml", "content: {{x}}\n"),
        ("ctx.toml", "agent = 'a.yaml'\n"),
        ("case.yaml", "agent: a.yaml\n"),
    ]);
    for (name, line) in [("ctx.toml", "agent = 'a.yaml'"), ("case.yaml", "agent: a.yaml")] {
        let told = folder.ctx(&format!("check {name}"));
        let message = "error[CTX0603]: cannot read `a.yaml`: invalid YAML at line 1 column 11: ";
        assert!(
            told.contains(message) && told.contains(line) && told.contains("= help: fix `a.yaml`"),
            "{told}"
        );
    }
    for paths in ["", ".", "ctx.toml case.yaml a.yaml"] {
        let told = folder.ctx(&format!("check {paths}"));
        assert_eq!(told.matches("error[CTX0603]").count(), 1, "{told}");
        assert!(told.starts_with("exit code 3") && told.contains("a.yaml:1:11\n"), "{told}");
    }
}
