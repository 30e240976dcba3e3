//! Locates and reads the objects of a file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use super::filters::unpack;
use super::lexer::{Lexer, Token, is_blank};
use super::object::{Dict, Object};

/// Further objects are ignored.
const MAX_OBJECTS: usize = 300_000;

/// Maximum chain of references.
const MAX_HOPS: usize = 16;

/// Maximum unpacked bytes of one stream.
const MAX_STREAM: usize = 16 << 20;

/// Reads objects on request.
pub(super) struct File<'a> {
    bytes: &'a [u8],
    places: BTreeMap<u32, Version>,
    /// Unpacked object streams.
    packed: Vec<Rc<[u8]>>,
    /// Number of the catalog.
    pub(super) root: Option<u32>,
    pub(super) is_encrypted: bool,
    /// Unpacked bytes left.
    pub(super) left: usize,
}

/// Position of an object. Files grow at the end: if two objects have the same number, the later applies.
#[derive(Clone, Copy)]
struct Version {
    /// Offset of the object, or of its object stream.
    start: usize,
    place: ObjectLocation,
}

#[derive(Clone, Copy)]
enum ObjectLocation {
    At(usize),
    In { packed: usize, at: usize },
}

impl<'a> File<'a> {
    /// Finds all objects. O(bytes of the file and of object streams).
    pub(super) fn open(bytes: &'a [u8], max_unpacked: usize) -> Self {
        let found = find_objects(bytes);
        let version =
            |object: &FoundObject| Version { start: object.start, place: ObjectLocation::At(object.start) };
        let places = found.iter().map(|object| (object.number, version(object))).collect();
        let mut file =
            Self { bytes, places, packed: Vec::new(), root: None, is_encrypted: false, left: max_unpacked };
        let owner = |at: usize| {
            let object = found.get(found.partition_point(|object| object.start <= at).checked_sub(1)?)?;
            (at < object.end).then_some(object)
        };
        // A `trailer` inside an object, such as in a text about PDF, is not the file's trailer.
        for at in memchr::memmem::find_iter(bytes, b"trailer").filter(|at| owner(*at).is_none()) {
            file.read_trailer(at + b"trailer".len());
        }
        for object in memchr::memmem::find_iter(bytes, b"/XRef").filter_map(owner) {
            file.read_trailer(object.start);
        }
        if file.root.is_none() {
            // A truncated file has no trailer.
            let catalogue = memchr::memmem::find(bytes, b"/Catalog").and_then(owner);
            file.root = catalogue.map(|object| object.number);
        }
        if !file.is_encrypted {
            let mut streams: Vec<usize> = memchr::memmem::find_iter(bytes, b"/ObjStm")
                .filter_map(owner)
                .map(|object| object.start)
                .collect();
            streams.dedup();
            for start in streams {
                file.unpack_objects(start);
            }
        }
        file
    }

    /// Updates of a file add trailers.
    fn read_trailer(&mut self, at: usize) {
        let Some(Object::Dict(trailer)) = Lexer::new(self.bytes, at).object() else { return };
        if let Some(Object::Reference(root)) = trailer.get("Root") {
            self.root = Some(*root);
        }
        self.is_encrypted |= !matches!(trailer.get("Encrypt"), None | Some(Object::Null));
    }

    fn unpack_objects(&mut self, start: usize) {
        let Some((dict, bytes)) = self.stream_at(start).filter(|(dict, _)| dict.is("Type", "ObjStm")) else {
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
            let version = Version { start, place: ObjectLocation::In { packed, at } };
            let place = self.places.entry(number).or_insert(version);
            if place.start <= start {
                *place = version;
            }
        }
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        self.places.keys().copied().collect()
    }

    pub(super) fn object(&self, number: u32) -> Option<Object> {
        match self.places.get(&number)?.place {
            ObjectLocation::At(at) => Lexer::new(self.bytes, at).object(),
            ObjectLocation::In { packed, at } => Lexer::new(self.packed.get(packed)?, at).object(),
        }
    }

    /// Follows references.
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

    pub(super) fn get(&self, dict: &Dict, key: &str) -> Option<Object> {
        dict.get(key).map(|value| self.resolve(value)).filter(|value| *value != Object::Null)
    }

    pub(super) fn dict(&self, dict: &Dict, key: &str) -> Option<Dict> {
        self.get(dict, key)?.dict().cloned()
    }

