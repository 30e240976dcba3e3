//! Numbers with what they are numbers of.

use crate::quality::lex::{Form, Kind, Lexed};
use crate::quality::lexicon::{is_common, is_stop};
use crate::quality::numerals;
use crate::quality::units::{self, Dimension, ONE, Quantity, Unit, decimal, magnitude, measure};
use crate::request::is_filler;

/// An amount, and how it stands in its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) quantity: Quantity,
    /// The token after it.
    pub(super) next: usize,
    /// The token after what it counts.
    pub(super) shown: usize,
    /// Whether it says too little to be told as a fact, as the number of a line does.
    pub(super) is_weak: bool,
}

/// What a number is written as.
#[derive(Clone, Copy)]
struct Read {
    value: i128,
    next: usize,
    is_words: bool,
}

/// Numbers up to this one, without a unit, are told so often that they say little by themselves.
const SMALL: i128 = 12 * ONE;

/// Returns the amount that begins at a token.
pub(super) fn amount(lexed: &Lexed<'_>, at: usize) -> Option<Amount> {
    let (sign, begin) = currency_before(lexed, at);
    let read = number(lexed, begin)?;
    let (factor, next) = magnitude_after(lexed, &read, sign.is_some());
    let value = read.value.checked_mul(factor)?;
    let (after, next) = unit_after(lexed, next, begin);
    let unit = sign.or(after);
    let quantity = Quantity::new(if is_negative(lexed, at) { -value } else { value }, unit);
    let quantity = Quantity { is_count: unit.is_none() && counts(lexed, next), ..quantity };
    let is_weak = unit.is_none() && quantity.raw >= 0 && is_weak(lexed, at, next, value, read.is_words);
    (!is_idiom(lexed, begin, next, &quantity)).then_some(Amount {
        quantity,
        next,
        shown: next + usize::from(quantity.is_count),
        is_weak,
    })
}

/// Reads a currency before a number: `$`, `US$`, `EUR`.
fn currency_before(lexed: &Lexed<'_>, at: usize) -> (Option<Unit>, usize) {
    if let Some(sign) = lexed.mark(at).filter(|sign| *sign != '%').and_then(units::of_sign) {
        return (Some(sign), at + 1);
    }
    let is_money = |unit: &Unit| matches!(unit.dimension, Dimension::Money(_));
    let word = lexed.str(at);
    let letters = lexed.kind(at) == Some(Kind::Word)
        && word.len() == 3
        && word.bytes().all(|byte| byte.is_ascii_uppercase());
    match units::of_word(word, false).filter(|unit| letters && is_money(unit)) {
        Some(unit) if matches!(lexed.kind(at + 1), Some(Kind::Number | Kind::Measure)) => {
            (Some(unit), at + 1)
        }
        _ => (None, at),
    }
}

fn number(lexed: &Lexed<'_>, at: usize) -> Option<Read> {
    match lexed.kind(at)? {
        Kind::Number => Some(Read { value: decimal(lexed.str(at))?, next: at + 1, is_words: false }),
        Kind::Measure => {
            Some(Read { value: decimal(measure(lexed.str(at))?.0)?, next: at + 1, is_words: false })
        }
        Kind::Han => chinese(lexed, at),
        Kind::Word => english(lexed, at),
        _ => None,
    }
}

fn chinese(lexed: &Lexed<'_>, at: usize) -> Option<Read> {
    let percent = lexed.has_han(at, "百分之");
    let begin = at + if percent { 3 } else { 0 };
    if percent && lexed.kind(begin) == Some(Kind::Number) {
        return Some(Read { value: decimal(lexed.str(begin))?, next: begin + 1, is_words: false });
    }
    let (value, length) = numerals::chinese((begin..).map_while(|at| lexed.han(at)))?;
    let next = begin + length;
    // `三点五` is a fraction if it is no time, and times are read before numbers.
    let fraction = lexed.han(next + 1).filter(|_| lexed.han(next) == Some('点')).and_then(numerals::digit);
    match fraction {
        Some(digit) => Some(Read { value: value + digit * ONE / 10, next: next + 2, is_words: true }),
        None => Some(Read { value, next, is_words: true }),
    }
}

/// Reads English words: `twenty-five`, `two hundred and fifty`, `five thousand`.
fn english(lexed: &Lexed<'_>, at: usize) -> Option<Read> {
    const MOST: usize = 12;
    let word = |at: usize| lexed.str(at).to_ascii_lowercase();
    let is_article = matches!(&*word(at), "a" | "an")
        && matches!(&*word(at + 1), "hundred" | "thousand" | "million" | "dozen" | "billion");
    let begin = if is_article { at + 1 } else { at };
    let (mut total, mut section, mut next, mut is_any) = (0_i128, 0_i128, begin, false);
    while next < begin + MOST {
        let text = word(next);
        if let Some(value) = numerals::english(&text) {
            // `two three` are two numbers.
            let fits = section == 0
                || (section % 100 == 0)
                || (section % 10 == 0 && section % 100 >= 20 && value < 10);
            if !fits {
                break;
            }
            section += value;
        } else if text == "hundred" && (is_any || is_article) {
            section = section.max(1) * 100;
        } else if let Some(power) = magnitude(&text).filter(|_| text.len() > 2 && (is_any || is_article)) {
            total += section.max(1) * power;
            section = 0;
        } else {
            let joins = (text == "and" && is_any) || lexed.mark(next) == Some('-');
            let goes_on = joins
                && numerals::english(&word(next + 1)).is_some()
                && (section + total) >= 20 * i128::from(is_any);
            if !goes_on {
                break;
            }
        }
        is_any = true;
        next += 1;
    }
    is_any.then_some(Read { value: (total + section) * ONE, next, is_words: true })
}

