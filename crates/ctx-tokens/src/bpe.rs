//! Counts with built-in or loaded tables, in linear time.

mod layout;
mod split;
mod table_loader;
mod vocabulary;

use crate::encoding::Encoding;
use crate::estimate::clamp;

use split::{pieces, splitter};
use vocabulary::{Path, Vocabulary};

pub use table_loader::{TablesError, load_tables};

/// Aligned to a cache line: no table row spans two.
#[cfg(feature = "bpe")]
#[repr(align(64))]
struct AlignedBytes<B: ?Sized>(B);

#[cfg(feature = "bpe")]
macro_rules! table {
    ($name:literal, $ending:literal) => {{
        static TABLE: &AlignedBytes<[u8]> =
            &AlignedBytes(*include_bytes!(concat!(env!("OUT_DIR"), "/", $name, $ending)));
        &TABLE.0
    }};
}

#[cfg(feature = "bpe")]
macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary::new(table!($name, ".tokens"), table!($name, ".nodes"), table!($name, ".merges"))
    };
}

#[cfg(feature = "bpe")]
static CL100K_BASE: Vocabulary<'static> = vocabulary!("cl100k_base");
#[cfg(feature = "bpe")]
static O200K_BASE: Vocabulary<'static> = vocabulary!("o200k_base");

/// Returns the tables of an encoding for [`load_tables`]; `None` for the estimate.
#[cfg(feature = "bpe")]
pub fn tables(encoding: Encoding) -> Option<Vec<u8>> {
    vocabulary(encoding).map(table_loader::pack)
}

pub(crate) fn has(encoding: Encoding) -> bool {
    vocabulary(encoding).is_some()
}

/// Requires an encoding with tables.
pub(crate) fn count_till_limit(encoding: Encoding, text: &str, limit: u32) -> Option<u32> {
    let vocabulary = vocabulary(encoding).expect("counters are created only for encodings with tables");
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut path = Path::default();
    let mut pieces = pieces(splitter(encoding), text);
    let count =
        pieces.try_fold(0, |count, piece| Some(count + vocabulary.count(piece, limit - count, &mut path)?));
    count.map(clamp)
}

/// Loads the tables, and fills the caches of the regular expressions.
pub(crate) fn load(encoding: Encoding) {
    let Some(vocabulary) = vocabulary(encoding) else { return };
    vocabulary.touch();
    let letters = [
        "aZ", "éÑ", "жЯ", "λΩ", "שא", "عب", "कि", "กา", "中文", "かカ", "한글", "😀🎉", "09", "²½", "-_",
        "…”",
    ];
    let between = ["", " ", "  ", "\n", "\r\n\n", "'s ", ", ", ".", "/", "\t", "\u{3000}"];
    let mut text = String::new();
    for first in letters {
        for second in letters {
            for space in between {
                text.extend([first, space, second]);
            }
        }
    }
    count_till_limit(encoding, &text, u32::MAX);
}

#[cfg(not(feature = "bpe"))]
fn vocabulary(encoding: Encoding) -> Option<Vocabulary<'static>> {
    table_loader::vocabulary(encoding)
}

#[cfg(feature = "bpe")]
fn vocabulary(encoding: Encoding) -> Option<Vocabulary<'static>> {
    match encoding {
        Encoding::Estimate => None,
        Encoding::Cl100kBase => Some(CL100K_BASE),
        Encoding::O200kBase => Some(O200K_BASE),
    }
}
