use ctx_types::ports::{PortError, PortErrorKind};
use ctx_types::{Phrase, phrase};
use htmd::HtmlToMarkdown;

/// Limit of a page in bytes. The parsed tree takes 100 times as much memory.
const MAX_BYTES: usize = 1 << 20;

/// The converter is recursive.
const MAX_NESTING: usize = 80;

const SKIPPED: [&str; 7] = ["head", "script", "style", "noscript", "template", "svg", "iframe"];

/// Void elements, and elements that end where the next one starts: they do not nest.
const FLAT: [&str; 29] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "html", "head",
    "body", "param",
];

/// Converts HTML to Markdown with ATX headings, fenced code, and `*` for emphasis.
///
/// # Errors
///
/// [`PortErrorKind::Invalid`] for more than 1 MiB or 80 nesting levels, and if the conversion fails.
pub fn html_to_markdown(html: &str) -> Result<String, PortError> {
    if html.len() > MAX_BYTES || nesting(html) > MAX_NESTING {
        let detail = phrase!("too large, or nested deeper than {levels} levels", levels = MAX_NESTING);
        return Err(PortError::new(PortErrorKind::Invalid, detail));
    }
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).build();
    converter
        .convert(html)
        .map_err(|error| PortError::new(PortErrorKind::Invalid, Phrase::verbatim(error.to_string())))
}

/// Upper bound of the nesting depth, as if only closing tags closed elements.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_html_to_markdown() {
        let check = |html: &str, expected: &str| assert_eq!(html_to_markdown(html).unwrap(), expected);
        check(
            "<title>x</title><h1>A</h1><p>b <em>c</em> <b>d</b></p><script>e</script>",
            "# A\n\nb *c* **d**",
        );
        check("<pre><code>x &lt; 1</code></pre>", "```\nx < 1\n```");
    }

    #[test]
    fn rejects_deeply_nested_html() {
        for tag in ["div", "b", "blockquote", "ul><li", "table><tr><td"] {
            let name = tag.split('>').next().unwrap();
            let error = html_to_markdown(&format!("<{tag}>").repeat(100_000 / tag.len())).unwrap_err();
            assert_eq!(error.kind, PortErrorKind::Invalid, "{tag}");
            let allowed =
                format!("<{tag}>").repeat(MAX_NESTING) + "x" + &format!("</{name}>").repeat(MAX_NESTING);
            assert!(html_to_markdown(&allowed).is_ok(), "{tag}");
        }
        assert!(html_to_markdown(&"<p>a<li>b<td>c<br>".repeat(10_000)).is_ok());
    }
}