/// Reads what multiplies a number: letters that belong to it, a word, or Chinese powers of ten.
fn magnitude_after(lexed: &Lexed<'_>, read: &Read, is_money: bool) -> (i128, usize) {
    let attached = read
        .next
        .checked_sub(1)
        .and_then(|at| measure(lexed.str(at)).filter(|_| lexed.kind(at) == Some(Kind::Measure)));
    if let Some((_, letters)) = attached {
        // `$5m` are millions, `5m` are metres.
        let factor = if is_money && letters == "m" { Some(1_000_000) } else { magnitude(letters) };
        return (factor.unwrap_or(1), read.next);
    }
    let word = lexed.str(read.next);
    if let Some(factor) =
        magnitude(word).filter(|_| lexed.kind(read.next) == Some(Kind::Word) && (word.len() > 2 || is_money))
    {
        return (factor, read.next + 1);
    }
    let powers = (read.next..)
        .map_while(|at| lexed.han(at).and_then(numerals::power))
        .take(3)
        .filter(|_| !read.is_words);
    powers.fold((1, read.next), |(factor, next), power| (factor * power, next + 1))
}

/// Reads the unit behind a number.
fn unit_after(lexed: &Lexed<'_>, next: usize, begin: usize) -> (Option<Unit>, usize) {
    let is_percent = begin.checked_sub(0).is_some_and(|at| lexed.has_han(at, "百分之"));
    if is_percent {
        return (units::of_sign('%'), next);
    }
    if let Some((_, letters)) = next
        .checked_sub(1)
        .filter(|at| lexed.kind(*at) == Some(Kind::Measure))
        .and_then(|at| measure(lexed.str(at)))
    {
        let unit = if magnitude(letters).is_some() { None } else { units::of_word(letters, true) };
        if unit.is_some() {
            return (unit, next);
        }
    }
    if let Some(unit) = lexed.mark(next).filter(|_| lexed.touches(next)).and_then(units::of_sign) {
        return (Some(unit), next + 1);
    }
    if lexed.mark(next) == Some('°') {
        return (units::of_word(lexed.str(next + 1), false), next + 2);
    }
    // `20-year-old`, `a 5-day trip`.
    let skip = usize::from(
        lexed.mark(next) == Some('-') && lexed.touches(next) && lexed.kind(next + 1) == Some(Kind::Word),
    );
    if lexed.kind(next + skip) == Some(Kind::Word) {
        let word = lexed.str(next + skip);
        let is_age = matches!(word, "year" | "years")
            && (lexed.str(next + skip + 1) == "old" || lexed.str(next + skip + 2) == "old");
        let unit = if is_age { units::of_word("year-old", true) } else { units::of_word(word, false) };
        return match unit {
            Some(unit) => (Some(unit), next + skip + 1),
            None => (None, next),
        };
    }
    let text = lexed.tokens.get(next).and_then(|token| lexed.text.get(token.start..)).unwrap_or_default();
    match units::of_chinese(text).filter(|_| lexed.kind(next) == Some(Kind::Han)) {
        Some((unit, length)) => (Some(unit), next + length),
        None => (None, next),
    }
}

/// Returns whether what stands behind a number is counted by it.
fn counts(lexed: &Lexed<'_>, next: usize) -> bool {
    let word = lexed.str(next);
    let is_noun = word.len() > 2
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
        && !is_stop(word)
        && !is_filler(word);
    match lexed.kind(next) {
        // `price:20 seats:4` counts no seats.
        Some(Kind::Word) => is_noun && lexed.mark(next + 1) != Some(':'),
        Some(Kind::Han) => lexed.han(next).is_some_and(units::is_counter),
        _ => false,
    }
}

fn is_negative(lexed: &Lexed<'_>, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return false };
    let is_sign = matches!(lexed.mark(before), Some('-' | '−')) && lexed.touches(at);
    let is_free = !lexed.touches(before)
        || before.checked_sub(1).is_some_and(|at| matches!(lexed.mark(at), Some('(' | '=' | ':')));
    is_sign && (before == 0 || is_free)
}

