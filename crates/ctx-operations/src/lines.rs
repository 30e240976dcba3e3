//! Lines and columns of a text.

/// The lines of a text, and its characters: made once, so that finding a place costs little.
#[derive(Debug)]
pub struct Lines {
    /// Where each line begins.
    starts: Vec<usize>,
    /// How many characters begin before each block of [`BLOCK`] bytes.
    characters: Vec<usize>,
}

/// How many bytes are counted one by one at the most.
const BLOCK: usize = 1_024;

impl Lines {
    /// O(size of the text).
    pub fn of(text: &str) -> Self {
        let starts = text.match_indices('\n').map(|(newline, _)| newline + 1);
        let mut count = 0;
        let before = |block: &[u8]| {
            let before = count;
            count += block.iter().filter(|byte| begins_character(**byte)).count();
            before
        };
        let characters = text.as_bytes().chunks(BLOCK).map(before).collect();
        Self { starts: std::iter::once(0).chain(starts).collect(), characters }
    }

    /// Returns the line, from 1, that a byte is in, and where it begins. O(log lines).
    pub fn line(&self, byte: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= byte);
        (line, self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0))
    }

    /// Returns the column, from 1, that a byte of the text has in its line. O(log lines).
    pub fn column(&self, text: &str, byte: usize) -> usize {
        let (_, start) = self.line(byte);
        self.characters(text, byte) - self.characters(text, start) + 1
    }

    fn characters(&self, text: &str, byte: usize) -> usize {
        let byte = byte.min(text.len());
        let block = (byte / BLOCK).min(self.characters.len().saturating_sub(1));
        let rest = text.as_bytes().get(block * BLOCK..byte).unwrap_or_default();
        let rest = rest.iter().filter(|byte| begins_character(**byte)).count();
        self.characters.get(block).map_or(0, |before| before + rest)
    }

    /// Returns the byte of a line and column, both from 1, columns in characters.
    pub fn byte(&self, text: &str, line: usize, column: usize) -> Option<usize> {
        let start = *self.starts.get(line.saturating_sub(1))?;
        let rest = text.get(start..)?;
        let offset = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(byte, _)| byte);
        Some(start + offset)
    }
}

/// Returns whether a byte of UTF-8 is the first one of a character.
const fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn columns_are_right_in_every_block() {
        for length in [0, 510, 511, 1_021, 1_022, 1_023, 5_000] {
            let text = format!("a\nb{}x", "é".repeat(length));
            assert_eq!(Lines::of(&text).column(&text, text.len() - 1), length + 2);
            assert_eq!(Lines::of(&text).column(&text, text.len()), length + 3);
        }
        assert_eq!(Lines::of("").column("", 0), 1);
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let lines = Lines::of("a\né b\n");
        assert_eq!((lines.line(0), lines.line(2), lines.line(7)), ((1, 0), (2, 2), (3, 7)));
        assert_eq!(lines.byte("a\né b\n", 2, 3), Some(5));
        assert_eq!((lines.byte("a\né b\n", 3, 9), lines.byte("a\né b\n", 4, 1)), (Some(7), None));
    }
}
