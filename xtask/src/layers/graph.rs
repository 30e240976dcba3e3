//! The part of `cargo metadata` that the layer rules look at.

use std::collections::BTreeMap;

/// All packages of a build, by package id.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Every package, by the id that [`Dependency::package`] names.
    pub(super) packages: BTreeMap<String, Package>,
}

impl Graph {
    /// Lists the crates of the workspace with their ids, examples included.
    pub(super) fn members(&self) -> impl Iterator<Item = (&str, &Package)> {
        let all = self.packages.iter().map(|(id, package)| (id.as_str(), package));
        all.filter(|(_, package)| package.home != Home::Foreign)
    }
}

/// One package and what it declares.
#[derive(Debug)]
pub(super) struct Package {
    /// The name in its manifest.
    pub(super) name: String,
    /// Whether it is ours.
    pub(super) home: Home,
    /// Whether it runs in the compiler, and so nothing that it depends on becomes part of the product.
    pub(super) is_proc_macro: bool,
    /// Feature name to what it switches on, in the manifest's spelling (`dep:x`, `x/y`, `x?/y`, `y`).
    pub(super) features: BTreeMap<String, Vec<String>>,
    /// Its declared dependencies that were resolved for the platforms in question.
    pub(super) dependencies: Vec<Dependency>,
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// A crate of the workspace.
    Member,
    /// A crate of the workspace below `examples/`: it shows the product and is on no layer.
    Example,
    /// Somebody else's.
    Foreign,
}

/// One line of a manifest's dependency tables.
#[derive(Debug)]
pub(super) struct Dependency {
    /// The name that the manifest's features use: the rename if there is one.
    pub(super) key: String,
    /// The id of the package that it resolved to.
    pub(super) package: String,
    /// Which table it stands in.
    pub(super) kind: Kind,
    /// Whether only a feature switches it on.
    pub(super) is_optional: bool,
    /// Features that this line asks for, `default` included unless it is switched off.
    pub(super) features: Vec<String>,
}

/// The three dependency tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `[dependencies]`
    Normal,
    /// `[build-dependencies]`
    Build,
    /// `[dev-dependencies]`
    Dev,
}
