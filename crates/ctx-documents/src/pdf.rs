//! The text of PDF files, page by page, in the order in which the file writes it.
//!
//! The reader is our own: `docs/attachments.md` has the comparison with others, which unpack, nest and repeat without a
//! limit. This one looks for objects in the file itself and not in its tables, so that files that are cut off or whose
//! tables are wrong are read as far as they go.

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
mod pages;
mod widths;
mod writing;

use ctx_types::{ExtractedText, PortError, PortErrorKind, phrase};

use crate::DocumentLimits;
use crate::page::Page;
use crate::reader::invalid;
use file::File;
use writing::Writing;

/// The most pages that are counted.
const MAX_COUNTED: usize = 10_000;

/// Reads a document.
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
    let mut writing = Writing::new(&mut file, &mut page);
    for one in pages.iter().take(limits.pages) {
        if !writing.write(one) {
            break;
        }
    }
    let unreadable = writing.unreadable();
    let is_short = file.left == 0;
    if page.text.trim().is_empty() && unreadable > 0 {
        return Err(invalid(phrase!("its fonts do not define their characters")));
    }
    if is_short {
        page.leave_out(|| {
            format!("omitted content that unpacks to more than {} bytes", limits.unpacked_bytes)
        });
    }
    if pages.len() > limits.pages {
        page.leave_out(|| format!("omitted pages after the first {}", limits.pages));
    }
    if unreadable > 0 {
        page.leave_out(|| format!("omitted {unreadable} characters that the fonts do not define"));
    }
    Ok(page.finish())
}

/// Counts the pages, up to 10,000; `None` if there are none to be found.
pub(crate) fn page_count(bytes: &[u8]) -> Option<u32> {
    /// How much is unpacked to find the pages, in bytes.
    const UNPACKED: usize = 16 << 20;
    let mut file = File::open(bytes, UNPACKED);
    u32::try_from(pages::list(&mut file, MAX_COUNTED).len()).ok().filter(|count| *count > 0)
}
