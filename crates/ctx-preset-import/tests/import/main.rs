//! Files of other applications, read and written.

#![allow(
    clippy::field_reassign_with_default,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a broken expectation is a failed test"
)]
#![recursion_limit = "256"]

mod agent;
mod any;
mod containers;
mod conversation;
mod corpus;
mod document;
mod export;
mod formats;
mod honest;
mod import;
mod packed;
mod profile;
mod regex_scripts;
mod rows;
mod templates;
mod worldbook;

use ctx_preset_import::{Import, Importer, SourceFile};
use ctx_types::{Agent, Persist as _, Reader};
use serde_json::Value;

fn import_files(files: &[(&str, &[u8])]) -> Import {
    let sources: Vec<SourceFile<'_>> = files.iter().map(|(name, bytes)| SourceFile { name, bytes }).collect();
    Importer::default().import(&sources)
}

/// Imports values as JSON files.
fn import_all(files: &[(&str, Value)]) -> Import {
    let texts: Vec<String> = files.iter().map(|(_, value)| value.to_string()).collect();
    let files: Vec<(&str, &[u8])> =
        files.iter().zip(&texts).map(|((name, _), text)| (*name, text.as_bytes())).collect();
    import_files(&files)
}

fn import_one(value: &Value) -> Import {
    import_all(&[("file.json", value.clone())])
}

/// Reads an agent from its written form.
fn agent_of(value: Value) -> Agent {
    Agent::read(value, &mut Reader::new())
}

/// Returns the written agent of files.
#[track_caller]
fn written_agent(made: Import) -> Value {
    made.agent.unwrap().write()
}

/// Shows the rows of a file: pointer, status, and place.
fn rows(made: &Import, file: usize) -> Vec<String> {
    let rows = made.report.files[file].fields.iter();
    rows.map(|row| format!("{} {} {}", row.pointer, row.status, row.to.as_deref().unwrap_or("-"))).collect()
}

/// Shows the diagnostics of all files.
fn found(made: &Import) -> Vec<String> {
    made.diagnostics().map(ToString::to_string).collect()
}

/// Counts the scalars, empty lists, and empty objects of a value.
fn count_values(value: &Value) -> usize {
    match value {
        Value::Object(map) if !map.is_empty() => map.values().map(count_values).sum(),
        Value::Array(items) if !items.is_empty() => items.iter().map(count_values).sum(),
        _ => 1,
    }
}

/// Returns whether a pointer is at a pattern or below it.
fn covers(pattern: &str, pointer: &str) -> bool {
    let mut steps = pointer.split('/');
    pattern.split('/').all(|wanted| steps.next().is_some_and(|step| wanted == "*" || wanted == step))
}

/// Removes values without an effect.
fn strip_kept(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("imported");
            map.values_mut().for_each(strip_kept);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_kept),
        _ => {}
    }
}