/// Returns whether a number without a unit says too little by itself.
fn is_weak(lexed: &Lexed<'_>, at: usize, next: usize, value: i128, is_words: bool) -> bool {
    if is_place_in_list(lexed, at, next) || is_line_of_file(lexed, at) {
        return true;
    }
    if value.abs() > SMALL || value % ONE != 0 {
        return false;
    }
    let before = at.checked_sub(1);
    match lexed.form {
        Form::Json => value.abs() < 10 * ONE,
        Form::Output => true,
        // `room 7` names a room, and `7 rooms` counts some.
        Form::Prose => is_words || !before.is_some_and(|at| is_noun(lexed, at)),
    }
}

fn is_noun(lexed: &Lexed<'_>, at: usize) -> bool {
    const BEFORE_COUNTS: [&str; 12] = [
        "about", "around", "least", "most", "only", "over", "under", "than", "nearly", "exactly", "another",
        "almost",
    ];
    if lexed.mark(at) == Some('#') {
        return true;
    }
    let lower = lexed.str(at).to_ascii_lowercase();
    lexed.kind(at) == Some(Kind::Word)
        && lower.len() > 2
        && !is_stop(&lower)
        && !BEFORE_COUNTS.contains(&&*lower)
        && (is_common(&lower) || lower.ends_with(char::is_alphabetic))
}

/// Returns whether a number only says which item of a list it is: `1.`, `2)`, the numbers of lines of a file.
fn is_place_in_list(lexed: &Lexed<'_>, at: usize, next: usize) -> bool {
    let is_marked = matches!(lexed.mark(next), Some('.' | ')' | '、' | ':')) && lexed.form == Form::Prose;
    lexed.is_line_start(at) && (is_marked || lexed.form == Form::Output)
}

/// Returns whether a number is that of a line: `main.rs:12`.
fn is_line_of_file(lexed: &Lexed<'_>, at: usize) -> bool {
    let is_path = at.checked_sub(2).is_some_and(|at| lexed.kind(at) == Some(Kind::Path));
    is_path && lexed.mark(at - 1) == Some(':') && lexed.touches(at)
}

/// Returns whether Chinese digits are part of a word, such as `十分` (very) or `一样` (the same).
fn is_idiom(lexed: &Lexed<'_>, at: usize, next: usize, quantity: &Quantity) -> bool {
    if lexed.kind(at) != Some(Kind::Han) {
        return false;
    }
    let follows = lexed.han(next);
    let is_one = quantity.raw == ONE;
    let is_small = quantity.raw.abs() <= 10 * ONE && quantity.is_bare();
    let is_counted = follows.is_some_and(units::is_counter);
    lexed.has_han(at, "十分")
        || lexed.has_han(at, "一会")
        || (is_one && quantity.is_bare())
        || (is_small && !is_counted)
        || (is_one && lexed.has_han(next.saturating_sub(1), "天") && follows == Some('天'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The amounts of a text: number, dimension, `~` before weak ones.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let lexed = Lexed::of(text, Form::Prose);
        let (mut at, mut shown) = (0, Vec::new());
        while at < lexed.tokens.len() {
            let Some(found) = amount(&lexed, at) else {
                at += 1;
                continue;
            };
            #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
            let number = found.quantity.raw as f64 / 1e6;
            let dimension = match found.quantity.dimension {
                Dimension::Bare => String::new(),
                Dimension::Money(letters) => format!(" {}", String::from_utf8_lossy(&letters)),
                other => format!(" {other:?}"),
            };
            shown.push(format!("{}{number}{dimension}", if found.is_weak { "~" } else { "" }));
            at = found.next.max(at + 1);
        }
        assert_eq!(shown.join(", "), expected, "{text}");
    }

    #[test]
    fn one_amount_of_money_has_many_spellings() {
        check(
            "$7,871, $7871, 7,871 dollars, USD 7871 and $7.871k",
            "7871 USD, 7871 USD, 7871 USD, 7871 USD, 7871 USD",
        );
        check("8210元、8,210 元、八千二百一十块钱", "8210 CNY, 8210 CNY, 8210 CNY");
        check("€12.50, £3m and 3 million pounds", "12.5 EUR, 3000000 GBP, 3000000 GBP");
        check("1.5万美元和3亿", "15000 USD, 300000000");
    }

    #[test]
    fn words_are_numbers_too() {
        check("five thousand people, twenty-five, two hundred and fifty", "5000, 25, 250");
        check("a dozen eggs, a hundred euros", "~12, 100 EUR");
        check("五千人，百分之五十", "5000, 50 Percent");
        check("one or two things", "~1, ~2");
    }

    #[test]
    fn units_tell_amounts_apart() {
        check(
            "5 kg, 5kg, 20-year-old, 3 days, 30°C, 50%",
            "5 Mass, 5 Mass, 20 Years, 3 Duration, 30 Celsius, 50 Percent",
        );
        check("三公斤，5个月，2小时", "3 Mass, 5 Months, 2 Duration");
        check("the 5 in room 7", "~5, 7");
    }

    #[test]
    fn what_is_no_amount_is_none() {
        check("十分感谢，一起去，万一不行，一样", "");
        check("1. first\n2. second", "~1, ~2");
        check("plm_4187 and KX-90820", "");
        check("-5 and 3-5", "-5, ~3, ~5");
    }
}
