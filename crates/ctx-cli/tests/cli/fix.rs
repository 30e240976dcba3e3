//! `ctx check --fix`: what it writes, what it shows, and what it leaves.

use insta::assert_snapshot;
use serde_json::json;

use crate::Folder;

const BROKEN: &str = "\
# My agent
presetMessages:
  - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' } # to the end
  - type: chat_histroy
  - { content: Be kind., groupId: gone }
historyWhenUnplaced: Apend
parameters:
  processors:
    - id: token-limitr   # keep
      enable: true
";

/// Checks what is in a file after `--fix`, and that a second time changes nothing.
#[track_caller]
fn check(name: &str, before: &str, after: &str) {
    let folder = Folder::with(&[(name, before)]);
    let arguments = format!("check --fix {name}");
    folder.ctx(&arguments);
    assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), after);
    let second = folder.ctx(&arguments);
    assert!(second.contains("\nfixed 0 diagnostics in 0 files\n"), "{second}");
    assert_eq!(folder.names(), [name]);
}

#[test]
fn what_changes_is_shown_and_what_is_left_is_told() {
    let folder = Folder::with(&[("a.yaml", BROKEN)]);
    assert_snapshot!(folder.ctx("check --fix a.yaml"), @"
    exit code 0
    === output
    changed a.yaml
    @@ line 1 @@
      # My agent
      presetMessages:
    -   - { id: lost, anchorTarget: chat_histroy, content: 'Hello {{usr}}' } # to the end
    -   - type: chat_histroy
    +   - { id: lost, anchorTarget: chat_history, content: 'Hello {{user}}' } # to the end
    +   - type: chat_history
        - { content: Be kind., groupId: gone }
    - historyWhenUnplaced: Apend
    + historyWhenUnplaced: append
      parameters:
        processors:
    -     - id: token-limitr   # keep
    -       enable: true
    +     - id: token-limiter   # keep
    +       enabled: true
    fixed 6 diagnostics in 1 file
    checked `a.yaml` as an agent
    1 file checked: 0 errors, 0 warnings
    === errors
    info[CTX0209]: unknown group `gone`; the entry is ungrouped
     --> a.yaml:5:35
      |
    5 |   - { content: Be kind., groupId: gone }
      |                                   ^^^^
    ");
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = Folder::with(&[("a.yaml", BROKEN)]);
    let shown = folder.ctx("check --fix --dry-run a.yaml");
    assert!(shown.starts_with("exit code 1\n=== output\nwould change a.yaml\n"), "{shown}");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.yaml")).unwrap(), BROKEN);
}

#[test]
fn programs_get_each_edit() {
    let folder = Folder::with(&[("a.yaml", "presetMessages:\n  - { content: 'Hello {{usr}}' }\n")]);
    let told = crate::assemble::json(&folder.ctx("check --fix --json a.yaml"));
    let change = &told["changes"][0];
    assert_eq!((&change["path"], &change["isWritten"]), (&"a.yaml".into(), &true.into()));
    assert_eq!(
        (&change["fixed"][0]["finding"]["code"], &change["declined"]),
        (&"CTX0300".into(), &json!([]))
    );
    let fix = json!({ "pointer": "/presetMessages/0/content", "old": "usr", "new": "user" });
    assert_eq!(change["fixed"][0]["fix"], fix);
}

#[test]
fn files_that_are_not_clear_are_not_touched() {
    check("a.yaml", "presetMessages: [\n", "presetMessages: [\n");
    let folder = Folder::with(&[]);
    let refused = folder.ctx_reading("check --fix -", "presetMessages: []");
    assert!(refused.contains("cannot change standard input"), "{refused}");
}
