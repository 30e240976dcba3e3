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
fn moving_text_stays_where_it_was_sent() {
    check(
        "a.yaml",
        "# Mine\nname: Ada # who\npresetMessages:\n  - type: chat_histroy\n  - { role: user, content: x, injectionStrategy: { type: depth, depth: 4 } }\nown: 5\n# end\n",
        "# Mine\nname: Ada # who\npresetMessages:\n  - type: chat_history\n  - { role: user, content: x, injectionStrategy: { type: depth, depth: 4 } }\nown: 5\n# end\nprefix: auto\n",
    );
    check(
        "a.json",
        "{\n  \"own\": 5,\n  \"presetMessages\": [{ \"content\": \"x\", \"injectionStrategy\": { \"type\": \"depth\", \"depth\": 4 } }]\n}\n",
        "{\n  \"own\": 5,\n  \"presetMessages\": [{ \"content\": \"x\", \"injectionStrategy\": { \"type\": \"depth\", \"depth\": 4 } }],\n  \"prefix\": \"auto\"\n}\n",
    );
    // A list of entries has no place for it.
    let list = "[{ \"content\": \"x\", \"injectionStrategy\": { \"type\": \"depth\", \"depth\": 4 } }]\n";
    check("list.json", list, list);
}

#[test]
fn names_and_keys_of_all_kinds_are_corrected() {
    check(
        "a.yaml",
        "dialect: silytavern\npresetMessages: [{ role: SYSTEM, content: a }, { role: usr, content: b }]\n",
        "dialect: sillytavern\npresetMessages: [{ role: system, content: a }, { role: user, content: b }]\n",
    );
    check(
        "book.json",
        "{\n  \"dialect\": \"CCV3\",\n  \"entries\": {\"0\": {\"uid\": 0, \"key\": \"moon\", \"content\": \"Blue.\"}}\n}\n",
        "{\n  \"dialect\": \"ccv3\",\n  \"entries\": {\"0\": {\"uid\": 0, \"key\": [\"moon\"], \"content\": \"Blue.\"}}\n}\n",
    );
    check(
        "chat.jsonl",
        "{\"role\":\"user\",\"content\":\"Hi\"}\r\n{\"role\": \"asistant\", \"content\":\"Ho\"}\r\n",
        "{\"role\":\"user\",\"content\":\"Hi\"}\r\n{\"role\": \"assistant\", \"content\":\"Ho\"}\r\n",
    );
    check(
        "request.json",
        "{\"model\": \"m\", \"messages\": [{\"role\": \"User\", \"content\": \"Hi\"}]}",
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}",
    );
    check(
        "a.json",
        "{\"presetMessages\": [{\"content\": \"a\", \"isEnabled\": \"true\", \"injectionStrategy\": {\"type\": \"depht\", \"depth\": -1}}]}",
        "{\"presetMessages\": [{\"content\": \"a\", \"isEnabled\": true, \"injectionStrategy\": {\"type\": \"depth\", \"depth\": 0}}]}",
    );
}

#[test]
fn a_number_becomes_a_text_and_a_text_a_list() {
    check(
        "a.yaml",
        "id: 5\nworldbookIds: book # mine\npresetMessages: []\nagentVersion: 1.10\n",
        "id: \"5\"\nworldbookIds: [\"book\"] # mine\npresetMessages: []\nagentVersion: 1.10\n",
    );
    check(
        "b.yaml",
        "worldbookSettings: {scanDepht: 4}\npresetMessages: []\n",
        "worldbookSettings: {defaultScanDepth: 4}\npresetMessages: []\n",
    );
}

#[test]
fn misspelt_keys_get_their_names() {
    check(
        "a.yaml",
        "presetMessages:\n  - { rol: system, contnt: x, content: y, anchorTaget: chat_history, enabled: false }\nparamters: {} # none\n",
        "presetMessages:\n  - { role: system, contnt: x, content: y, anchorTarget: chat_history, isEnabled: false }\nparameters: {} # none\n",
    );
    check(
        "b.yaml",
        "presetMessages: []\nparamters: { contextManagment: { enabled: true, maxContextToken: 5 } }\n",
        "presetMessages: []\nparameters: { contextManagement: { enabled: true, maxContextTokens: 5 } }\n",
    );
    check("robin.yaml", "name: Robin\npresetMesages: []\n", "name: Robin\npresetMessages: []\n");
}

#[test]
fn what_could_mean_several_things_is_left() {
    check(
        "a.yaml",
        "presetMessages:\n  - { type: placeholder, id: lore1 }\n  - { content: a, anchorTarget: lore2 }\n",
        "presetMessages:\n  - { type: placeholder, id: lore1 }\n  - { content: a, anchorTarget: lore2 }\n",
    );
}

#[test]
fn files_that_are_not_clear_are_not_touched() {
    check("a.yaml", "presetMessages: [\n", "presetMessages: [\n");
    let folder = Folder::with(&[]);
    let refused = folder.ctx_reading("check --fix -", "presetMessages: []");
    assert!(refused.contains("cannot change standard input"), "{refused}");
}

#[test]
fn what_is_not_certain_is_left_with_a_reason_that_is_not_cut() {
    let folder = Folder::with(&[(
        "a.yaml",
        "presetMessages:\n  - { content: 'Roll {{randm::a,b}}, {{getvarr::x}} and so on until the line is long' }\n",
    )]);
    let output = folder.ctx("check a.yaml --fix");
    let (_, notes) = output.split_once("=== errors\n").unwrap();
    let notes: Vec<&str> = notes.lines().filter(|line| line.contains(": cannot fix ")).collect();
    assert_eq!(
        notes,
        [
            "a.yaml /presetMessages/0/content: cannot fix CTX0300: the fix would cause CTX0706: `random` changes every turn: about 13 tokens of the preset and the whole conversation miss the prompt cache",
            "a.yaml /presetMessages/0/content: cannot fix CTX0300: the intent is unclear; fix it by hand",
        ]
    );
}
