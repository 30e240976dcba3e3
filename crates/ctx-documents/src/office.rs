//! Office Open XML: DOCX, XLSX and PPTX are ZIP archives of XML files.

mod archive;
mod markup;
mod relations;
mod sheets;
mod slides;
mod word;

pub(crate) use sheets::read as read_sheets;
pub(crate) use slides::read as read_slides;
pub(crate) use word::read as read_word;
