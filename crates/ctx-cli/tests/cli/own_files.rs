//! `ctx check` of the command's own files: `case.yaml` and `ctx.toml`.

use insta::assert_snapshot;

use crate::{Folder, ctx};

#[test]
fn a_case_is_checked_as_ctx_test_reads_it() {
    let case = "agnet: ../a.yaml\nsession: ../chta.json\n";
    let files = [("c/case.yaml", case), ("chat.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]")];
    let told = ctx("check c", &files);
    for line in [
        "checked `c/case.yaml` as a case of `ctx test`\n1 file checked: 2 errors, 0 warnings\n",
        "error[CTX0901]: unknown key `agnet`\n --> c/case.yaml:1:1\n",
        "error[CTX0900]: no file `c/../chta.json`\n --> c/case.yaml:2:10\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
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

#[test]
fn defaults_are_checked_as_each_verb_reads_them() {
    let toml = "agnt = 'a.yaml'\nsession = 'chta.json'\n[endpoint]\nkey-file = 'key'\nheaders = { x-a = 'abcdefgh' }\n";
    let files = [("ctx.toml", toml), ("chat.json", "[{\"role\":\"user\",\"content\":\"Hi\"}]")];
    let told = ctx("check .", &files);
    assert!(told.contains("\nchecked `./ctx.toml` as defaults for the command line\n"), "{told}");
    for found in [
        "warning[CTX0901]: unknown key `agnt`\n --> ./ctx.toml:1:1\n  |\n1 | agnt = '******'\n",
        "error[CTX0900]: no file `./chta.json`\n --> ./ctx.toml:2:11\n",
        "error[CTX0900]: no file `./key`\n --> ./ctx.toml:4:12\n",
    ] {
        assert!(told.contains(found), "{told}");
    }
    let kinds = ctx("check ctx.toml --json", &files);
    assert!(kinds.contains("\"ctx.toml\": \"config\"") && !kinds.contains("abcdefgh"), "{kinds}");
}

#[test]
fn defaults_that_are_no_toml_are_unreadable() {
    let told = ctx("check ctx.toml", &[("ctx.toml", "agent =")]);
    assert!(told.starts_with("exit code 3\n=== output\n1 file checked: 1 error, 0 warnings\n"), "{told}");
    assert!(
        told.contains("error[CTX0903]: invalid TOML: ") && told.contains("\n --> ctx.toml:1:8\n"),
        "{told}"
    );
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
    let told = folder.ctx("check ctx.toml --fix");
    assert!(told.starts_with("exit code 0\n=== output\nfixed 0 diagnostics in 0 files\n"), "{told}");
    let declined = "\nctx.toml /modle: cannot fix CTX0901: `ctx check --fix` never changes `ctx.toml`\n";
    assert!(told.ends_with(declined), "{told}");
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
