//! PDF text by page, in file order.
//!
//! This parser exists because others unpack, nest and repeat without limits (see `docs/attachments.md`). It
//! scans the file for objects and ignores its tables, so it can read truncated and damaged files.

mod cmap;
mod collections;
mod encodings;
mod file;
mod filters;
mod fonts;
mod glyphs;
mod lexer;
mod matrix;
mod object;
mod page_writer;
mod pages;
mod widths;

use ctx_types::phrase;
use ctx_types::ports::{ExtractedText, PortError, PortErrorKind};

use crate::DocumentLimits;
use crate::page::Page;
use crate::reader::invalid;
use file::File;
use page_writer::PageWriter;

const MAX_COUNTED: usize = 10_000;

pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    let mut file = File::open(bytes, limits.unpacked_bytes);
    if file.is_encrypted {
        return Err(PortError::new(PortErrorKind::Denied, phrase!("it is password-protected")));
    }
    let pages = pages::list(&mut file, limits.pages.saturating_add(1));
    if pages.is_empty() {
        return Err(invalid(phrase!("it contains no pages, or it is truncated")));
    }
    let mut page = Page::new(limits);
    let mut writer = PageWriter::new(&mut file, &mut page);
    for one in pages.iter().take(limits.pages) {
        if !writer.write(one) {
            break;
        }
    }
    let unreadable = writer.unreadable();
    let is_short = file.left == 0;
    if page.text.trim().is_empty() && unreadable > 0 {
        return Err(invalid(phrase!("its fonts do not define their characters")));
    }
    if is_short {
        page.note_omission(|| {
            format!("omitted content that unpacks to more than {} bytes", limits.unpacked_bytes)
        });
    }
    if pages.len() > limits.pages {
        page.note_omission(|| format!("omitted pages after the first {}", limits.pages));
    }
    if unreadable > 0 {
        page.note_omission(|| format!("omitted {unreadable} characters that the fonts do not define"));
    }
    Ok(page.finish())
}

/// Counts up to 10,000 pages.
pub(crate) fn page_count(bytes: &[u8]) -> Option<u32> {
    /// Maximum unpacked bytes.
    const UNPACKED: usize = 16 << 20;
    let mut file = File::open(bytes, UNPACKED);
    u32::try_from(pages::list(&mut file, MAX_COUNTED).len()).ok().filter(|count| *count > 0)
}
