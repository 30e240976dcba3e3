use ctx_processors::html_to_markdown;
use ctx_types::phrase;
use ctx_types::ports::{ExtractedText, PortError, PortErrorKind};

use crate::page::Page;
use crate::{DocumentLimits, text_file};

/// Maximum bytes of a page; its tree takes 100 times as much memory.
const MAX_BYTES: usize = 1 << 20;

/// Bytes to search for the declared encoding.
const LOOKED_AT: usize = 1_024;

pub(crate) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    if bytes.len() > MAX_BYTES {
        let detail = phrase!("the page exceeds the limit of {limit} bytes", limit = MAX_BYTES);
        return Err(PortError::new(PortErrorKind::TooLarge, detail));
    }
    let (html, _) = text_file::decode(bytes, charset(bytes));
    let mut page = Page::new(limits);
    page.push(&html_to_markdown(&html)?);
    Ok(page.finish())
}

fn charset(bytes: &[u8]) -> Option<&[u8]> {
    let beginning = bytes.get(..bytes.len().min(LOOKED_AT))?;
    let at = memchr::memmem::find(beginning, b"charset=")? + b"charset=".len();
    let rest = beginning.get(at..)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let len =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')).count();
    rest.get(..len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &[u8], expected: &str) {
        let text = read(html, &DocumentLimits::default()).map(|text| text.text.to_string());
        assert_eq!(text.map_err(|error| error.to_string()), Ok(expected.to_owned()));
    }

    #[test]
    fn reads_encoding_declared_by_page() {
        let page = [b"<meta charset=\"gbk\"><p>".as_slice(), &encoding_rs::GBK.encode("中文").0].concat();
        check(&page, "中文");
    }

    #[test]
    fn rejects_pages_over_byte_limit() {
        let error = read(&vec![b' '; MAX_BYTES + 1], &DocumentLimits::default()).unwrap_err();
        assert_eq!(error.kind, PortErrorKind::TooLarge);
    }
}
