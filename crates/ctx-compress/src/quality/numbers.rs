//! Amounts: numbers with their units.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::quality::key::is_han;

/// Amounts count millionths: integers compare exactly.
pub(super) const ONE: i128 = 1_000_000;

/// A number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Amount {
    /// The number as written, in millionths.
    pub(super) number: i128,
    /// The number of base units, in millionths.
    pub(super) base: i128,
    /// The name of the base unit; empty without a unit.
    pub(super) unit: &'static str,
}

#[derive(Clone, Copy, Debug)]
struct Unit {
    base: &'static str,
    factor: i128,
}

/// Base unit, factor, spellings; those in lower case match any case.
const UNITS: &str = "\
percent 1 % ％ percent pct
usd 1 $ us$ dollar buck usd 美元 美金
eur 1 € euro eur 欧元
gbp 1 £ pound quid gbp 英镑
cny 1 ¥ ￥ yuan rmb cny 元 块 块钱 人民币
jpy 1 yen jpy 日元
inr 1 ₹ inr
chf 1 chf
hkd 1 hkd 港币 港元
krw 1 krw 韩元
mm 1 mm millimetre millimeter 毫米
mm 10 cm centimetre centimeter 厘米
mm 1000 m metre meter 米
mm 1000000 km kilometre kilometer 公里 千米
inch 1 inch inches
inch 12 ft foot feet
inch 36 yard yd
inch 63360 mile mi
mg 1 mg milligram 毫克
mg 1000 g gram gramme 克
mg 500000 斤
mg 1000000 kg kilo kilogram kilogramme 公斤 千克
mg 1000000000 tonne ton 吨
ounce 1 oz ounce
ounce 16 lb
ms 1 ms millisecond 毫秒
ms 1000 s sec second 秒 秒钟
ms 60000 min minute 分钟
ms 3600000 h hr hour 小时 个小时 钟头
ms 86400000 d day night 天 晚
ms 604800000 w week wk 周 星期 个星期
month 1 month 个月
month 12 year yr 年
age 1 year-old years-old 岁
bit 1 bit
bit 8 byte B
bit 8000 kb kilobyte
bit 8000000 mb megabyte
bit 8000000000 gb gigabyte
bit 8000000000000 tb terabyte
bit 8192 kib Ki
bit 8388608 mib Mi
bit 8589934592 gib Gi
ml 1 ml millilitre milliliter 毫升
ml 1000 l litre liter 升
m2 1 sqm m² 平方米
celsius 1 °c ℃ celsius 摄氏度 度
fahrenheit 1 °f fahrenheit
watt 1 watt W
watt 1000 kilowatt kW
";

static UNIT_NAMES: LazyLock<HashMap<&str, Unit>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for line in UNITS.lines() {
        let mut words = line.split(' ');
        let (base, factor) = words.next().zip(words.next()).expect("a line has a base unit and a factor");
        let unit = Unit { base, factor: factor.parse().expect("a factor is a number") };
        names.extend(words.map(|name| (name, unit)));
    }
    names
});

const POWERS: [(&str, i128); 13] = [
    ("k", 1_000),
    ("K", 1_000),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
    ("bn", 1_000_000_000),
    ("hundred", 100),
    ("dozen", 12),
    ("百万", 1_000_000),
    ("千万", 10_000_000),
    ("千", 1_000),
    ("万", 10_000),
    ("亿", 100_000_000),
];

pub(super) const ENGLISH_DIGITS: &str = "one|two|three|four|five|six|seven|eight|nine";
/// Numbers up to 20, then tens.
const ENGLISH_NUMBERS: &str = "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|\
    fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety";

/// Groups: `sign` of a currency, `minus`, `digits` with `part` after the point, or `words`, or `percent` and `han`.
pub(super) static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let word = format!("(?:{ENGLISH_NUMBERS}|hundred|thousand|million|billion|dozen)");
    let sign = r"(?:(?<sign>US\$|[$€£¥￥₹]|(?-u:\b)(?:USD|EUR|GBP|CNY|RMB|JPY|CHF))\s?)?";
    let digits = r"(?<minus>[-−])?(?<digits>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?<part>[0-9]+))?";
    let words = format!(r"(?-u:\b)(?<words>(?i-u:{word}(?:(?:[\s-]|\sand\s){word})*))(?-u:\b)");
    let han = "(?<han>[零〇一二两三四五六七八九十百千万亿]+(?:点[零〇一二三四五六七八九]+)?)";
    let pattern = format!("{sign}(?<percent>百分之)?{digits}|{words}|(?<hundredths>百分之)?{han}");
    Regex::new(&pattern).expect("a valid pattern")
});

