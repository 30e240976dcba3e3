//! `cargo xtask macros`: the reference of all macros, written from their definitions.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;

/// What stands above the tables.
const HEAD: &str = include_str!("macros/head.md");

/// Where the reference is.
const PATH: &str = "docs/macros.md";

/// The headings, each with the dialects whose macros stand below it.
const FAMILIES: [(&str, &str, &str); 2] =
    [("AIO Hub", "aio", "`aio`"), ("SillyTavern", "sillytavern", "`sillytavern`")];

/// Writes the reference; `--check` only compares.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_check = workspace::has_flag(arguments, "--check", "macros")?;
    let written = reference(&definitions()?);
    workspace::generated(PATH, &written, is_check, "macros")
}

/// Asks the command for its list of macros.
fn definitions() -> Result<Vec<Value>> {
    let mut command = Command::new(workspace::ctx()?);
    let output = command.args(["macros", "list", "--json"]).output().context("cannot start `ctx`")?;
    if !output.status.success() {
        bail!("`ctx macros list` ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn reference(definitions: &[Value]) -> String {
    let mut text = HEAD.to_owned();
    for (title, family, dialects) in FAMILIES {
        let _ = writeln!(text, "\n## Macros of {title}\n\nMacro syntax: {dialects}.");
        for (topic, rows) in topics(definitions, family) {
            let _ = writeln!(text, "\n### {title}: {topic}\n");
            text.push_str("| macro | arguments | marks | value | example |\n|---|---|---|---|---|\n");
            for row in rows {
                text.push_str(&row_of(row));
            }
        }
    }
    text
}

/// Returns the macros of a family by topic, both in the order in which they are registered.
fn topics<'d>(definitions: &'d [Value], family: &str) -> Vec<(&'d str, Vec<&'d Value>)> {
    let mut topics: Vec<(&str, Vec<&Value>)> = Vec::new();
    for definition in definitions.iter().filter(|definition| family_of(definition) == family) {
        let topic = definition["topic"].as_str().unwrap_or_default();
        match topics.iter_mut().find(|(name, _)| *name == topic) {
            Some((_, rows)) => rows.push(definition),
            None => topics.push((topic, vec![definition])),
        }
    }
    topics
}

/// Returns the first dialect of a macro without what stands behind its hyphen.
fn family_of(definition: &Value) -> &str {
    let first = definition["dialects"][0].as_str().unwrap_or_default();
    first.split('-').next().unwrap_or_default()
}

fn row_of(definition: &Value) -> String {
    let aliases = definition["aliases"].as_array().map(Vec::as_slice).unwrap_or_default();
    let names = std::iter::once(&definition["name"]).chain(aliases).filter_map(Value::as_str);
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let description = definition["description"].as_str().unwrap_or_default();
    let example = definition["example"].as_str().unwrap_or_default();
    let cells = [names.join(", "), takes(definition), marks(definition), cell(description), code(example)];
    format!("| {} |\n", cells.join(" | ").replace("|  |", "| |"))
}

fn takes(definition: &Value) -> String {
    let bound = |key: &str| definition["arguments"][key].as_u64();
    match (bound("min").unwrap_or(0), bound("max")) {
        (_, Some(0)) => "–".to_owned(),
        (min, Some(max)) if min == max => min.to_string(),
        (min, Some(max)) => format!("{min}–{max}"),
        (min, None) => format!("{min} or more"),
    }
}

fn marks(definition: &Value) -> String {
    let is_set = |key: &str| definition[key].as_bool().unwrap_or(false);
    let mut marks: Vec<String> = Vec::new();
    marks.extend(is_set("volatile").then(|| "volatile".to_owned()));
    marks.extend(is_set("changesState").then(|| "sets".to_owned()));
    let dialects = definition["dialects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let ([only], true) = (dialects, family_of(definition) == "sillytavern") {
        marks.push(format!("`{}` only", only.as_str().unwrap_or_default()));
    }
    marks.join(", ")
}

fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}

/// A `|` would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(definition: &Value, expected: &str) {
        assert_eq!(row_of(definition), format!("{expected}\n"));
    }

    #[test]
    fn a_row_has_names_arguments_marks_and_an_example() {
        let roll = json!({
            "name": "roll", "aliases": ["dice"], "dialects": ["sillytavern"], "volatile": true,
            "changesState": false, "arguments": { "min": 1, "max": null }, "description": "a | b.",
            "example": "{{roll::d6}}",
        });
        check(
            &roll,
            "| `roll`, `dice` | 1 or more | volatile, `sillytavern` only | a \\| b. | `{{roll::d6}}` |",
        );
    }

    #[test]
    fn a_macro_without_arguments_and_marks_has_a_dash_and_a_blank() {
        let user = json!({
            "name": "user", "aliases": [], "dialects": ["aio"], "arguments": { "min": 0, "max": 0 },
            "description": "The user.", "example": "{{user}}",
        });
        check(&user, "| `user` | – | | The user. | `{{user}}` |");
    }

    #[test]
    fn topics_keep_their_first_place() {
        let one = |name: &str, topic: &str| json!({ "name": name, "topic": topic, "dialects": ["aio"] });
        let all = [one("a", "x"), one("b", "y"), one("c", "x")];
        let found = topics(&all, "aio");
        let names = found.iter().map(|(topic, rows)| (*topic, rows.len()));
        assert_eq!(names.collect::<Vec<_>>(), [("x", 2), ("y", 1)]);
    }
}
