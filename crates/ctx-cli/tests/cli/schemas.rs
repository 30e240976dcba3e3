//! `ctx schema`: lists and writes the schemas of files and reports.

use std::path::{Path, PathBuf};

use ctx_preset_import::Document;
use insta::assert_snapshot;
use jsonschema::Validator;
use serde_json::Value;

use crate::{Folder, ctx};

/// The schema of a name, as the command prints it.
fn printed(name: &str) -> Value {
    let answer = ctx(&format!("schema {name}"), &[]);
    serde_json::from_str(answer.strip_prefix("exit code 0\n=== output\n").expect("a schema")).unwrap()
}

fn validator(name: &str) -> Validator {
    jsonschema::validator_for(&printed(name)).unwrap()
}

/// What a schema says against a value, each with its place.
fn faults(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

#[test]
fn a_new_project_follows_the_schemas() {
    let folder = Folder::with(&[]);
    folder.ctx("init demo");
    let files = [("agent.yaml", "agent"), ("profile.yaml", "profile"), ("conversation.json", "session")];
    for (name, schema) in files.into_iter().chain([("case.yaml", "case")]) {
        let bytes = std::fs::read(folder.path().join("demo").join(name)).unwrap();
        let value = Document::read(&bytes, name).unwrap().value;
        assert_eq!(faults(&validator(schema), &value), [""; 0], "{name}");
    }
}

#[test]
fn reports_follow_their_schema() {
    let report = validator("report");
    let shown = |answer: String| -> Value {
        let output = answer.split("=== output\n").nth(1).unwrap();
        serde_json::from_str(output.split("=== errors\n").next().unwrap()).unwrap()
    };
    let cases = ["compression/older_messages_become_a_note", "limits/oldest_messages_are_dropped"];
    let cases = cases.into_iter().chain(["attachments/old_files_become_text", "anchors/seed_000_example"]);
    for case in cases {
        let case = fixtures().join(case);
        let file = |stem: &str| {
            ["json", "yaml"]
                .map(|ending| case.join(format!("{stem}.{ending}")))
                .into_iter()
                .find(|path| path.is_file())
        };
        let agent = file("agent").map(|path| path.display().to_string()).unwrap_or_default();
        let session = file("session").map(|path| format!("--session {}", path.display())).unwrap_or_default();
        let turn = format!("{agent} {session} --input Hello --context-tokens 1000");
        let folder = Folder::with(&[]);
        let assembled = shown(folder.ctx(&format!("assemble {turn} --json")));
        assert_eq!(faults(&report, &assembled["report"]), [""; 0], "{turn}");
        assert_eq!(faults(&report, &shown(folder.ctx(&format!("explain {turn} --json")))), [""; 0], "{turn}");
    }
}

#[test]
fn reports_of_imports_follow_their_schema() {
    let folder = Folder::with(&[("agent.json", r#"{ "name": "Ada", "presetMessages": [{ "role": "x" }] }"#)]);
    folder.ctx("import agent.json --out ada --report-file report.json");
    let report = std::fs::read(folder.path().join("report.json")).unwrap();
    assert_eq!(faults(&validator("import-report"), &serde_json::from_slice(&report).unwrap()), [""; 0]);
}

#[test]
fn the_schemas_of_the_repository_are_those_of_the_command() {
    let folder = Folder::with(&[]);
    folder.ctx("schema --out schemas");
    let texts = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        let text =
            |entry: std::fs::DirEntry| (entry.file_name(), std::fs::read_to_string(entry.path()).unwrap());
        let mut texts: Vec<_> = entries.map(text).collect();
        texts.sort();
        texts
    };
    let committed = texts(&fixtures().join("../schemas"));
    assert!(committed == texts(&folder.path().join("schemas")), "`ctx schema --out schemas` writes them");
}

#[test]
fn without_a_name_the_schemas_are_listed() {
    assert_snapshot!(ctx("schema", &[]), @"
    exit code 0
    === output
     schema          description
    ─────────────────────────────────────────────────────────────────────────────────────────────────
     agent           an agent: a model and the preset that it receives
     preset          a preset without an agent: a list of entries, or `messages` with `groups`
     session         a conversation: a tree of messages, or a list of chat messages
     profile         a user profile: a description of the user
     worldbook       a worldbook (lorebook): entries added when the conversation mentions them
     case            `case.yaml`: the turn of a case of `ctx test`
     config          `ctx.toml`: defaults for the command line
     report          the report of a context, as written by `explain --json` and `assemble --report`
     life            the trace of one message, as written by `explain MSG --json`
     import-report   the report of an import, as written by `import --report`

    print one with `ctx schema NAME`; write all with `ctx schema --out schemas`
    ");
}

#[test]
fn schemas_are_written_to_a_folder() {
    let folder = Folder::with(&[("agent.schema.json", "old")]);
    assert_snapshot!(folder.ctx("schema agent --out ."), @"
    exit code 0
    === output
    wrote ./agent.schema.json
    ");
    assert_snapshot!(folder.ctx("schema report --out a/b --json"), @r#"
    exit code 0
    === output
    {
      "written": [
        "a/b/report.schema.json"
      ]
    }
    "#);
    assert!(std::fs::read_to_string(folder.path().join("agent.schema.json")).unwrap().ends_with("}\n"));
}

/// The line by which a file in a folder says which schema it follows; the schema must be there.
fn line_of(folder: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let schema = text.lines().next()?.strip_prefix("# yaml-language-server: $schema=")?;
    assert!(folder.join(schema).is_file(), "{schema}");
    Some(schema.to_owned())
}

#[test]
fn agents_that_are_written_as_yaml_say_which_schema_they_follow() {
    let folder =
        Folder::with(&[("card.json", r#"{ "first_mes": "Hi", "name": "Ada", "description": "Counts." }"#)]);
    folder.ctx("init demo");
    let demo = folder.path().join("demo");
    for name in ["agent", "profile", "case"] {
        let schema = Some(format!(".ctx/{name}.schema.json"));
        assert_eq!(line_of(&demo, &format!("{name}.yaml")), schema, "{name}");
    }
    folder.ctx("import card.json --out ada");
    let agent = Some(".ctx/agent.schema.json".to_owned());
    assert_eq!(line_of(&folder.path().join("ada"), "agent.yaml"), agent);
    folder.ctx("export demo/agent.yaml --to aio --out demo/copy.yaml");
    assert_eq!(line_of(&demo, "copy.yaml"), agent);
    // Elsewhere there is no schema that the line could name.
    folder.ctx("export demo/agent.yaml --to aio --out copy.yaml");
    assert_eq!(line_of(folder.path(), "copy.yaml"), None);
}

#[test]
fn what_is_migrated_keeps_its_line() {
    let old = "# yaml-language-server: $schema=agent.schema.json\npresetMessages:\n- { type: user_profile, content: User Profile }\n";
    let folder = Folder::with(&[("agent.yaml", old), ("agent.schema.json", "{}")]);
    folder.ctx("migrate agent.yaml --write");
    assert_ne!(std::fs::read_to_string(folder.path().join("agent.yaml")).unwrap(), old);
    assert_eq!(line_of(folder.path(), "agent.yaml").as_deref(), Some("agent.schema.json"));
}

#[test]
#[cfg(unix)]
fn schemas_are_not_written_through_links() {
    let folder = Folder::with(&[("elsewhere/x", ""), ("demo/x", "")]);
    std::os::unix::fs::symlink("../elsewhere", folder.path().join("demo/.ctx")).unwrap();
    assert_snapshot!(folder.ctx("init demo"), @"
    exit code 3
    === errors
    error: cannot write into `demo/.ctx`: it is a link
    ");
    assert_eq!(std::fs::read_dir(folder.path().join("elsewhere")).unwrap().count(), 1);
}

#[test]
fn the_life_of_a_message_follows_its_schema() {
    let agent = "presetMessages: [{ id: who, content: Hi there }, { type: chat_history }]\n";
    let chat = r#"[{ "role": "user", "content": "One" }, { "role": "user", "content": "Two" }]"#;
    let folder = Folder::with(&[("agent.yaml", agent), ("chat.json", chat)]);
    let validator = validator("life");
    for message in ["preset:who", "history:n1", "history:n2"] {
        let life = folder.ctx(&format!("explain agent.yaml --session chat.json {message} --json"));
        let life = serde_json::from_str(life.split_once("=== output\n").unwrap().1).unwrap();
        assert_eq!(faults(&validator, &life), [""; 0], "{life}");
    }
}
