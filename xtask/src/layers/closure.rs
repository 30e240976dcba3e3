//! What a crate brings into the product: its normal dependencies, with exactly the features that it asks for.
//!
//! Cargo's own answer unites the features of the whole workspace, dev-dependencies included, so it shows
//! packages that a crate built alone does not have.
//! Features are therefore followed again here, from one root.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::graph::{Dependency, Graph, Kind, Package};

/// What is switched on in one package: features by name, dependencies by position in its list.
#[derive(Debug, Default)]
struct Unit<'g> {
    features: BTreeSet<&'g str>,
    dependencies: BTreeSet<usize>,
}

/// Something that a package asks for; granting it may give rise to more.
#[derive(Debug)]
enum Wish<'g> {
    Feature { package: &'g str, name: &'g str },
    Dependency { package: &'g str, position: usize },
}

type Units<'g> = BTreeMap<&'g str, Unit<'g>>;

/// Finds the shortest way from `root`, with all its features on, to every package in its closure.
///
/// The ways are lists of package names that begin with the root's.
/// Nothing below a package for which `is_leaf` holds is looked at.
pub(super) fn ways<'g>(
    graph: &'g Graph,
    root: &'g str,
    is_leaf: impl Fn(&Package) -> bool,
) -> BTreeMap<&'g str, Vec<&'g str>> {
    let units = resolve(graph, root, |id, package| id != root && is_leaf(package));
    let mut ways = BTreeMap::new();
    let mut queue = VecDeque::from([(root, Vec::new())]);
    while let Some((id, mut way)) = queue.pop_front() {
        let (Some(package), false) = (graph.packages.get(id), ways.contains_key(id)) else { continue };
        way.push(package.name.as_str());
        let unit = units.get(id);
        for position in unit.into_iter().flat_map(|unit| &unit.dependencies) {
            queue
                .extend(package.dependencies.get(*position).map(|next| (next.package.as_str(), way.clone())));
        }
        ways.insert(id, way);
    }
    ways
}

/// Grants wishes until there are no new ones.
///
/// Every round looks at all units again; a workspace needs about ten rounds over a few hundred packages.
fn resolve<'g>(graph: &'g Graph, root: &'g str, is_leaf: impl Fn(&str, &Package) -> bool) -> Units<'g> {
    let mut units = Units::from([(root, everything(graph.packages.get(root)))]);
    loop {
        let mut wishes = Vec::new();
        for (id, unit) in &units {
            match graph.packages.get(*id) {
                Some(package) if !is_leaf(id, package) => wishes.extend(wishes_of(id, package, unit)),
                _ => {}
            }
        }
        let granted = wishes.into_iter().filter(|wish| grant(graph, &mut units, wish)).count();
        if granted == 0 {
            return units;
        }
    }
}

fn everything(package: Option<&Package>) -> Unit<'_> {
    let mut unit = Unit::default();
    if let Some(package) = package {
        unit.features.extend(package.features.keys().map(String::as_str));
        unit.dependencies.extend(normal(package).map(|(position, _)| position));
    }
    unit
}

fn wishes_of<'g>(id: &'g str, package: &'g Package, unit: &Unit<'g>) -> Vec<Wish<'g>> {
    let mut wishes = Vec::new();
    for (position, dependency) in normal(package) {
        if !dependency.is_optional || unit.dependencies.contains(&position) {
            wishes.push(Wish::Dependency { package: id, position });
            let names = dependency.features.iter();
            wishes.extend(names.map(|name| Wish::Feature { package: &dependency.package, name }));
        }
    }
    let switched_on = unit.features.iter().filter_map(|name| package.features.get(*name));
    for value in switched_on.flatten() {
        wishes.extend(wishes_of_value(id, package, unit, value));
    }
    wishes
}

/// Reads one value of a feature: `dep:key`, `key/feature`, `key?/feature`, or another feature's name.
fn wishes_of_value<'g>(id: &'g str, package: &'g Package, unit: &Unit<'g>, value: &'g str) -> Vec<Wish<'g>> {
    let (key, feature) = match (value.strip_prefix("dep:"), value.split_once('/')) {
        (Some(key), _) => (key, None),
        (None, Some((key, feature))) => (key, Some(feature)),
        (None, None) => return vec![Wish::Feature { package: id, name: value }],
    };
    let weak = key.ends_with('?');
    let mut wishes = Vec::new();
    for (position, dependency) in normal(package).filter(|(_, it)| it.key == key.trim_end_matches('?')) {
        if !weak {
            wishes.push(Wish::Dependency { package: id, position });
        }
        // A weak feature waits until something else switches the dependency on; a strong one is on by next round.
        match feature {
            Some(name) if unit.dependencies.contains(&position) => {
                wishes.push(Wish::Feature { package: &dependency.package, name });
            }
            _ => {}
        }
    }
    wishes
}

/// Switches something on; false if it was on already.
fn grant<'g>(graph: &'g Graph, units: &mut Units<'g>, wish: &Wish<'g>) -> bool {
    match *wish {
        Wish::Feature { package, name } => units.entry(package).or_default().features.insert(name),
        Wish::Dependency { package, position } => {
            let is_on = units.entry(package).or_default().dependencies.insert(position);
            let dependency = graph.packages.get(package).and_then(|from| from.dependencies.get(position));
            let Some(dependency) = dependency else { return is_on };
            let is_new = !units.contains_key(dependency.package.as_str());
            units.entry(&dependency.package).or_default();
            is_on || is_new
        }
    }
}

fn normal(package: &Package) -> impl Iterator<Item = (usize, &Dependency)> {
    package.dependencies.iter().enumerate().filter(|(_, dependency)| dependency.kind == Kind::Normal)
}
