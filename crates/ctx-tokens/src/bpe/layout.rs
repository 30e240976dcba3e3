//! Packed format of a vocabulary, shared with the build script.
//!
//! The number of a token is its rank: the pair that makes the lowest number merges first.
#![allow(dead_code, reason = "build script and crate use different parts")]

/// Both vocabularies have fewer than 2^18 tokens.
pub(crate) const TOKEN_BITS: u32 = 18;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The tokens that merge to this one; a single byte has itself twice.
    pub(crate) parts: (u32, u32),
    /// Longest other token that is a prefix, or itself.
    pub(crate) shorter: u32,
    /// Bytes, at most 255.
    pub(crate) length: u32,
    /// Whether it is the left or right part of another token.
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

/// A node of the token trie, in which each edge is a byte.
///
/// The child for a byte is at index `base ^ byte`. Each base is unique, so a label identifies the child.
/// Leaves have base 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// Below 2^24.
    pub(crate) base: u32,
    /// Byte of the edge to this node, plus 1; 0 in an empty slot.
    pub(crate) label: u32,
    /// Token that ends here, plus 1, or 0.
    pub(crate) token: u32,
}

impl Node {
    pub(crate) const ROOT: usize = 0;

    pub(crate) const fn pack(self) -> u64 {
        self.base as u64 | (self.label as u64) << 24 | (self.token as u64) << 40
    }

    pub(crate) const fn unpack(packed: u64) -> Self {
        Self { base: field(packed, 0, 24), label: field(packed, 24, 16), token: field(packed, 40, 24) }
    }

    pub(crate) const fn child(self, byte: u8) -> usize {
        (self.base ^ byte as u32) as usize
    }
}

/// Result of a merge, stored in its row of [`ROW`] slots or in the next row with space.
///
/// The tag is a 14-bit hash of the pair; the parts of the result confirm a match. 0 is a free slot, since
/// token 0 is a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merge {
    pub(crate) token: u32,
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

/// A row fills half a cache line.
pub(crate) const ROW: usize = 8;

/// Returns row and tag of a pair in a table of 2^`bits` rows (1 to 24).
pub(crate) const fn row_and_tag(left: u32, right: u32, bits: u32) -> (usize, u32) {
    let pair = (left as u64) << 32 | right as u64;
    // 2^64 divided by the golden ratio.
    let hash = (pair ^ pair >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (field(hash, 64 - bits, bits) as usize, field(hash, 16, 32 - TOKEN_BITS))
}

#[expect(clippy::cast_possible_truncation, reason = "`bits` is at most 24")]
const fn field(packed: u64, first: u32, bits: u32) -> u32 {
    (packed >> first & ((1 << bits) - 1)) as u32
}
