//! `ctx schema`: what editors accept is what the readers take without a finding.

use std::path::{Path, PathBuf};

use ctx_preset_import::{Document, Format, Limits, detect};
use insta::assert_snapshot;
use jsonschema::Validator;
use serde_json::{Value, json};

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

/// The folders of all cases that have a result.
fn cases() -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    };
    let cases = entries(&fixtures()).into_iter().flat_map(|area| entries(&area));
    cases.filter(|case| case.join("expected.snap").is_file()).collect()
}

/// The schema that a file is meant for, by what it is called and by what it is.
fn kind_of(stem: &str, format: Option<Format>) -> Option<&'static str> {
    match (stem, format?) {
        ("agent", Format::Agent | Format::AgentExport) => Some("agent"),
        ("agent", Format::PresetList | Format::PresetFile | Format::ChatMessages) => Some("preset"),
        ("session", format) if format.is_conversation() => Some("session"),
        ("profile", Format::Profile) => Some("profile"),
        ("worldbook", Format::Worldbook) => Some("worldbook"),
        _ => None,
    }
}

/// The value of a file, and the schema that it is meant for; none for what is no such file or cannot be read.
fn read(path: &Path) -> Option<(&'static str, Value)> {
    let name = path.file_name()?.to_str()?;
    let stem = name.split(['.', '_']).next()?;
    let bytes = path.is_file().then(|| std::fs::read(path).unwrap())?;
    let format = detect(&bytes, name, &Limits::default()).ok()?;
    let value = Document::read(&bytes, name, &Limits::default()).ok()?.value;
    Some((kind_of(stem, format)?, value))
}

