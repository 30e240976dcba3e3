//! Extracts text from PDF, DOCX, XLSX, PPTX, HTML and text files in any encoding.
//!
//! Start with [`DocumentReader::read`]. It takes bytes and opens no files. [`DocumentLimits`] bounds unpacked sizes,
//! pages, rows and text.
//! [`DocumentReader`] implements the port [`DocumentText`](ctx_types::ports::DocumentText).
//!
//! ```
//! use ctx_documents::DocumentReader;
//!
//! let text = DocumentReader::default().read(b"a,b\n1,2\n", "text/csv")?;
//! assert_eq!(text.text, "a,b\n1,2\n");
//! # Ok::<(), ctx_types::ports::PortError>(())
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
