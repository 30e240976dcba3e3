//! PDF tokenizer.

use super::object::{Dict, Object};

const MAX_DEPTH: usize = 32;

const MAX_VALUES: usize = 500_000;

/// Always advances and never fails: unknown input is a word.
pub(super) struct Lexer<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    left: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    Object(Object),
    /// An operator, keyword, or unmatched bracket.
    Word(&'a [u8]),
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, left: MAX_VALUES }
    }

    /// Returns `None` at the end, or if a value is too large.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        self.left = MAX_VALUES;
        self.token(0)
    }

    pub(super) fn object(&mut self) -> Option<Object> {
        match self.next()? {
            Token::Object(object) => Some(object),
            Token::Word(_) => None,
        }
    }

    fn token(&mut self, depth: usize) -> Option<Token<'a>> {
        self.skip_blank();
        self.left = self.left.checked_sub(1)?;
        let object = match self.peek(0)? {
            b'/' => self.name(),
            b'(' => self.literal(),
            b'<' if self.peek(1) == Some(b'<') => self.dict(depth)?,
            b'<' => self.hex(),
            b'[' => self.array(depth)?,
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            _ => return Some(self.word()),
        };
        Some(Token::Object(object))
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    pub(super) fn skip_blank(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'%' => {
                    let rest = self.bytes.get(self.at..).unwrap_or_default();
                    self.at += memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                }
                _ if is_blank(byte) => self.at += 1,
                _ => return,
            }
        }
    }

    /// A run of regular bytes, or one bracket.
    fn word(&mut self) -> Token<'a> {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let len = rest.iter().take_while(|byte| is_regular(**byte)).count();
        let len = match rest {
            [b'>', b'>', ..] => 2,
            _ => len.max(1),
        };
        self.at = (start + len).min(self.bytes.len());
        let word = match self.bytes.get(start..self.at).unwrap_or_default() {
            b"null" => return Token::Object(Object::Null),
            b"true" | b"false" => return Token::Object(Object::Bool),
            word => word,
        };
        Token::Word(word)
    }

    fn name(&mut self) -> Object {
        self.at += 1;
        let mut name = Vec::new();
        while let Some(byte) = self.peek(0).filter(|byte| is_regular(*byte)) {
            self.at += 1;
            let escaped = || Some((digit(self.peek(0)?)? << 4) | digit(self.peek(1)?)?);
            match (byte, escaped()) {
                (b'#', Some(escaped)) => {
                    name.push(escaped);
                    self.at += 2;
                }
                _ => name.push(byte),
            }
        }
        Object::Name(name)
    }

    fn literal(&mut self) -> Object {
        self.at += 1;
        let (mut text, mut open) = (Vec::new(), 1_usize);
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'\\' => self.escape(&mut text),
                b'(' => open += 1,
                b')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                break;
            }
            if byte != b'\\' {
                text.push(byte);
            }
        }
        Object::String(text)
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\r' if self.peek(0) == Some(b'\n') => self.at += 1,
            b'\r' | b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek(0) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push(code.to_le_bytes()[0]);
            }
            other => text.push(other),
        }
    }

    fn hex(&mut self) -> Object {
        self.at += 1;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = memchr::memchr(b'>', rest).unwrap_or(rest.len());
        self.at = (self.at + len + 1).min(self.bytes.len());
        Object::String(hex_bytes(rest.get(..len).unwrap_or_default()))
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        self.at += 1;
        self.items(depth, b"]").map(Object::Array)
    }

    fn items(&mut self, depth: usize, end: &[u8]) -> Option<Vec<Object>> {
        if depth >= MAX_DEPTH {
            // Also ends the surrounding values.
            self.left = 0;
            return None;
        }
        let mut items = Vec::new();
        while let Some(token) = self.token(depth + 1) {
            match token {
                Token::Object(object) => items.push(object),
                Token::Word(b"R") => fold_reference(&mut items),
                Token::Word(word) if word == end || matches!(word, b">>" | b"endobj" | b"stream") => break,
                Token::Word(_) => {}
            }
        }
        Some(items)
    }

    fn dict(&mut self, depth: usize) -> Option<Object> {
        self.at += 2;
        let items = self.items(depth, b">>")?;
        let mut entries = Vec::new();
        let mut items = items.into_iter().peekable();
        while let Some(key) = items.next() {
            if let (Object::Name(name), Some(value)) = (key, items.peek()) {
                entries.push((name, value.clone()));
                items.next();
            }
        }
        Some(Object::Dict(Dict(entries)))
    }

    fn number(&mut self) -> Object {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let is_part = |byte: &&u8| matches!(**byte, b'0'..=b'9' | b'+' | b'-' | b'.');
        let len = rest.iter().take_while(is_part).count();
        self.at += len;
        let text = std::str::from_utf8(rest.get(..len).unwrap_or_default()).unwrap_or_default();
        // Some programs write `--5` or `1.2-3`.
        let text = text.trim_start_matches('-').split('-').next().unwrap_or_default();
        let number: f64 = text.trim_start_matches('+').parse().unwrap_or_default();
        Object::Number(if rest.first() == Some(&b'-') { -number } else { number })
    }
}

fn fold_reference(items: &mut Vec<Object>) {
    let number = items.len().checked_sub(2).and_then(|at| items.get(at)).and_then(Object::index);
    if let Some(number) = number {
        items.truncate(items.len() - 2);
        items.push(Object::Reference(number));
    }
}

/// Skips other characters; an unpaired last digit is followed by `0`.
pub(super) fn hex_bytes(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = text.iter().filter_map(|byte| digit(*byte)).collect();
    let byte = |pair: &[u8]| match pair {
        [high, low] => (high << 4) | low,
        [high] => high << 4,
        _ => 0,
    };
    digits.chunks(2).map(byte).collect()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

const fn is_regular(byte: u8) -> bool {
    !is_blank(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let object = Lexer::new(text.as_bytes(), 0).object();
        assert_eq!(format!("{object:?}"), expected);
    }

    #[test]
    fn reads_values() {
        check("-1.5", "Some(Number(-1.5))");
        check("% c\n(a\\(\\051\\n(b))", "Some(String([97, 40, 41, 10, 40, 98, 41]))");
        check("<4 1 4>", "Some(String([65, 64]))");
        check("/A#20b", "Some(Name([65, 32, 98]))");
        check("[1 2 0 R null]", "Some(Array([Number(1.0), Reference(2), Null]))");
        check("<</K 5 0 R/L[]>>", "Some(Dict(Dict([([75], Reference(5)), ([76], Array([]))])))");
    }

    #[test]
    fn closes_unterminated_values() {
        check("(abc", "Some(String([97, 98, 99]))");
        check("<</K [1", "Some(Dict(Dict([([75], Array([Number(1.0)]))])))");
        check("", "None");
    }

    #[test]
    fn handles_deep_nesting() {
        for opening in ["[", "<<", "<</A", "[(", "("] {
            let text = opening.repeat(100_000);
            let mut lexer = Lexer::new(text.as_bytes(), 0);
            while lexer.next().is_some() {}
        }
    }
}
