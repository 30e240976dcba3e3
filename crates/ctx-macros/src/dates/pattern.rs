//! Date patterns such as `YYYY-MM-DD HH:mm`.

use jiff::civil::DateTime;

use crate::dates::locale::Locale;

/// Longer tokens precede their prefixes.
const TOKENS: [(&str, Token); 20] = [
    ("YYYY", Token::Year),
    ("YY", Token::ShortYear),
    ("MMMM", Token::MonthName),
    ("MMM", Token::ShortMonthName),
    ("MM", Token::PaddedMonth),
    ("M", Token::Month),
    ("dddd", Token::WeekdayName),
    ("ddd", Token::ShortWeekdayName),
    ("DD", Token::PaddedDay),
    ("D", Token::Day),
    ("HH", Token::PaddedHour),
    ("H", Token::Hour),
    ("hh", Token::PaddedHalfHour),
    ("h", Token::HalfHour),
    ("mm", Token::PaddedMinute),
    ("m", Token::Minute),
    ("ss", Token::PaddedSecond),
    ("s", Token::Second),
    ("A", Token::HalfDay),
    ("a", Token::SmallHalfDay),
];

#[derive(Clone, Copy)]
enum Token {
    Year,
    ShortYear,
    MonthName,
    ShortMonthName,
    PaddedMonth,
    Month,
    WeekdayName,
    ShortWeekdayName,
    PaddedDay,
    Day,
    PaddedHour,
    Hour,
    PaddedHalfHour,
    HalfHour,
    PaddedMinute,
    Minute,
    PaddedSecond,
    Second,
    HalfDay,
    SmallHalfDay,
}

/// Replaces tokens and removes the brackets of `[…]`. Linear in the pattern.
pub(crate) fn format(pattern: &str, time: DateTime, locale: &Locale) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    let last_close = memchr::memrchr(b']', pattern.as_bytes()).unwrap_or(0);
    while let Some(first) = rest.chars().next() {
        let is_closed = pattern.len() - rest.len() < last_close;
        let quoted = if is_closed { split_quoted(rest) } else { None };
        rest = if let Some((literal, after)) = quoted {
            out.push_str(literal);
            after
        } else if let Some((token, after)) = token(rest) {
            token.write(time, locale, &mut out);
            after
        } else {
            out.push(first);
            rest.get(first.len_utf8()..).unwrap_or_default()
        };
    }
    out
}

pub(crate) fn has_open_bracket(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(open) = rest.find('[') {
        let Some((_, after)) = split_quoted(rest.get(open..).unwrap_or_default()) else { return true };
        rest = after;
    }
    false
}

fn split_quoted(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

fn token(text: &str) -> Option<(Token, &str)> {
    TOKENS.iter().find_map(|(name, token)| Some((*token, text.strip_prefix(name)?)))
}

impl Token {
    fn write(self, time: DateTime, locale: &Locale, out: &mut String) {
        let hour = time.hour();
        let half_hour = if hour % 12 == 0 { 12 } else { hour % 12 };
        match self {
            Self::Year => year(time.year(), out),
            Self::ShortYear => write_padded(time.year().rem_euclid(100), out),
            Self::MonthName => out.push_str(locale.month(time.month())),
            Self::ShortMonthName => out.push_str(locale.short_month(time.month())),
            Self::PaddedMonth => write_padded(time.month(), out),
            Self::Month => plain(time.month(), out),
            Self::WeekdayName => out.push_str(locale.weekday(time.weekday())),
            Self::ShortWeekdayName => out.push_str(locale.short_weekday(time.weekday())),
            Self::PaddedDay => write_padded(time.day(), out),
            Self::Day => plain(time.day(), out),
            Self::PaddedHour => write_padded(hour, out),
            Self::Hour => plain(hour, out),
            Self::PaddedHalfHour => write_padded(half_hour, out),
            Self::HalfHour => plain(half_hour, out),
            Self::PaddedMinute => write_padded(time.minute(), out),
            Self::Minute => plain(time.minute(), out),
            Self::PaddedSecond => write_padded(time.second(), out),
            Self::Second => plain(time.second(), out),
            Self::HalfDay => out.push_str(locale.half_day(hour)),
            Self::SmallHalfDay => out.push_str(&locale.half_day(hour).to_lowercase()),
        }
    }
}

fn plain(number: impl Into<i32>, out: &mut String) {
    out.push_str(&number.into().to_string());
}

fn write_padded(number: impl Into<i32>, out: &mut String) {
    let number = number.into();
    out.push_str(if number < 10 { "0" } else { "" });
    plain(number, out);
}

/// At least 4 digits, with the sign first.
fn year(year: i16, out: &mut String) {
    out.push_str(if year < 0 { "-" } else { "" });
    let digits = year.unsigned_abs().to_string();
    out.push_str("0000".get(digits.len()..).unwrap_or_default());
    out.push_str(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates::locale;

    #[track_caller]
    fn check(pattern: &str, expected: &str) {
        let time = jiff::civil::datetime(2025, 3, 9, 15, 4, 5, 0);
        assert_eq!(format(pattern, time, locale::english()), expected, "{pattern:?}");
    }

    #[test]
    fn replaces_every_token() {
        check("YYYY YY MMMM MMM MM M dddd ddd DD D", "2025 25 March Mar 03 3 Sunday Sun 09 9");
        check("HH H hh h mm m ss s A a", "15 15 03 3 04 4 05 5 PM pm");
    }

    #[test]
    fn replaces_each_token_once() {
        check("MMMMdddd", "MarchSunday");
        check("MMMMM", "March3");
    }

    #[test]
    fn keeps_bracketed_text() {
        check("[at] h [o'clock, day] D[]", "at 3 o'clock, day 9");
        check("[[h]", "[h");
        check("[h", "[3");
        check("日 d dd]", "日 d dd]");
        assert!(has_open_bracket("[a] [b") && !has_open_bracket("[a] b] [c]"));
    }

    #[test]
    fn pads_years_and_keeps_sign() {
        let format =
            |year| format("YYYY YY", jiff::civil::date(year, 1, 1).at(0, 0, 0, 0), locale::english());
        assert_eq!(format(-44), "-0044 56");
        assert_eq!(format(987), "0987 87");
        assert_eq!(format(-9999), "-9999 01");
    }
}
