//! How much a document may ask of us.

/// How large and how deeply nested a document may be; beyond it reading is refused with a clear error.
///
/// Readers of bytes use the defaults: far above usual files, and far below harmful sizes. For other limits, use
/// [`Document::read_with_limits`](crate::Document::read_with_limits) with [`agent_of`](crate::agent_of),
/// [`conversation_of`](crate::conversation_of) or [`worldbook_of`](crate::worldbook_of).
///
/// ```
/// use ctx_preset_import::{Document, ImportError, Limits};
///
/// let small = Limits { yaml_bytes: 8, ..Limits::default() };
/// let refused = Document::read_with_limits(b"name: a long name", "a.yaml", &small);
/// assert!(matches!(refused, Err(ImportError::TooLarge { limit: 8, .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The size of a JSON or JSON Lines document, in bytes; 64 MiB.
    pub json_bytes: usize,
    /// The number of values in a JSON or JSON Lines document; 4,000,000, which is up to some 700 MB in memory.
    pub json_nodes: usize,
    /// The size of a YAML or plain text document, in bytes; 8 MiB.
    pub yaml_bytes: usize,
    /// The number of values in a YAML document, each alias counted as all that it stands for; 250,000.
    pub yaml_nodes: usize,
    /// The nesting of `[` and `{` in a YAML document; 64.
    pub flow_depth: usize,
    /// How many files an archive or a picture may hold; 512.
    pub packed_files: usize,
    /// The size of one of them, unpacked, in bytes; 64 MiB.
    pub packed_bytes: usize,
    /// The size of all of them together, unpacked, in bytes; 128 MiB.
    pub packed_total_bytes: usize,
    /// The nesting of lists and objects of any kind; 128, and never more than that.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 64 << 20,
            json_nodes: 4_000_000,
            yaml_bytes: 8 << 20,
            yaml_nodes: 250_000,
            flow_depth: 64,
            packed_files: 512,
            packed_bytes: 64 << 20,
            packed_total_bytes: 128 << 20,
            depth: MAX_DEPTH,
        }
    }
}

/// The nesting that the parsers below allow (`serde_json`'s own limit), so that their recursion stays small.
pub(crate) const MAX_DEPTH: usize = 128;
