//! The worth of words.

use crate::request::coverage::vocabulary::Kind;

/// Returns the worth, in 256ths, of a word in `with` of this many units.
///
/// Rare words are worth more, but less if they occur only once. Numbers, ids, names, titles and arguments of calls are
/// worth more because later turns need them unchanged.
pub(super) fn worth(units: usize, with: u32, kind: Kind) -> u32 {
    const FLOOR: f64 = 0.3;
    const ONCE: f64 = 0.6;
    const DIGITS: f64 = 4.0;
    const SMALL_NUMBER: f64 = 0.35;
    const MIXED: f64 = 2.0;
    const NAME: f64 = 3.0;
    const TITLE: f64 = 2.0;
    const ARGUMENT: f64 = 2.0;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let rarity = (1.0 + units as f64 / f64::from(with.max(1))).ln() - FLOOR;
    let factors = [
        (with == 1, ONCE),
        (kind.is(Kind::DIGIT), DIGITS),
        (kind.is(Kind::SMALL_NUMBER), SMALL_NUMBER),
        (kind.is(Kind::MIXED), MIXED),
        (kind.is(Kind::NAME) && !kind.is(Kind::DIGIT), NAME),
        (kind.is(Kind::QUOTED), TITLE),
        (kind.is(Kind::ARGUMENT), ARGUMENT),
    ];
    let worth =
        factors.iter().filter(|(holds, _)| *holds).fold(rarity.max(0.0), |worth, (_, factor)| worth * factor);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most some thousands, not negative"
    )]
    // Whole numbers, so that the last bit of a logarithm changes nothing.
    let rounded = (worth * 256.0).round() as u32;
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::coverage::vocabulary::Vocabulary;
    use crate::request::coverage::words::Word;

    /// Makes the kind of a word that is a name, quoted, an argument.
    fn kind(stem: &str, [is_name, is_quoted, is_argument]: [bool; 3]) -> Kind {
        let mut vocabulary = Vocabulary::default();
        vocabulary.add(Word { stem, is_name, is_quoted });
        if is_argument {
            vocabulary.add_argument(0);
        }
        vocabulary.into_kinds()[0]
    }

    /// The factor relative to a plain word, in percent.
    #[track_caller]
    fn check(stem: &str, is: [bool; 3], expected: u32) {
        let plain = worth(1_000_000, 2, Kind::default());
        let share = f64::from(worth(1_000_000, 2, kind(stem, is))) * 100.0 / f64::from(plain);
        assert!((share - f64::from(expected)).abs() < 0.5, "{share}");
    }

    #[test]
    fn what_later_turns_need_to_the_letter_is_worth_more() {
        let [plain, name, quoted, argument] =
            [[false; 3], [true, false, false], [false, true, false], [false, false, true]];
        check("lake", plain, 100);
        check("lake", name, 300);
        check("lake", quoted, 200);
        check("lake", argument, 200);
        check("2026-05-01", plain, 400);
        check("2026-05-01", name, 400);
        check("12", plain, 140);
        check("b-7", plain, 800);
        check("b-7", [true; 3], 3_200);
    }

    #[test]
    fn rare_words_are_worth_more_and_those_that_come_once_a_little_less() {
        let worth = |units, with| worth(units, with, Kind::default());
        // In 256ths: the logarithm of 1 + units / with, minus 0.3; a word that occurs once gets 0.6 of that.
        assert_eq!([worth(100, 1), worth(100, 2), worth(100, 10), worth(100, 100)], [663, 930, 537, 101]);
        assert_eq!([worth(0, 1), worth(1, 10), worth(10, 0)], [0, 0, 537]);
    }
}
