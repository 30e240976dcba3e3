//! Tables loaded at run time: [`MARK`], three byte lengths (32-bit little-endian), and three tables.

use std::sync::OnceLock;

use crate::encoding::Encoding;

use super::vocabulary::Vocabulary;

/// Ends with the format version.
const MARK: &[u8; 4] = b"ctx2";

static CL100K_BASE: OnceLock<Vocabulary<'static>> = OnceLock::new();
static O200K_BASE: OnceLock<Vocabulary<'static>> = OnceLock::new();

/// Reason why tables are rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TablesError {
    /// The estimate uses no tables.
    #[error("`estimate` has no tables")]
    NoTables,
    /// Incomplete, invalid, or from another version of the crate.
    #[error("the tables have another version")]
    Malformed,
}

/// Loads the tables of an encoding for the rest of the process. Its counters are then exact.
///
/// `packed` comes from `tables` (feature `bpe`). With that feature, it is only checked. A second call changes
/// nothing. O(bytes).
pub fn load_tables(encoding: Encoding, packed: &[u8]) -> Result<(), TablesError> {
    let slot = slot(encoding).ok_or(TablesError::NoTables)?;
    if slot.get().is_none() {
        let given @ [tokens, nodes, merges] = split(packed).ok_or(TablesError::Malformed)?;
        let vocabulary = Vocabulary::new(tokens, nodes, merges);
        if vocabulary.tables().map(<[u8]>::len) != given.map(<[u8]>::len) || !vocabulary.is_sound() {
            return Err(TablesError::Malformed);
        }
        // A concurrent call stores the same tables.
        slot.get_or_init(|| Vocabulary::new(leak_table(tokens), leak_table(nodes), leak_table(merges)));
    }
    Ok(())
}

#[cfg(feature = "bpe")]
pub(super) fn pack(vocabulary: Vocabulary<'_>) -> Vec<u8> {
    let tables = vocabulary.tables();
    let length = |table: &&[u8]| u32::try_from(table.len()).unwrap_or(u32::MAX).to_le_bytes();
    let lengths: Vec<u8> = tables.iter().flat_map(length).collect();
    [MARK.as_slice(), &lengths, tables[0], tables[1], tables[2]].concat()
}

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

fn leak_table(table: &[u8]) -> &'static [u8] {
    Box::leak(table.into())
}
