//! The archive is what it says it is: packed twice it has the same bytes, and our own engine, given what is in it,
//! makes what it expects.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use serde_json::{Value, json};
use suite::{Comparison, Files, NEEDS, NO_NEED, Tally, compare, differences, outcome, pack, unpack};

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

/// The files that are in every archive.
const DESCRIBED: [&str; 26] = [
    "FORMAT.md",
    "counting.md",
    "draws.md",
    "data/anchors.json",
    "data/models.json",
    "data/processors.json",
    "reference/agents.md",
    "reference/attachments.md",
    "reference/cases.md",
    "reference/compatibility.md",
    "reference/compression.md",
    "reference/conversations.md",
    "reference/ctx-toml.md",
    "reference/diagnostics.md",
    "reference/dialects.md",
    "reference/formats.md",
    "reference/macros.md",
    "reference/models.md",
    "reference/profiles.md",
    "reference/report.md",
    "reference/worldbooks.md",
    "schemas/case.json",
    "schemas/expected.json",
    "schemas/manifest.json",
    "vectors/counting.json",
    "vectors/draws.json",
];

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
    let mut listed = BTreeSet::from(["manifest.json".to_owned()]);
    listed.extend(DESCRIBED.map(str::to_owned));
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

fn validator(files: &Files, name: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&json(files, &format!("schemas/{name}.json"))).unwrap()
}

/// Checks that a value is valid.
#[track_caller]
fn check(value: &Value, validator: &jsonschema::Validator, path: &str) {
    let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
    assert_eq!(faults, [""; 0], "{path}");
}

#[test]
fn the_schemas_describe_every_file() {
    let files = archive();
    check(&json(&files, "manifest.json"), &validator(&files, "manifest"), "manifest.json");
    for file in ["case", "expected"] {
        let validator = validator(&files, file);
        for name in names(&files) {
            let path = format!("cases/{name}/{file}.json");
            check(&json(&files, &path), &validator, &path);
        }
    }
}

#[test]
fn the_schema_takes_results_of_others() {
    let validator = validator(&archive(), "expected");
    let message = json!({ "role": "user", "content": "Hello.", "source": { "kind": "input" } });
    let is_valid = |value: Value| validator.is_valid(&value);
    assert!(is_valid(json!({ "messages": [message] })));
    assert!(is_valid(json!({ "error": "cancelled" })) && is_valid(json!({ "error": "processor" })));
    assert!(is_valid(json!({ "unreadable": ["agent"] })));
    assert!(!is_valid(json!({})) && !is_valid(json!({ "messages": [], "error": "budget" })));
    let other = json!({ "role": "user", "content": "Hello.", "source": { "kind": "other" } });
    assert!(!is_valid(json!({ "messages": [other] })));
}

fn text(files: &Files, path: &str) -> String {
    String::from_utf8(files[path].clone()).unwrap()
}

/// The targets of the links of a page, and the words in backticks that it has.
fn between<'a>(page: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(begin).skip(1).filter_map(move |behind| Some(behind.split_once(end)?.0))
}

#[test]
fn links_of_the_descriptions_lead_to_files_of_the_archive() {
    let files = archive();
    for page in ["FORMAT.md", "counting.md", "draws.md"] {
        let page_text = text(&files, page);
        let links = between(&page_text, "](", ")").filter(|link| !link.starts_with("https:"));
        for link in links.map(|link| link.split('#').next().unwrap()).filter(|link| !link.is_empty()) {
            assert!(files.contains_key(link), "{page}: {link}");
        }
    }
}

#[test]
fn links_of_the_reference_pages_lead_out_only_where_that_is_said() {
    let files = archive();
    let pages = DESCRIBED.iter().filter(|path| path.starts_with("reference/"));
    let texts: Vec<String> = pages.map(|path| text(&files, path)).collect();
    let links = texts.iter().flat_map(|page| between(page, "](", ")"));
    let paths: BTreeSet<&str> = links.map(|link| link.split('#').next().unwrap()).collect();
    let out = paths.into_iter().filter(|path| {
        !path.is_empty() && !path.contains(':') && !files.contains_key(&format!("reference/{path}"))
    });
    assert_eq!(out.collect::<Vec<_>>(), ["command.md", "guide/serve.md", "transcripts.md"]);
    assert!(text(&files, "FORMAT.md").contains(
        "links in them to `command.md`, `guide/serve.md` and `transcripts.md` lead out of the archive"
    ));
}

