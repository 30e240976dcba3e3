use super::machine::Machine;
use super::program::CaseFolding;
use crate::{Error, Steps, fold};

/// Cost of a comparison with case folding.
const FOLDING_STEPS: u64 = 16;

impl Machine<'_> {
    /// An unset group matches the empty text.
    pub(super) fn group_repeated(
        &mut self,
        number: usize,
        before: bool,
        steps: &mut Steps,
    ) -> Result<bool, Error> {
        let text = self.text;
        let Some(group) = self.buffers.get(number).and_then(|group| text.get(group)) else { return Ok(true) };
        let Some(folding) = self.program.folding else { return self.literal(group, before, steps) };
        let mut chars = group.chars();
        while let Some(expected) = if before { chars.next_back() } else { chars.next() } {
            let found = if before { self.char_before() } else { self.char_after() };
            let Some(found) = equal(found, expected, folding, steps)? else { return Ok(false) };
            self.place = if before { self.place - found.len_utf8() } else { self.place + found.len_utf8() };
        }
        Ok(true)
    }
}

fn equal(
    found: Option<char>,
    expected: char,
    folding: CaseFolding,
    steps: &mut Steps,
) -> Result<Option<char>, Error> {
    let Some(found) = found else { return Ok(None) };
    if found == expected {
        steps.spend(1)?;
        return Ok(Some(found));
    }
    steps.spend(FOLDING_STEPS)?;
    let is_equal = match folding {
        CaseFolding::Upper => fold::upper(found) == fold::upper(expected),
        CaseFolding::Simple => fold::is_equal(found, expected),
    };
    Ok(Some(found).filter(|_| is_equal))
}