/// An amount and the byte after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundAmount {
    pub(super) amount: Amount,
    pub(super) end: usize,
    /// Whether the number is written in digits.
    pub(super) is_digits: bool,
}

/// Reads a match of [`NUMBER`] and the unit after it.
pub(super) fn amount(text: &str, found: &Captures<'_>) -> Option<FoundAmount> {
    let group = |name| found.name(name).map(|group| group.as_str());
    let end = found.get_match().end();
    let number = if let Some(digits) = group("digits") {
        decimal(digits, group("part").unwrap_or_default())?
    } else if let Some(words) = group("words") {
        english(words)?
    } else {
        chinese(group("han")?)?
    };
    let number = if group("minus").is_some() { -number } else { number };
    let (power, end) = power_after(text, end, group("digits").is_some());
    // `$5m` are millions, `5 m` are metres.
    let is_million = group("sign").is_some()
        && text[end..].strip_prefix(['m', 'M']).is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    let (power, end) = if is_million && power == 1 { (1_000_000, end + 1) } else { (power, end) };
    let number = number.checked_mul(power)?;
    let sign = group("sign").and_then(unit);
    let percent = group("percent").or(group("hundredths")).and(unit("%"));
    let (unit, end) = match sign.or(percent) {
        Some(unit) => (
            Some(unit),
            unit_after(text, end).filter(|(after, _)| after.base == unit.base).map_or(end, |(_, end)| end),
        ),
        None => unit_after(text, end).map_or((None, end), |(unit, end)| (Some(unit), end)),
    };
    let unit = unit.unwrap_or(Unit { base: "", factor: 1 });
    let amount = Amount { number, base: number.checked_mul(unit.factor)?, unit: unit.base };
    Some(FoundAmount { amount, end, is_digits: group("digits").is_some() })
}

/// Returns whether letters directly after digits are a unit, a power or an ordinal: `5kg`, `1.5k`, `3rd`.
pub(super) fn is_measure(letters: &str) -> bool {
    let is_power = POWERS.iter().any(|(name, _)| *name == letters);
    is_power || matches!(letters, "st" | "nd" | "rd" | "th" | "x" | "M" | "m") || unit(letters).is_some()
}

/// Reads digits or a short numeral, such as a day; returns 0 if it cannot.
pub(super) fn small_number(text: &str) -> u16 {
    let number = text.parse().ok().or_else(|| {
        let of_year = text.chars().count() == 4;
        let digits = || text.chars().map(han_digit).collect::<Option<Vec<u16>>>();
        match digits().filter(|_| of_year) {
            Some(digits) => Some(digits.into_iter().fold(0, |year, digit| year * 10 + digit)),
            None => u16::try_from(chinese(text).or_else(|| english(text))? / ONE).ok(),
        }
    });
    number.unwrap_or(0)
}

fn decimal(digits: &str, part: &str) -> Option<i128> {
    let whole: i128 = digits.replace(',', "").parse().ok()?;
    let millionths: String = part.chars().chain(std::iter::repeat('0')).take(6).collect();
    whole.checked_mul(ONE)?.checked_add(millionths.parse().ok()?)
}

/// Reads `twenty-five`, `two hundred and fifty`, `five thousand`.
fn english(words: &str) -> Option<i128> {
    let (mut total, mut section) = (0_i128, 0_i128);
    let words = words.to_ascii_lowercase();
    for word in words.split(|c: char| c == '-' || c.is_whitespace()).filter(|word| *word != "and") {
        if let Some(at) = ENGLISH_NUMBERS.split('|').position(|number| number == word) {
            let value = i128::try_from(if at <= 20 { at } else { (at - 18) * 10 }).ok()?;
            // `two three` are two numbers.
            let is_free =
                if value < 10 { section % 10 == 0 && section % 100 != 10 } else { section % 100 == 0 };
            if !is_free {
                return None;
            }
            section += value;
        } else {
            let (_, power) = POWERS.iter().find(|(name, _)| *name == word)?;
            if *power <= 100 {
                section = section.max(1).checked_mul(*power)?;
            } else {
                total = total.checked_add(section.max(1).checked_mul(*power)?)?;
                section = 0;
            }
        }
    }
    total.checked_add(section)?.checked_mul(ONE)
}

fn han_digit(c: char) -> Option<u16> {
    let at = "零一二三四五六七八九".chars().position(|digit| digit == c);
    match c {
        '〇' => Some(0),
        '两' => Some(2),
        _ => u16::try_from(at?).ok(),
    }
}

