//! A text in quotes or in a block that takes the place of another one in the same form. Nothing else in a file can change
//! by that, so the file need not be read again: somebody who types changes the same text with every letter.

use std::ops::Range;

use ctx_operations::document_edit::{block_range, block_written};
use ctx_preset_import::{Document, Syntax};
use serde_json::Value;
use yaml_edit::ScalarValue;

use super::Splice;
use crate::locate::{Places, quoted_length};

/// Where the text at a pointer stands, its quotes or the sign of its block included.
#[derive(Clone, Debug)]
pub(super) struct Quoted {
    pub(super) pointer: String,
    range: Range<usize>,
}

impl Quoted {
    /// Finds the text at a pointer, if it is in quotes or a block and no alias can repeat it: nothing in the source looks like an
    /// anchor. O(bytes of the source).
    pub(super) fn find(source: &str, pointer: &str, syntax: Syntax) -> Option<Self> {
        let mut words = source.split(|c: char| c.is_whitespace() || "[{,".contains(c));
        if syntax == Syntax::Yaml && words.any(|word| word.len() > 1 && word.starts_with('&')) {
            return None;
        }
        let range = Places::find(source, [pointer]).at(pointer)?.range.clone();
        let (before, rest) = source.split_at_checked(range.start)?;
        let quoted = quoted_length(rest).map(|length| range.start..range.start + length);
        let is_yaml = syntax == Syntax::Yaml;
        let range = quoted.or_else(|| block_range(source, range.start).filter(|_| is_yaml))?;
        let before = before.get(..range.start).unwrap_or(before);
        let is_tagged = before.split_whitespace().next_back().is_some_and(|word| word.starts_with('!'));
        (!is_tagged).then(|| Self { pointer: pointer.to_owned(), range })
    }

    /// Returns what makes one text of the other in the source, and where the new one stands; none unless this is the old
    /// text, and quotes of that kind can hold the new one.
    pub(super) fn written(
        self,
        source: &str,
        (old, new): (&str, &str),
        syntax: Syntax,
    ) -> Option<(Splice, Self)> {
        let was = source.get(self.range.clone())?;
        if was.starts_with(['|', '>']) {
            let text = block_written(was, old, new)?;
            return Some(self.replaced(was, &text));
        }
        let text = match (syntax, was.chars().next()?) {
            (Syntax::Json, '"') => Value::from(new).to_string(),
            (Syntax::Yaml, '"') => ScalarValue::double_quoted(new).to_yaml_string(),
            (Syntax::Yaml, '\'') if !new.contains(['\n', '\r']) => {
                ScalarValue::single_quoted(new).to_yaml_string()
            }
            _ => return None,
        };
        let says = |quoted: &str, text: &str| {
            let name = if syntax == Syntax::Json { "a.json" } else { "a.yaml" };
            let read = Document::read(format!("[{quoted}]").as_bytes(), name);
            quoted_length(quoted) == Some(quoted.len()) && read.is_ok_and(|read| read.value[0] == text)
        };
        // In several lines it would have to be indented.
        if text.contains(['\n', '\r']) || !says(was, old) || !says(&text, new) {
            return None;
        }
        Some(self.replaced(was, &text))
    }

    fn replaced(self, was: &str, text: &str) -> (Splice, Self) {
        let Splice { range, text: part } = Splice::between(was, text);
        let start = self.range.start;
        let splice = Splice { range: start + range.start..start + range.end, text: part };
        (splice, Self { range: start..start + text.len(), ..self })
    }
}
