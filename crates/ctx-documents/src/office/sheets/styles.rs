//! Detects numbers that are dates.

use std::collections::BTreeMap;

use ctx_types::ports::PortError;

use super::dates;
use crate::office::markup::{Next, Token, read as read_markup};

/// Cell formats by index.
#[derive(Default)]
pub(super) struct Styles {
    is_date: Vec<bool>,
    counts_from_1904: bool,
}

impl Styles {
    pub(super) fn read(xml: &str, counts_from_1904: bool) -> Result<Self, PortError> {
        let mut own = BTreeMap::new();
        let mut is_date = Vec::new();
        let mut is_cell_format = false;
        read_markup(xml, |token| {
            match token {
                Token::Open(tag) => match tag.name() {
                    "numFmt" => {
                        own.extend(tag.attribute("numFmtId").zip(tag.attribute("formatCode")));
                    }
                    "cellXfs" => is_cell_format = true,
                    "xf" if is_cell_format => {
                        let id = tag.attribute("numFmtId").unwrap_or_default();
                        is_date.push(match own.get(&id) {
                            Some(code) => is_date_code(code),
                            None => matches!(id.parse::<u32>(), Ok(14..=22 | 27..=36 | 45..=47 | 50..=58)),
                        });
                    }
                    _ => {}
                },
                Token::Close(name) if name == "cellXfs" => is_cell_format = false,
                _ => {}
            }
            Next::Go
        })?;
        Ok(Self { is_date, counts_from_1904 })
    }

    /// Formats a number, as a date if the style is one.
    pub(super) fn format_number(&self, style: usize, number: &str) -> String {
        let is_date = self.is_date.get(style).copied().unwrap_or_default();
        let date = number.trim().parse().ok().filter(|_| is_date);
        date.and_then(|days| dates::format_date(days, self.counts_from_1904)).unwrap_or_else(|| short(number))
    }
}

/// Files contain `2.2999999999999998` for `2.3`.
fn short(number: &str) -> String {
    let is_long = number.len() > 16 && number.contains('.') && !number.contains(['e', 'E']);
    match number.trim().parse::<f64>() {
        Ok(value) if is_long => value.to_string(),
        _ => number.to_owned(),
    }
}

/// Searches for day or hour letters outside quotes, brackets and escapes.
fn is_date_code(code: &str) -> bool {
    let (mut is_quoted, mut is_bracket, mut is_escaped) = (false, false, false);
    for letter in code.chars() {
        match letter {
            _ if std::mem::take(&mut is_escaped) => {}
            '\\' | '_' | '*' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '[' => is_bracket = true,
            ']' => is_bracket = false,
            'y' | 'Y' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' if !is_quoted && !is_bracket => return true,
            _ => {}
        }
    }
    false
}
