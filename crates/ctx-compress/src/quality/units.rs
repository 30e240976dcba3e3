//! Amounts and what they are measured in.

/// Millionths: amounts are whole numbers of them, so that equal ones are equal.
pub(super) const ONE: i128 = 1_000_000;

/// What an amount is an amount of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Dimension {
    /// Nothing is said about it.
    Bare,
    Percent,
    /// Money, by the letters of the currency.
    Money([u8; 3]),
    /// Base: micrometre.
    Length,
    /// Base: milligram.
    Mass,
    /// Base: millisecond.
    Duration,
    /// Base: month, which has no fixed number of days.
    Months,
    /// Base: bit.
    Information,
    /// Base: millilitre.
    Volume,
    /// Base: square millimetre.
    Area,
    Celsius,
    Fahrenheit,
    /// Base: milliwatt.
    Power,
    Years,
}

/// A unit: what it measures, and how much of the base it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) dimension: Dimension,
    pub(super) factor: i64,
}

/// An amount as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Quantity {
    /// The number as it is written, in millionths.
    pub(super) raw: i128,
    /// The number of base units, in millionths.
    pub(super) base: i128,
    pub(super) dimension: Dimension,
    /// Whether it says how many of some things there are.
    pub(super) is_count: bool,
}

impl Quantity {
    pub(super) fn new(raw: i128, unit: Option<Unit>) -> Self {
        let unit = unit.unwrap_or(Unit { dimension: Dimension::Bare, factor: 1 });
        Self {
            raw,
            base: raw.saturating_mul(i128::from(unit.factor)),
            dimension: unit.dimension,
            is_count: false,
        }
    }

    pub(super) const fn is_bare(&self) -> bool {
        matches!(self.dimension, Dimension::Bare)
    }
}

const fn unit(dimension: Dimension, factor: i64) -> Unit {
    Unit { dimension, factor }
}

const fn money(letters: [u8; 3]) -> Unit {
    unit(Dimension::Money(letters), 1)
}

const DOLLAR: Unit = money(*b"USD");
const EURO: Unit = money(*b"EUR");
const POUND: Unit = money(*b"GBP");
const YUAN: Unit = money(*b"CNY");
const YEN: Unit = money(*b"JPY");

/// Returns the unit that stands as a sign before or after a number.
pub(super) fn of_sign(sign: char) -> Option<Unit> {
    Some(match sign {
        '$' => DOLLAR,
        '€' => EURO,
        '£' => POUND,
        '¥' | '￥' => YUAN,
        '₹' => money(*b"INR"),
        '₽' => money(*b"RUB"),
        '₩' => money(*b"KRW"),
        '%' | '％' => unit(Dimension::Percent, 1),
        '℃' => unit(Dimension::Celsius, 1),
        _ => return None,
    })
}

/// Returns the unit that letters behind a number are; `is_attached` if no blank stands between.
pub(super) fn of_word(word: &str, is_attached: bool) -> Option<Unit> {
    if let Some(unit) = of_exact(word, is_attached) {
        return Some(unit);
    }
    let lower = word.to_ascii_lowercase();
    let is_short = lower.len() <= 2;
    if is_short
        && !is_attached
        && matches!(&*lower, "m" | "g" | "l" | "s" | "h" | "d" | "w" | "in" | "pt" | "st")
    {
        // Alone these letters are units only if they are written small, and `in` never is one.
        return (word == lower && lower != "in").then(|| of_lower(&lower)).flatten();
    }
    of_lower(&lower).or_else(|| of_lower(lower.strip_suffix('s')?))
}

