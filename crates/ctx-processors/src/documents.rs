//! Texts of documents: bytes in, text out, without any I/O.
//!
//! Every format is read by code that is bounded by its input and by [`DocumentLimits`]: what is packed is unpacked up
//! to a limit, what is nested is followed to a depth, and pages, rows and characters are counted. Features of this
//! crate say which formats there are: `text`, `html`, `office` (DOCX, XLSX, PPTX) and `pdf`; `documents` is all of
//! them.

#[cfg(feature = "html")]
mod html;
#[cfg(feature = "office")]
mod office;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(feature = "text")]
mod text_file;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ctx_types::{Attachment, DocumentText, ExtractedText, PortError, PortErrorKind, PortFuture, excerpt};

#[cfg(feature = "html")]
pub(crate) use html::to_markdown as html_to_markdown;
#[cfg(feature = "pdf")]
pub(crate) use pdf::page_count as pdf_pages;

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

/// Reads the texts of attached files from their bytes, as far as the features of this crate go.
///
/// ```
/// # #[cfg(feature = "text")] {
/// use ctx_processors::DocumentReader;
///
/// let text = DocumentReader::default().read(b"a,b\n1,2\n", "text/csv")?;
/// assert_eq!(text.text, "a,b\n1,2\n");
/// # }
/// # Ok::<(), ctx_types::PortError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentReader {
    limits: DocumentLimits,
}

impl DocumentReader {
    /// Reads within other limits than the usual ones.
    pub const fn new(limits: DocumentLimits) -> Self {
        Self { limits }
    }

    /// Reads the text of a file of a media type.
    ///
    /// A panic of a parser is an error, where the program is built so that panics unwind; `docs/attachments.md` says
    /// what to do where it is not.
    ///
    /// Errors: [`PortErrorKind::Unsupported`] for other types, [`PortErrorKind::Invalid`] for a broken file,
    /// [`PortErrorKind::Denied`] for one under a password, [`PortErrorKind::TooLarge`] for one that unpacks to more
    /// than is allowed.
    pub fn read(&self, bytes: &[u8], mime_type: &str) -> Result<ExtractedText, PortError> {
        let read = || read(bytes, mime_type, &self.limits);
        catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(invalid("its parser gave up")))
    }

    fn read_attachment(&self, file: &Attachment) -> Result<ExtractedText, PortError> {
        let asset = file.loaded.as_ref();
        let asset =
            asset.ok_or_else(|| PortError::new(PortErrorKind::NotFound, "its bytes are not loaded"))?;
        self.read(&asset.bytes, file.mime_type.as_deref().unwrap_or_default())
    }
}

impl DocumentText for DocumentReader {
    fn extract<'a>(&'a self, attachment: &'a Attachment) -> PortFuture<'a, Result<ExtractedText, PortError>> {
        Box::pin(std::future::ready(self.read_attachment(attachment)))
    }

    /// Reading waits for nothing.
    fn cached(&self, attachment: &Attachment) -> Option<Result<ExtractedText, PortError>> {
        Some(self.read_attachment(attachment))
    }
}

fn read(bytes: &[u8], mime_type: &str, limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    #[cfg(feature = "html")]
    if matches!(mime_type, "text/html" | "application/xhtml+xml") {
        return html::read(bytes, limits);
    }
    #[cfg(feature = "text")]
    if ctx_wire::is_plain_text(mime_type) {
        return Ok(text_file::read(bytes, limits));
    }
    #[cfg(feature = "office")]
    if let Some(name) = mime_type.strip_prefix("application/vnd.openxmlformats-officedocument.") {
        match name {
            "wordprocessingml.document" => return office::read_word(bytes, limits),
            "spreadsheetml.sheet" => return office::read_sheets(bytes, limits),
            "presentationml.presentation" => return office::read_slides(bytes, limits),
            _ => {}
        }
    }
    #[cfg(feature = "pdf")]
    if mime_type == "application/pdf" {
        return pdf::read(bytes, limits);
    }
    let _: (&[u8], &DocumentLimits) = (bytes, limits);
    let detail = format!("there is no reader for `{}`", excerpt(mime_type));
    Err(PortError::new(PortErrorKind::Unsupported, detail))
}

fn invalid(detail: impl Into<String>) -> PortError {
    PortError::new(PortErrorKind::Invalid, detail)
}

/// A text under way, which ends at its limit.
#[cfg(any(feature = "office", feature = "pdf", feature = "text", feature = "html"))]
#[derive(Debug)]
struct Page {
    text: String,
    max_bytes: usize,
    is_full: bool,
    left_out: Option<String>,
}

#[cfg(any(feature = "office", feature = "pdf", feature = "text", feature = "html"))]
impl Page {
    fn new(limits: &DocumentLimits) -> Self {
        Self { text: String::new(), max_bytes: limits.text_bytes, is_full: false, left_out: None }
    }

    /// Adds as much of a text as there is room for.
    fn push(&mut self, text: &str) {
        let room = self.max_bytes.saturating_sub(self.text.len());
        if text.len() <= room {
            return self.text.push_str(text);
        }
        let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        self.text.push_str(text.get(..end).unwrap_or_default());
        self.is_full = true;
        let most = self.max_bytes;
        self.leave_out(|| format!("what follows the first {most} bytes of text is left out"));
    }

    /// Begins a new line unless one has just begun.
    fn break_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    /// Notes what is missing; what was noted first stays.
    fn leave_out(&mut self, what: impl FnOnce() -> String) {
        self.left_out.get_or_insert_with(what);
    }

    fn finish(self) -> ExtractedText {
        ExtractedText { text: self.text.into(), left_out: self.left_out.map(Into::into) }
    }
}
