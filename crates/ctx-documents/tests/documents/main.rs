//! Tests of all document formats.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod broken;
mod build;
mod office;
mod pdf;

use ctx_documents::{DocumentLimits, DocumentReader};
use ctx_types::ports::{PortError, PortErrorKind};

pub(crate) const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
pub(crate) const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
pub(crate) const PPTX: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
pub(crate) const PDF: &str = "application/pdf";

/// Counts allocations for memory limits.
#[global_allocator]
static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

pub(crate) fn read(bytes: &[u8], mime_type: &str) -> Result<(String, Option<String>), PortError> {
    let read = DocumentReader::default().read(bytes, mime_type)?;
    Ok((read.text.to_string(), read.left_out.map(|left_out| left_out.to_string())))
}

/// Checks the complete text of a file.
#[track_caller]
pub(crate) fn check(bytes: &[u8], mime_type: &str, expected: &str) {
    assert_eq!(read(bytes, mime_type).unwrap(), (expected.to_owned(), None));
}

#[track_caller]
pub(crate) fn check_error(bytes: &[u8], mime_type: &str, expected: PortErrorKind) {
    let error = read(bytes, mime_type).unwrap_err();
    assert_eq!(error.kind, expected, "{error}");
}

#[test]
fn rejects_unsupported_types() {
    check_error(b"x", "application/zip", PortErrorKind::Unsupported);
    check_error(b"x", "application/vnd.openxmlformats-officedocument.other", PortErrorKind::Unsupported);
}

#[test]
fn applies_limits_of_caller() {
    let limits = DocumentLimits { pages: 1, ..DocumentLimits::default() };
    let file = pdf::with_lines(&["one", "two"]);
    let text = DocumentReader::new(limits).read(&file, PDF).unwrap();
    assert_eq!(text.text, "one");
    assert_eq!(text.left_out.as_deref(), Some("omitted pages after the first 1"));
}