/// Units whose letters mean something else in another size, and currencies.
fn of_exact(word: &str, is_attached: bool) -> Option<Unit> {
    Some(match word {
        "B" if is_attached => unit(Dimension::Information, 8),
        "Ki" => unit(Dimension::Information, 8_192),
        "Mi" => unit(Dimension::Information, 8_388_608),
        "Gi" => unit(Dimension::Information, 8_589_934_592),
        "C" | "°C" => unit(Dimension::Celsius, 1),
        "F" | "°F" => unit(Dimension::Fahrenheit, 1),
        "W" => unit(Dimension::Power, 1_000),
        "kW" => unit(Dimension::Power, 1_000_000),
        "MW" => unit(Dimension::Power, 1_000_000_000),
        "RMB" | "CNY" => YUAN,
        "INR" | "RUB" | "KRW" | "CHF" | "AUD" | "CAD" | "HKD" | "SGD" | "TWD" | "SEK" | "NOK" | "DKK"
        | "PLN" => money(word.as_bytes().try_into().ok()?),
        _ => return None,
    })
}

#[rustfmt::skip]
fn of_lower(word: &str) -> Option<Unit> {
    use Dimension::{Area, Celsius, Duration, Fahrenheit, Information, Length, Mass, Months, Percent, Power, Volume, Years};
    Some(match word {
        "percent" | "per cent" | "pct" => unit(Percent, 1),
        "dollar" | "buck" | "usd" => DOLLAR,
        "bit" => unit(Information, 1),
        "euro" | "eur" => EURO,
        "pound" | "quid" | "gbp" => POUND,
        "yuan" | "rmb" | "cny" => YUAN,
        "yen" | "jpy" => YEN,
        "mm" | "millimetre" | "millimeter" => unit(Length, 1_000),
        "cm" | "centimetre" | "centimeter" => unit(Length, 10_000),
        "m" | "metre" | "meter" => unit(Length, 1_000_000),
        "km" | "kilometre" | "kilometer" | "kms" => unit(Length, 1_000_000_000),
        "in" | "inch" | "inche" => unit(Length, 25_400),
        "ft" | "foot" | "feet" => unit(Length, 304_800),
        "yard" | "yd" => unit(Length, 914_400),
        "mile" | "mi" => unit(Length, 1_609_344_000),
        "mg" | "milligram" => unit(Mass, 1),
        "g" | "gram" | "gramme" => unit(Mass, 1_000),
        "kg" | "kilo" | "kilogram" | "kilogramme" => unit(Mass, 1_000_000),
        "tonne" | "ton" => unit(Mass, 1_000_000_000),
        "lb" => unit(Mass, 453_592),
        "oz" | "ounce" => unit(Mass, 28_350),
        "ms" | "millisecond" | "msec" => unit(Duration, 1),
        "s" | "sec" | "second" => unit(Duration, 1_000),
        "min" | "minute" => unit(Duration, 60_000),
        "h" | "hr" | "hour" => unit(Duration, 3_600_000),
        "d" | "day" | "night" => unit(Duration, 86_400_000),
        "w" | "week" | "wk" => unit(Duration, 604_800_000),
        "fortnight" => unit(Duration, 1_209_600_000),
        "month" => unit(Months, 1),
        "year" | "yr" => unit(Months, 12),
        "decade" => unit(Months, 120),
        "year-old" | "yo" => unit(Years, 1),
        "byte" => unit(Information, 8),
        "kb" | "kilobyte" => unit(Information, 8_000),
        "mb" | "megabyte" | "meg" => unit(Information, 8_000_000),
        "gb" | "gigabyte" | "gig" => unit(Information, 8_000_000_000),
        "tb" | "terabyte" => unit(Information, 8_000_000_000_000),
        "kib" => unit(Information, 8_192),
        "mib" => unit(Information, 8_388_608),
        "gib" => unit(Information, 8_589_934_592),
        "ml" | "millilitre" | "milliliter" => unit(Volume, 1),
        "cl" => unit(Volume, 10),
        "l" | "litre" | "liter" => unit(Volume, 1_000),
        "gallon" | "gal" => unit(Volume, 3_785),
        "sqm" | "m²" => unit(Area, 1_000_000),
        "hectare" | "ha" => unit(Area, 10_000_000_000),
        "celsius" => unit(Celsius, 1),
        "fahrenheit" => unit(Fahrenheit, 1),
        "watt" => unit(Power, 1_000),
        "kilowatt" => unit(Power, 1_000_000),
        _ => return None,
    })
}

