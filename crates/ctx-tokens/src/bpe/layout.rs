//! How the tables of a vocabulary are packed into numbers: what the build script writes and the counting reads.
//!
//! A token is known by its number, which is also its rank: among all pairs that could be merged, the one that
//! makes the token with the lowest number is merged first.
#![allow(dead_code, reason = "the build script writes, and the counting reads")]

/// How many bits a token's number has at most: both vocabularies have less than 2^18 tokens.
pub(crate) const TOKEN_BITS: u32 = 18;

/// What is known about a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The two tokens that it was merged from; a single byte has itself on both sides.
    pub(crate) parts: (u32, u32),
    /// The longest other token that it begins with; itself if there is none.
    pub(crate) shorter: u32,
    /// Its bytes, at most 255.
    pub(crate) length: u32,
    /// Whether another token was merged from it as the left one of the two, and as the right one.
    pub(crate) is_part: (bool, bool),
}

impl Token {
    pub(crate) const fn pack(self) -> u64 {
        let (left, right) = (self.parts.0 as u64, self.parts.1 as u64);
        left | right << TOKEN_BITS
            | (self.shorter as u64) << (2 * TOKEN_BITS)
            | (self.length as u64) << (3 * TOKEN_BITS)
            | (self.is_part.0 as u64) << (u64::BITS - 2)
            | (self.is_part.1 as u64) << (u64::BITS - 1)
    }

    pub(crate) const fn unpack(packed: u64) -> Self {
        Self {
            parts: (field(packed, 0, TOKEN_BITS), field(packed, TOKEN_BITS, TOKEN_BITS)),
            shorter: field(packed, 2 * TOKEN_BITS, TOKEN_BITS),
            length: field(packed, 3 * TOKEN_BITS, 8),
            is_part: (field(packed, u64::BITS - 2, 1) == 1, field(packed, u64::BITS - 1, 1) == 1),
        }
    }
}

/// A place in the tree of all tokens, in which each step is a byte.
///
/// The tree lies in one list: the child by a byte stands at `base ^ byte`. Children of different places are told
/// apart by their bytes, as no two places have the same base; 0 is the base of those without children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Where its children stand, below 2^24.
    pub(crate) base: u32,
    /// The byte that leads here, plus one; 0 where nothing stands.
    pub(crate) label: u32,
    /// The token that ends here, plus one; 0 if none does.
    pub(crate) token: u32,
}

impl Node {
    /// Where the tree begins.
    pub(crate) const ROOT: usize = 0;

    pub(crate) const fn pack(self) -> u64 {
        self.base as u64 | (self.label as u64) << 24 | (self.token as u64) << 40
    }

    pub(crate) const fn unpack(packed: u64) -> Self {
        Self { base: field(packed, 0, 24), label: field(packed, 24, 16), token: field(packed, 40, 24) }
    }

    /// Returns where the child by `byte` would stand.
    pub(crate) const fn child(self, byte: u8) -> usize {
        (self.base ^ byte as u32) as usize
    }
}

/// What two tokens become when they are merged: an entry of a table in which it stands in its row of [`ROW`] slots, or
/// in the next row with a free one where that is full.
///
/// The two themselves are known by 14 bits of a hash, and for sure by the parts of the token they become. 0 is a
/// free slot, as the token 0 is a byte and no merge makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    /// The token that the two become.
    pub(crate) token: u32,
    /// The bits of the hash.
    pub(crate) tag: u32,
}

impl Merge {
    pub(crate) const fn pack(self) -> u32 {
        self.token | self.tag << TOKEN_BITS
    }

    pub(crate) const fn unpack(packed: u32) -> Self {
        Self { token: packed & ((1 << TOKEN_BITS) - 1), tag: packed >> TOKEN_BITS }
    }
}

/// How many slots a row of merges has: 32 bytes, half of a cache line.
pub(crate) const ROW: usize = 8;

/// Returns the row and the tag of two tokens, in a table of 2^`bits` rows (`bits` is 1 to 24).
pub(crate) const fn row_and_tag(left: u32, right: u32, bits: u32) -> (usize, u32) {
    let pair = (left as u64) << 32 | right as u64;
    // Multiplied by 2^64 divided by the golden ratio: the upper bits depend on all of both.
    let hash = (pair ^ pair >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (field(hash, 64 - bits, bits) as usize, field(hash, 16, 32 - TOKEN_BITS))
}

/// Returns up to 32 bits of a number.
#[expect(clippy::cast_possible_truncation, reason = "no caller asks for more than 24 bits")]
const fn field(packed: u64, first: u32, bits: u32) -> u32 {
    (packed >> first & ((1 << bits) - 1)) as u32
}