#[test]
fn files_of_fixtures_follow_their_schemas_unless_their_results_tell_of_mistakes() {
    let names = ["agent", "preset", "session", "profile", "worldbook"];
    let validators = names.map(|name| (name, validator(name)));
    let mut read_files = names.map(|name| (name, 0));
    let mut wrong = Vec::new();
    for case in cases() {
        let result = std::fs::read_to_string(case.join("expected.snap")).unwrap();
        let is_excused = result.contains("error[CTX") || result.contains("warning[CTX");
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&case).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for path in files {
            let Some((kind, value)) = read(&path) else { continue };
            read_files.iter_mut().filter(|(name, _)| *name == kind).for_each(|(_, count)| *count += 1);
            let (_, validator) = validators.iter().find(|(name, _)| *name == kind).unwrap();
            let found = faults(validator, &value);
            if !found.is_empty() && !is_excused {
                wrong.push(format!("{} as {kind}: {found:#?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read_files.iter().all(|(_, count)| *count > 0), "{read_files:?}");
}

#[test]
fn a_new_project_follows_the_schemas() {
    let folder = Folder::with(&[]);
    folder.ctx("init demo");
    for (name, schema) in
        [("agent.yaml", "agent"), ("profile.yaml", "profile"), ("conversation.json", "session")]
    {
        let bytes = std::fs::read(folder.path().join("demo").join(name)).unwrap();
        let value = Document::read(&bytes, name, &Limits::default()).unwrap().value;
        assert_eq!(faults(&validator(schema), &value), [""; 0], "{name}");
    }
}

/// Checks that a schema refuses a value, at these places.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "values read better where they are given")]
fn check_refused(schema: &str, value: Value, expected: &[&str]) {
    let validator = validator(schema);
    let mut places: Vec<String> =
        validator.iter_errors(&value).map(|fault| fault.instance_path().to_string()).collect();
    places.sort();
    places.dedup();
    assert_eq!(places, expected, "{:#?}", faults(&validator, &value));
}

#[test]
fn plain_mistakes_in_agents_are_refused() {
    check_refused("agent", json!([]), &[""]);
    check_refused("agent", json!({ "name": 5, "greetings": {} }), &["/greetings", "/name"]);
    check_refused("agent", json!({ "dialect": "klingon" }), &["/dialect"]);
    check_refused("agent", json!({ "historyWhenUnplaced": "drop" }), &["/historyWhenUnplaced"]);
    check_refused(
        "agent",
        json!({ "presetMessages": ["text", { "role": "narrator" }, { "isEnabled": "yes", "content": 5 }] }),
        &[
            "/presetMessages/0",
            "/presetMessages/1/role",
            "/presetMessages/2/content",
            "/presetMessages/2/isEnabled",
        ],
    );
}

#[test]
fn mistakes_in_placements_are_refused() {
    let entry = |entry: Value| json!({ "presetMessages": [entry] });
    let strategy = "/presetMessages/0/injectionStrategy";
    check_refused("agent", entry(json!({ "insertionPoint": "0" })), &["/presetMessages/0/insertionPoint"]);
    check_refused("agent", entry(json!({ "insertionPoint": 1.5 })), &["/presetMessages/0/insertionPoint"]);
    check_refused("agent", entry(json!({ "anchorPoint": "above" })), &["/presetMessages/0/anchorPoint"]);
    check_refused("agent", entry(json!({ "injectionStrategy": "depth" })), &[strategy]);
    check_refused("agent", entry(json!({ "injectionStrategy": { "type": "deep" } })), &[strategy]);
    check_refused("agent", entry(json!({ "injectionStrategy": { "depth": -1 } })), &[strategy]);
    check_refused("agent", entry(json!({ "injectionStrategy": { "depthConfig": 3 } })), &[strategy]);
    check_refused("agent", entry(json!({ "injectionStrategy": { "anchorPosition": "over" } })), &[strategy]);
}

#[test]
fn mistakes_in_settings_of_processors_are_refused() {
    let setting = |setting: Value| json!({ "parameters": { "processors": [setting] } });
    let place = "/parameters/processors/0";
    check_refused("agent", setting(json!({ "enabled": true })), &[place]);
    check_refused("agent", setting(json!({ "id": "token-limiter", "enable": true })), &[place]);
    check_refused(
        "agent",
        setting(
            json!({ "id": "token-limiter", "priority": 1e10, "config": { "retainedCharacters": "many" } }),
        ),
        &["/parameters/processors/0/config/retainedCharacters", "/parameters/processors/0/priority"],
    );
    check_refused(
        "agent",
        setting(json!({ "id": "primary:token-limiter", "config": { "retained": 5 } })),
        &["/parameters/processors/0/config"],
    );
}

#[test]
fn mistakes_in_other_files_are_refused() {
    check_refused("preset", json!([{ "role": "system" }, 7]), &["/1"]);
    check_refused(
        "preset",
        json!({ "messages": {}, "groups": [{ "enabled": 1 }] }),
        &["/groups/0/enabled", "/messages"],
    );
    check_refused("session", json!("Hello"), &[""]);
    check_refused("session", json!([{ "role": "narrator", "content": "Hello" }]), &["/0/role"]);
    check_refused(
        "session",
        json!({ "nodes": { "q": { "childrenIds": "a", "toolCalls": [{ "arguments": {} }] } }, "activeLeafId": 7 }),
        &["/activeLeafId", "/nodes/q/childrenIds", "/nodes/q/toolCalls/0/arguments"],
    );
    check_refused(
        "worldbook",
        json!({ "entries": { "0": { "position": 9, "key": "moon" } } }),
        &["/entries/0/key", "/entries/0/position"],
    );
    check_refused("profile", json!({ "name": ["Kim"] }), &["/name"]);
}

#[test]
fn whatever_is_not_known_is_accepted_since_it_is_kept() {
    let agent =
        json!({ "mood": 5, "presetMessages": [{ "colour": [], "type": "weather", "anchorTarget": "lore" }] });
    assert_eq!(faults(&validator("agent"), &agent), [""; 0]);
    let settings =
        json!({ "parameters": { "top_p": 1, "processors": [{ "id": "mine", "config": { "a": 1 } }] } });
    assert_eq!(faults(&validator("agent"), &settings), [""; 0]);
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
    folder.ctx("import agent.json --out ada --report report.json");
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
    assert!(committed == texts(&folder.path().join("schemas")), "`cargo xtask schema` writes them anew");
}

#[test]
fn without_a_name_the_schemas_are_listed() {
    assert_snapshot!(ctx("schema", &[]), @"
    exit code 0
    === output
     schema          what it describes
    ───────────────────────────────────────────────────────────────────────────────────────────────
     agent           an agent: who the model is, and the preset of what it is sent
     preset          a preset without an agent: a list of entries, or `messages` with `groups`
     session         a conversation: a tree of messages, or a list of chat messages
     profile         a user profile: who the user is
     worldbook       a worldbook: texts that come in when the conversation speaks of them
     report          the report of a context, as `explain --json` and `assemble --report` write it
     import-report   the report of an import, as `import --report` writes it

    `ctx schema NAME` prints one; `ctx schema --out schemas` writes all of them to a folder
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

#[test]
fn a_name_that_is_none_is_told() {
    assert_snapshot!(ctx("schema agnet", &[]), @"
    exit code 2
    === errors
    error: there is no schema `agnet`; did you mean `agent`?
    ");
    assert_snapshot!(ctx("schema card", &[]), @"
    exit code 2
    === errors
    error: there is no schema `card`; there are agent, preset, session, profile, worldbook, report, import-report
    ");
}
