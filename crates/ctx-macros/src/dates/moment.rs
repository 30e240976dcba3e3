//! Moment.js date formats.

use std::fmt::Write as _;

use jiff::Zoned;
use memchr::{memchr, memrchr};

use crate::dates::locale::{self, Locale};
use crate::dates::old_english;

/// American English; longer tokens precede their prefixes.
const LONG_FORMS: [(&str, &str); 10] = [
    ("LTS", "h:mm:ss A"),
    ("LT", "h:mm A"),
    ("LLLL", "dddd, MMMM D, YYYY h:mm A"),
    ("LLL", "MMMM D, YYYY h:mm A"),
    ("LL", "MMMM D, YYYY"),
    ("L", "MM/DD/YYYY"),
    ("llll", "ddd, MMM D, YYYY h:mm A"),
    ("lll", "MMM D, YYYY h:mm A"),
    ("ll", "MMM D, YYYY"),
    ("l", "M/D/YYYY"),
];

/// ISO 8601, for an empty pattern.
const DEFAULT: &str = "YYYY-MM-DDTHH:mm:ssZ";

/// In English. Copies bracketed and escaped text and unknown characters. Drops line breaks outside brackets.
/// Linear in the pattern.
pub(crate) fn format(time: &Zoned, pattern: &str) -> String {
    let pattern = if pattern.is_empty() { DEFAULT } else { pattern };
    let expanded = expand(pattern);
    let mut written = String::new();
    let mut rest = expanded.as_str();
    while let Some(first) = rest.chars().next() {
        let (taken, piece) = next(rest, first);
        match piece {
            PatternToken::Token(token) => write_token(token, time, locale::english(), &mut written),
            PatternToken::Fraction(digits) => write_fraction(time, digits, &mut written),
            PatternToken::Literal(literal) => written.push_str(literal),
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    written
}

fn expand(pattern: &str) -> String {
    let mut expanded = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let escaped = usize::from(first == '\\');
        let behind = rest.get(escaped..).unwrap_or_default();
        let form = LONG_FORMS.iter().find(|(token, _)| behind.starts_with(token));
        let taken = match (bracketed(rest), form) {
            (Some(literal), _) => literal,
            (None, Some((token, _))) => escaped + token.len(),
            (None, None) => first.len_utf8(),
        };
        let (piece, behind) = rest.split_at(taken);
        match form {
            Some((_, pattern)) if escaped == 0 && bracketed(rest).is_none() => expanded.push_str(pattern),
            _ => expanded.push_str(piece),
        }
        rest = behind;
    }
    expanded
}

pub(crate) fn has_open_bracket(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(open) = memchr(b'[', rest.as_bytes()) {
        let Some(length) = bracketed(rest.get(open..).unwrap_or_default()) else { return true };
        rest = rest.get(open + length..).unwrap_or_default();
    }
    false
}

/// Length of a leading bracketed text: up to the last `]` before the next `[`.
fn bracketed(pattern: &str) -> Option<usize> {
    let inner = pattern.strip_prefix('[')?;
    let inner = inner.get(..memchr(b'[', inner.as_bytes()).unwrap_or(inner.len()))?;
    Some(memrchr(b']', inner.as_bytes())? + 2)
}

enum PatternToken<'p> {
    Token(&'p str),
    /// Digits of the second.
    Fraction(usize),
    Literal(&'p str),
}

fn next(pattern: &str, first: char) -> (usize, PatternToken<'_>) {
    let literal = |from: usize, to: usize| PatternToken::Literal(pattern.get(from..to).unwrap_or_default());
    if let Some(length) = bracketed(pattern) {
        return (length, literal(1, length - 1));
    }
    if first == '\\' {
        let behind = pattern.get(1..).unwrap_or_default();
        let length = token_len(behind).or_else(|| behind.chars().next().map(char::len_utf8)).unwrap_or(0);
        // A second backslash is dropped too.
        let from = 1 + usize::from(behind.starts_with('\\'));
        return (1 + length, literal(from, 1 + length));
    }
    match token_len(pattern) {
        Some(digits) if first == 'S' => (digits, PatternToken::Fraction(digits)),
        Some(length) => (length, PatternToken::Token(pattern.get(..length).unwrap_or_default())),
        None if matches!(first, '\n' | '\r' | '\u{2028}' | '\u{2029}') => (first.len_utf8(), literal(0, 0)),
        None => (first.len_utf8(), literal(0, first.len_utf8())),
    }
}

fn token_len(pattern: &str) -> Option<usize> {
    let first = *pattern.as_bytes().first()?;
    let run = pattern.bytes().take(9).take_while(|byte| *byte == first).count();
    let is_ordinal = pattern.as_bytes().get(1) == Some(&b'o');
    match first {
        b'M' | b'D' | b'd' | b'w' | b'W' | b'Q' | b'y' if is_ordinal => Some(2),
        b'D' if pattern.starts_with("DDDo") => Some(4),
        b'H' | b'h' if pattern.get(1..).is_some_and(|rest| rest.starts_with("mmss")) => Some(5),
        b'H' | b'h' if pattern.get(1..).is_some_and(|rest| rest.starts_with("mm")) => Some(3),
        b'Y' if run == 3 => Some(2),
        b'Y' => Some(run.min(6)),
        b'N' => Some(run.min(5)),
        b'y' | b'M' | b'D' | b'd' => Some(run.min(4)),
        b'g' | b'G' => [None, None, Some(2), Some(2), Some(4), Some(5)][run.min(5)],
        b'w' | b'W' | b'H' | b'h' | b'k' | b'm' | b's' | b'z' | b'Z' => Some(run.min(2)),
        b'S' => Some(run),
        b'Q' | b'E' | b'e' | b'A' | b'a' | b'X' | b'x' => Some(1),
        _ => None,
    }
}

pub(super) fn write_token(token: &str, time: &Zoned, locale: &Locale, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match token.as_bytes()[0] {
        b'Y' | b'y' | b'N' | b'Q' => write_year(time, token, out),
        b'M' | b'D' => write_date(time, token, locale, out),
        b'd' | b'E' | b'e' => write_day(time, token, locale, out),
        b'w' | b'W' | b'g' | b'G' => write_week(time, token, out),
        b'Z' | b'X' | b'x' => write_zone(time, token, out),
        // Moment.js names the zone only in UTC mode.
        b'z' => Ok(()),
        b'A' => out.write_str(locale.half_day(time.hour())),
        b'a' => out.write_str(&locale.half_day(time.hour()).to_lowercase()),
        _ => write_clock(time, token, out),
    };
}

/// Year 0 is 1 BC in the `y` tokens.
fn write_year(time: &Zoned, token: &str, out: &mut String) -> std::fmt::Result {
    let (year, quarter) = (time.year(), (time.month() + 2) / 3);
    let of_era = if year > 0 { year } else { 1 - year };
    match token {
        "YYYYYY" => write!(out, "{year:+07}"),
        "YYYYY" => write!(out, "{year:05}"),
        "YYYY" | "Y" => write!(out, "{}{:04}", if year < 0 { "-" } else { "" }, year.unsigned_abs()),
        "YY" => write!(out, "{:02}", year.rem_euclid(100)),
        "yyyy" => write!(out, "{of_era:04}"),
        "yyy" => write!(out, "{of_era:03}"),
        "yy" => write!(out, "{of_era:02}"),
        "yo" => write!(out, "{}", Ordinal(of_era)),
        "y" => write!(out, "{of_era}"),
        "NNNN" => out.write_str(if year > 0 { "Anno Domini" } else { "Before Christ" }),
        "Qo" => write!(out, "{}", Ordinal(quarter.into())),
        "Q" => write!(out, "{quarter}"),
        _ => out.write_str(if year > 0 { "AD" } else { "BC" }),
    }
}

fn write_date(time: &Zoned, token: &str, locale: &Locale, out: &mut String) -> std::fmt::Result {
    let (month, day) = (time.month(), time.day());
    let of_year = time.day_of_year();
    match token {
        "MMMM" => out.write_str(locale.month(month)),
        "MMM" => out.write_str(locale.short_month(month)),
        "MM" => write!(out, "{month:02}"),
        "Mo" => write!(out, "{}", Ordinal(month.into())),
        "M" => write!(out, "{month}"),
        "DDDD" => write!(out, "{of_year:03}"),
        "DDDo" => write!(out, "{}", Ordinal(of_year)),
        "DDD" => write!(out, "{of_year}"),
        "DD" => write!(out, "{day:02}"),
        "Do" => write!(out, "{}", Ordinal(day.into())),
        _ => write!(out, "{day}"),
    }
}

fn write_day(time: &Zoned, token: &str, locale: &Locale, out: &mut String) -> std::fmt::Result {
    let day = time.weekday().to_sunday_zero_offset();
    match token {
        "dddd" => out.write_str(locale.weekday(time.weekday())),
        "ddd" => out.write_str(locale.short_weekday(time.weekday())),
        "dd" => {
            out.extend(locale.weekday(time.weekday()).chars().take(2));
            Ok(())
        }
        "do" => write!(out, "{}", Ordinal(day.into())),
        "E" => write!(out, "{}", time.weekday().to_monday_one_offset()),
        _ => write!(out, "{day}"),
    }
}

/// ISO 8601 (`W`, `G`), or American (`w`, `g`): week 1 contains January 1.
fn write_week(time: &Zoned, token: &str, out: &mut String) -> std::fmt::Result {
    let iso = time.date().iso_week_date();
    let (year, week) = american_week(time);
    match token {
        "WW" => write!(out, "{:02}", iso.week()),
        "Wo" => write!(out, "{}", Ordinal(iso.week().into())),
        "W" => write!(out, "{}", iso.week()),
        "GGGGG" => write!(out, "{:05}", iso.year()),
        "GGGG" => write!(out, "{:04}", iso.year()),
        "GG" => write!(out, "{:02}", iso.year().rem_euclid(100)),
        "ggggg" => write!(out, "{year:05}"),
        "gggg" => write!(out, "{year:04}"),
        "gg" => write!(out, "{:02}", year.rem_euclid(100)),
        "ww" => write!(out, "{week:02}"),
        "wo" => write!(out, "{}", Ordinal(week)),
        _ => write!(out, "{week}"),
    }
}

fn american_week(time: &Zoned) -> (i16, i16) {
    let day = i16::from(time.weekday().to_sunday_zero_offset());
    // A week belongs to its Saturday's year.
    let saturday = time.day_of_year() + 6 - day;
    let days = time.days_in_year();
    if saturday > days { (time.year() + 1, 1) } else { (time.year(), (saturday - 1) / 7 + 1) }
}

fn write_clock(time: &Zoned, token: &str, out: &mut String) -> std::fmt::Result {
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    let twelve = (hour + 11) % 12 + 1;
    let full = if hour == 0 { 24 } else { hour };
    match token {
        "Hmmss" => write!(out, "{hour}{minute:02}{second:02}"),
        "Hmm" => write!(out, "{hour}{minute:02}"),
        "HH" => write!(out, "{hour:02}"),
        "H" => write!(out, "{hour}"),
        "hmmss" => write!(out, "{twelve}{minute:02}{second:02}"),
        "hmm" => write!(out, "{twelve}{minute:02}"),
        "hh" => write!(out, "{twelve:02}"),
        "h" => write!(out, "{twelve}"),
        "kk" => write!(out, "{full:02}"),
        "k" => write!(out, "{full}"),
        "mm" => write!(out, "{minute:02}"),
        "m" => write!(out, "{minute}"),
        "ss" => write!(out, "{second:02}"),
        _ => write!(out, "{second}"),
    }
}

fn write_zone(time: &Zoned, token: &str, out: &mut String) -> std::fmt::Result {
    let seconds = time.offset().seconds();
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.abs() / 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    match token {
        "Z" => write!(out, "{sign}{hours:02}:{minutes:02}"),
        "ZZ" => write!(out, "{sign}{hours:02}{minutes:02}"),
        "X" => write!(out, "{}", time.timestamp().as_second()),
        _ => write!(out, "{}", time.timestamp().as_millisecond()),
    }
}

fn write_fraction(time: &Zoned, digits: usize, out: &mut String) {
    // Moment.js has millisecond precision.
    let written = format!("{:03}000000", time.millisecond());
    out.push_str(written.get(..digits).unwrap_or_default());
}

struct Ordinal(i16);

impl std::fmt::Display for Ordinal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.0, old_english::ordinal_ending(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(at: &str, pattern: &str, expected: &str) {
        let time: Zoned = at.parse().unwrap();
        assert_eq!(format(&time, pattern), expected, "{pattern:?}");
    }

    const AT: &str = "2025-11-07T22:05:09.120+08:00[Asia/Shanghai]";

    #[test]
    fn formats_dates() {
        check(AT, "YYYY YY Y Q Qo", "2025 25 2025 4 4th");
        check(AT, "M Mo MM MMM MMMM", "11 11th 11 Nov November");
        check(AT, "D Do DD DDD DDDo DDDD", "7 7th 07 311 311th 311");
        check(AT, "d do dd ddd dddd E e", "5 5th Fr Fri Friday 5 5");
        check(AT, "w wo ww W Wo WW gg gggg GG GGGG", "45 45th 45 45 45th 45 25 2025 25 2025");
    }

    #[test]
    fn formats_times() {
        check(AT, "H HH h hh k kk m mm s ss A a", "22 22 10 10 22 22 5 05 9 09 PM pm");
        check(AT, "Hmm Hmmss hmm hmmss", "2205 220509 1005 100509");
        check(AT, "S SS SSS SSSS", "1 12 120 1200");
        check(AT, "Z ZZ X x", "+08:00 +0800 1762524309 1762524309120");
        check("2025-11-07T00:00:00+00:00[UTC]", "h k z zz|", "12 24  |");
    }

    #[test]
    fn formats_long_forms() {
        check(AT, "LT|LTS|L|l", "10:05 PM|10:05:09 PM|11/07/2025|11/7/2025");
        check(AT, "LL|ll", "November 7, 2025|Nov 7, 2025");
        check(AT, "LLLL", "Friday, November 7, 2025 10:05 PM");
        check(AT, "llll|lll", "Fri, Nov 7, 2025 10:05 PM|Nov 7, 2025 10:05 PM");
        check(AT, r"[LL] \LL \\LT ML", r"LL LL LT Nov/07/2025");
        check(AT, "", "2025-11-07T22:05:09+08:00");
    }

    #[test]
    fn formats_years_of_era() {
        check(AT, "yyyy-MM-dd y yo yy yyy", "2025-11-Fr 2025 2025th 2025 2025");
        check(AT, "N NN NNN NNNN NNNNN", "AD AD AD Anno Domini AD");
        check(AT, "YYY Y YYYYY YYYYYY", "252025 2025 02025 +002025");
        check(AT, "ggggg GGGGG ggg g", "02025 02025 25g g");
    }

    #[test]
    fn keeps_quoted_text() {
        check(AT, "[D is] D, \\D [", "D is 7, D [");
        check(AT, "[a] D] [D] \\YYYY \\[D] \\", "a] D D YYYY [7] ");
        check(AT, "D\n[\n]M\r\n", "7\n11");
        check(AT, "年M月D日", "年11月7日");
        check(AT, "[a [b] c", "[pm b c");
    }

    #[test]
    fn assigns_week_to_year_of_last_day() {
        check("2025-12-31T00:00:00+00:00[UTC]", "gggg-w GGGG-W", "2026-1 2026-1");
        check("2027-01-01T00:00:00+00:00[UTC]", "gggg-w GGGG-W", "2027-1 2026-53");
    }
}
