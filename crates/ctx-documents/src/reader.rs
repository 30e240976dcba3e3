use std::panic::{AssertUnwindSafe, catch_unwind};

use ctx_types::internal::excerpt;
use ctx_types::ports::{DocumentText, ExtractedText, PortError, PortErrorKind, PortFuture};
use ctx_types::{Attachment, Phrase, phrase};

use crate::{DocumentLimits, html, office, pdf, text_file};

const OPEN_XML: &str = "application/vnd.openxmlformats-officedocument.";

const PDF: &str = "application/pdf";

/// Extracts text from attachments.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentReader {
    limits: DocumentLimits,
}

impl DocumentReader {
    /// Creates a reader with custom limits.
    pub const fn new(limits: DocumentLimits) -> Self {
        Self { limits }
    }

    /// Extracts the text of a file of a media type.
    ///
    /// Returns a parser's panic as an error if panics unwind; otherwise see `docs/attachments.md`.
    ///
    /// # Errors
    ///
    /// [`PortErrorKind::Unsupported`] for other types, [`PortErrorKind::Invalid`] for a damaged file,
    /// [`PortErrorKind::Denied`] for an encrypted file, [`PortErrorKind::TooLarge`] if the unpacked size
    /// exceeds the limit.
    pub fn read(&self, bytes: &[u8], mime_type: &str) -> Result<ExtractedText, PortError> {
        let read = || read(bytes, mime_type, &self.limits);
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(invalid(phrase!("the parser failed"))))
    }

    fn read_attachment(&self, file: &Attachment) -> Result<ExtractedText, PortError> {
        let asset = file.loaded.as_ref();
        let asset = asset.ok_or_else(|| {
            PortError::new(PortErrorKind::NotFound, phrase!("the attachment is not loaded"))
        })?;
        self.read(&asset.bytes, file.mime_type.as_deref().unwrap_or_default())
    }
}

impl DocumentText for DocumentReader {
    fn extract<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<ExtractedText, PortError>> {
        Box::pin(std::future::ready(self.read_attachment(attachment)))
    }

    /// Extraction never waits.
    fn cached(&self, attachment: &Attachment) -> Option<Result<ExtractedText, PortError>> {
        Some(self.read_attachment(attachment))
    }

    /// Counts pages of a PDF file, up to 10,000.
    fn pages(&self, attachment: &Attachment) -> Option<u32> {
        let asset = attachment.loaded.as_ref().filter(|_| attachment.mime_type.as_deref() == Some(PDF))?;
        catch_unwind(|| pdf::page_count(&asset.bytes)).ok()?
    }
}

fn read(bytes: &[u8], mime_type: &str, limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    match mime_type {
        PDF => return pdf::read(bytes, limits),
        "text/html" | "application/xhtml+xml" => return html::read(bytes, limits),
        text if ctx_wire::is_plain_text(text) => return Ok(text_file::read(bytes, limits)),
        _ => {}
    }
    match mime_type.strip_prefix(OPEN_XML) {
        Some("wordprocessingml.document") => office::read_word(bytes, limits),
        Some("spreadsheetml.sheet") => office::read_sheets(bytes, limits),
        Some("presentationml.presentation") => office::read_slides(bytes, limits),
        _ => {
            let detail = phrase!("cannot read documents of type `{type}`", type = excerpt(mime_type));
            Err(PortError::new(PortErrorKind::Unsupported, detail))
        }
    }
}

pub(crate) fn invalid(detail: Phrase) -> PortError {
    PortError::new(PortErrorKind::Invalid, detail)
}
