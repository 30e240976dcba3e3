//! Fonts convert bytes of a string to text.

use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};

use super::cmap::{CMap, number};
use super::collections::Collection;
use super::encodings::Codes;
use super::file::File;
use super::glyphs;
use super::object::{Dict, Object};
use super::widths::Widths;

/// Maximum words before the encrypted part of a Type 1 font.
const MAX_WORDS: usize = 8_192;

#[derive(Debug)]
pub(super) struct Font {
    letters: Letters,
    to_unicode: Option<CMap>,
    widths: Widths,
}

#[derive(Debug)]
enum Letters {
    /// Single bytes: named glyphs, and an encoding for the rest.
    Simple {
        named: Vec<(u8, Option<String>)>,
        base: &'static Encoding,
    },
    Composite(Codes),
}

#[derive(Debug)]
pub(super) struct Glyph {
    /// `None` if unknown.
    pub(super) letters: Option<String>,
    /// In 1/1,000 of the font size.
    pub(super) width: f64,
    /// Whether it is byte 32, which word spacing applies to.
    pub(super) is_space: bool,
}

impl Font {
    pub(super) fn read(file: &mut File<'_>, dict: &Dict) -> Self {
        let to_unicode = match dict.get("ToUnicode") {
            Some(Object::Reference(number)) => file.stream(*number).map(|(_, bytes)| CMap::read(&bytes)),
            _ => None,
        };
        if !dict.is("Subtype", "Type0") {
            let widths = Widths::simple(file, dict);
            return Self { letters: simple(file, dict), to_unicode, widths };
        }
        let descendants = file.get(dict, "DescendantFonts");
        let descendant = descendants.as_ref().and_then(Object::array).and_then(|list| list.first());
        let descendant = descendant.and_then(|one| file.resolve(one).dict().cloned()).unwrap_or_default();
        let codes = match file.get(dict, "Encoding") {
            Some(Object::Name(name)) if name.starts_with(b"Identity") => {
                let system = file.dict(&descendant, "CIDSystemInfo").unwrap_or_default();
                let order = file.get(&system, "Ordering");
                let collection = order.as_ref().and_then(Object::string).and_then(Collection::named);
                collection.map_or(Codes::Pairs, Codes::Numbers)
            }
            Some(Object::Name(name)) => Codes::named(&name),
            // A custom table, possibly based on a predefined one.
            Some(Object::Dict(own)) => match file.get(&own, "UseCMap") {
                Some(Object::Name(name)) => Codes::named(&name),
                _ => own.get("CMapName").and_then(Object::name).map_or(Codes::Pairs, Codes::named),
            },
            _ => Codes::Pairs,
        };
        let widths = Widths::composite(file, &descendant);
        Self { letters: Letters::Composite(codes), to_unicode, widths }
    }

    pub(super) fn take<'b>(&self, bytes: &'b [u8]) -> (Glyph, &'b [u8]) {
        let len = match &self.letters {
            Letters::Simple { .. } => 1,
            Letters::Composite(codes) => codes.len(bytes),
        };
        let (code, rest) = bytes.split_at_checked(len.max(1)).unwrap_or((bytes, &[]));
        let mapped = self.to_unicode.as_ref().and_then(|map| map.get(number(code))).map(str::to_owned);
        let letters = mapped.or_else(|| match &self.letters {
            Letters::Simple { named, base } => {
                let byte = code.first().copied().unwrap_or_default();
                match named.iter().rev().find(|(code, _)| *code == byte) {
                    Some((_, letters)) => letters.clone(),
                    None => Some(base.decode_without_bom_handling(code).0.into_owned()),
                }
            }
            Letters::Composite(codes) => codes.letters(code),
        });
        let glyph = Glyph { letters, width: self.widths.width(number(code)), is_space: code == b" " };
        (glyph, rest)
    }
}

/// Reads the base encoding and `Differences`.
fn simple(file: &mut File<'_>, dict: &Dict) -> Letters {
    let encoding = file.get(dict, "Encoding");
    let base = match &encoding {
        Some(Object::Name(name)) => Some(name.clone()),
        Some(Object::Dict(own)) => own.get("BaseEncoding").and_then(Object::name).map(<[u8]>::to_vec),
        _ => None,
    };
    let base = if base.as_deref() == Some(b"MacRomanEncoding") { MACINTOSH } else { WINDOWS_1252 };
    let differences = encoding.as_ref().and_then(Object::dict).and_then(|own| file.get(own, "Differences"));
    let mut named = Vec::new();
    let mut code = 0_u32;
    for item in differences.as_ref().and_then(Object::array).unwrap_or_default().iter().take(1_024) {
        match item {
            Object::Number(_) => code = item.index().unwrap_or_default(),
            Object::Name(name) => {
                let letters = |code| glyphs::letters(name).or_else(|| glyphs::letters_from_code(name, code));
                named.extend(u8::try_from(code).ok().map(|code| (code, letters(code))));
                code = code.saturating_add(1);
            }
            _ => {}
        }
    }
    if encoding.is_none() {
        named = built_in_encoding(file, dict);
    }
    Letters::Simple { named, base }
}

/// Reads `dup 12 /fi put` lines of a Type 1 font program.
fn built_in_encoding(file: &mut File<'_>, dict: &Dict) -> Vec<(u8, Option<String>)> {
    let descriptor = file.dict(dict, "FontDescriptor").unwrap_or_default();
    let Some(Object::Reference(number)) = descriptor.get("FontFile") else { return Vec::new() };
    let Some((_, program)) = file.stream(*number) else { return Vec::new() };
    let len = memchr::memmem::find(&program, b"eexec").unwrap_or(program.len());
    let head = program.get(..len).unwrap_or_default();
    let words: Vec<&[u8]> =
        head.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
    let named = words.windows(4).filter_map(|words| {
        let [b"dup", code, name, b"put"] = words else { return None };
        let code: u8 = std::str::from_utf8(code).ok()?.parse().ok()?;
        let letters = glyphs::letters(name.strip_prefix(b"/")?);
        Some((code, letters))
    });
    named.collect()
}
