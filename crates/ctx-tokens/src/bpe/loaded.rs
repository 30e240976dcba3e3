//! Tables that the host hands over at run time: one packed file for each encoding.
//!
//! A file is [`MARK`], the lengths of the three tables in bytes (32 bits each, little-endian), and the tables.

use std::sync::OnceLock;

use crate::encoding::Encoding;

use super::vocabulary::Vocabulary;

/// What a file begins with; the last letter is the version of the layout.
const MARK: &[u8; 4] = b"ctx2";

static CL100K_BASE: OnceLock<Vocabulary<'static>> = OnceLock::new();
static O200K_BASE: OnceLock<Vocabulary<'static>> = OnceLock::new();

/// Why tables are not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TablesError {
    /// The encoding counts without tables.
    #[error("`estimate` has no tables")]
    NoTables,
    /// The bytes were not written by this version of the crate, or are not all there.
    #[error("the tables have another version")]
    Malformed,
}

/// Takes the tables of an encoding, for the rest of the process: counters of it are exact from then on.
///
/// Tables are constants in another form, so that the second time nothing changes. The bytes are those that `tables`
/// writes with the feature `bpe`; with that feature the program has its own tables, and these are only checked. Tables
/// with which counting would not end are malformed. O(bytes).
pub fn load_tables(encoding: Encoding, packed: &[u8]) -> Result<(), TablesError> {
    let slot = slot(encoding).ok_or(TablesError::NoTables)?;
    if slot.get().is_none() {
        let given @ [tokens, nodes, merges] = split(packed).ok_or(TablesError::Malformed)?;
        let vocabulary = Vocabulary::new(tokens, nodes, merges);
        if vocabulary.tables().map(<[u8]>::len) != given.map(<[u8]>::len) || !vocabulary.is_sound() {
            return Err(TablesError::Malformed);
        }
        // What another thread has put there meanwhile is the same.
        slot.get_or_init(|| Vocabulary::new(kept(tokens), kept(nodes), kept(merges)));
    }
    Ok(())
}

/// Writes tables as [`load_tables`] reads them.
#[cfg(feature = "bpe")]
pub(super) fn pack(vocabulary: Vocabulary<'_>) -> Vec<u8> {
    let tables = vocabulary.tables();
    let length = |table: &&[u8]| u32::try_from(table.len()).unwrap_or(u32::MAX).to_le_bytes();
    let lengths: Vec<u8> = tables.iter().flat_map(length).collect();
    [MARK.as_slice(), &lengths, tables[0], tables[1], tables[2]].concat()
}

/// Returns the tables that were handed over.
#[cfg(not(feature = "bpe"))]
pub(super) fn vocabulary(encoding: Encoding) -> Option<Vocabulary<'static>> {
    slot(encoding)?.get().copied()
}

fn slot(encoding: Encoding) -> Option<&'static OnceLock<Vocabulary<'static>>> {
    match encoding {
        Encoding::Estimate => None,
        Encoding::Cl100kBase => Some(&CL100K_BASE),
        Encoding::O200kBase => Some(&O200K_BASE),
    }
}

fn split(packed: &[u8]) -> Option<[&[u8]; 3]> {
    let rest = packed.strip_prefix(MARK.as_slice())?;
    let (lengths, mut rest) = rest.split_at_checked(3 * size_of::<u32>())?;
    let mut tables = [rest; 3];
    for (table, length) in tables.iter_mut().zip(lengths.as_chunks().0) {
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        (*table, rest) = rest.split_at_checked(length)?;
    }
    rest.is_empty().then_some(tables)
}

fn kept(table: &[u8]) -> &'static [u8] {
    Box::leak(table.into())
}
