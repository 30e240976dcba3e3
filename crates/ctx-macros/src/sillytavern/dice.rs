use ctx_types::internal::excerpt;
use ctx_types::phrase;

use crate::call::Failure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dice {
    pub(super) count: u64,
    pub(super) sides: u64,
    pub(super) added: i64,
}

/// `MAX_SIDES`: limit of JavaScript's exact integers.
const MAX_DICE: u64 = 10_000;
const MAX_SIDES: u64 = 1 << 53;

/// Parses `[count]d<sides>[±added]` or `<sides>`. Count and sides must not start with 0. Numbers above the
/// limits are errors.
pub(super) fn read(formula: &str) -> Result<Option<Dice>, Failure> {
    let (count, rest) = digits(formula);
    if rest.is_empty() {
        return if count.is_empty() { Ok(None) } else { dice("1", count, "0", formula) };
    }
    let Some(rest) = rest.strip_prefix(['d', 'D']) else { return Ok(None) };
    let (sides, rest) = digits(rest);
    let added = rest.strip_prefix('+').unwrap_or(rest);
    let is_sum = rest.is_empty() || rest.starts_with(['+', '-']);
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let is_digits = (rest.is_empty() || !unsigned.is_empty()) && digits(unsigned).1.is_empty();
    if !is_sum || !is_digits {
        return Ok(None);
    }
    let count = if count.is_empty() { "1" } else { count };
    dice(count, sides, if added.is_empty() { "0" } else { added }, formula)
}

fn dice(count: &str, sides: &str, added: &str, formula: &str) -> Result<Option<Dice>, Failure> {
    if sides.is_empty() || sides.starts_with('0') || count.starts_with('0') {
        return Ok(None);
    }
    let too_large =
        || Failure::from_message(phrase!("`{formula}` exceeds the dice limits", formula = excerpt(formula)));
    let count: u64 = count.parse().map_err(|_| too_large())?;
    let sides: u64 = sides.parse().map_err(|_| too_large())?;
    let added: i64 = added.parse().map_err(|_| too_large())?;
    if count > MAX_DICE || sides > MAX_SIDES {
        return Err(too_large());
    }
    Ok(Some(Dice { count, sides, added }))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(formula: &str, expected: Option<(u64, u64, i64)>) {
        let expected = expected.map(|(count, sides, added)| Dice { count, sides, added });
        assert_eq!(read(formula), Ok(expected), "{formula:?}");
    }

    #[test]
    fn reads_count_sides_and_modifier() {
        check("2d6+3", Some((2, 6, 3)));
        check("3D8-2", Some((3, 8, -2)));
        check("d20", Some((1, 20, 0)));
        check("100", Some((1, 100, 0)));
    }

    #[test]
    fn rejects_other_text() {
        for formula in ["", "d", "2d", "0d6", "2d0", "2d6+", "2d6 + 1", "x", "0", "-5", "2d6+3x", "d6d6"] {
            check(formula, None);
        }
    }

    #[test]
    fn rejects_too_many_dice() {
        for formula in ["1000000000d6", "1d99999999999999999999", "10001d6", "1d6+99999999999999999999"] {
            assert!(read(formula).is_err(), "{formula}");
        }
    }
}
