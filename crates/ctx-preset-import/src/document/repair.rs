//! What JavaScript writes or reads as JSON and the parser does not, repaired before a second try.

use ctx_types::{Diagnostic, phrase};

use crate::codes;

/// A text that was repaired, and what was changed.
pub(super) struct Repaired {
    pub(super) text: String,
    pub(super) findings: Vec<Diagnostic>,
}

/// Returns JSON that a parser takes, where only halves of surrogate pairs or numbers without end are in its way: as
/// long as the text, with U+FFFD and null in their place.
pub fn repaired_json(text: &str) -> Option<String> {
    repair(text).map(|repaired| repaired.text)
}

/// Replaces halves of surrogate pairs that stand alone, and numbers beyond what a number can hold.
///
/// Nothing if there is none of them. What takes their place is as long as they are, so that all else stays where it is.
/// The text need be no valid JSON. O(length).
pub(super) fn repair(text: &str) -> Option<Repaired> {
    let (mut repaired, mut copied) = (String::new(), 0);
    let (mut halves, mut numbers) = (0, 0);
    let mut scanner = Scanner::new(text);
    while let Some(token) = scanner.next() {
        let (start, with) = match token {
            Token::Escape(at) => match code_unit(text, at) {
                Some(0xD800..=0xDBFF) if matches!(code_unit(text, at + UNIT), Some(0xDC00..=0xDFFF)) => {
                    scanner.at = at + 2 * UNIT;
                    continue;
                }
                Some(0xD800..=0xDFFF) => {
                    halves += 1;
                    (at, "\\ufffd".to_owned())
                }
                _ => continue,
            },
            // `JSON.stringify` writes null for infinite numbers. None of them is shorter than that.
            Token::Number(start, end) if text[start..end].parse().is_ok_and(f64::is_infinite) => {
                numbers += 1;
                (start, format!("{:width$}", "null", width = end - start))
            }
            Token::Number(..) | Token::LineBreak => continue,
        };
        repaired.push_str(&text[copied..start]);
        repaired.push_str(&with);
        copied = start + with.len();
    }
    if copied == 0 {
        return None;
    }
    repaired.push_str(&text[copied..]);
    let findings = [report_halves(halves), report_numbers(numbers)].into_iter().flatten().collect();
    Some(Repaired { text: repaired, findings })
}

/// Reads the code unit of an escape `\uXXXX` at a place.
fn code_unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Returns whether a line ends inside a text in double quotes, where JSON has none and YAML makes it a blank.
pub(super) fn breaks_a_text(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    std::iter::from_fn(|| scanner.next()).any(|token| matches!(token, Token::LineBreak))
}

/// The length of `\uXXXX`.
const UNIT: usize = 6;

/// Something in a document that may need repairing, by its place.
enum Token {
    /// A backslash inside a text.
    Escape(usize),
    /// A number outside of texts: its first byte and the byte after its last.
    Number(usize, usize),
    /// The end of a line inside a text.
    LineBreak,
}

/// Walks through a document that may be JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    is_in_text: bool,
}

impl<'a> Scanner<'a> {
    const fn new(text: &'a str) -> Self {
        Self { text, at: 0, is_in_text: false }
    }

    fn next(&mut self) -> Option<Token> {
        loop {
            let rest = self.text.get(self.at..)?;
            let start = self.at + rest.find(self.stops())?;
            let found = self.text.get(start..)?.chars().next()?;
            self.at = start + found.len_utf8();
            match found {
                '"' => self.is_in_text = !self.is_in_text,
                '\\' => {
                    // What is escaped is looked at only as part of its escape.
                    self.at += self.text.get(self.at..)?.chars().next().map_or(0, char::len_utf8);
                    return Some(Token::Escape(start));
                }
                _ if self.is_in_text => return Some(Token::LineBreak),
                _ => return Some(self.number(start)),
            }
        }
    }

    fn stops(&self) -> fn(char) -> bool {
        if self.is_in_text {
            |c| matches!(c, '"' | '\\' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
        } else {
            |c| c == '"' || c == '-' || c.is_ascii_digit()
        }
    }

    fn number(&mut self, start: usize) -> Token {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
        let rest = self.text.get(start..).unwrap_or_default();
        self.at = start + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        Token::Number(start, self.at)
    }
}

fn report_halves(count: usize) -> Option<Diagnostic> {
    let message = match count {
        0 => return None,
        1 => phrase!("1 unpaired surrogate is replaced with U+FFFD"),
        _ => phrase!("{count} unpaired surrogates are replaced with U+FFFD", count),
    };
    let help =
        phrase!("export the file again: an application cut a string inside an emoji or similar character");
    let found = Diagnostic::warning(codes::LONE_SURROGATE, message);
    Some(found.with_help(help))
}

fn report_numbers(count: usize) -> Option<Diagnostic> {
    let message = match count {
        0 => return None,
        1 => phrase!("1 number is too large for JSON; null is used"),
        _ => phrase!("{count} numbers are too large for JSON; null is used", count),
    };
    Some(Diagnostic::warning(codes::NUMBER, message))
}
