//! The schemas of files accept what the readers take without a diagnostic.

use std::collections::BTreeMap;

use ctx_preset_import::{Document, Format, detect};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::check::Checker;

use super::*;

#[track_caller]
fn check(before: &str, text: &str, expected: &str) {
    assert_eq!(with_line_of(before.as_bytes(), text), expected);
}

#[test]
fn the_line_of_a_file_is_kept_where_it_is_written_anew() {
    let line = "# yaml-language-server: $schema=a.json";
    check(&format!("# An agent\n\n{line}\nname: Old\n"), "name: New\n", &format!("{line}\nname: New\n"));
    check(&format!("\u{feff}{line}\r\nname: Old\n"), "name: New\n", &format!("{line}\nname: New\n"));
    check(&format!("name: Old\n{line}\n"), "name: New\n", "name: New\n");
    check("name: Old\n", "name: New\n", "name: New\n");
}

#[test]
fn json_gets_no_line_and_no_file_becomes_too_large() {
    assert_eq!(with_line("agent", "{}\n"), "{}\n");
    let large = format!("name: {}\n", "a".repeat((8 << 20) - 10));
    assert!(with_line("agent", &large) == large, "a line was added");
    assert!(with_line("agent", "name: Ada\n").starts_with(LINE));
}

/// The schema of a name, as the command prints it.
fn printed(name: &str) -> Value {
    serde_json::from_str(&text(&named(name).unwrap(), &Engine::new())).unwrap()
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

/// A case of the fixtures.
struct FixtureCase {
    name: String,
    /// Options of `case.yaml`.
    options: Map<String, Value>,
    files: BTreeMap<String, Vec<u8>>,
    result: String,
}

impl FixtureCase {
    /// Returns whether the result has a diagnostic, or says that its budget is invalid.
    fn has_mistakes(&self) -> bool {
        ["error[CTX", "warning[CTX", "invalid context"].iter().any(|mark| self.result.contains(mark))
    }
}

/// Reads all cases of the fixtures that have a result.
fn cases() -> Vec<FixtureCase> {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    };
    let folders = entries(&fixtures()).into_iter().flat_map(|area| entries(&area));
    folders
        .filter(|folder| folder.join("expected.snap").is_file())
        .flat_map(|folder| cases_in(&folder))
        .collect()
}

/// Reads the case in a folder, or the cases that its `case.yaml` lists.
fn cases_in(folder: &Path) -> Vec<FixtureCase> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        path.is_file().then(|| (name, std::fs::read(&path).unwrap()))
    };
    let mut files: BTreeMap<String, Vec<u8>> = entries.filter_map(file).collect();
    let result = String::from_utf8(files.remove("expected.snap").unwrap()).unwrap();
    let mut options = Map::new();
    if let Some(bytes) = files.remove("case.yaml") {
        let value = Document::read(&bytes, "case.yaml").unwrap().value;
        options = value.as_object().unwrap().clone();
    }
    let name = files::name(folder);
    let Some(Value::Object(listed)) = options.shift_remove("cases") else {
        return vec![FixtureCase { name, options, files, result }];
    };
    let case = |(entry, changes): (String, Value)| {
        let (mut options, mut files) = (options.clone(), files.clone());
        for (key, value) in changes.as_object().unwrap() {
            // A key with a dot is the name of a file, which replaces the folder's.
            if let Some((stem, _)) = key.split_once('.') {
                files.retain(|file, _| file.split('.').next() != Some(stem));
                files.extend(value.as_str().map(|text| (key.clone(), text.as_bytes().to_vec())));
            } else {
                options.insert(key.clone(), value.clone());
            }
        }
        let (_, result) = result.split_once(&format!("##### {entry}\n")).unwrap();
        let result = result.split("\n##### ").next().unwrap_or_default().to_owned();
        FixtureCase { name: format!("{name}: {entry}"), options, files, result }
    };
    listed.into_iter().map(case).collect()
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

/// The value of a file, and the schema that it is meant for; none for other files and unreadable ones.
fn read(name: &str, bytes: &[u8]) -> Option<(&'static str, Value)> {
    let stem = name.split(['.', '_']).next()?;
    let format = detect(bytes, name).ok();
    let value = Document::read(bytes, name).ok()?.value;
    Some((kind_of(stem, format)?, value))
}

#[test]
fn accepts_files_of_fixtures_without_diagnostics() {
    let names = ["agent", "preset", "session", "profile", "worldbook"];
    let validators = names.map(|name| (name, validator(name)));
    let mut read_files = names.map(|name| (name, 0));
    let mut wrong = Vec::new();
    for case in cases() {
        for (name, bytes) in &case.files {
            let Some((kind, value)) = read(name, bytes) else { continue };
            read_files.iter_mut().filter(|(name, _)| *name == kind).for_each(|(_, count)| *count += 1);
            let (_, validator) = validators.iter().find(|(name, _)| *name == kind).unwrap();
            let found = faults(validator, &value);
            if !found.is_empty() && !case.has_mistakes() {
                wrong.push(format!("{} {name} as {kind}: {found:#?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(read_files.iter().all(|(_, count)| *count > 0), "{read_files:?}");
}

#[test]
fn accepts_cases_of_fixtures() {
    let (schema, validator) = (printed("case"), validator("case"));
    let mut count = 0;
    for case in cases() {
        // Fixtures have options of their own, and write tools into the case.
        let is_known = case.options.keys().all(|key| schema["properties"].get(key).is_some());
        if is_known && case.options.get("tools").is_none_or(Value::is_string) {
            let found = faults(&validator, &Value::Object(case.options.clone()));
            assert!(found.is_empty() || case.has_mistakes(), "{}: {found:#?}", case.name);
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
fn rejects_mistakes_in_agents() {
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
fn rejects_mistakes_in_placements() {
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
fn rejects_mistakes_in_processor_settings() {
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
fn rejects_mistakes_in_other_files() {
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
fn rejects_mistakes_in_cases_and_defaults() {
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
fn accepts_defaults_of_every_kind() {
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
        let checker = Checker::new(&[]).unwrap();
        let checked = checker.check_bytes(Path::new("agent.json"), file(word).to_string().as_bytes());
        let codes: Vec<String> = checked.findings.iter().map(|found| found.code.to_string()).collect();
        for code in ["CTX0100", "CTX0110", "CTX0211", "CTX0750", "CTX0772"] {
            assert!(!codes.iter().any(|found| found == code), "{place}: {word}: {:?}", checked.findings);
        }
    }
}

#[test]
fn names_only_words_that_readers_know() {
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
fn accepts_unknown_keys() {
    let agent =
        json!({ "mood": 5, "presetMessages": [{ "colour": [], "type": "weather", "anchorTarget": "lore" }] });
    assert_eq!(faults(&validator("agent"), &agent), [""; 0]);
    let settings =
        json!({ "parameters": { "top_p": 1, "processors": [{ "id": "mine", "config": { "a": 1 } }] } });
    assert_eq!(faults(&validator("agent"), &settings), [""; 0]);
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
fn describes_every_property() {
    for schema in all() {
        let name = schema.name;
        let (schema, mut found) = (printed(name), Vec::new());
        silent(&schema, name, &mut found);
        assert_eq!(found, [""; 0]);
        // Authors of presets know no code: no path of an item, and no link that leads to one.
        let text = schema.to_string();
        assert!(!text.contains("::") || !text.contains("crate"), "{name}");
        assert!(!text.contains("(see `"), "{name}");
    }
}
