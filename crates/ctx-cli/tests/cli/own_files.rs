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

/// Files of each kind, beside which `case.yaml` and `ctx.toml` name some.
const KINDS: [(&str, &str); 3] = [
    ("profile.yaml", "name: Ada\ncontent: An engineer.\n"),
    ("conversation.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]"),
    ("a/agent.yaml", "presetMessages:\n  - type: chat_history\n"),
];

/// Checks which findings a file of the command's own has, in one line each: code, place, message, way out and edit.
#[track_caller]
fn check(name: &str, text: &str, expected: &[&str]) {
    let files = [&KINDS[..], &[(name, text)]].concat();
    let output = ctx(&format!("check {name} --json"), &files);
    let output = output.split_once("=== output\n").unwrap().1.split("\n=== errors").next().unwrap();
    let value: serde_json::Value = serde_json::from_str(output).unwrap();
    let line = |finding: &serde_json::Value| {
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let (code, message) = (text(&finding["code"]), text(&finding["message"]));
        let pointer = text(&finding["location"]["pointer"]);
        let help = finding["help"].as_str().map(|help| format!(" ({help})")).unwrap_or_default();
        let fix = finding["fix"].get("value").map(|fix| format!(" -> {fix}")).unwrap_or_default();
        format!("{code} {pointer}: {message}{help}{fix}")
    };
    let found: Vec<String> = value["findings"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn names_of_processors_in_a_case_are_checked() {
    let case = "disable: [merge-system-to-hed]\nenable: [reqest-compressor, token-limiter]\n";
    check(
        "case.yaml",
        case,
        &[
            "CTX0452 /disable/0: unknown processor `merge-system-to-hed` (set by the command line) (did you mean `merge-system-to-head`?) -> \"merge-system-to-head\"",
            "CTX0452 /enable/0: unknown processor `reqest-compressor` (set by the command line) (did you mean `request-compressor`?) -> \"request-compressor\"",
        ],
    );
}

#[test]
fn files_that_a_case_names_are_read_as_what_they_should_be() {
    check(
        "case.yaml",
        "worldbooks: [profile.yaml]",
        &["CTX0607 /worldbooks/0: expected a worldbook (an object with `entries`), found a user profile"],
    );
    check(
        "case.yaml",
        "profile: conversation.json",
        &[
            "CTX0607 /profile: expected a user profile (an object with `name` and `content`, or a plain text), found a list of chat messages",
        ],
    );
    check(
        "case.yaml",
        "agent: profile.yaml",
        &[
            "CTX0607 /agent: expected an agent (an object with `presetMessages` or `messages`, a list of messages, or an `AIO_Agent_Export`), found a user profile (use this file as a user profile, not as an agent)",
        ],
    );
    check(
        "case.yaml",
        "models: profile.yaml",
        &[
            "CTX0402 /models: a model table must be a list of rows or an object with `models`, not an object without `models`",
        ],
    );
    check(
        "case.yaml",
        "tools: conversation.json",
        &[
            "CTX0904 /tools: 1 tool definition without a name (give each definition a `name`, or a `function` with a `name`)",
        ],
    );
    check(
        "case.yaml",
        "tools: profile.yaml",
        &["CTX0902 /tools: `profile.yaml` is not a list of tool definitions"],
    );
    check("case.yaml", "agent: a", &["CTX0900 /agent: `a` is a folder, not a file"]);
    check(
        "case.yaml",
        "agent: ''",
        &[
            "CTX0902 /agent: `agent`: expected a string that is not empty, found `\"\"` (write a string that is not empty, or remove `agent`)",
        ],
    );
    check("case.yaml", "agent: a/agent.yaml\nprofile: profile.yaml\nsession: conversation.json", &[]);
}

#[test]
fn what_defaults_name_is_looked_at() {
    check(
        "ctx.toml",
        "agent = 'profile.yaml'",
        &[
            "CTX0607 /agent: expected an agent (an object with `presetMessages` or `messages`, a list of messages, or an `AIO_Agent_Export`), found a user profile (use this file as a user profile, not as an agent)",
        ],
    );
    check("ctx.toml", "agent = 'a/'", &["CTX0900 /agent: `a/` is a folder, not a file"]);
    check(
        "ctx.toml",
        "agent = ''",
        &[
            "CTX0902 /agent: `agent`: expected a string that is not empty, found `\"\"` (write a string that is not empty, or remove `agent`)",
        ],
    );
    check(
        "ctx.toml",
        "[endpoint]\nbase-url = 'ftp://x'",
        &["CTX0902 /endpoint/base-url: the base URL must start with `http://` or `https://`"],
    );
    check(
        "ctx.toml",
        "[endpoint]\nkey-env = ''",
        &[
            "CTX0902 /endpoint/key-env: `key-env`: expected a string that is not empty, found `\"\"` (write a string that is not empty, or remove `key-env`)",
        ],
    );
    check(
        "ctx.toml",
        "[tools]\nallow = { categories = ['nope', 'files'], tools = ['frob', 'read_fil', 'list_folder'] }",
        &[
            "CTX0902 /tools/allow/categories/0: unknown tool category `nope` (use one of `files`)",
            "CTX0902 /tools/allow/tools/0: unknown tool `frob` (use one of `read_file`, `list_folder`, `search_text`)",
            "CTX0902 /tools/allow/tools/1: unknown tool `read_fil` (did you mean `read_file`?)",
        ],
    );
}

#[test]
fn a_file_that_may_be_meant_is_named_with_its_folder() {
    let folder = Folder::with(&[("chat.json", KINDS[1].1), ("deep/ctx.toml", "session = '../chta.json'")]);
    folder.ctx("trust deep");
    let told = folder.ctx("check deep/ctx.toml");
    assert!(told.contains("no file `deep/../chta.json`"), "{told}");
    assert!(told.contains("= help: did you mean `../chat.json`?"), "{told}");
    let mut command = folder.command("assemble");
    let told = command.current_dir(folder.path().join("deep")).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("no file `../chta.json`"), "{told}");
    assert!(told.contains("= help: did you mean `../chat.json`?"), "{told}");
    let books = "worldbooks = ['a/agnt.yaml']\n[endpoint]\nkey-file = 'a/agnt.yaml'";
    let near = "no file `a/agnt.yaml` (did you mean `a/agent.yaml`?)";
    let [book, key] = ["/worldbooks/0", "/endpoint/key-file"].map(|at| format!("CTX0900 {at}: {near}"));
    check("ctx.toml", books, &[&book, &key]);
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
fn of_many_names_some_are_looked_at_and_the_others_are_counted() {
    let names = |count: usize| vec!["'frob'"; count].join(", ");
    let more = |list: &str| format!("CTX0101 {list}: did not check 2 more names in `{list}`");
    let check = |name: &str, text: &str, first: &str, more: &str| {
        let folder = Folder::with(&[(name, text)]);
        let told = folder.ctx(&format!("check {name} --json"));
        let value = crate::assemble::json(&told);
        let found = value["findings"].as_array().unwrap().iter();
        let line = |found: &serde_json::Value| {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let pointer = text(&found["location"]["pointer"]);
            format!("{} {pointer}: {}", text(&found["code"]), text(&found["message"]))
        };
        let found: Vec<String> = found.map(line).collect();
        assert_eq!(found.iter().filter(|found| found.contains(first)).count(), 200, "{found:?}");
        assert_eq!(found.iter().filter(|found| !found.contains(first)).collect::<Vec<_>>(), [more]);
    };
    let unknown = "unknown processor `frob`";
    check("case.yaml", &format!("enable: [{}]", names(202)), unknown, &more("/enable"));
    let tools = format!("[tools]\ndeny = {{ tools = [{}] }}", names(202));
    check("ctx.toml", &tools, "unknown tool `frob`", &more("/tools/deny/tools"));
    let books: Vec<String> = (0..202).map(|n| format!("'{n}.json'")).collect();
    let missing = "no file `";
    check("case.yaml", &format!("worldbooks: [{}]", books.join(", ")), missing, &more("/worldbooks"));
    check("ctx.toml", &format!("worldbooks = [{}]", books.join(", ")), missing, &more("/worldbooks"));
    let chinese = ctx("check case.yaml --lang zh", &[("case.yaml", &format!("enable: [{}]", names(202)))]);
    assert!(chinese.contains("`/enable` 中另有 2 个名称未检查"), "{chinese}");
}

#[test]
fn a_file_that_is_named_again_is_looked_at_once() {
    check(
        "case.yaml",
        "worldbooks: [profile.yaml, a/../profile.yaml]",
        &["CTX0607 /worldbooks/0: expected a worldbook (an object with `entries`), found a user profile"],
    );
}

#[test]
fn a_case_of_comments_only_has_no_options() {
    check("case.yaml", "# nothing yet\n", &[]);
    let files = [("c/case.yaml", "# nothing yet\n"), ("c/agent.yaml", "presetMessages: [{ content: Hi }]\n")];
    let tested = ctx("test c --update", &files);
    assert!(tested.contains("1 case: 0 passed, 0 failed, 1 updated"), "{tested}");
}

#[test]
fn a_near_name_is_the_way_out_and_in_a_case_the_edit() {
    check(
        "case.yaml",
        "kind: quite",
        &["CTX0902 /kind: `kind`: `quite` is not a generation kind (did you mean `quiet`?) -> \"quiet\""],
    );
    check(
        "case.yaml",
        "kind: foo",
        &[
            "CTX0902 /kind: `kind`: `foo` is not a generation kind (use one of `normal`, `continue`, `impersonate`, `quiet`)",
        ],
    );
    check(
        "case.yaml",
        "tz: Europe/Berln",
        &[
            "CTX0902 /tz: `tz`: `Europe/Berln` is not a time zone (did you mean `Europe/Berlin`?) -> \"Europe/Berlin\"",
        ],
    );
    check(
        "case.yaml",
        "tz: Mars",
        &["CTX0902 /tz: `tz`: `Mars` is not a time zone (use a name such as Asia/Shanghai or UTC)"],
    );
    check(
        "ctx.toml",
        "[endpoint]\ndialect = 'opnai'",
        &["CTX0902 /endpoint/dialect: `dialect`: `opnai` is not an API dialect (did you mean `openai`?)"],
    );
    check(
        "case.yaml",
        "input: a\ninptu: b",
        &["CTX0901 /inptu: unknown key `inptu` (remove this key or `input`, which is also set)"],
    );
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
