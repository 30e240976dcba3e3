//! `ctx init`: all of its files or none.

use insta::assert_snapshot;

use crate::Folder;

/// Checks that a folder holds what is written and one other file.
#[track_caller]
fn check_names(folder: &Folder, other: &str) {
    let written =
        ["agent.yaml", "case.yaml", "conversation.json", "ctx.toml", "expected.txt", "profile.yaml"];
    let mut names = [&[".ctx", other][..], &written].concat();
    names.sort_unstable();
    assert_eq!(folder.names(), names);
}

#[test]
fn a_project_is_written_and_can_be_looked_at() {
    let folder = Folder::with(&[]);
    assert_snapshot!(folder.ctx("init demo"), @"
    exit code 0
    === output
    wrote demo/agent.yaml
    wrote demo/profile.yaml
    wrote demo/conversation.json
    wrote demo/ctx.toml
    wrote demo/case.yaml
    wrote demo/expected.txt
    wrote demo/.ctx (schemas for completion and checks in your editor)

    preview the messages:
      cd demo
      ctx assemble

    edit the files, then compare the result:
      ctx test
    ");
    let checked = folder.ctx("check --deny-warnings demo");
    assert!(checked.ends_with("5 files checked: 0 errors, 0 warnings\n"), "{checked}");
    let mut command = folder.command("assemble");
    let output = command.current_dir(folder.path().join("demo")).output().unwrap();
    let here = String::from_utf8(output.stdout).unwrap();
    assert!(here.contains(" You are Robin, a patient gardener.") && output.stderr.is_empty(), "{here}");
}

#[test]
fn keeps_prefix_by_model() {
    for language in ["en", "zh"] {
        let folder = Folder::with(&[]);
        folder.ctx(&format!("init demo --lang {language}"));
        let report = |model: &str| {
            let context = format!(
                "assemble demo/agent.yaml --session demo/conversation.json --profile demo/profile.yaml --json --model {model}"
            );
            folder.ctx(&context).contains("\"prefix\": {")
        };
        assert!(report("claude-opus-5") && !report("gpt-4o"));
    }
}

#[test]
fn an_agent_for_long_conversations_has_compression_and_recall_on() {
    let folder = Folder::with(&[]);
    assert!(folder.ctx("init demo --long").starts_with("exit code 0"));
    let checked = folder.ctx("check --deny-warnings demo");
    assert!(checked.contains("5 files checked: 0 errors, 0 warnings"), "{checked}");
    assert!(folder.ctx("test demo").contains("1 case: 1 passed, 0 failed"));
    let list = folder.ctx("processors list demo/agent.yaml");
    for id in ["request-compressor", "recall"] {
        let line = list.lines().find(|line| line.contains(id)).unwrap_or_default();
        assert!(line.contains("on"), "{list}");
    }
}

#[test]
fn without_a_name_this_folder_is_used() {
    let folder = Folder::with(&[("notes.txt", "mine")]);
    assert_snapshot!(folder.ctx("init --json"), @r#"
    exit code 0
    === output
    {
      "written": [
        "./agent.yaml",
        "./profile.yaml",
        "./conversation.json",
        "./ctx.toml",
        "./case.yaml",
        "./expected.txt",
        "./.ctx/agent.schema.json",
        "./.ctx/profile.schema.json",
        "./.ctx/config.schema.json",
        "./.ctx/case.schema.json"
      ]
    }
    "#);
    check_names(&folder, "notes.txt");
}

#[test]
fn nothing_is_written_where_one_of_the_files_exists() {
    let folder = Folder::with(&[("demo/conversation.json", "[]")]);
    let error = "error: `demo/conversation.json` exists; use another folder, or add `--force`\n";
    assert_eq!(folder.ctx("init demo"), format!("exit code 2\n=== errors\n{error}"));
    assert_eq!(std::fs::read_dir(folder.path().join("demo")).unwrap().count(), 1);
}

#[test]
fn force_replaces_files_and_leaves_others() {
    let folder = Folder::with(&[("conversation.json", "[]"), ("other.json", "[]")]);
    let told = folder.ctx("init . --force");
    assert!(told.contains("wrote ./conversation.json\n") && !told.contains("  cd "), "{told}");
    let text = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(text("conversation.json").contains("basil"));
    assert_eq!(text("other.json"), "[]");
    check_names(&folder, "other.json");
}

#[test]
#[cfg(unix)]
fn new_files_have_the_permissions_of_new_files_and_old_ones_keep_theirs() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::with(&[("agent.yaml", ""), ("plain", "")]);
    let mode = |name| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    let private = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(folder.path().join("agent.yaml"), private).unwrap();
    folder.ctx("init . --force");
    assert_eq!((mode("agent.yaml"), mode("profile.yaml")), (0o640, mode("plain")));
}
