//! HTML as Markdown.

use ctx_types::{ExtractedText, PortError, PortErrorKind};
use htmd::HtmlToMarkdown;

use crate::documents::{DocumentLimits, Page, invalid, text_file};

/// The largest page that is read, in bytes: its tree takes a hundred times as much memory.
const MAX_BYTES: usize = 1 << 20;

/// How deep elements may be nested: the converter calls itself for each level.
const MAX_NESTING: usize = 80;

/// How much of a page is looked at for the name of its encoding, in bytes.
const LOOKED_AT: usize = 1_024;

/// What says nothing to a reader.
const SKIPPED: [&str; 7] = ["head", "script", "style", "noscript", "template", "svg", "iframe"];

/// Elements that hold nothing, or end where the next one begins: they do not nest.
const FLAT: [&str; 29] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "html", "head",
    "body", "param",
];

/// Reads a page.
pub(super) fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<ExtractedText, PortError> {
    if bytes.len() > MAX_BYTES {
        let detail = format!("a page may have {MAX_BYTES} bytes");
        return Err(PortError::new(PortErrorKind::TooLarge, detail));
    }
    let (html, _) = text_file::decode(bytes, charset(bytes));
    let mut page = Page::new(limits);
    page.push(&to_markdown(&html)?);
    Ok(page.finish())
}

/// Writes HTML as Markdown: ATX headings, fenced code, `*` for emphasis.
///
/// Errors: [`PortErrorKind::Invalid`] for elements that are nested too deeply.
pub(crate) fn to_markdown(html: &str) -> Result<String, PortError> {
    if html.len() > MAX_BYTES || nesting(html) > MAX_NESTING {
        return Err(invalid(format!("it is nested more than {MAX_NESTING} levels deep, or too large")));
    }
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    converter.convert(html).map_err(|error| invalid(error.to_string()))
}

/// Returns an upper bound of how deep elements are nested, as if nothing were closed that is not closed by a tag.
fn nesting(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for (at, _) in html.match_indices('<') {
        let rest = html.get(at + 1..).unwrap_or_default();
        let (is_end, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        let len = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let Some(name) = rest.get(..len).filter(|name| !name.is_empty()) else { continue };
        if FLAT.iter().any(|flat| name.eq_ignore_ascii_case(flat)) {
            continue;
        }
        depth = if is_end { depth.saturating_sub(1) } else { depth + 1 };
        deepest = deepest.max(depth);
    }
    deepest
}

/// Finds the name of the encoding that a page says it has.
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
    fn a_page_becomes_markdown() {
        check(
            b"<title>x</title><h1>A</h1><p>b <em>c</em> <b>d</b></p><script>e</script>",
            "# A\n\nb *c* **d**",
        );
        check(b"<pre><code>x &lt; 1</code></pre>", "```\nx < 1\n```");
    }

    #[test]
    fn a_page_may_say_its_encoding() {
        let page = [b"<meta charset=\"gbk\"><p>".as_slice(), &encoding_rs::GBK.encode("中文").0].concat();
        check(&page, "中文");
    }

    #[test]
    fn what_is_nested_too_deeply_is_refused() {
        for tag in ["div", "b", "blockquote", "ul><li", "table><tr><td"] {
            let name = tag.split('>').next().unwrap();
            let deep = format!("<{tag}>").repeat(100_000 / tag.len());
            let error = read(deep.as_bytes(), &DocumentLimits::default()).unwrap_err();
            assert_eq!(error.kind, PortErrorKind::Invalid, "{tag}");
            let allowed =
                format!("<{tag}>").repeat(MAX_NESTING) + "x" + &format!("</{name}>").repeat(MAX_NESTING);
            assert!(read(allowed.as_bytes(), &DocumentLimits::default()).is_ok(), "{tag}");
        }
        let many = "<p>a<li>b<td>c<br>".repeat(10_000);
        assert!(read(many.as_bytes(), &DocumentLimits::default()).is_ok());
    }
}
