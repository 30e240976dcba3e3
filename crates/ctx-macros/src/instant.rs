use ctx_types::Phrase;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, ISOWeekDate, Time, Weekday};
use jiff::fmt::temporal::Pieces;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::dates::locale;

/// Limits the work.
const MAX_BYTES: usize = 64;

/// Parses a date and returns milliseconds since the Unix epoch.
///
/// If the text has no UTC offset, uses the time zone `zone`, or UTC if `zone` is missing or unknown.
///
/// # Errors
/// The text is not a date, or the date is out of range.
///
/// ```
/// use ctx_macros::internal::{InstantError, read_instant};
///
/// assert_eq!(read_instant("1970-01-01T01:00:01+01:00", None), Ok(1_000));
/// assert_eq!(read_instant("January 1, 1970 1:00 AM", Some("Europe/Paris")), Ok(0));
/// assert_eq!(read_instant("soon", None), Err(InstantError::NotADate));
/// ```
pub fn read_instant(text: &str, zone: Option<&str>) -> Result<i64, InstantError> {
    let zone = zone.and_then(|name| TimeZoneDatabase::bundled().get(name).ok());
    read(text, &zone.unwrap_or(TimeZone::UTC))
}

/// Reason why a text could not be parsed as a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum InstantError {
    NotADate,
    /// A valid date beyond the supported range.
    OutOfRange,
}

impl InstantError {
    /// Describes the error in a short phrase.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::NotADate => Phrase::from("not a date and time"),
            Self::OutOfRange => Phrase::from("out of range (the last date is 9999-12-30T22:00Z)"),
        }
    }
}

/// Accepts RFC 3339, RFC 2822, and a date (`2025-11-07`, `20251107`, `2025-11`, `2025`, `2025-311`,
/// `2025-W45-5`, `2025/11/7`, `11/7/2025`, `November 7, 2025`, `7 Nov 2025`) with an optional time (`22:30`,
/// `22:30:05`, `10:30 PM`, or `@22h 30m 05s 123ms` as in SillyTavern's older chats).
pub(crate) fn read(text: &str, zone: &TimeZone) -> Result<i64, InstantError> {
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return Err(InstantError::NotADate);
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant.as_millisecond());
    }
    if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
        return Ok(zoned.timestamp().as_millisecond());
    }
    if has_offset(text) {
        return Err(InstantError::OutOfRange);
    }
    let civil =
        text.parse::<DateTime>().ok().or_else(|| date_and_time(text)).ok_or(InstantError::NotADate)?;
    let zoned = civil.to_zoned(zone.clone()).map_err(|_| InstantError::OutOfRange)?;
    Ok(zoned.timestamp().as_millisecond())
}

fn has_offset(text: &str) -> bool {
    let pieces = Pieces::parse(text).ok();
    pieces.is_some_and(|pieces| pieces.time().is_some() && pieces.offset().is_some())
}

fn date_and_time(text: &str) -> Option<DateTime> {
    if let Some((date, time)) = text.split_once('@') {
        return Some(date_of(&[date.trim()])?.to_datetime(lettered_time(time)?));
    }
    let words: Vec<&str> = text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).collect();
    let time_at = words.iter().position(|word| word.contains(':')).unwrap_or(words.len());
    let (date, time) = words.split_at(time_at);
    let date = date_of(date)?;
    let time = if time.is_empty() { Time::midnight() } else { time_of(time)? };
    Some(date.to_datetime(time))
}

fn date_of(words: &[&str]) -> Option<Date> {
    match *words {
        [numbers] if is_iso(numbers) => iso_date(numbers),
        [numbers] => {
            let mut parts = numbers.split(['-', '/', '.']);
            let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
            match parts.next() {
                Some(_) => None,
                None if first.len() == 4 => date(first, number(second)?, third),
                None => date(third, number(first)?, second),
            }
        }
        [one, two, year] => match month(one) {
            Some(month) => date(year, month, two),
            None => date(year, month(two)?, one),
        },
        [_weekday, one, two, year] => date_of(&[one, two, year]),
        _ => None,
    }
}

/// Short ISO 8601 forms.
fn is_iso(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'W');
    text.bytes().all(is_part) && text.matches('-').count() <= 1 + usize::from(text.contains('W'))
}

fn iso_date(text: &str) -> Option<Date> {
    let (year, rest) = text.split_at_checked(4)?;
    let year: i16 = year.parse().ok()?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    if let Some(week) = rest.strip_prefix('W') {
        let (week, day) = week.split_at_checked(2)?;
        let day = day.strip_prefix('-').unwrap_or(day);
        let day = if day.is_empty() { 1 } else { number(day)? };
        let day = Weekday::from_monday_one_offset(day).ok()?;
        return ISOWeekDate::new(year, number(week)?, day).ok().map(ISOWeekDate::date);
    }
    match rest.len() {
        0 => Date::new(year, 1, 1).ok(),
        2 => Date::new(year, number(rest)?, 1).ok(),
        3 => Date::new(year, 1, 1).ok()?.with().day_of_year(rest.parse().ok()?).build().ok(),
        4 => Date::new(year, number(rest.get(..2)?)?, number(rest.get(2..)?)?).ok(),
        _ => None,
    }
}

