//! Extracts text from PDF, DOCX, XLSX, PPTX, HTML and text files in any encoding. Bytes in, text out.
//!
//! Layer 5: the implementation of a port, [`DocumentText`](ctx_types::DocumentText), which hosts pass to the
//! assembly. It opens no file. Every reader is bounded by its input and by [`DocumentLimits`]: unpacking and nesting
//! have limits, and pages, rows and characters are counted.
//!
//! ```
//! use ctx_documents::DocumentReader;
//!
//! let text = DocumentReader::default().read(b"a,b\n1,2\n", "text/csv")?;
//! assert_eq!(text.text, "a,b\n1,2\n");
//! # Ok::<(), ctx_types::PortError>(())
//! ```
#![warn(clippy::disallowed_methods)]

mod html;
mod limits;
mod office;
mod page;
mod pdf;
mod reader;
mod text_file;

pub use limits::DocumentLimits;
pub use reader::DocumentReader;
