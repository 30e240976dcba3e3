//! The layer rules as a pure function of the dependency graph.

use std::fmt;

use super::closure;
use super::graph::{Graph, Home, Kind, Package};
use super::table::{self, FORBIDDEN, OUTSIDE};

/// One broken rule; its text names the crates and the way between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Violation {
    /// A crate of the workspace that the table does not know.
    UnknownCrate { name: String },
    /// A dependency that does not point to a lower layer.
    NotDown { from: String, to: String, kind: Kind },
    /// A pure crate that brings in something impure; the way begins with the crate and ends with the package.
    Impure { way: Vec<String> },
}

/// Checks every crate of the workspace; violations come in the order of package ids.
pub(super) fn check(graph: &Graph) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (id, package) in graph.members().filter(|(_, package)| has_layer(package)) {
        if table::layer_of(&package.name).is_none() {
            violations.push(Violation::UnknownCrate { name: package.name.clone() });
            continue;
        }
        violations.extend(arrows(graph, package));
        if table::is_pure(&package.name) {
            violations.extend(impurities(graph, id));
        }
    }
    violations
}

fn has_layer(package: &Package) -> bool {
    package.home == Home::Member && !OUTSIDE.contains(&package.name.as_str())
}

/// Finds the dependencies of one crate on others of the workspace that do not point down.
fn arrows(graph: &Graph, package: &Package) -> Vec<Violation> {
    let mut violations = Vec::new();
    for dependency in &package.dependencies {
        let Some(target) = graph.packages.get(&dependency.package) else { continue };
        let allowed = match dependency.kind {
            Kind::Normal | Kind::Build => table::allows(&package.name, &target.name),
            Kind::Dev => table::allows_in_tests(&package.name, &target.name),
        };
        if target.home != Home::Foreign && !allowed {
            let (from, to) = (package.name.clone(), target.name.clone());
            violations.push(Violation::NotDown { from, to, kind: dependency.kind });
        }
    }
    violations
}

/// Finds forbidden packages in the closure of one pure crate.
///
/// Other pure crates are not entered: they are checked by themselves, with all their features on, and would only
/// repeat the finding for everyone above them.
/// Nor are forbidden packages, whose own dependencies go when they go, and procedural macros: what they use stays
/// in the compiler.
fn impurities(graph: &Graph, root: &str) -> Vec<Violation> {
    let is_leaf = |package: &Package| match package.home {
        Home::Member | Home::Example => table::is_pure(&package.name),
        Home::Foreign => package.is_proc_macro || FORBIDDEN.contains(&package.name.as_str()),
    };
    let mut ways: Vec<Vec<String>> = closure::ways(graph, root, is_leaf)
        .into_values()
        .filter(|way| way.last().is_some_and(|name| FORBIDDEN.contains(name)))
        .map(|way| way.into_iter().map(str::to_owned).collect())
        .collect();
    ways.sort();
    ways.into_iter().map(|way| Violation::Impure { way }).collect()
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCrate { name } => write!(f, "`{name}` is in no layer of the table"),
            Self::NotDown { from, to, kind } => {
                let table = match kind {
                    Kind::Normal => "dependencies",
                    Kind::Build => "build-dependencies",
                    Kind::Dev => "dev-dependencies",
                };
                let (from_layer, to_layer) = (layer(from), layer(to));
                write!(
                    f,
                    "`{from}` ({from_layer}) has `{to}` ({to_layer}) in its [{table}], which is not lower"
                )
            }
            Self::Impure { way } => {
                let crate_name = way.first().map_or("", String::as_str);
                write!(f, "`{crate_name}` must stay pure: {}", way.join(" -> "))
            }
        }
    }
}

