//! Reads the dependency graph from the JSON of `cargo metadata`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::graph::{Dependency, Graph, Home, Kind, Package};

/// Builds the model from the output of `cargo metadata --format-version 1` (with dependencies).
pub(super) fn parse(metadata: &Value) -> Result<Graph> {
    let members: Vec<&str> = list(metadata, "workspace_members")?.iter().filter_map(Value::as_str).collect();
    let examples = format!("{}/examples/", text(metadata, "workspace_root")?.replace('\\', "/"));
    let packages = list(metadata, "packages")?;
    let names = names_by_id(packages)?;
    let edges = edges_by_id(metadata)?;

    let mut graph = Graph::default();
    for package in packages {
        let id = text(package, "id")?;
        let home = match members.contains(&id) {
            true if text(package, "manifest_path")?.replace('\\', "/").starts_with(&examples) => {
                Home::Example
            }
            true => Home::Member,
            false => Home::Foreign,
        };
        let own_edges = edges.get(id).copied().unwrap_or_default();
        graph.packages.insert(
            id.to_owned(),
            Package {
                name: text(package, "name")?.to_owned(),
                home,
                is_proc_macro: is_proc_macro(package)?,
                features: features(package)?,
                dependencies: dependencies(package, own_edges, &names)?,
            },
        );
    }
    Ok(graph)
}

fn names_by_id(packages: &[Value]) -> Result<BTreeMap<&str, &str>> {
    packages.iter().map(|package| Ok((text(package, "id")?, text(package, "name")?))).collect()
}

fn edges_by_id(metadata: &Value) -> Result<BTreeMap<&str, &[Value]>> {
    let resolve = metadata.get("resolve").context("`resolve` is missing: metadata without dependencies?")?;
    list(resolve, "nodes")?.iter().map(|node| Ok((text(node, "id")?, list(node, "deps")?))).collect()
}

fn is_proc_macro(package: &Value) -> Result<bool> {
    let targets = list(package, "targets")?;
    Ok(targets
        .iter()
        .filter_map(|target| list(target, "kind").ok())
        .flatten()
        .any(|kind| kind == "proc-macro"))
}

fn features(package: &Value) -> Result<BTreeMap<String, Vec<String>>> {
    let map = package.get("features").and_then(Value::as_object).context("`features` is missing")?;
    Ok(map.iter().map(|(name, values)| (name.clone(), strings(values))).collect())
}

/// Joins the manifest's lines with the resolver's edges: a line without an edge is not part of this build.
fn dependencies(package: &Value, edges: &[Value], names: &BTreeMap<&str, &str>) -> Result<Vec<Dependency>> {
    let lines = list(package, "dependencies")?;
    let renames: Vec<String> = lines.iter().filter_map(rename).map(|name| name.replace('-', "_")).collect();
    let mut found = Vec::new();
    for line in lines {
        let name = text(line, "name")?;
        let rename = rename(line);
        for edge in edges {
            let extern_name = text(edge, "name")?;
            let same_name = match rename {
                Some(rename) => extern_name == rename.replace('-', "_"),
                None => !renames.iter().any(|other| other == extern_name),
            };
            let target = text(edge, "pkg")?;
            if same_name && names.get(target) == Some(&name) && same_table(line, edge) {
                found.push(dependency(line, rename.unwrap_or(name), target)?);
            }
        }
    }
    Ok(found)
}

fn rename(line: &Value) -> Option<&str> {
    line.get("rename").and_then(Value::as_str)
}

/// Returns whether an edge stems from this line: the same table, for the same platforms.
fn same_table(line: &Value, edge: &Value) -> bool {
    let kinds = edge.get("dep_kinds").and_then(Value::as_array);
    kinds.into_iter().flatten().any(|kind| kind["kind"] == line["kind"] && kind["target"] == line["target"])
}

