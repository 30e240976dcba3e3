//! How much of a document is read.

/// How much of a document is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLimits {
    /// The most bytes of text that come out; 1 MiB by default.
    pub text_bytes: usize,
    /// The most pages, slides or sheets; 500 by default.
    pub pages: usize,
    /// The most rows of a sheet; 1,000 by default, as OpenAI reads them.
    pub rows: usize,
    /// The most bytes that a packed document unpacks to; 48 MiB by default.
    pub unpacked_bytes: usize,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self { text_bytes: 1 << 20, pages: 500, rows: 1_000, unpacked_bytes: 48 << 20 }
    }
}
