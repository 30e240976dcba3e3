//! A first look over a pattern: its number of groups decides what `\1` and `\k` mean before them.

use crate::Flags;
use crate::cursor::Cursor;

/// What has to be known before a pattern is read.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// How many capture groups there are.
    pub(super) groups: usize,
    /// Whether any of them has a name.
    pub(super) named: bool,
}

impl Survey {
    /// Counts the groups of `pattern`. O(n).
    pub(super) fn of(pattern: &str, flags: Flags) -> Self {
        let nested_classes = flags.contains(Flags::UNICODE_SETS);
        let mut survey = Self::default();
        let mut cursor = Cursor::new(pattern);
        let mut open_classes = 0_usize;
        while let Some(c) = cursor.bump() {
            match c {
                '\\' => drop(cursor.bump()),
                '[' if open_classes == 0 || nested_classes => open_classes += 1,
                ']' => open_classes = open_classes.saturating_sub(1),
                '(' if open_classes == 0 => survey.open_group(cursor),
                _ => {}
            }
        }
        survey
    }

    fn open_group(&mut self, after: Cursor<'_>) {
        let lookbehind = after.starts_with("?<=") || after.starts_with("?<!");
        let named = after.starts_with("?<") && !lookbehind;
        self.named |= named;
        self.groups += usize::from(named || !after.starts_with("?"));
    }
}