fn layer(name: &str) -> String {
    table::layer_of(name).map_or_else(|| "no layer".to_owned(), |layer| format!("L{layer}"))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::layers::graph::{Dependency, Graph, Home, Kind, Package};

    /// Makes a package whose id is its name.
    fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
        let home = if name.starts_with("ctx") || name == "xtask" { Home::Member } else { Home::Foreign };
        let features = std::collections::BTreeMap::new();
        Package { name: name.to_owned(), home, is_proc_macro: false, features, dependencies }
    }

    fn on(name: &str) -> Dependency {
        let package = name.to_owned();
        Dependency { key: package.clone(), package, kind: Kind::Normal, is_optional: false, features: vec![] }
    }

    fn with_feature(mut package: Package, name: &str, values: &[&str]) -> Package {
        let values = values.iter().map(|&value| value.to_owned()).collect();
        package.features.insert(name.to_owned(), values);
        package
    }

    #[track_caller]
    fn violations(packages: Vec<Package>, expected: &[&str]) {
        let packages = packages.into_iter().map(|package| (package.name.clone(), package)).collect();
        let found: Vec<String> = check(&Graph { packages }).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn arrows_that_point_down_are_fine() {
        violations(
            vec![
                package("ctx-types", vec![on("ctx-regex"), on("serde")]),
                package("ctx-regex", vec![]),
                package("ctx-macros", vec![on("ctx-types"), on("ctx-regex")]),
                package("ctx-engine", vec![on("ctx-types"), on("ctx-macros")]),
                package("serde", vec![]),
            ],
            &[],
        );
    }

    #[test]
    fn sideways_and_upward_arrows_are_found() {
        violations(
            vec![
                package("ctx-anchors", vec![on("ctx-macros")]),
                package("ctx-macros", vec![Dependency { kind: Kind::Build, ..on("ctx-engine") }]),
                package("ctx-engine", vec![on("xtask")]),
                package("xtask", vec![on("ctx-engine")]),
            ],
            &[
                "`ctx-anchors` (L1) has `ctx-macros` (L1) in its [dependencies], which is not lower",
                "`ctx-engine` (L4) has `xtask` (no layer) in its [dependencies], which is not lower",
                "`ctx-macros` (L1) has `ctx-engine` (L4) in its [build-dependencies], which is not lower",
            ],
        );
    }

    #[test]
    fn tests_may_use_the_ground_floor_besides_lower_layers() {
        let dev = |name| Dependency { kind: Kind::Dev, ..on(name) };
        violations(
            vec![
                package("ctx-regex", vec![dev("ctx-types")]),
                package("ctx-types", vec![dev("ctx-regex")]),
                package("ctx-pipeline", vec![dev("ctx-macros"), dev("ctx-compress")]),
                package("ctx-macros", vec![]),
                package("ctx-compress", vec![]),
            ],
            &["`ctx-pipeline` (L2) has `ctx-compress` (L2) in its [dev-dependencies], which is not lower"],
        );
    }

    #[test]
    fn a_crate_without_a_layer_is_found_unless_it_is_an_example() {
        let example = Package { home: Home::Example, ..package("ctx-tour", vec![on("ctx-lore")]) };
        violations(vec![package("ctx-lore", vec![]), example], &["`ctx-lore` is in no layer of the table"]);
    }

    #[test]
    fn an_impure_package_is_found_with_its_way() {
        violations(
            vec![
                package("ctx-anchors", vec![on("long"), on("foo")]),
                package("long", vec![on("foo")]),
                package("foo", vec![on("tokio")]),
                package("tokio", vec![on("mio")]),
                package("mio", vec![]),
            ],
            &["`ctx-anchors` must stay pure: ctx-anchors -> foo -> tokio"],
        );
    }

    #[test]
    fn an_impure_package_is_told_once_of_the_crate_that_brings_it() {
        violations(
            vec![
                package("ctx-types", vec![on("tokio")]),
                package("ctx-anchors", vec![on("ctx-types")]),
                package("tokio", vec![]),
            ],
            &["`ctx-types` must stay pure: ctx-types -> tokio"],
        );
    }

    #[test]
    fn tests_macros_and_upper_layers_may_be_impure() {
        let in_tests = ["tempfile", "rand"].map(|name| Dependency { kind: Kind::Dev, ..on(name) });
        violations(
            vec![
                package("ctx-anchors", vec![on("derive")].into_iter().chain(in_tests).collect()),
                package("ctx-chat", vec![on("tokio")]),
                Package { is_proc_macro: true, ..package("derive", vec![on("getrandom")]) },
                package("getrandom", vec![]),
                package("rand", vec![]),
                package("tempfile", vec![]),
                package("tokio", vec![]),
            ],
            &[],
        );
    }

    #[test]
    fn what_only_another_crate_switches_on_does_not_count() {
        let foo = || Package {
            dependencies: vec![Dependency { is_optional: true, ..on("tokio") }],
            ..with_feature(package("foo", vec![]), "async", &["dep:tokio"])
        };
        let asks = || Dependency { features: vec!["async".to_owned()], ..on("foo") };
        let tokio = || package("tokio", vec![]);
        let chat = package("ctx-chat", vec![asks()]);
        violations(vec![package("ctx-wire", vec![on("foo")]), chat, foo(), tokio()], &[]);

        let way = "`ctx-wire` must stay pure: ctx-wire -> foo -> tokio";
        violations(vec![package("ctx-wire", vec![asks()]), foo(), tokio()], &[way]);
    }

    #[test]
    fn every_spelling_of_a_feature_is_followed() {
        let optional = |name| Dependency { is_optional: true, ..on(name) };
        let way = "`ctx-wire` must stay pure: ctx-wire -> foo -> bar -> rand";
        for (default, expected) in [
            (&["bar/noise"][..], &[way][..]),
            (&["more"], &[way]),
            (&["dep:bar", "bar?/noise"], &[way]),
            (&["bar?/noise"], &[]),
            (&["dep:bar"], &[]),
        ] {
            let foo = with_feature(package("foo", vec![optional("bar")]), "more", &["bar/noise"]);
            let bar = with_feature(package("bar", vec![optional("rand")]), "noise", &["dep:rand"]);
            let wire =
                package("ctx-wire", vec![Dependency { features: vec!["default".to_owned()], ..on("foo") }]);
            let foo = with_feature(foo, "default", default);
            violations(vec![wire, foo, bar, package("rand", vec![])], expected);
        }
    }

    #[test]
    fn an_optional_dependency_of_a_pure_crate_counts() {
        let wire = package("ctx-wire", vec![Dependency { is_optional: true, ..on("tokio") }]);
        let way = "`ctx-wire` must stay pure: ctx-wire -> tokio";
        violations(vec![wire, package("tokio", vec![])], &[way]);
    }
}
