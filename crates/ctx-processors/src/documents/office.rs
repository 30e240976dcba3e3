//! Office files in Open XML: DOCX, XLSX, PPTX. Each is a ZIP archive with XML in it.

mod archive;
mod markup;
mod relations;
mod sheets;
mod slides;
mod word;

pub(super) use sheets::read as read_sheets;
pub(super) use slides::read as read_slides;
pub(super) use word::read as read_word;