fn date(year: &str, month: i8, day: &str) -> Option<Date> {
    let year: i16 = year.parse().ok().filter(|_| year.len() == 4)?;
    let day = day.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    Date::new(year, month, number(day)?).ok()
}

fn month(word: &str) -> Option<i8> {
    let word = word.trim_end_matches('.');
    let is_month = |month: &i8| {
        let start = locale::english().month(*month).get(..word.len().max(3));
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    (1..=12).find(is_month)
}

/// Parses `22h 30m 05s 123ms`.
fn lettered_time(text: &str) -> Option<Time> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let mut next = || numbers.next().map_or(Some(0), |number| number.parse::<i16>().ok());
    let (hour, minute, second, millis) = (next()?, next()?, next()?, next()?);
    let small = |number: i16| i8::try_from(number).ok();
    Time::new(small(hour)?, small(minute)?, small(second)?, i32::from(millis) * 1_000_000).ok()
}

fn time_of(words: &[&str]) -> Option<Time> {
    let (clock, half) = match *words {
        [clock] => match clock.find(|c: char| c.is_ascii_alphabetic()) {
            Some(at) => (clock.get(..at)?, clock.get(at..)?),
            None => (clock, ""),
        },
        [clock, half] => (clock, half),
        _ => return None,
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let (second, fraction) = match parts.next() {
        Some(second) => second.split_once('.').unwrap_or((second, "0")),
        None => ("0", "0"),
    };
    let millis: i32 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let hour = match half.to_ascii_lowercase().as_str() {
        "" => hour,
        "am" | "a.m." if (1..=12).contains(&hour) => hour % 12,
        "pm" | "p.m." if (1..=12).contains(&hour) => hour % 12 + 12,
        _ => return None,
    };
    Time::new(hour, minute, number(second)?, millis * 1_000_000).ok()
}

fn number(digits: &str) -> Option<i8> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = read(text, &TimeZone::UTC).map(|millis| Timestamp::from_millisecond(millis).unwrap());
        assert_eq!(found.map_or_else(|_| String::new(), |found| found.to_string()), expected, "{text:?}");
    }

    #[test]
    fn reads_dates_with_and_without_time() {
        check("2025-11-07", "2025-11-07T00:00:00Z");
        check("2025-11-07 22:30", "2025-11-07T22:30:00Z");
        check("2025-11-07T22:30:05.120", "2025-11-07T22:30:05.12Z");
        check("2025-11-07T22:30:05+02:00", "2025-11-07T20:30:05Z");
        check("2025/11/7 9:05:06", "2025-11-07T09:05:06Z");
        check("11/7/2025", "2025-11-07T00:00:00Z");
        check("2025-11-07 10:30 PM", "2025-11-07T22:30:00Z");
        check("November 7, 2025 12:15 am", "2025-11-07T00:15:00Z");
        check("Friday, Nov 7th, 2025 10:30pm", "2025-11-07T22:30:00Z");
        check("7 Nov 2025", "2025-11-07T00:00:00Z");
        check("2025-11-7@22h30m05s123ms", "2025-11-07T22:30:05.123Z");
        check("2025-11-07 @22h 30m 05s 123ms", "2025-11-07T22:30:05.123Z");
        check("November 7, 2025 10:30pm", "2025-11-07T22:30:00Z");
        check("2025", "2025-01-01T00:00:00Z");
        check("2025-11", "2025-11-01T00:00:00Z");
        check("202511", "2025-11-01T00:00:00Z");
        check("2025-311 22:30", "2025-11-07T22:30:00Z");
        check("2025311", "2025-11-07T00:00:00Z");
        check("2025-W45-5", "2025-11-07T00:00:00Z");
        check("2025W455", "2025-11-07T00:00:00Z");
        check("2025-W45", "2025-11-03T00:00:00Z");
        check("20251107", "2025-11-07T00:00:00Z");
        check("Fri, 07 Nov 2025 22:30:00 +0000", "2025-11-07T22:30:00Z");
    }

    #[test]
    fn rejects_other_text() {
        for text in
            ["", "x", "12:30", "2025-13-01", "2025-11-07 25:00", "2025-11-07 13:00 PM", "1-2", "1/2/3/4"]
        {
            check(text, "");
        }
        check(&"2025-11-07 ".repeat(20), "");
    }

    #[test]
    fn rejects_dates_beyond_supported_range() {
        check("9999-12-30 21:59:59", "9999-12-30T21:59:59Z");
        for text in ["9999-12-31", "December 31, 9999", "9999-12-31T00:00:00Z", "9999-12-30 23:00"] {
            assert_eq!(read(text, &TimeZone::UTC), Err(InstantError::OutOfRange), "{text:?}");
        }
        for text in ["9999-13-31", "99999-12-31", "9999-12-31T25:00:00Z"] {
            assert_eq!(read(text, &TimeZone::UTC), Err(InstantError::NotADate), "{text:?}");
        }
    }
}
