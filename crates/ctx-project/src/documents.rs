//! Who reads the texts of attached documents.

use ctx_types::ports::DocumentText;

/// Returns what reads the texts of attached documents; nothing without the feature `documents`.
#[cfg(feature = "documents")]
pub fn document_text() -> Option<&'static dyn DocumentText> {
    use std::sync::LazyLock;

    use ctx_documents::DocumentReader;

    static READER: LazyLock<DocumentReader> = LazyLock::new(DocumentReader::default);
    Some(&*READER)
}

/// Returns what reads the texts of attached documents; nothing without the feature `documents`.
#[cfg(not(feature = "documents"))]
pub const fn document_text() -> Option<&'static dyn DocumentText> {
    None
}
