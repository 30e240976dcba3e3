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

/// Returns whether the result of a case has a finding, or says that its budget is none.
fn tells_of_mistakes(case: &Path) -> bool {
    let result = std::fs::read_to_string(case.join("expected.snap")).unwrap();
    ["error[CTX", "warning[CTX", "invalid context"].iter().any(|mark| result.contains(mark))
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
    let format = detect(&bytes, name, &Limits::default()).ok();
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
        let is_excused = tells_of_mistakes(&case);
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
    let files = [("agent.yaml", "agent"), ("profile.yaml", "profile"), ("conversation.json", "session")];
    for (name, schema) in files.into_iter().chain([("case.yaml", "case")]) {
        let bytes = std::fs::read(folder.path().join("demo").join(name)).unwrap();
        let value = Document::read(&bytes, name, &Limits::default()).unwrap().value;
        assert_eq!(faults(&validator(schema), &value), [""; 0], "{name}");
    }
}

#[test]
fn cases_of_fixtures_that_the_command_could_run_follow_the_schema() {
    let (schema, validator) = (printed("case"), validator("case"));
    let mut count = 0;
    for case in cases() {
        let Ok(bytes) = std::fs::read(case.join("case.yaml")) else { continue };
        let value = Document::read(&bytes, "case.yaml", &Limits::default()).unwrap().value;
        let keys = value.as_object().unwrap();
        // Fixtures have options of their own, and write tools into the case.
        let is_known = keys.keys().all(|key| schema["properties"].get(key).is_some());
        if is_known && keys.get("tools").is_none_or(Value::is_string) {
            let found = faults(&validator, &value);
            assert!(found.is_empty() || tells_of_mistakes(&case), "{}: {found:#?}", case.display());
            count += 1;
        }
    }
    assert!(count > 0);
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
fn mistakes_in_cases_and_defaults_are_refused() {
    check_refused(
        "case",
        json!({ "kind": "quite", "at": "noon", "enable": "x" }),
        &["/at", "/enable", "/kind"],
    );
    check_refused(
        "case",
        json!({ "context_tokens": -1, "seed": 0.5, "openai": 1 }),
        &["/context_tokens", "/openai", "/seed"],
    );
    check_refused("case", json!({ "contxt_tokens": 5 }), &[""]);
    check_refused("config", json!({ "agnet": "a.yaml" }), &[""]);
    check_refused("config", json!({ "worldbooks": "a.json", "model": 5 }), &["/model", "/worldbooks"]);
    check_refused(
        "config",
        json!({ "endpoint": { "dialect": "mumble", "retries": -1 }, "processors": [{ "enabled": false }] }),
        &["/endpoint", "/processors"],
    );
    check_refused("config", json!({ "compression": { "countThreshold": "many" } }), &["/compression"]);
}

#[test]
fn defaults_of_every_kind_are_accepted() {
    let defaults = json!({
        "agent": "a.yaml", "worldbooks": ["b.json"], "context-tokens": 0, "reserve": 5, "tz": "Asia/Shanghai",
        "endpoint": { "base-url": "http://localhost", "dialect": "anthropic", "headers": { "x-a": "b" }, "retries": 2 },
        "tools": { "folder": ".", "ask": true, "deny": { "tools": ["run"] } },
        "compression": { "countThreshold": 80 },
        "processors": [{ "id": "token-limiter", "config": { "retainedCharacters": 200 } }],
    });
    assert_eq!(faults(&validator("config"), &defaults), [""; 0]);
}

/// The words that a schema names at a place, each of which the readers must take without these findings.
#[track_caller]
fn check_words(place: &str, file: &dyn Fn(&str) -> Value) {
    let schema = printed("agent");
    let words = schema.pointer(place).and_then(|slot| slot.get("enum")).and_then(Value::as_array).unwrap();
    for word in words.iter().filter_map(Value::as_str) {
        let answer = ctx("check agent.json --json", &[("agent.json", &file(word).to_string())]);
        for code in ["CTX0100", "CTX0110", "CTX0211", "CTX0750", "CTX0772"] {
            assert!(!answer.contains(code), "{place}: {word}: {answer}");
        }
    }
}

#[test]
fn words_that_a_schema_names_are_those_that_readers_know() {
    let entry = |entry: Value| json!({ "presetMessages": [{ "type": "chat_history" }, entry] });
    let rule = |key: &str, value: Value| json!({ "presetMessages": [], "regexConfig": { "presets": [{ "rules": [{ "regex": "a", key: value }] }] } });
    let history = |word: &str| json!({ "presetMessages": [], "historyWhenUnplaced": word });
    check_words("/properties/historyWhenUnplaced", &history);
    check_words("/properties/dialect", &|word| json!({ "presetMessages": [], "dialect": word }));
    check_words("/definitions/PresetMessage/properties/anchorPoint", &|word| {
        entry(json!({ "anchorPoint": word }))
    });
    let strategy = |word: &str| json!({ "type": word, "depth": 1, "depthConfig": "1, 2~3" });
    check_words("/definitions/InjectionStrategy/properties/type", &|word| {
        entry(json!({ "injectionStrategy": strategy(word) }))
    });
    check_words("/definitions/InjectionStrategy/properties/anchorPosition", &|word| {
        entry(json!({ "injectionStrategy": { "anchorPosition": word } }))
    });
    let rules = "/definitions/RegexRule/properties";
    check_words(&format!("{rules}/targetRoles/items"), &|word| rule("targetRoles", json!([word])));
    check_words(&format!("{rules}/targetTexts/items"), &|word| rule("targetTexts", json!([word])));
    for key in ["replacementType", "substitutionMode", "dialect"] {
        check_words(&format!("{rules}/{key}"), &|word| rule(key, json!(word)));
    }
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
    assert!(committed == texts(&folder.path().join("schemas")), "`cargo xtask schema` writes them anew");
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

#[test]
fn a_name_that_is_none_is_told() {
    assert_snapshot!(ctx("schema agnet", &[]), @"
    exit code 2
    === errors
    error: unknown schema `agnet`; did you mean `agent`?
    ");
    assert_snapshot!(ctx("schema card", &[]), @"
    exit code 2
    === errors
    error: unknown schema `card`; use one of agent, preset, session, profile, worldbook, case, config, report, life, import-report
    ");
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

/// The properties of a schema and of all schemas in it that say nothing to people, each with its place.
///
/// Conditions are left out, and so is what such a condition narrows, which is described where it stands first.
fn silent(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        let items = schema.as_array().into_iter().flatten().enumerate();
        return items.for_each(|(index, item)| silent(item, &format!("{place}/{index}"), found));
    };
    let is_narrowed = place.ends_with("/then");
    for (key, value) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let says = ["description", "title", "$ref"].iter().any(|word| value.get(word).is_some());
        if !says && !is_narrowed {
            found.push(format!("{place} {key}"));
        }
    }
    for (key, value) in
        map.iter().filter(|(key, _)| !["if", "default", "enum", "const"].contains(&key.as_str()))
    {
        silent(value, &format!("{place}/{key}"), found);
    }
}

#[test]
fn every_property_says_what_it_is() {
    let listed = ctx("schema --json", &[]);
    let listed: Value = serde_json::from_str(listed.split_once("=== output\n").unwrap().1).unwrap();
    for schema in listed.as_array().unwrap() {
        let name = schema["name"].as_str().unwrap();
        let (schema, mut found) = (printed(name), Vec::new());
        silent(&schema, name, &mut found);
        assert_eq!(found, [""; 0]);
        // Authors of presets know no code: no path of an item, and no link that leads to one.
        let text = schema.to_string();
        assert!(!text.contains("::") || !text.contains("crate"), "{name}");
        assert!(!text.contains("(see `"), "{name}");
    }
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