    /// Unpacks a stream within the limits.
    pub(super) fn stream(&mut self, number: u32) -> Option<(Dict, Vec<u8>)> {
        let ObjectLocation::At(at) = self.places.get(&number)?.place else { return None };
        self.stream_at(at)
    }

    fn stream_at(&mut self, at: usize) -> Option<(Dict, Vec<u8>)> {
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

    /// `at` is the end of the `stream` keyword.
    fn raw(&self, dict: &Dict, at: usize) -> Option<&'a [u8]> {
        let said = self.get(dict, "Length").and_then(|length| length.index());
        stream_bytes(self.bytes, at, said).map(|range| self.bytes.get(range).unwrap_or_default())
    }
}

/// Uses the declared length if `endstream` follows it.
fn stream_bytes(bytes: &[u8], at: usize, said: Option<u32>) -> Option<Range<usize>> {
    let rest = bytes.get(at..)?;
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    let start = bytes.len() - rest.len();
    let by_length = said.and_then(|length| rest.split_at_checked(usize::try_from(length).ok()?));
    let is_whole = |after: &[u8]| {
        let blanks = after.iter().take_while(|byte| is_blank(**byte)).count();
        after.get(blanks..).is_some_and(|after| after.starts_with(b"endstream"))
    };
    let len = match by_length {
        Some((stream, after)) if is_whole(after) => stream.len(),
        _ => memchr::memmem::find(rest, b"endstream").unwrap_or(rest.len()),
    };
    Some(start..start + len)
}

struct FoundObject {
    number: u32,
    /// After `obj`.
    start: usize,
    /// Includes the stream.
    end: usize,
}

/// Finds `12 0 obj` outside other objects, in file order. O(bytes).
fn find_objects(bytes: &[u8]) -> Vec<FoundObject> {
    let mut found = Vec::new();
    // Limits repeated reads of unterminated objects.
    let mut left = bytes.len().saturating_mul(4);
    let mut from = 0;
    while found.len() < MAX_OBJECTS
        && let Some(rest) = bytes.get(from..)
        && let Some(at) = memchr::memmem::find(rest, b"obj")
    {
        let start = from + at + b"obj".len();
        from = start;
        let Some(number) = number_before(bytes, start - b"obj".len()) else { continue };
        let end = if left > 0 { end_of(bytes, start, &mut left) } else { start };
        // The next object may begin here.
        from = end.max(start);
        found.push(FoundObject { number, start, end: from });
    }
    found
}

fn number_before(bytes: &[u8], at: usize) -> Option<u32> {
    let before = strip_blank(bytes.get(at.saturating_sub(24)..at)?)?;
    let (before, _) = strip_number(before)?;
    strip_number(strip_blank(before)?).map(|(_, number)| number)
}

/// Returns `start` if the object is unterminated.
fn end_of(bytes: &[u8], start: usize, left: &mut usize) -> usize {
    let mut lexer = Lexer::new(bytes, start);
    let object = lexer.object();
    *left = left.saturating_sub(lexer.at.saturating_sub(start));
    let end = lexer.at;
    let Some(object) = object.filter(|_| is_closed(bytes, start, end)) else { return start };
    let Object::Dict(dict) = object else { return end };
    let Some(Token::Word(b"stream")) = lexer.next() else { return end };
    let said = dict.get("Length").and_then(Object::index);
    let stream = stream_bytes(bytes, lexer.at, said);
    // An unterminated stream must not swallow the following objects.
    let is_said = |stream: &Range<usize>| said.is_some_and(|said| said as usize == stream.len());
    let stream = stream.filter(|stream| is_said(stream) || is_closed(bytes, stream.start, stream.end));
    *left = left.saturating_sub(stream.as_ref().map_or(0, ExactSizeIterator::len));
    stream.map_or(end, |stream| stream.end)
}

/// An unclosed bracket would reach the next object or the end of the file.
fn is_closed(bytes: &[u8], start: usize, end: usize) -> bool {
    let value = bytes.get(start..end).unwrap_or_default();
    end < bytes.len() && memchr::memmem::find(value, b"endobj").is_none()
}

/// Requires at least one blank.
fn strip_blank(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().rev().take_while(|byte| is_blank(**byte)).count();
    bytes.get(..bytes.len() - count).filter(|_| count > 0)
}

fn strip_number(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let count = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = bytes.split_at_checked(bytes.len() - count)?;
    Some((before, std::str::from_utf8(digits).ok()?.parse().ok()?))
}
