//! Files that cannot be read: a message with file and place, exit code 3, and nothing half done.

use insta::assert_snapshot;

use crate::{Folder, ctx};

#[test]
fn a_missing_file_is_named() {
    assert_snapshot!(ctx("assemble missing.yaml", &[]), @"
    exit code 3
    === errors
    error: cannot read `missing.yaml`: no such file or folder
    ");
    assert_snapshot!(ctx("assemble missing.yaml --json", &[]), @"
    exit code 3
    === errors
    error: cannot read `missing.yaml`: no such file or folder
    ");
    assert_snapshot!(ctx("anchors list missing.yaml --json", &[]), @"
    exit code 3
    === errors
    error: cannot read `missing.yaml`: no such file or folder
    ");
}

#[test]
#[cfg(unix)]
fn a_file_holds_no_file() {
    assert_snapshot!(ctx("assemble a.yaml/b.yaml", &[("a.yaml", "")]), @"
    exit code 3
    === errors
    error: cannot read `a.yaml/b.yaml`: a part of the path is a file
    ");
}

#[test]
fn a_folder_is_no_file() {
    assert_snapshot!(ctx("assemble presets", &[("presets/a.yaml", "")]), @"
    exit code 3
    === errors
    error: `presets` is a folder, not a file
    ");
}

#[test]
fn a_value_that_begins_with_a_macro_is_to_be_quoted() {
    let agent = "name: Robin\npresetMessages:\n  - role: system\n    content: {{char}} is patient.\n";
    assert_snapshot!(ctx("assemble a.yaml", &[("a.yaml", agent)]), @"
    exit code 3
    === errors
    error[CTX0603]: invalid YAML: presetMessages[0].content: invalid type: map, where a key should be a string
     --> a.yaml:4:15
      |
    4 |     content: {{char}} is patient.
      |               ^
      |
      = help: quote values that start with `{{`
    ");
}

#[test]
fn invalid_json_is_shown_with_its_line() {
    assert_snapshot!(ctx("assemble --session c.json", &[("c.json", "[\n  {\"role\": user}\n  {}]")]), @r#"
    exit code 3
    === errors
    error[CTX0602]: invalid JSON: expected value
     --> c.json:2:12
      |
    2 |   {"role": user}
      |            ^
      |
      = help: correct the syntax
    "#);
    assert_snapshot!(ctx("assemble --session c.json", &[("c.json", "[{\"role\": \"user\"")]), @r#"
    exit code 3
    === errors
    error[CTX0602]: invalid JSON: the document ends too early
     --> c.json:1:16
      |
    1 | [{"role": "user"
      |                ^
      |
      = help: close the open bracket or quote; the file may be truncated
    "#);
    assert_snapshot!(ctx("assemble --input Hi --tools t.json", &[("t.json", "[1, \"x]")]), @r#"
    exit code 3
    === errors
    error[CTX0602]: invalid JSON: the document ends too early
     --> t.json:1:7
      |
    1 | [1, "x]
      |       ^
      |
      = help: close the open bracket or quote; the file may be truncated
    "#);
}

#[test]
fn a_file_in_the_wrong_place_is_told_where_it_belongs() {
    let files = [("a.yaml", "presetMessages: []\n"), ("c.jsonl", "{\"mes\":\"x\"}\n{\"mes\":\"y\"}\n")];
    assert_snapshot!(ctx("assemble --session a.yaml", &files), @"
    exit code 3
    === errors
    error[CTX0607]: expected a conversation (a session with `nodes`, a list of messages, or a SillyTavern chat), found an agent
    --> a.yaml
     = help: use this file as an agent, not as a conversation
    ");
    assert_snapshot!(ctx("assemble c.jsonl", &files), @"
    exit code 3
    === errors
    error[CTX0607]: expected an agent (an object with `presetMessages` or `messages`, a list of messages, or an `AIO_Agent_Export`), found a SillyTavern chat
    --> c.jsonl
     = help: use this file as a conversation, not as an agent
    ");
}

#[test]
fn bytes_that_are_no_text_are_shown_with_their_place() {
    let folder = Folder::with(&[("empty.yaml", " \n"), ("nul.yaml", "name: a\0b\n")]);
    folder.write("bytes.yaml", b"name: Robin\nmodelId: caf\xE9\n");
    folder.write("wide.yaml", b"\xFF\xFEa\0\x00\xD8");
    assert_snapshot!(folder.ctx("check bytes.yaml nul.yaml empty.yaml wide.yaml"), @"
    exit code 3
    === output
    4 files checked: 4 errors, 0 warnings
    === errors
    error[CTX0601]: the document is not text: invalid byte at 24
     --> bytes.yaml:2:13
      |
    2 | modelId: caf�
      |             ^
      |
      = help: save the file as UTF-8

    error[CTX0601]: the document is not text: invalid byte at 7
     --> nul.yaml:1:8
      |
    1 | name: a�b
      |        ^
      |
      = help: save the file as UTF-8

    error[CTX0606]: the document is empty
    --> empty.yaml
     = help: check that this is the intended file and that it was saved completely

    error[CTX0601]: the document is not text: invalid byte at 4
    --> wide.yaml
     = help: save the file as UTF-8
    ");
}

#[test]
fn values_of_the_wrong_type_are_kept_and_reported() {
    let agent = r#"{ "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ], "parameters": "hot" }"#;
    assert_snapshot!(ctx("check a.json", &[("a.json", agent)]), @r#"
    exit code 1
    === output
    checked `a.json` as an agent
    1 file checked: 6 errors, 1 warning
    === errors
    error[CTX0100]: expected a string, found the number `7`
     --> a.json:1:11
      |
    1 | { "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ]...
      |           ^
      |
      = help: put the value in quotes to make it a string; it is ignored until then

    error[CTX0100]: expected an object, found the number `5`
     --> a.json:1:34
      |
    1 | { "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ]...
      |                                  ^
      |
      = help: correct the value; it is ignored until then

    error[CTX0100]: unknown role `wizard`; the message is sent as `user`
     --> a.json:1:47
      |
    1 | { "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ]...
      |                                               ^^^^^^^^
      |
      = help: use `system`, `developer`, `user`, `assistant` or `tool`

    error[CTX0100]: expected a string or a list of content parts, found an object
     --> a.json:1:68
      |
    1 | { "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ]...
      |                                                                    ^^^^^^^^^^
      |
      = help: correct the value; it is ignored until then

    error[CTX0100]: expected true or false, found the string `no`
     --> a.json:1:93
      |
    1 | { "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ]...
      |                                                                                             ^^^^
      |
      = help: correct the value; it is ignored until then

    error[CTX0100]: expected a number, found a list of 0
     --> a.json:1:108
      |
    1 | { "name": 7, "presetMessages": [ 5, { "role": "wizard", "content": { "a": 1 }, "isEnabled": "no", "order": [] } ]...
      |                                                                                                            ^^
      |
      = help: correct the value; it is ignored until then

    warning[CTX0450]: expected an object, found `"hot"`; the value is ignored
     --> a.json:1:130
      |
    1 | ..., "isEnabled": "no", "order": [] } ], "parameters": "hot" }
      |                                                        ^^^^^
      |
      = help: use a value that the diagnostic allows
    "#);
    assert_snapshot!(ctx("check a.json", &[("a.json", r#"{ "presetMessages": "all of them" }"#)]), @r#"
    exit code 1
    === output
    checked `a.json` as an agent
    1 file checked: 1 error, 0 warnings
    === errors
    error[CTX0100]: expected a list, found the string `all of them`
     --> a.json:1:21
      |
    1 | { "presetMessages": "all of them" }
      |                     ^^^^^^^^^^^^^
      |
      = help: correct the value; it is ignored until then
    "#);
}

#[test]
fn a_report_that_cannot_be_written_ends_the_run_before_the_result() {
    let folder = Folder::with(&[("file", "")]);
    assert_snapshot!(folder.ctx("assemble --input Hi --report missing/r.json"), @"
    exit code 3
    === errors
    error: cannot write `missing/r.json`: no such file or folder
    ");
    assert_snapshot!(folder.ctx("assemble --input Hi --report ."), @"
    exit code 3
    === errors
    error: cannot write `.`: it is a folder
    ");
    assert_eq!(folder.names(), ["file"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told() {
    use std::process::{Command, Stdio};

    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctx"));
    let command = command.args(["anchors", "list"]).stdout(full).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: cannot write to standard output: No space left on device\n"
    );
}
