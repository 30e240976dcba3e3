//! Days and times in English words.

use crate::calendar::{MONTHS, WEEKDAYS};
use crate::quality::lex::{Kind, Lexed};
use crate::quality::moments::{Clock, Day, Half, Moment, half_at, is_year};
use crate::quality::numerals;
use crate::quality::units::{ONE, decimal, is_ordinal, measure};

/// A day or a time that begins with a number: `5 March 2026`, `5th of March`, `7 pm`, `9 o'clock`.
pub(super) fn numbered(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
    let number = day_number(lexed, at)?;
    if let Some(half) = half_at(lexed, at + 1).filter(|_| lexed.kind(at) == Some(Kind::Number)) {
        return Some((Moment::Clock(Clock::new(number, 0, Some(half))?), at + 2));
    }
    if let Some((half, next)) = day_part(lexed, at + 1) {
        return Some((Moment::Clock(Clock::new(number, 0, half)?), next));
    }
    if let Some(day) = day_alone(lexed, at, number) {
        return Some((Moment::Day(day), at + 1));
    }
    let joins = usize::from(lexed.str(at + 1) == "of" || lexed.mark(at + 1) == Some('-'));
    let month = month(lexed.str(at + 1 + joins))?;
    let day = u8::try_from(number).ok().filter(|day| (1..=31).contains(day))?;
    let (year, next) = year_after(lexed, at + 2 + joins);
    Some((Moment::Day(Day::new(year, month, Some(day))), next))
}

/// Reads `the 24th`, with nothing behind it that it could count.
fn day_alone(lexed: &Lexed<'_>, at: usize, number: u16) -> Option<Day> {
    let is_ordinal = lexed.kind(at) == Some(Kind::Measure);
    let is_the = at.checked_sub(1).is_some_and(|before| lexed.str(before).eq_ignore_ascii_case("the"));
    let is_end = matches!(lexed.kind(at + 1), None | Some(Kind::Break | Kind::Mark(_)));
    let day = u8::try_from(number).ok().filter(|day| (1..=31).contains(day))?;
    (is_ordinal && is_the && is_end).then_some(Day {
        year: None,
        month: None,
        day: Some(day),
        is_either: false,
    })
}

/// A number that may be a day or an hour.
pub(super) fn day_number(lexed: &Lexed<'_>, at: usize) -> Option<u16> {
    let text = lexed.str(at);
    let digits = match lexed.kind(at)? {
        Kind::Number => text,
        Kind::Measure => measure(text).filter(|(_, letters)| is_ordinal(letters))?.0,
        _ => return None,
    };
    let number = decimal(digits).filter(|number| number % ONE == 0 && digits.len() <= 2)?;
    u16::try_from(number / ONE).ok()
}

/// Reads what says which half of the day an hour is in: `o'clock`, `in the morning`.
fn day_part(lexed: &Lexed<'_>, at: usize) -> Option<(Option<Half>, usize)> {
    let word = |skip: usize| lexed.str(at + skip).to_lowercase();
    let is_oclock = matches!(word(0).as_str(), "o'clock" | "o’clock");
    let skip = usize::from(is_oclock);
    let (first, second) = (word(skip), word(skip + 1));
    if first == "in" && second == "the" {
        let half = match word(skip + 2).as_str() {
            "morning" => Half::Earlier,
            "afternoon" | "evening" => Half::Later,
            _ => return is_oclock.then_some((None, at + 1)),
        };
        return Some((Some(half), at + skip + 3));
    }
    if first == "at" && second == "night" {
        return Some((Some(Half::Later), at + skip + 2));
    }
    is_oclock.then_some((None, at + 1))
}

/// A moment that begins with a word: `March 5, 2026`, `Monday`, `nine in the morning`, `noon`.
pub(super) fn worded(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
    let word = lexed.str(at);
    let lower = word.to_lowercase();
    if let Some(hour) = numerals::english(&lower).filter(|hour| (1..=12).contains(hour)) {
        let (half, next) =
            day_part(lexed, at + 1).or_else(|| Some((Some(half_at(lexed, at + 1)?), at + 2)))?;
        return Some((Moment::Clock(Clock::new(u16::try_from(hour).ok()?, 0, half)?), next));
    }
    if let Some(weekday) = weekday(word) {
        return Some((Moment::Weekday(weekday), at + 1));
    }
    match lower.as_str() {
        "noon" | "midday" => return Some((Moment::Clock(Clock { minutes: 720, is_either: false }), at + 1)),
        "midnight" => return Some((Moment::Clock(Clock { minutes: 0, is_either: false }), at + 1)),
        _ => {}
    }
    let month = month(word)?;
    let dot = usize::from(word.len() <= 4 && lexed.mark(at + 1) == Some('.'));
    let begin = at + 1 + dot + usize::from(lexed.str(at + 1 + dot) == "the");
    if let Some(day) = day_number(lexed, begin).filter(|day| (1..=31).contains(day)) {
        let (year, next) = year_after(lexed, begin + 1);
        return Some((Moment::Day(Day::new(year, month, u8::try_from(day).ok())), next));
    }
    if let (year @ Some(_), next) = year_after(lexed, at + 1 + dot) {
        return Some((Moment::Day(Day::new(year, month, None)), next));
    }
    let before = at.checked_sub(1).map(|before| lexed.str(before).to_lowercase()).unwrap_or_default();
    let is_meant = matches!(
        before.as_str(),
        "in" | "since"
            | "until"
            | "till"
            | "by"
            | "next"
            | "last"
            | "early"
            | "late"
            | "mid"
            | "from"
            | "of"
            | "for"
    );
    is_meant.then(|| (Moment::Day(Day::new(None, month, None)), at + 1))
}

/// Reads a year, perhaps with a comma before it.
fn year_after(lexed: &Lexed<'_>, at: usize) -> (Option<u16>, usize) {
    let skip = usize::from(lexed.mark(at) == Some(','));
    let text = lexed.str(at + skip);
    let is_number = lexed.kind(at + skip) == Some(Kind::Number) && text.len() == 4;
    match text.parse::<u16>().ok().filter(|year| is_number && is_year(*year)) {
        Some(year) => (Some(year), at + skip + 1),
        None => (None, at),
    }
}

pub(super) fn month(word: &str) -> Option<u8> {
    if !word.starts_with(|c: char| c.is_ascii_uppercase()) || word.len() < 3 {
        return None;
    }
    let is_short = word.len() == 3 || word.eq_ignore_ascii_case("sept");
    let is_begin = |name: &str| name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    let place = MONTHS.iter().position(|name| is_begin(name) && (is_short || name.len() == word.len()));
    place.and_then(|place| u8::try_from(place + 1).ok())
}

fn weekday(word: &str) -> Option<u8> {
    let singular = word.strip_suffix(['s', 'S']).unwrap_or(word);
    let short = match word {
        "Mon" => Some(0),
        "Tue" | "Tues" => Some(1),
        "Wed" => Some(2),
        "Thu" | "Thur" | "Thurs" => Some(3),
        "Fri" => Some(4),
        _ => None,
    };
    short.or_else(|| {
        let place = WEEKDAYS.iter().position(|name| name.eq_ignore_ascii_case(singular));
        place.and_then(|place| u8::try_from(place).ok())
    })
}
