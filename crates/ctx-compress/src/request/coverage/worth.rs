//! What a word is worth.

use crate::request::coverage::vocabulary::Kind;

/// Returns what a word is worth, in 256ths, that occurs in `with` of so many units.
///
/// Rare words are worth more, but one that occurs once only is hardly spoken of. Numbers, ids, names, titles and
/// what calls were made with are what later turns need to the letter.
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
