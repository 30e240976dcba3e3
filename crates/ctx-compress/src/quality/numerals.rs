//! Numbers in words, Chinese and English.

use crate::quality::units::ONE;

/// Reads a number in Chinese characters: its value in millionths and how many characters it has.
///
/// A word such as `千万` (by all means) that has no digit before its power of ten is none.
pub(super) fn chinese(characters: impl Iterator<Item = char>) -> Option<(i128, usize)> {
    const LONGEST: usize = 24;
    let all: Vec<char> =
        characters.take(LONGEST).take_while(|c| digit(*c).is_some() || power(*c).is_some()).collect();
    let first = all.first()?;
    if digit(*first).is_none() && !matches!(first, '十' | '百') {
        return None;
    }
    let has_power = all.iter().any(|c| power(*c).is_some());
    if !has_power {
        return in_a_row(&all);
    }
    if *first == '百' {
        return None;
    }
    Some((with_powers(&all), all.len()))
}

/// Digits one after the other, as years and numbers of rooms are told.
fn in_a_row(digits: &[char]) -> Option<(i128, usize)> {
    let value = digits.iter().try_fold(0_i128, |sum, c| Some(sum * 10 + digit(*c)?))?;
    Some((value * ONE, digits.len()))
}

fn with_powers(characters: &[char]) -> i128 {
    let (mut total, mut section, mut last) = (0_i128, 0_i128, 0_i128);
    let mut last_power = 1_i128;
    let mut is_after_zero = false;
    for c in characters {
        if let Some(digit) = digit(*c) {
            is_after_zero |= digit == 0;
            last = digit;
            continue;
        }
        let power = power(*c).unwrap_or(1);
        match power {
            10_000 => (total, section) = (total + (section + last) * power, 0),
            10_001.. => (total, section) = ((total + section + last) * power, 0),
            _ => section += if last == 0 { 1 } else { last } * power,
        }
        (last, last_power, is_after_zero) = (0, power, false);
    }
    // `一万二` is twelve thousand, and `一百零二` a hundred and two.
    let is_short = last > 0 && last_power >= 100 && !is_after_zero;
    let rest = if is_short { last * last_power / 10 } else { last };
    (total + section + rest) * ONE
}

/// Returns the value of a Chinese digit.
pub(super) fn digit(c: char) -> Option<i128> {
    Some(match c {
        '零' | '〇' => 0,
        '一' | '壹' => 1,
        '二' | '两' | '贰' => 2,
        '三' | '叁' => 3,
        '四' | '肆' => 4,
        '五' | '伍' => 5,
        '六' | '陆' => 6,
        '七' | '柒' => 7,
        '八' | '捌' => 8,
        '九' | '玖' => 9,
        _ => return None,
    })
}

/// Returns the value of a Chinese power of ten.
pub(super) fn power(c: char) -> Option<i128> {
    Some(match c {
        '十' | '拾' => 10,
        '百' | '佰' => 100,
        '千' | '仟' => 1_000,
        '万' => 10_000,
        '亿' => 100_000_000,
        _ => return None,
    })
}

/// Returns the value of an English word for a number below a hundred, or for a dozen.
pub(super) fn english(word: &str) -> Option<i128> {
    #[rustfmt::skip]
    const SMALL: [&str; 20] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place =
        |words: &[&str]| words.iter().position(|known| *known == word).and_then(|at| i128::try_from(at).ok());
    match word {
        "dozen" => Some(12),
        _ => place(&SMALL).or_else(|| place(&TENS).map(|at| at * 10 + 20)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(i128, usize)>) {
        assert_eq!(chinese(text.chars()), expected.map(|(value, length)| (value * ONE, length)), "{text}");
    }

    #[test]
    fn chinese_numbers_have_powers_or_stand_in_a_row() {
        check("五千元", Some((5_000, 2)));
        check("两千五百三十", Some((2_530, 6)));
        check("一万二", Some((12_000, 3)));
        check("三百五", Some((350, 3)));
        check("一百零二", Some((102, 4)));
        check("十五天", Some((15, 2)));
        check("三亿两千万", Some((320_000_000, 5)));
        check("二〇二六年", Some((2_026, 4)));
        check("三", Some((3, 1)));
    }

    #[test]
    fn a_power_alone_is_no_number() {
        check("千万不要", None);
        check("万一", None);
        check("百姓", None);
    }

    #[test]
    fn english_words_are_numbers() {
        assert_eq!(english("seven"), Some(7));
        assert_eq!(english("ninety"), Some(90));
        assert_eq!(english("often"), None);
    }
}