/// Chinese units, the longer ones first.
#[rustfmt::skip]
const CHINESE: &[(&str, Unit)] = &[
    ("人民币", YUAN), ("平方米", unit(Dimension::Area, 1_000_000)), ("摄氏度", unit(Dimension::Celsius, 1)),
    ("个小时", unit(Dimension::Duration, 3_600_000)), ("个星期", unit(Dimension::Duration, 604_800_000)),
    ("块钱", YUAN), ("美元", DOLLAR), ("美金", DOLLAR), ("欧元", EURO), ("英镑", POUND), ("日元", YEN), ("港币", money(*b"HKD")),
    ("港元", money(*b"HKD")), ("台币", money(*b"TWD")), ("韩元", money(*b"KRW")),
    ("公里", unit(Dimension::Length, 1_000_000_000)), ("千米", unit(Dimension::Length, 1_000_000_000)),
    ("厘米", unit(Dimension::Length, 10_000)), ("毫米", unit(Dimension::Length, 1_000)),
    ("公斤", unit(Dimension::Mass, 1_000_000)), ("千克", unit(Dimension::Mass, 1_000_000)),
    ("毫克", unit(Dimension::Mass, 1)), ("毫升", unit(Dimension::Volume, 1)),
    ("小时", unit(Dimension::Duration, 3_600_000)), ("钟头", unit(Dimension::Duration, 3_600_000)),
    ("分钟", unit(Dimension::Duration, 60_000)), ("毫秒", unit(Dimension::Duration, 1)), ("秒钟", unit(Dimension::Duration, 1_000)),
    ("个月", unit(Dimension::Months, 1)), ("星期", unit(Dimension::Duration, 604_800_000)), ("周岁", unit(Dimension::Years, 1)),
    ("元", YUAN), ("块", YUAN), ("米", unit(Dimension::Length, 1_000_000)),
    ("克", unit(Dimension::Mass, 1_000)), ("斤", unit(Dimension::Mass, 500_000)), ("吨", unit(Dimension::Mass, 1_000_000_000)),
    ("升", unit(Dimension::Volume, 1_000)), ("秒", unit(Dimension::Duration, 1_000)),
    ("天", unit(Dimension::Duration, 86_400_000)), ("晚", unit(Dimension::Duration, 86_400_000)),
    ("周", unit(Dimension::Duration, 604_800_000)), ("年", unit(Dimension::Months, 12)), ("岁", unit(Dimension::Years, 1)),
    ("度", unit(Dimension::Celsius, 1)), ("％", unit(Dimension::Percent, 1)),
];

/// Returns the Chinese unit that a text begins with, and its length in characters.
pub(super) fn of_chinese(text: &str) -> Option<(Unit, usize)> {
    let found = CHINESE.iter().find(|(word, _)| text.starts_with(word))?;
    Some((found.1, found.0.chars().count()))
}

/// Returns whether a Chinese character counts things, people or times.
pub(super) fn is_counter(c: char) -> bool {
    "个位名次件台本张只条辆间份种篇页章项套双瓶杯人家层级届盒箱包袋座栋".contains(c)
}

