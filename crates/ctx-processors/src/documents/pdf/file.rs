//! The objects of a file: where they stand, and what they are.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::filters::unpack;
use super::lexer::{Lexer, Token, is_blank};
use super::object::{Dict, Object};

/// The most objects that a file may have; those behind them do not exist.
const MAX_OBJECTS: usize = 300_000;

/// How many references may lead from one to the next.
const MAX_HOPS: usize = 16;

/// The most bytes that one stream unpacks to.
const MAX_STREAM: usize = 16 << 20;

/// A file, of which objects are read when they are asked for.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    places: BTreeMap<u32, Place>,
    /// What objects that are packed together unpack to.
    packed: Vec<Rc<[u8]>>,
    /// The number of the catalogue.
    pub(super) root: Option<u32>,
    pub(super) is_encrypted: bool,
    /// How many bytes may still be unpacked.
    pub(super) left: usize,
}

#[derive(Clone, Copy)]
enum Place {
    /// In the file, behind its `obj`.
    At(usize),
    /// In what was packed.
    In { packed: usize, at: usize },
}

impl<'a> File<'a> {
    /// Looks for all objects; of two with one number the later counts, as files grow at their end.
    ///
    /// O(bytes of the file and of packed objects).
    pub(super) fn open(bytes: &'a [u8], max_unpacked: usize) -> Self {
        let found = find_objects(bytes);
        let places = found.iter().map(|(at, number)| (*number, Place::At(*at))).collect();
        let mut file =
            Self { bytes, places, packed: Vec::new(), root: None, is_encrypted: false, left: max_unpacked };
        for at in memchr::memmem::find_iter(bytes, b"trailer") {
            file.read_trailer(at + b"trailer".len());
        }
        let owner = |at: usize| found.get(found.partition_point(|(start, _)| *start <= at).checked_sub(1)?);
        for at in memchr::memmem::find_iter(bytes, b"/XRef") {
            if let Some((start, _)) = owner(at) {
                file.read_trailer(*start);
            }
        }
        if file.root.is_none() {
            // A file that is cut off has lost its end, where that would be said.
            let catalogue = memchr::memmem::find(bytes, b"/Catalog").and_then(owner);
            file.root = catalogue.map(|(_, number)| *number);
        }
        if !file.is_encrypted {
            let streams: Vec<u32> = memchr::memmem::find_iter(bytes, b"/ObjStm")
                .filter_map(owner)
                .map(|(_, number)| *number)
                .collect();
            for number in streams {
                file.unpack_objects(number);
            }
        }
        file
    }

    /// Reads what stands at the end of a file, or of a version of it.
    fn read_trailer(&mut self, at: usize) {
        let Some(Object::Dict(trailer)) = Lexer::new(self.bytes, at).object() else { return };
        if let Some(Object::Reference(root)) = trailer.get("Root") {
            self.root = Some(*root);
        }
        self.is_encrypted |= !matches!(trailer.get("Encrypt"), None | Some(Object::Null));
    }

    /// Unpacks a stream of objects: pairs of number and place, then the objects.
    fn unpack_objects(&mut self, number: u32) {
        let Some((dict, bytes)) = self.stream(number).filter(|(dict, _)| dict.is("Type", "ObjStm")) else {
            return;
        };
        let count = dict.get("N").and_then(Object::index).unwrap_or_default() as usize;
        let first = dict.get("First").and_then(Object::index).unwrap_or_default() as usize;
        let mut lexer = Lexer::new(&bytes, 0);
        let mut places = Vec::new();
        for _ in 0..count.min(MAX_OBJECTS.saturating_sub(self.places.len())) {
            let (Some(number), Some(at)) = (lexer.object(), lexer.object()) else { break };
            places.extend(number.index().zip(at.index()));
        }
        let packed = self.packed.len();
        self.packed.push(bytes.into());
        for (number, at) in places {
            let at = first.saturating_add(at as usize);
            self.places.entry(number).or_insert(Place::In { packed, at });
        }
    }

    /// Returns the numbers of all objects.
    pub(super) fn numbers(&self) -> Vec<u32> {
        self.places.keys().copied().collect()
    }

