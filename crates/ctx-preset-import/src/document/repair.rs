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
    let mut repairer = Repairer { text, copied: 0, repaired: String::new(), halves: 0, numbers: 0 };
    let mut scanner = Scanner::new(text);
    while let Some(token) = scanner.next() {
        match token {
            Token::Escape(at) => {
                if repairer.surrogates(at) == Surrogates::Pair {
                    scanner.at = at + 2 * UNIT;
                }
            }
            Token::Number(start, end) => repairer.number(start, end),
            Token::LineBreak => {}
        }
    }
    repairer.finish()
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

/// What an escape is.
#[derive(PartialEq)]
enum Surrogates {
    /// Two halves that belong together.
    Pair,
    /// One half, or something else.
    Other,
}

struct Repairer<'a> {
    text: &'a str,
    /// How far the text was copied.
    copied: usize,
    repaired: String,
    halves: usize,
    numbers: usize,
}

impl Repairer<'_> {
    fn surrogates(&mut self, at: usize) -> Surrogates {
        match self.unit(at) {
            Some(0xD800..=0xDBFF) if matches!(self.unit(at + UNIT), Some(0xDC00..=0xDFFF)) => {
                return Surrogates::Pair;
            }
            Some(0xD800..=0xDFFF) => {
                self.replace(at, at + UNIT, "\\ufffd");
                self.halves += 1;
            }
            _ => {}
        }
        Surrogates::Other
    }

    /// As `JSON.stringify` writes them, numbers without end are null; none of them is shorter than that.
    fn number(&mut self, start: usize, end: usize) {
        let number = self.text.get(start..end).and_then(|number| number.parse::<f64>().ok());
        if number.is_some_and(f64::is_infinite) {
            self.replace(start, end, &format!("{:width$}", "null", width = end - start));
            self.numbers += 1;
        }
    }

    fn replace(&mut self, start: usize, end: usize, with: &str) {
        self.repaired.push_str(self.text.get(self.copied..start).unwrap_or_default());
        self.repaired.push_str(with);
        self.copied = end;
    }

    fn finish(mut self) -> Option<Repaired> {
        if self.copied == 0 {
            return None;
        }
        self.repaired.push_str(self.text.get(self.copied..).unwrap_or_default());
        let findings = [halves(self.halves), numbers(self.numbers)].into_iter().flatten().collect();
        Some(Repaired { text: self.repaired, findings })
    }

    /// Reads the code unit of an escape `\uXXXX` at a place.
    fn unit(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    }
}

fn halves(count: usize) -> Option<Diagnostic> {
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

fn numbers(count: usize) -> Option<Diagnostic> {
    let message = match count {
        0 => return None,
        1 => phrase!("1 number is too large for JSON; null is used"),
        _ => phrase!("{count} numbers are too large for JSON; null is used", count),
    };
    Some(Diagnostic::warning(codes::NUMBER, message))
}