/// Reads `三十五`, `一万二千`, `三点五`.
fn chinese(text: &str) -> Option<i128> {
    let (whole, part) = text.split_once('点').unwrap_or((text, ""));
    if !whole.starts_with(|c| c == '十' || han_digit(c).is_some()) {
        return None;
    }
    let (mut total, mut section, mut digit) = (0_i128, 0_i128, 0_i128);
    for c in whole.chars() {
        let power = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1_000,
            '万' => 10_000,
            '亿' => 100_000_000,
            _ => {
                // Digits in a row form a code.
                digit = digit.checked_mul(10)?.checked_add(i128::from(han_digit(c)?))?;
                continue;
            }
        };
        if power < 10_000 {
            section = section.checked_add(digit.max(1).checked_mul(power)?)?;
        } else {
            total = total.checked_add(section.checked_add(digit)?.max(1))?.checked_mul(power)?;
            section = 0;
        }
        digit = 0;
    }
    let part: String = part.chars().filter_map(han_digit).map(|digit| digit.to_string()).collect();
    let whole = total.checked_add(section)?.checked_add(digit)?;
    decimal(&whole.to_string(), &part)
}

fn unit(name: &str) -> Option<Unit> {
    let lower = name.to_ascii_lowercase();
    let found = UNIT_NAMES.get(name).or_else(|| UNIT_NAMES.get(&*lower));
    found.or_else(|| UNIT_NAMES.get(lower.strip_suffix('s').filter(|name| name.len() > 1)?)).copied()
}

/// Returns the letters at a byte: of a word, or up to three Chinese characters or signs.
fn letters(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let is_word = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '°');
    let is_part = |c: &char| {
        if is_word {
            c.is_ascii_alphabetic() || "°²-".contains(*c)
        } else {
            is_han(*c) || "%％℃€".contains(*c)
        }
    };
    let most = if is_word { 16 } else { 3 };
    let length = rest.chars().take(most).take_while(is_part).map(char::len_utf8).sum();
    &rest[..length]
}

fn power_after(text: &str, at: usize, is_digits: bool) -> (i128, usize) {
    let mut factor = (1, at);
    if !is_digits {
        return factor;
    }
    let start = at + usize::from(text[at..].starts_with(' '));
    let rest = &text[start..];
    for (name, power) in POWERS {
        let is_word = rest.starts_with(name)
            && (!name.is_ascii() || !rest[name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric()));
        let is_attached = start == at || name.len() > 2;
        if is_word && is_attached && factor.0 == 1 {
            factor = (power, start + name.len());
        }
    }
    factor
}

/// Returns the unit at a byte, after a blank or a hyphen, and the byte after it.
fn unit_after(text: &str, at: usize) -> Option<(Unit, usize)> {
    let start = at + usize::from(text[at..].starts_with([' ', '-']));
    let word = letters(text, start);
    if word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '°') {
        // `20-year-old` has an age, `a 5-day trip` a duration.
        let names = [word, word.split('-').next().unwrap_or_default()];
        let found = names.into_iter().find_map(|name| Some((unit(name)?, start + name.len())));
        // A letter apart from the number is a unit only in lower case.
        return found
            .filter(|(_, end)| start == at || end - start > 1 || word.starts_with(char::is_lowercase));
    }
    let mut ends: Vec<usize> = word.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
    ends.reverse();
    ends.into_iter().find_map(|end| Some((unit(&word[..end])?, start + end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = NUMBER.captures(text).and_then(|found| amount(text, &found));
        let shown = found.map(|found| {
            #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
            let base = found.amount.base as f64 / 1e6;
            format!("{base} {}", found.amount.unit)
        });
        assert_eq!(shown.as_deref().map_or("-", str::trim), expected, "{text}");
    }

    #[test]
    fn reads_digits() {
        check("1,500", "1500");
        check("1.2k", "1200");
        check("$1.5k a month", "1500 usd");
        check("7,720 dollars", "7720 usd");
        check("5 km", "5000000 mm");
        check("5 lb", "80 ounce");
        check("512Mi", "4294967296 bit");
        check("90 minutes", "5400000 ms");
        check("-5 °C", "-5 celsius");
        check("95%", "95 percent");
        check("5 in the box", "5");
        check("20-year-old", "20 age");
        check("5-day trip", "432000000 ms");
    }

    #[test]
    fn reads_words() {
        check("about five thousand people", "5000");
        check("two hundred and fifty", "250");
        check("twenty-five", "25");
        check("two three", "-");
        check("a dozen", "12");
    }

    #[test]
    fn reads_chinese_numbers() {
        check("三十五", "35");
        check("一万二千元", "12000 cny");
        check("3.5万元", "35000 cny");
        check("百分之九十五", "95 percent");
        check("三点五公里", "3500000 mm");
        check("十五万", "150000");
        check("89平方米", "89 m2");
        check("千万不要", "-");
        check("三个月", "3 month");
    }
}