#[test]
fn the_format_counts_the_needs() {
    let files = archive();
    let manifest = json(&files, "manifest.json");
    let cases = manifest["cases"].as_array().unwrap();
    let with = |need: &str| {
        let has = |case: &&Value| case["needs"].as_array().unwrap().iter().any(|found| found == need);
        cases.iter().filter(has).count()
    };
    let format = text(&files, "FORMAT.md");
    let free = cases.iter().filter(|case| case["needs"] == json!([])).count();
    let line = format!("{free} of the {} cases need nothing", cases.len());
    assert!(format.contains(&line), "{line}");
    for need in NEEDS {
        let row = format.lines().find(|line| line.starts_with(&format!("| `{need}` |"))).unwrap();
        assert!(row.ends_with(&format!("| {} |", with(need))), "{need}: {}", with(need));
    }
}

#[test]
fn the_format_counts_the_cases_of_compression_that_are_left_out() {
    let files = archive();
    let manifest = json(&files, "manifest.json");
    let is_compressed = |row: &&Value| row["reason"].as_str().unwrap().starts_with("compression");
    let rows = manifest["leftOut"].as_array().unwrap().iter().filter(is_compressed);
    let names: Vec<&str> = rows.map(|row| row["name"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| name.starts_with("compression/")), "{names:?}");
    let line = format!("The {} cases that come out differently without the processor", names.len());
    assert!(text(&files, "FORMAT.md").contains(&line), "{line}");
}

#[test]
fn the_format_lists_every_kind_of_source() {
    let files = archive();
    let format = text(&files, "FORMAT.md");
    let schema = json(&files, "schemas/expected.json");
    for kind in schema["$defs"]["source"]["properties"]["kind"]["enum"].as_array().unwrap() {
        assert!(format.contains(&format!("`{}`", kind.as_str().unwrap())), "{kind}");
    }
}

#[test]
fn defaults_are_those_of_the_processors() {
    let files = archive();
    let processors = json(&files, "data/processors.json");
    let setting = |id: &str, key: &str| {
        let found = processors.as_array().unwrap().iter().find(|row| row["id"] == id).unwrap();
        found["settings"][key].clone()
    };
    for id in ["merge-system-to-head", "merge-consecutive-roles", "convert-system-to-user"] {
        assert_eq!(setting(id, "separator"), "\n\n---\n\n", "{id}");
    }
    for id in ["merge-injections", "squash-system"] {
        assert_eq!(setting(id, "separator"), "\n", "{id}");
    }
    assert!(setting("ensure-alternating-roles", "assistantPlaceholder").is_string());
}

#[test]
fn results_of_others_are_compared() {
    let files = archive();
    let results = tempfile::tempdir().unwrap();
    let names = names(&files);
    for name in &names {
        write(results.path(), &format!("{name}.json"), &files[&format!("cases/{name}/expected.json")]);
    }
    let equal = compare(&files, results.path()).unwrap();
    assert_eq!(
        (equal.equal, &*equal.missing, &*equal.different),
        (names.len(), [].as_slice(), [].as_slice())
    );
    assert!(equal.by_need.values().all(|tally| tally.equal == tally.all));
    assert_eq!(equal.by_need.len(), NEEDS.len() + 1);

    // Whoever has no decisions leaves them out; whoever says another word differs; whoever says nothing is missing.
    let name = "anchors/anchor_side_is_after_by_default";
    let expected = json(&files, &format!("cases/{name}/expected.json"));
    let only = json!({ "messages": expected["messages"] });
    write(results.path(), &format!("{name}.json"), only.to_string().as_bytes());
    assert_eq!(compare(&files, results.path()).unwrap(), equal);
    let mut other = only;
    other["messages"][0]["role"] = "tool".into();
    write(results.path(), &format!("{name}.json"), other.to_string().as_bytes());
    let found: Comparison = compare(&files, results.path()).unwrap();
    assert_eq!(found.different.len(), 1);
    let Tally { equal, all } = found.by_need[NO_NEED];
    assert_eq!(equal + 1, all);
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
