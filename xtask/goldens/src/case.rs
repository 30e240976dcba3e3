//! Reads the files of a folder.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// One file of a folder.
#[derive(Clone, Debug)]
pub struct GoldenFile {
    /// The name of the file.
    pub name: String,
    /// Its cases, in its order; or what keeps the file from being read.
    pub cases: Result<Vec<Case>, String>,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in the file.
    pub id: String,
    /// What kind of case it is.
    pub kind: String,
    /// What goes in.
    pub input: Value,
    /// What was observed to come out.
    pub output: Value,
}

/// Reads all `*.json` files of a folder, by name.
///
/// # Errors
/// The folder cannot be read, or holds no such file.
pub fn read_folder(folder: &Path) -> Result<Vec<GoldenFile>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    ensure!(!paths.is_empty(), "{} holds no *.json file", folder.display());
    Ok(paths.iter().map(|path| read_file(path)).collect())
}

fn read_file(path: &Path) -> GoldenFile {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let cases = read_cases(path).map_err(|error| format!("cannot read {}: {error:#}", path.display()));
    GoldenFile { name, cases }
}

fn read_cases(path: &Path) -> Result<Vec<Case>> {
    let value: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let cases = value.get("cases").and_then(Value::as_array).context("no list `cases`")?;
    Ok(cases.iter().map(read_case).collect())
}

fn read_case(case: &Value) -> Case {
    let text = |key: &str| case.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let value = |key: &str| case.get(key).cloned().unwrap_or_default();
    if case.get("kind").is_none() && case.get("messages").is_some_and(Value::is_array) {
        // A recorded request has its files and messages in one object.
        let output = json!({ "messages": case["messages"] });
        return Case { id: text("id"), kind: "recorded_request".to_owned(), input: case.clone(), output };
    }
    Case { id: text("id"), kind: text("kind"), input: value("input"), output: value("output") }
}
