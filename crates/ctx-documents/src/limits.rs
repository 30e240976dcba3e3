/// Limits for reading a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLimits {
    /// Maximum bytes of extracted text; default 1 MiB.
    pub text_bytes: usize,
    /// Maximum pages, slides or sheets; default 500.
    pub pages: usize,
    /// Maximum rows of a sheet; default 1,000, as at OpenAI.
    pub rows: usize,
    /// Maximum unpacked bytes of a document; default 48 MiB.
    pub unpacked_bytes: usize,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self { text_bytes: 1 << 20, pages: 500, rows: 1_000, unpacked_bytes: 48 << 20 }
    }
}
