//! Minimal ZIP reader: the central directory, and stored or deflated members.
//!
//! The crate `zip` depends on a random number generator, which the lower layers exclude.

use std::collections::BTreeMap;
use std::io::Read as _;

use ctx_types::ports::{PortError, PortErrorKind};
use ctx_types::{Phrase, phrase};
use flate2::read::DeflateDecoder;

use crate::DocumentLimits;
use crate::reader::invalid;

const MAX_MEMBERS: usize = 4_096;

/// Maximum size of the end record: 22 bytes and a comment.
const LAST_RECORD: usize = 22 + 65_535;

/// An archive with a limit for the total unpacked bytes.
pub(super) struct Archive<'a> {
    bytes: &'a [u8],
    members: BTreeMap<&'a [u8], Member>,
    /// Unpacked bytes left.
    left: usize,
}

#[derive(Clone, Copy)]
struct Member {
    is_encrypted: bool,
    method: u16,
    packed: usize,
    at: usize,
}

impl<'a> Archive<'a> {
    /// If two members have the same name, the first applies.
    pub(super) fn open(bytes: &'a [u8], limits: &DocumentLimits) -> Result<Self, PortError> {
        let tail = bytes.len().saturating_sub(LAST_RECORD);
        let last = bytes.get(tail..).and_then(|tail| memchr::memmem::rfind(tail, b"PK\x05\x06"));
        let last =
            last.ok_or_else(|| invalid(phrase!("it is not a ZIP archive, or it is truncated")))? + tail;
        let count = usize::from(number(bytes, last + 10)?);
        if count > MAX_MEMBERS {
            return Err(too_large(phrase!(
                "it has {count} archive members; the limit is {limit}",
                count,
                limit = MAX_MEMBERS
            )));
        }
        let mut at = long(bytes, last + 16)?;
        let mut members = BTreeMap::new();
        for _ in 0..count {
            if bytes.get(at..at + 4) != Some(b"PK\x01\x02") {
                return Err(invalid(phrase!("its archive directory is damaged")));
            }
            let name_len = usize::from(number(bytes, at + 28)?);
            let name = bytes.get(at + 46..at + 46 + name_len).ok_or_else(truncation_error)?;
            let member = Member {
                is_encrypted: number(bytes, at + 8)? & 1 == 1,
                method: number(bytes, at + 10)?,
                packed: long(bytes, at + 20)?,
                at: long(bytes, at + 42)?,
            };
            members.entry(name).or_insert(member);
            at += 46 + name_len + usize::from(number(bytes, at + 30)?) + usize::from(number(bytes, at + 32)?);
        }
        Ok(Self { bytes, members, left: limits.unpacked_bytes })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.members.keys().copied().filter_map(|name| std::str::from_utf8(name).ok())
    }

    /// Returns `None` if the member is missing.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, PortError> {
        let Some(member) = self.members.get(name.as_bytes()).copied() else { return Ok(None) };
        let bytes = self.unpack(member)?;
        // A byte order mark declares UTF-16.
        let text = match encoding_rs::Encoding::for_bom(&bytes) {
            Some((encoding, _)) => encoding.decode(&bytes).0.into_owned(),
            None => String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        };
        Ok(Some(text))
    }

    /// Returns a required member.
    pub(super) fn expect(&mut self, name: &str) -> Result<String, PortError> {
        self.text(name)?.ok_or_else(|| invalid(phrase!("it has no `{name}`", name)))
    }

    fn unpack(&mut self, member: Member) -> Result<Vec<u8>, PortError> {
        if member.is_encrypted {
            return Err(PortError::new(PortErrorKind::Denied, phrase!("it is password-protected")));
        }
        let Member { at, packed, .. } = member;
        let names = usize::from(number(self.bytes, at + 26)?) + usize::from(number(self.bytes, at + 28)?);
        let start = at + 30 + names;
        let packed = self.bytes.get(start..start.saturating_add(packed)).ok_or_else(truncation_error)?;
        let most = self.left;
        let mut bytes = Vec::new();
        let limit = most as u64 + 1;
        let read = match member.method {
            0 => packed.take(limit).read_to_end(&mut bytes),
            8 => DeflateDecoder::new(packed).take(limit).read_to_end(&mut bytes),
            other => {
                return Err(invalid(phrase!(
                    "it uses the unsupported compression method {method}",
                    method = other
                )));
            }
        };
        read.map_err(|_| invalid(phrase!("an archive member is damaged")))?;
        self.left = most
            .checked_sub(bytes.len())
            .ok_or_else(|| too_large(phrase!("its unpacked size exceeds the limit")))?;
        Ok(bytes)
    }
}

fn number(bytes: &[u8], at: usize) -> Result<u16, PortError> {
    let found = bytes.get(at..at + 2).and_then(|found| found.try_into().ok());
    found.map(u16::from_le_bytes).ok_or_else(truncation_error)
}

/// The maximum value means a ZIP64 size, which is not supported.
fn long(bytes: &[u8], at: usize) -> Result<usize, PortError> {
    let found = bytes.get(at..at + 4).and_then(|found| found.try_into().ok());
    let found = found.map(u32::from_le_bytes).ok_or_else(truncation_error)?;
    match usize::try_from(found) {
        Ok(found) if found < u32::MAX as usize => Ok(found),
        _ => Err(too_large(phrase!("it contains archive members of more than 4 GiB"))),
    }
}

fn truncation_error() -> PortError {
    invalid(phrase!("it is truncated"))
}

fn too_large(detail: Phrase) -> PortError {
    PortError::new(PortErrorKind::TooLarge, detail)
}
