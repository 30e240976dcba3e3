//! Adobe character collections, for fonts without a `ToUnicode` table.
//!
//! Most ids follow the rows of a national standard, so ranges replace tables. A few symbols and later
//! supplements are not supported.

use encoding_rs::{EUC_JP, EUC_KR, Encoding, GB18030};

/// Encoding of the standard, and ids of its rows.
#[derive(Debug)]
pub(super) struct Collection {
    name: &'static [u8],
    encoding: &'static Encoding,
    /// Ids of the space in each ASCII range.
    ascii: &'static [u32],
    rows: &'static [Rows],
}

/// Consecutive characters of the standard, 94 per row.
#[derive(Debug)]
struct Rows {
    first: u32,
    count: u32,
    row: u32,
    cell: u32,
}

const fn rows(first: u32, count: u32, row: u32, cell: u32) -> Rows {
    Rows { first, count, row, cell }
}

const CELLS: u32 = 94;

static COLLECTIONS: [Collection; 3] = [
    Collection {
        name: b"Japan1",
        encoding: EUC_JP,
        ascii: &[1, 231],
        rows: &[
            rows(633, 94, 1, 1),
            // Digits, Latin letters, kana, Greek, Cyrillic.
            rows(780, 10, 3, 16),
            rows(790, 26, 3, 33),
            rows(816, 26, 3, 65),
            rows(842, 83, 4, 1),
            rows(925, 86, 5, 1),
            rows(1_011, 24, 6, 1),
            rows(1_059, 33, 7, 1),
            // Kanji levels 1 and 2.
            rows(1_125, 2_965, 16, 1),
            rows(4_090, 3_388, 48, 1),
        ],
    },
    Collection {
        name: b"GB1",
        encoding: GB18030,
        ascii: &[1, 813],
        rows: &[rows(96, 94, 1, 1), rows(262, 94, 3, 1), rows(940, 3_755, 16, 1), rows(4_695, 3_008, 56, 1)],
    },
    Collection {
        name: b"Korea1",
        encoding: EUC_KR,
        ascii: &[1],
        rows: &[rows(101, 94, 1, 1), rows(1_086, 2_350, 16, 1)],
    },
];

impl Collection {
    pub(super) fn named(order: &[u8]) -> Option<&'static Self> {
        COLLECTIONS.iter().find(|collection| collection.name == order)
    }

    pub(super) fn letters(&self, number: u32) -> Option<String> {
        let ascii = self.ascii.iter().find_map(|blank| number.checked_sub(*blank).filter(|at| *at < CELLS));
        if let Some(letter) = ascii.and_then(|at| char::from_u32(0x20 + at)) {
            return Some(letter.to_string());
        }
        let (rows, at) = self.rows.iter().find_map(|rows| {
            let at = number.checked_sub(rows.first).filter(|at| *at < rows.count)?;
            Some((rows, at + rows.cell - 1))
        })?;
        let byte = |number: u32| u8::try_from(0xa0 + number).ok();
        let code = [byte(rows.row + at / CELLS)?, byte(1 + at % CELLS)?];
        let letters = self.encoding.decode_without_bom_handling_and_without_replacement(&code)?;
        Some(letters.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: &[(u32, &str)]) {
        let collection = Collection::named(name.as_bytes()).unwrap();
        for (number, letter) in expected {
            assert_eq!(collection.letters(*number).unwrap_or_default(), *letter, "{number}");
        }
    }

    #[test]
    fn maps_numbers_to_standard_characters() {
        check(
            "Japan1",
            &[(34, "A"), (264, "A"), (634, "、"), (780, "０"), (842, "ぁ"), (925, "ァ"), (1_125, "亜")],
        );
        check("Japan1", &[(4_089, "腕"), (4_090, "弌"), (7_477, "瑤"), (8_284, ""), (0, ""), (u32::MAX, "")]);
        check(
            "GB1",
            &[(34, "A"), (98, "。"), (273, "，"), (814, "!"), (940, "啊"), (4_694, "座"), (7_702, "齄")],
        );
        check("Korea1", &[(34, "A"), (103, "。"), (1_086, "가"), (3_435, "힝"), (3_436, "")]);
        assert!(Collection::named(b"Identity").is_none());
    }
}