    /// Returns an object by its number.
    pub(super) fn object(&self, number: u32) -> Option<Object> {
        match *self.places.get(&number)? {
            Place::At(at) => Lexer::new(self.bytes, at).object(),
            Place::In { packed, at } => Lexer::new(self.packed.get(packed)?, at).object(),
        }
    }

    /// Follows references to a value that is none.
    pub(super) fn resolve(&self, object: &Object) -> Object {
        let mut object = object.clone();
        for _ in 0..MAX_HOPS {
            match object {
                Object::Reference(number) => object = self.object(number).unwrap_or(Object::Null),
                other => return other,
            }
        }
        Object::Null
    }

    /// Returns a value of a dictionary, with references followed.
    pub(super) fn get(&self, dict: &Dict, key: &str) -> Option<Object> {
        dict.get(key).map(|value| self.resolve(value)).filter(|value| *value != Object::Null)
    }

    pub(super) fn dict(&self, dict: &Dict, key: &str) -> Option<Dict> {
        self.get(dict, key)?.dict().cloned()
    }

    /// Returns a stream with its dictionary, unpacked as far as limits allow.
    pub(super) fn stream(&mut self, number: u32) -> Option<(Dict, Vec<u8>)> {
        let Place::At(at) = *self.places.get(&number)? else { return None };
        let mut lexer = Lexer::new(self.bytes, at);
        let Object::Dict(dict) = lexer.object()? else { return None };
        let Some(Token::Word(b"stream")) = lexer.next() else { return None };
        let raw = self.raw(&dict, lexer.at)?;
        let filters = match self.get(&dict, "Filter") {
            None => Vec::new(),
            Some(Object::Array(filters)) => filters.iter().map(|filter| self.resolve(filter)).collect(),
            Some(filter) => vec![filter],
        };
        let max_bytes = self.left.min(MAX_STREAM);
        let mut bytes = raw.get(..raw.len().min(max_bytes))?.to_vec();
        for (index, filter) in filters.iter().take(4).enumerate() {
            let source = if index == 0 { raw } else { &bytes };
            bytes = unpack(source, filter.name()?, max_bytes)?;
        }
        self.left = self.left.saturating_sub(bytes.len());
        Some((dict, bytes))
    }

    /// Returns the bytes of a stream whose keyword ends at a place: as many as it says, if `endstream` follows them.
    fn raw(&self, dict: &Dict, at: usize) -> Option<&'a [u8]> {
        let rest = self.bytes.get(at..)?;
        let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
        let said = self.get(dict, "Length").and_then(|length| length.index());
        let by_length = said.and_then(|length| rest.split_at_checked(usize::try_from(length).ok()?));
        let is_whole = |after: &[u8]| {
            let blanks = after.iter().take_while(|byte| is_blank(**byte)).count();
            after.get(blanks..).is_some_and(|after| after.starts_with(b"endstream"))
        };
        match by_length {
            Some((stream, after)) if is_whole(after) => Some(stream),
            _ => rest.get(..memchr::memmem::find(rest, b"endstream").unwrap_or(rest.len())),
        }
    }
}

/// Finds `12 0 obj` everywhere; returns where each object begins, in order, and its number.
fn find_objects(bytes: &[u8]) -> Vec<(usize, u32)> {
    let found = memchr::memmem::find_iter(bytes, b"obj").filter_map(|at| {
        let before = bytes.get(at.saturating_sub(24)..at)?;
        let before = strip_blank(before)?;
        let (before, _) = strip_number(before)?;
        let (_, number) = strip_number(strip_blank(before)?)?;
        Some((at + b"obj".len(), number))
    });
    found.take(MAX_OBJECTS).collect()
}

/// Takes blanks off the end; there must be some.
fn strip_blank(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().rev().take_while(|byte| is_blank(**byte)).count();
    bytes.get(..bytes.len() - count).filter(|_| count > 0)
}

/// Takes a number off the end.
fn strip_number(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let count = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = bytes.split_at_checked(bytes.len() - count)?;
    Some((before, std::str::from_utf8(digits).ok()?.parse().ok()?))
}
