//! Finds the groups in advance, because they affect earlier `\1` and `\k`.

use crate::Flags;
use crate::cursor::Cursor;

#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) groups: usize,
    pub(super) named: bool,
}

impl Survey {
    /// O(n).
    pub(super) fn read(pattern: &str, flags: Flags) -> Self {
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