fn dependency(line: &Value, key: &str, package: &str) -> Result<Dependency> {
    let kind = match line.get("kind").and_then(Value::as_str) {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(other) => bail!("unknown kind of dependency `{other}`"),
    };
    let mut features = strings(&line["features"]);
    if line["uses_default_features"] != Value::Bool(false) {
        features.push("default".to_owned());
    }
    let is_optional = line["optional"] == Value::Bool(true);
    Ok(Dependency { key: key.to_owned(), package: package.to_owned(), kind, is_optional, features })
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value.get(key).and_then(Value::as_str).with_context(|| format!("`{key}` is missing in the metadata"))
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    let array = value.get(key).and_then(Value::as_array);
    array.map(Vec::as_slice).with_context(|| format!("`{key}` is missing in the metadata"))
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::parse;
    use crate::layers::check::check;

    /// One package as cargo prints it; each dependency is a line of the manifest and an edge of the resolver.
    fn package(name: &str, lines: &[Value]) -> Value {
        json!({
            "id": format!("{name}@1"), "name": name, "manifest_path": format!("/w/crates/{name}/Cargo.toml"),
            "features": {}, "targets": [{"kind": ["lib"], "name": name}], "dependencies": lines,
        })
    }

    fn line(name: &str, kind: Option<&str>, target: Option<&str>) -> Value {
        json!({
            "name": name, "rename": null, "kind": kind, "target": target,
            "optional": false, "uses_default_features": true, "features": [],
        })
    }

    /// Puts packages together and adds the resolver's edges as `(from, [(to, kind, target)])`.
    fn metadata(packages: &[Value], edges: &Value) -> Value {
        let members = packages.iter().map(|it| it["id"].clone());
        let members: Vec<Value> = members.filter(|id| id.to_string().starts_with("\"ctx")).collect();
        json!({
            "workspace_root": "/w", "workspace_members": members,
            "packages": packages, "resolve": {"nodes": edges},
        })
    }

    fn node(from: &str, to: &[(&str, Option<&str>, Option<&str>)]) -> Value {
        let edge = |(name, kind, target): &(&str, Option<&str>, Option<&str>)| {
            let kinds = json!([{"kind": kind, "target": target}]);
            json!({"name": name.replace('-', "_"), "pkg": format!("{name}@1"), "dep_kinds": kinds})
        };
        json!({"id": format!("{from}@1"), "deps": to.iter().map(edge).collect::<Vec<_>>()})
    }

    #[track_caller]
    fn violations(metadata: &Value, expected: &[&str]) {
        let found = check(&parse(metadata).unwrap());
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_clean_workspace_passes() {
        let packages = [
            package("ctx-types", &[line("tempfile", Some("dev"), None)]),
            package("ctx-macros", &[line("ctx-types", None, None)]),
            package("tempfile", &[]),
        ];
        let edges = json!([
            node("ctx-types", &[("tempfile", Some("dev"), None)]),
            node("ctx-macros", &[("ctx-types", None, None)]),
            node("tempfile", &[]),
        ]);
        violations(&metadata(&packages, &edges), &[]);
    }

    #[test]
    fn a_pure_crate_with_a_runtime_is_found() {
        let packages = [
            package("ctx-macros", &[line("foo", None, None)]),
            package("foo", &[line("tokio", None, Some("cfg(unix)"))]),
            package("tokio", &[]),
        ];
        let edges = json!([
            node("ctx-macros", &[("foo", None, None)]),
            node("foo", &[("tokio", None, Some("cfg(unix)"))]),
            node("tokio", &[]),
        ]);
        let way = "`ctx-macros` must stay pure: ctx-macros -> foo -> tokio";
        violations(&metadata(&packages, &edges), &[way]);
    }

    #[test]
    fn a_sideways_dependency_is_found() {
        let packages = [package("ctx-macros", &[line("ctx-wire", None, None)]), package("ctx-wire", &[])];
        let edges = json!([node("ctx-macros", &[("ctx-wire", None, None)]), node("ctx-wire", &[])]);
        let expected = "`ctx-macros` (L1) has `ctx-wire` (L1) in its [dependencies], which is not lower";
        violations(&metadata(&packages, &edges), &[expected]);
    }

    #[test]
    fn a_line_that_was_not_resolved_for_our_platforms_does_not_count() {
        let packages =
            [package("ctx-macros", &[line("tokio", None, Some("cfg(windows)"))]), package("tokio", &[])];
        let edges = json!([node("ctx-macros", &[]), node("tokio", &[])]);
        violations(&metadata(&packages, &edges), &[]);
    }

    #[test]
    fn a_renamed_dependency_is_known_by_its_package() {
        let mut renamed = line("tokio", None, None);
        renamed["rename"] = json!("quiet-name");
        let packages = [package("ctx-macros", &[renamed]), package("tokio", &[])];
        let mut edge = node("ctx-macros", &[("tokio", None, None)]);
        edge["deps"][0]["name"] = json!("quiet_name");
        let edges = json!([edge, node("tokio", &[])]);
        violations(&metadata(&packages, &edges), &["`ctx-macros` must stay pure: ctx-macros -> tokio"]);
    }

    #[test]
    fn metadata_without_a_graph_is_refused() {
        let error = parse(&json!({"workspace_root": "/w", "workspace_members": [], "packages": []}));
        assert_eq!(error.unwrap_err().to_string(), "`resolve` is missing: metadata without dependencies?");
    }
}
