//! Fonts' `ToUnicode` tables from codes to text.

use std::collections::BTreeMap;

use super::lexer::{Lexer, Token};
use super::object::Object;

const MAX_CODES: usize = 70_000;

#[derive(Debug, Default)]
pub(super) struct CMap {
    letters: BTreeMap<u32, Box<str>>,
}

impl CMap {
    /// Reads as much as is valid.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut lexer = Lexer::new(bytes, 0);
        let mut map = Self::default();
        let mut operands = Vec::new();
        while let Some(token) = lexer.next() {
            match token {
                Token::Object(object) => operands.push(object),
                Token::Word(b"endbfchar") => map.add_letters(&std::mem::take(&mut operands)),
                Token::Word(b"endbfrange") => map.add_ranges(&std::mem::take(&mut operands)),
                Token::Word(_) => operands.clear(),
            }
        }
        map
    }

    pub(super) fn get(&self, code: u32) -> Option<&str> {
        self.letters.get(&code).map(|letters| &**letters)
    }

    fn add_letters(&mut self, operands: &[Object]) {
        for pair in operands.chunks_exact(2) {
            if let [Object::String(code), Object::String(letters)] = pair {
                self.insert(number(code), utf16(letters));
            }
        }
    }

    fn add_ranges(&mut self, operands: &[Object]) {
        for triple in operands.chunks_exact(3) {
            let [Object::String(first), Object::String(last), target] = triple else { continue };
            let (first, last) = (number(first), number(last));
            let codes = first..=last.min(first.saturating_add(0xffff));
            match target {
                Object::String(letters) => {
                    let units: Vec<u16> = units(letters);
                    let Some((end, start)) = units.split_last() else { continue };
                    for (offset, code) in (0..=u16::MAX).zip(codes) {
                        let letters = start.iter().copied().chain([end.wrapping_add(offset)]);
                        self.insert(code, char::decode_utf16(letters).filter_map(Result::ok).collect());
                    }
                }
                Object::Array(list) => {
                    for (code, letters) in codes.zip(list) {
                        self.insert(code, utf16(letters.string().unwrap_or_default()));
                    }
                }
                _ => {}
            }
        }
    }

    fn insert(&mut self, code: u32, letters: String) {
        if self.letters.len() < MAX_CODES && !letters.is_empty() && letters != "\0" {
            self.letters.insert(code, letters.into());
        }
    }
}

pub(super) fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn units(bytes: &[u8]) -> Vec<u16> {
    if let [byte] = bytes {
        return vec![u16::from(*byte)];
    }
    bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?))).collect()
}

fn utf16(bytes: &[u8]) -> String {
    char::decode_utf16(units(bytes)).filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(table: &str, code: u32, expected: Option<&str>) {
        assert_eq!(CMap::read(table.as_bytes()).get(code), expected);
    }

    #[test]
    fn reads_characters_and_ranges() {
        check("2 beginbfchar <01> <4E2D> <02> <00660069> endbfchar", 1, Some("中"));
        check("2 beginbfchar <01> <4E2D> <02> <00660069> endbfchar", 2, Some("fi"));
        check("1 beginbfrange <0010> <0012> <0041> endbfrange", 0x12, Some("C"));
        check("1 beginbfrange <0010> <0011> [<0041> <D83DDE00>] endbfrange", 0x11, Some("😀"));
        check("1 beginbfrange <0010> <0012> <0041> endbfrange", 0x13, None);
        check("1 beginbfrange <0000> <FFFFFFFF> <0041> endbfrange", 5, Some("F"));
        check("1 beginbfchar <01", 1, None);
    }
}
