//! Glyph widths in 1/1,000 of the font size.

use std::collections::BTreeMap;

use super::file::File;
use super::object::{Dict, Object};

const MAX_WIDTHS: usize = 70_000;

#[derive(Debug)]
pub(super) struct Widths {
    by_code: BTreeMap<u32, f64>,
    other: f64,
}

impl Widths {
    /// Single-byte codes.
    pub(super) fn simple(file: &File<'_>, font: &Dict) -> Self {
        let first = file.get(font, "FirstChar").and_then(|first| first.index()).unwrap_or_default();
        let list = file.get(font, "Widths");
        let list = list.as_ref().and_then(Object::array).unwrap_or_default();
        let widths = list.iter().take(256).map(|width| file.resolve(width).number().unwrap_or_default());
        Self { by_code: (first..).zip(widths).collect(), other: 500.0 }
    }

    /// Multi-byte codes: lists, and ranges of one width.
    pub(super) fn composite(file: &File<'_>, descendant: &Dict) -> Self {
        let other = file.get(descendant, "DW").and_then(|width| width.number()).unwrap_or(1_000.0);
        let list = file.get(descendant, "W");
        let mut items = list.as_ref().and_then(Object::array).unwrap_or_default().iter();
        let mut by_code = BTreeMap::new();
        while let (Some(first), Some(next)) = (items.next(), items.next()) {
            let Some(first) = first.index() else { break };
            match file.resolve(next) {
                Object::Array(widths) => {
                    let widths = widths.iter().map(|width| width.number().unwrap_or(other));
                    by_code.extend((first..).zip(widths).take(MAX_WIDTHS.saturating_sub(by_code.len())));
                }
                Object::Number(_) => {
                    let last = next.index().unwrap_or_default();
                    let width = items.next().and_then(Object::number).unwrap_or(other);
                    let codes = (first..=last).take(MAX_WIDTHS.saturating_sub(by_code.len()));
                    by_code.extend(codes.map(|code| (code, width)));
                }
                _ => break,
            }
        }
        Self { by_code, other }
    }

    pub(super) fn width(&self, code: u32) -> f64 {
        self.by_code.get(&code).copied().unwrap_or(self.other)
    }
}
