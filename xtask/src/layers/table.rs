//! The layers of the workspace and what the pure ones must not depend on.

/// Every crate with its layer; a crate depends only on strictly lower ones.
const LAYERS: &[(u8, &[&str])] = &[
    (0, &["ctx-types", "ctx-regex"]),
    (1, &["ctx-language", "ctx-tokens", "ctx-macros", "ctx-anchors", "ctx-worldbook", "ctx-wire"]),
    (2, &["ctx-compress", "ctx-pipeline", "ctx-preset-import"]),
    (3, &["ctx-processors", "ctx-traffic"]),
    (4, &["ctx-engine"]),
    (5, &["ctx-chat", "ctx-documents", "ctx-operations", "ctx-tap"]),
    (6, &["ctx-project"]),
    (7, &["ctx-gateway", "ctx-studio"]),
    (8, &["ctx-cli"]),
];

/// The highest layer that does no I/O and has no runtime, clock or randomness of its own.
const LAST_PURE_LAYER: u8 = 4;

/// The one crate that every other may use, whatever its layer.
const FOR_EVERYONE: &str = "ctx-regex";

/// What tests may use besides lower layers: real nouns on the ground floor, and who reads the files of fixtures.
const FOR_EVERY_TEST: &[&str] = &["ctx-types", "ctx-documents"];

/// Packages that bring a runtime, I/O, the clock or randomness of the host.
pub(super) const FORBIDDEN: &[&str] = &[
    "async-std",
    "chrono",
    "dirs",
    "etcetera",
    "getrandom",
    "hyper",
    "mio",
    "rand",
    "reqwest",
    "rusqlite",
    "tempfile",
    "tokio",
    "ureq",
];

/// Members that are no part of the product and so have no layer.
pub(super) const OUTSIDE: &[&str] = &["api", "examples", "fuzz", "goldens", "suite", "xtask"];

/// Names which layer a crate is on; `None` for one that the table does not know.
pub(super) fn layer_of(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(_, names)| names.contains(&name)).map(|(layer, _)| *layer)
}

/// Returns whether a crate belongs to the layers that stay pure.
pub(super) fn is_pure(name: &str) -> bool {
    layer_of(name).is_some_and(|layer| layer <= LAST_PURE_LAYER)
}

/// Returns whether the product code of `from` may use the workspace crate `to`.
pub(super) fn allows(from: &str, to: &str) -> bool {
    to == FOR_EVERYONE
        || matches!((layer_of(from), layer_of(to)), (Some(above), Some(below)) if below < above)
}

/// Returns whether the tests of `from` may use the workspace crate `to`.
pub(super) fn allows_in_tests(from: &str, to: &str) -> bool {
    FOR_EVERY_TEST.contains(&to) || allows(from, to)
}
