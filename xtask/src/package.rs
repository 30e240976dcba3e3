//! `cargo xtask package`: what would be published is complete.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{readmes, workspace};

/// What every published crate has in its folder; the licences are those of the root folder.
const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

/// Checks manifests, READMEs and licences, and packs every crate that is published; with `--build`, what was packed is
/// also built, each crate from its own package alone.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_build = workspace::has_flag(arguments, "--build", "package")?;
    let metadata = workspace::metadata(&["--no-deps"])?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let (published, others): (Vec<_>, Vec<_>) = packages.iter().partition(|package| is_published(package));
    ensure!(!published.is_empty(), "no crate is published");
    let lacks: Vec<String> = published.iter().flat_map(|package| lacks(package)).collect();
    ensure!(lacks.is_empty(), "{}", lacks.join("\n"));
    licences(&workspace::root())?;
    readmes::run(&["--check".to_owned()])?;
    // Whoever tries it has changes that are not committed.
    let mut command = workspace::cargo(&["package", "--workspace", "--quiet", "--allow-dirty"]);
    if !is_build {
        // What is packed was built before, so that nothing has to be asked of a registry: that takes half a minute.
        command.args(["--no-verify", "--offline"]);
    }
    command.args(others.iter().flat_map(|package| ["--exclude", text(package, "name")]));
    workspace::run(&mut command)?;
    println!("package: {} crates, each with its README and licences", published.len());
    Ok(())
}

/// `publish` is an empty list for what stays here, and absent for what goes anywhere.
fn is_published(package: &Value) -> bool {
    package["publish"].as_array().is_none_or(|registries| !registries.is_empty())
}

/// Describes what a published crate lacks.
fn lacks(package: &Value) -> Vec<String> {
    let name = text(package, "name");
    let count = |key: &str| package[key].as_array().map_or(0, Vec::len);
    let mut lacks = Vec::new();
    for key in ["description", "license", "readme", "rust_version"] {
        if text(package, key).is_empty() {
            lacks.push(format!("{name} has no `{key}`"));
        }
    }
    if !(1..=5).contains(&count("keywords")) || !(1..=5).contains(&count("categories")) {
        lacks.push(format!("{name} needs one to five keywords and categories"));
    }
    let dependencies = package["dependencies"].as_array().into_iter().flatten();
    let of_path = dependencies.filter(|dependency| dependency["path"].is_string());
    let wanted = format!("^{}", text(package, "version"));
    for dependency in of_path.filter(|dependency| text(dependency, "req") != wanted) {
        // In the registry a path means nothing.
        lacks.push(format!("{name} does not ask for `{}` in version {wanted}", text(dependency, "name")));
    }
    lacks
}

/// Each crate carries the licences, as a package holds nothing from outside of its folder.
fn licences(root: &Path) -> Result<()> {
    for file in LICENCES {
        let original = fs::read(root.join(file)).with_context(|| format!("cannot read {file}"))?;
        for folder in readmes::crates(root)? {
            let path = folder.join(file);
            let is_same = fs::read(&path).is_ok_and(|copy| copy == original);
            ensure!(is_same, "{} is not a copy of {file}", path.display());
        }
    }
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn complete() -> Value {
        json!({
            "name": "a", "version": "1.2.0", "description": "d", "license": "MIT", "readme": "README.md",
            "rust_version": "1.89", "keywords": ["k"], "categories": ["c"], "publish": null,
            "dependencies": [{ "name": "b", "path": "/b", "req": "^1.2.0" }, { "name": "serde", "req": "^1" }],
        })
    }

    #[track_caller]
    fn check(key: &str, value: Value, expected: &[&str]) {
        let mut package = complete();
        package[key] = value;
        assert_eq!(lacks(&package), expected);
    }

    #[test]
    fn a_published_crate_says_what_it_is() {
        check("publish", Value::Null, &[]);
        check("description", Value::Null, &["a has no `description`"]);
        check("keywords", json!([]), &["a needs one to five keywords and categories"]);
        check(
            "keywords",
            json!(["1", "2", "3", "4", "5", "6"]),
            &["a needs one to five keywords and categories"],
        );
        let any = json!([{ "name": "b", "path": "/b", "req": "*" }]);
        check("dependencies", any, &["a does not ask for `b` in version ^1.2.0"]);
    }

    #[test]
    fn what_stays_here_has_an_empty_list_of_registries() {
        assert!(is_published(&complete()));
        assert!(!is_published(&json!({ "publish": [] })));
    }
}