/// Reads digits, perhaps with a fraction, in millionths. Signs between thousands must stand between thousands.
pub(super) fn decimal(text: &str) -> Option<i128> {
    const MOST_DIGITS: usize = 27;
    let folded: String = text.chars().map(half_width).collect();
    let (whole, fraction) = folded.split_once('.').unwrap_or((&folded, ""));
    let digits: String = match whole.find([',', '_']) {
        None => whole.to_owned(),
        Some(_) => grouped(whole)?,
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || digits.len() > MOST_DIGITS || !is_digits(&digits) || !is_digits(fraction) {
        return None;
    }
    if folded.ends_with('.') {
        return None;
    }
    let millionths: String = fraction.chars().chain(std::iter::repeat('0')).take(6).collect();
    Some(digits.parse::<i128>().ok()? * ONE + millionths.parse::<i128>().ok()?)
}

/// Takes the signs between thousands out.
fn grouped(whole: &str) -> Option<String> {
    let mut groups = whole.split([',', '_']);
    let first = groups.next().filter(|first| (1..=3).contains(&first.len()))?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        digits.push_str(group);
    }
    Some(digits)
}

/// Returns the narrow form of a wide character.
pub(super) fn half_width(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(c) - 0xFEE0).unwrap_or(c),
        _ => c,
    }
}

/// Returns the factor of letters that multiply a number: thousands, millions, billions.
pub(super) fn magnitude(word: &str) -> Option<i128> {
    Some(match word {
        "k" | "K" | "thousand" | "grand" => 1_000,
        "M" | "mn" | "million" | "millions" => 1_000_000,
        "bn" | "billion" | "billions" => 1_000_000_000,
        "trillion" => 1_000_000_000_000,
        _ => return None,
    })
}

/// Splits digits with letters behind them, if the letters say how much of what it is.
pub(super) fn measure(run: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 7;
    let at = run.find(|c: char| c.is_alphabetic() || matches!(c, '²' | '°'))?;
    let (digits, letters) = (run.get(..at)?, run.get(at..)?);
    if letters.len() > LONGEST || decimal(digits).is_none() {
        return None;
    }
    let is_year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    if letters == "s" && is_year {
        return None;
    }
    let is_suffix = is_ordinal(letters) || letters == "x" || letters == "X" || magnitude(letters).is_some();
    let is_money = letters.strip_suffix("USD").or_else(|| letters.strip_suffix("EUR")).is_some();
    (is_suffix || is_money || of_word(letters, true).is_some()).then_some((digits, letters))
}

/// Returns whether letters make a number a position: `3rd`.
pub(super) fn is_ordinal(letters: &str) -> bool {
    matches!(letters, "st" | "nd" | "rd" | "th")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<f64>) {
        #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
        let found = decimal(text).map(|number| number as f64 / 1e6);
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn numbers_may_have_fractions_and_groups() {
        check("1,500", Some(1500.0));
        check("1_000_000", Some(1e6));
        check("2.75", Some(2.75));
        check("１２", Some(12.0));
        check("1,50", None);
        check("1,5000", None);
        check("5.", None);
        check("", None);
    }

    #[test]
    fn units_of_one_dimension_can_be_compared() {
        let of = |number: i128, word: &str| Quantity::new(number * ONE, of_word(word, false));
        assert_eq!(of(2, "hours").base, of(120, "minutes").base);
        assert_eq!(of(5, "km").base, of(5000, "m").base);
        assert_eq!(of(2, "years").base, of(24, "months").base);
        assert_ne!(of(5, "kg").dimension, of(5, "km").dimension);
        assert!(of(5, "in").is_bare());
    }

    #[test]
    fn chinese_units_are_found_at_the_beginning() {
        assert_eq!(of_chinese("美元的").map(|(_, length)| length), Some(2));
        assert_eq!(of_chinese("公斤").map(|(unit, _)| unit.dimension), Some(Dimension::Mass));
        assert_eq!(of_chinese("里"), None);
    }

    #[test]
    fn letters_behind_digits_are_units_or_nothing() {
        assert_eq!(measure("5kg"), Some(("5", "kg")));
        assert_eq!(measure("1.5k"), Some(("1.5", "k")));
        assert_eq!(measure("3rd"), Some(("3", "rd")));
        assert_eq!(measure("7b91b80"), None);
        assert_eq!(measure("1990s"), None);
        assert_eq!(measure("4187x2"), None);
    }
}
