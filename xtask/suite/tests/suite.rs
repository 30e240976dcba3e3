//! The archive is what it says it is: packed twice it has the same bytes, and our own engine, given what is in it,
//! makes what it expects.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::Value;
use suite::{Comparison, Files, compare, differences, outcome, pack, unpack};

static ARCHIVE: LazyLock<Vec<u8>> =
    LazyLock::new(|| pack(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")).unwrap());

fn archive() -> Files {
    unpack(&ARCHIVE).unwrap()
}

fn json(files: &Files, path: &str) -> Value {
    serde_json::from_slice(&files[path]).unwrap()
}

fn names(files: &Files) -> Vec<String> {
    let manifest = json(files, "manifest.json");
    manifest["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["name"].as_str().unwrap().to_owned())
        .collect()
}

fn write(folder: &Path, path: &str, bytes: &[u8]) {
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn equal_fixtures_give_equal_bytes() {
    assert!(*ARCHIVE == pack(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")).unwrap());
}

#[test]
fn our_engine_gives_what_the_archive_expects() {
    let files = archive();
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in &files {
        write(folder.path(), path, bytes);
    }
    let names = names(&files);
    assert!(names.len() > 300, "{}", names.len());
    for name in names {
        let case = folder.path().join("cases").join(&name);
        // What others must find out is not needed to find it out.
        std::fs::remove_file(case.join("expected.json")).unwrap();
        let expected = json(&files, &format!("cases/{name}/expected.json"));
        assert_eq!(differences(&expected, &outcome(&case).unwrap()), [""; 0], "{name}");
    }
}

#[test]
fn the_manifest_lists_every_file() {
    let files = archive();
    let manifest = json(&files, "manifest.json");
    let mut listed = BTreeSet::from(["manifest.json".to_owned(), "FORMAT.md".to_owned()]);
    listed.extend(["manifest", "case", "expected"].map(|name| format!("schemas/{name}.json")));
    listed.extend(
        manifest["patterns"].as_array().unwrap().iter().map(|path| path.as_str().unwrap().to_owned()),
    );
    for case in manifest["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        listed.extend(["case.json", "expected.json"].map(|file| format!("cases/{name}/{file}")));
        let inputs = case["files"].as_array().unwrap();
        listed.extend(inputs.iter().map(|file| format!("cases/{name}/{}", file.as_str().unwrap())));
    }
    assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), listed);
    assert!(manifest["leftOut"].as_array().unwrap().iter().all(|out| out["reason"].is_string()));
}

/// Checks that a value has no key that its schema does not describe.
#[track_caller]
fn check_keys(value: &Value, schema: &Value, path: &str) {
    for (key, value) in value.as_object().unwrap() {
        let described = schema["properties"].get(key);
        let described = described.unwrap_or_else(|| panic!("{path}: `{key}` is not in the schema"));
        let items = &described["items"];
        for item in value.as_array().into_iter().flatten().filter(|_| items["properties"].is_object()) {
            check_keys(item, items, path);
        }
    }
    for key in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(key.as_str().unwrap()).is_some(), "{path}: {key} is missing");
    }
}

#[test]
fn the_schemas_describe_every_key() {
    let files = archive();
    check_keys(&json(&files, "manifest.json"), &json(&files, "schemas/manifest.json"), "manifest.json");
    for name in names(&files) {
        for file in ["case", "expected"] {
            let path = format!("cases/{name}/{file}.json");
            check_keys(&json(&files, &path), &json(&files, &format!("schemas/{file}.json")), &path);
        }
    }
}

#[test]
fn results_of_others_are_compared() {
    let files = archive();
    let results = tempfile::tempdir().unwrap();
    let names = names(&files);
    for name in &names {
        write(results.path(), &format!("{name}.json"), &files[&format!("cases/{name}/expected.json")]);
    }
    let equal = Comparison { equal: names.len(), ..Comparison::default() };
    assert_eq!(compare(&files, results.path()).unwrap(), equal);

    // Whoever has no decisions leaves them out; whoever says another word differs; whoever says nothing is missing.
    let name = "anchors/anchor_side_is_after_by_default";
    let expected = json(&files, &format!("cases/{name}/expected.json"));
    let only = serde_json::json!({ "messages": expected["messages"] });
    write(results.path(), &format!("{name}.json"), only.to_string().as_bytes());
    assert_eq!(compare(&files, results.path()).unwrap(), equal);
    let mut other = only;
    other["messages"][0]["role"] = "tool".into();
    write(results.path(), &format!("{name}.json"), other.to_string().as_bytes());
    let found = compare(&files, results.path()).unwrap();
    assert_eq!(found.different.len(), 1);
    assert_eq!(found.different[0].0, name);
    assert!(found.different[0].1[0].starts_with("/messages/0/role: expected "), "{found:?}");
    std::fs::remove_file(results.path().join(format!("{name}.json"))).unwrap();
    assert_eq!(compare(&files, results.path()).unwrap().missing, [name]);
}

#[test]
fn the_readme_of_the_fixtures_names_the_version() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/README.md");
    let line = format!("The suite has version {}.", suite::VERSION);
    assert!(std::fs::read_to_string(readme).unwrap().contains(&line), "{line}");
}
