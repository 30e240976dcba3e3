//! Days and times, in whatever form they are written.

use crate::quality::lex::{Kind, Lexed};
use crate::quality::numerals;
use crate::quality::units::{ONE, decimal, half_width, is_ordinal, measure};

/// A day, a month or a year; what is not said is absent.
#[expect(clippy::struct_field_names, reason = "a day has a day of the month")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Day {
    pub(super) year: Option<u16>,
    pub(super) month: Option<u8>,
    pub(super) day: Option<u8>,
    /// Whether day and month may be meant the other way round: `3/5/2026`.
    pub(super) is_either: bool,
}

/// A time of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Clock {
    /// Minutes since midnight.
    pub(super) minutes: u16,
    /// Whether it may be meant twelve hours later.
    pub(super) is_either: bool,
}

/// A moment with the token after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Day(Day),
    /// Counted from Monday, which is 0.
    Weekday(u8),
    Clock(Clock),
}

impl Day {
    const fn new(year: Option<u16>, month: u8, day: Option<u8>) -> Self {
        Self { year, month: Some(month), day, is_either: false }
    }

    /// Reads a day in digits with signs between.
    pub(super) fn parse(run: &str) -> Option<Self> {
        let sign = ['-', '/', '.'].into_iter().find(|sign| run.contains(*sign))?;
        let parts: Vec<&str> = run.split(sign).collect();
        if parts
            .iter()
            .any(|part| part.is_empty() || part.len() > 4 || !part.bytes().all(|byte| byte.is_ascii_digit()))
        {
            return None;
        }
        let number = |part: &str| part.parse::<u16>().ok();
        let small = |part: &str| part.parse::<u8>().ok().filter(|_| part.len() <= 2);
        match parts.as_slice() {
            [year, month, day] if year.len() == 4 => {
                let (month, day) = (small(month)?, small(day)?);
                is_day(month, day).then(|| Self::new(number(year), month, Some(day)))
            }
            [first, second, year] if year.len() == 4 || (year.len() == 2 && sign == '/') => {
                let (first, second, year) = (small(first)?, small(second)?, number(year)?);
                let year = Some(if year < 100 { year + 2_000 } else { year });
                let is_either = is_day(first, second) && is_day(second, first) && first != second;
                // With dots the day comes first everywhere; otherwise the month does if it can.
                let (month, day) =
                    if sign == '.' || !is_day(first, second) { (second, first) } else { (first, second) };
                is_day(month, day).then_some(Self {
                    year,
                    month: Some(month),
                    day: Some(day),
                    is_either: is_either && sign != '.',
                })
            }
            [year, month] if sign != '.' && year.len() == 4 && month.len() == 2 && is_year(number(year)?) => {
                let month = small(month)?;
                (1..=12).contains(&month).then(|| Self::new(number(year), month, None))
            }
            _ => None,
        }
    }
}

fn is_day(month: u8, day: u8) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

/// Tells whether a number is a year that people speak of.
pub(super) const fn is_year(number: u16) -> bool {
    number >= 1_000 && number < 2_200
}

impl Clock {
    fn new(hour: u16, minute: u16, half: Option<Half>) -> Option<Self> {
        let hour = match half {
            Some(Half::Later) if hour < 12 => hour + 12,
            Some(Half::Earlier) if hour == 12 => 0,
            _ => hour,
        };
        let is_either = half.is_none() && (1..=12).contains(&hour);
        (hour <= 24 && minute < 60).then_some(Self { minutes: hour % 24 * 60 + minute, is_either })
    }

    /// Reads a time in digits: `19:30`, `7:30pm`, `7pm`.
    pub(super) fn parse(run: &str) -> Option<Self> {
        let folded: String = run.chars().map(half_width).collect::<String>().to_ascii_lowercase();
        let (digits, half) = match (folded.strip_suffix("am"), folded.strip_suffix("pm")) {
            (Some(digits), _) => (digits, Some(Half::Earlier)),
            (_, Some(digits)) => (digits, Some(Half::Later)),
            _ => (folded.strip_suffix('z').unwrap_or(&folded), None),
        };
        let mut parts = digits.split(':');
        let part = |part: Option<&str>| {
            part.filter(|part| {
                (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
            })?
            .parse::<u16>()
            .ok()
        };
        let hour = part(parts.next())?;
        let minute = match parts.next() {
            None => half.map(|_| 0)?,
            Some(text) => part(Some(text).filter(|text| text.len() == 2))?,
        };
        // Seconds, with a fraction; times are compared by the minute.
        let seconds = parts.next().map_or("00", |text| text.split('.').next().unwrap_or_default());
        part(Some(seconds))?;
        if half.is_some() && !(1..=12).contains(&hour) {
            return None;
        }
        let is_written_in_full = half.is_none() && digits.starts_with('0');
        let clock = Self::new(hour, minute, half)?;
        Some(Self { is_either: clock.is_either && !is_written_in_full, ..clock })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Earlier,
    Later,
}

/// Returns the moment that begins at a token, and the token after it.
pub(super) fn moment(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
    match lexed.kind(at)? {
        Kind::Day => Some((Moment::Day(Day::parse(lexed.str(at))?), at + 1)),
        Kind::Clock => Some((
            Moment::Clock(clock_here(lexed, at)?),
            at + 1 + usize::from(half_at(lexed, at + 1).is_some()),
        )),
        Kind::Han => chinese(lexed, at),
        Kind::Number | Kind::Measure => numbered(lexed, at).or_else(|| chinese(lexed, at)),
        Kind::Word => worded(lexed, at),
        _ => None,
    }
}

/// Reads the second day of `June 12 to 24` or `6月12日至24日`: in the month of the first, which ends at a token.
pub(super) fn further_day(lexed: &Lexed<'_>, at: usize, first: Day, end: usize) -> Option<(Moment, usize)> {
    let joins = matches!(lexed.str(end), "to" | "until" | "till" | "through" | "and" | "or")
        || matches!(lexed.mark(end), Some('-' | '–' | '—' | '~' | '、'))
        || lexed.han(end).is_some_and(|c| matches!(c, '到' | '至' | '和'));
    first.day.filter(|_| joins && at == end + 1)?;
    let (number, next) =
        day_number(lexed, at).map(|number| (number, at + 1)).or_else(|| chinese_number(lexed, at))?;
    let is_day = lexed.han(next).is_some_and(|c| matches!(c, '日' | '号'));
    let is_end = matches!(lexed.kind(next), None | Some(Kind::Break | Kind::Mark(_)))
        || matches!(lexed.str(next), "with" | "in" | "at" | "for" | "and" | "we" | "i" | "I");
    let day = u8::try_from(number).ok().filter(|day| (1..=31).contains(day))?;
    let month = month(lexed.str(next)).is_some();
    (!month && (is_day || is_end)).then_some((
        Moment::Day(Day { day: Some(day), is_either: false, ..first }),
        next + usize::from(is_day),
    ))
}

/// Reads a time in digits, with the half of the day behind it.
fn clock_here(lexed: &Lexed<'_>, at: usize) -> Option<Clock> {
    let clock = Clock::parse(lexed.str(at))?;
    match half_at(lexed, at + 1) {
        Some(half) if clock.is_either => Clock::new(clock.minutes / 60, clock.minutes % 60, Some(half)),
        _ => Some(clock),
    }
}

/// Reads `am`, `p.m.` and the like.
fn half_at(lexed: &Lexed<'_>, at: usize) -> Option<Half> {
    match lexed.str(at).to_ascii_lowercase().as_str() {
        "am" | "a.m" => Some(Half::Earlier),
        "pm" | "p.m" => Some(Half::Later),
        _ => None,
    }
}

/// A day or a time that begins with a number: `5 March 2026`, `5th of March`, `7 pm`, `9 o'clock`.
fn numbered(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
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
fn day_number(lexed: &Lexed<'_>, at: usize) -> Option<u16> {
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
fn worded(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
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

fn month(word: &str) -> Option<u8> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let lower = word.to_ascii_lowercase();
    if !word.starts_with(|c: char| c.is_ascii_uppercase()) || lower.len() < 3 {
        return None;
    }
    let is_short = lower.len() == 3 || lower == "sept";
    let place =
        NAMES.iter().position(|name| *name == lower || (is_short && name.starts_with(lower.as_str())));
    place.and_then(|place| u8::try_from(place + 1).ok())
}

fn weekday(word: &str) -> Option<u8> {
    const NAMES: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let lower = word.to_ascii_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let short = match word {
        "Mon" => Some(0),
        "Tue" | "Tues" => Some(1),
        "Wed" => Some(2),
        "Thu" | "Thur" | "Thurs" => Some(3),
        "Fri" => Some(4),
        _ => None,
    };
    short.or_else(|| {
        NAMES.iter().position(|name| *name == singular).and_then(|place| u8::try_from(place).ok())
    })
}

/// Moments in Chinese: `2026年3月5日`, `三月五号`, `周三`, `下午3点半`.
fn chinese(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
    if let Some(found) = chinese_weekday(lexed, at) {
        return Some(found);
    }
    let (half, begin) = chinese_half(lexed, at);
    if let Some(found) = chinese_clock(lexed, begin, half) {
        return Some(found);
    }
    let (number, next) = chinese_number(lexed, at)?;
    match lexed.han(next)? {
        '年' if is_year(number) => {
            let month = chinese_number(lexed, next + 1)
                .filter(|(month, after)| (1..=12).contains(month) && lexed.han(*after) == Some('月'));
            let Some((month, after)) = month else {
                let is_span = lexed.han(next + 1).is_some_and(|c| "前后内来以".contains(c)) && number < 1_900;
                return (!is_span).then_some((
                    Moment::Day(Day { year: Some(number), month: None, day: None, is_either: false }),
                    next + 1,
                ));
            };
            chinese_day(lexed, Some(number), month, after + 1)
        }
        '月' if (1..=12).contains(&number) => {
            chinese_day(lexed, None, number, next + 1).filter(|(moment, _)| {
                !matches!(moment, Moment::Day(Day { day: None, .. })) || is_month_alone(lexed, next + 1)
            })
        }
        _ => None,
    }
}

/// Tells whether a month stands alone, and not `三月内`, which would be a span of months.
fn is_month_alone(lexed: &Lexed<'_>, next: usize) -> bool {
    !lexed.han(next).is_some_and(|c| "内后前来".contains(c))
}

fn chinese_day(lexed: &Lexed<'_>, year: Option<u16>, month: u16, at: usize) -> Option<(Moment, usize)> {
    let month = u8::try_from(month).ok()?;
    let day = chinese_number(lexed, at).filter(|(day, after)| {
        (1..=31).contains(day) && lexed.han(*after).is_some_and(|c| matches!(c, '日' | '号'))
    });
    match day {
        Some((day, after)) => Some((Moment::Day(Day::new(year, month, u8::try_from(day).ok())), after + 1)),
        None => Some((Moment::Day(Day::new(year, month, None)), at)),
    }
}

fn chinese_weekday(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
    let length = ["星期", "礼拜", "周"]
        .iter()
        .find(|word| lexed.has_han(at, word))
        .map(|word| word.chars().count())?;
    let day = "一二三四五六日天".chars().position(|c| lexed.han(at + length) == Some(c))?;
    // `每周三次` is three times a week.
    if lexed.han(at + length + 1).is_some_and(|c| "次天个".contains(c)) {
        return None;
    }
    Some((Moment::Weekday(u8::try_from(day.min(6)).ok()?), at + length + 1))
}

/// Reads the part of the day before an hour.
fn chinese_half(lexed: &Lexed<'_>, at: usize) -> (Option<Half>, usize) {
    const PARTS: [(&str, Half); 9] = [
        ("早上", Half::Earlier),
        ("上午", Half::Earlier),
        ("凌晨", Half::Earlier),
        ("清晨", Half::Earlier),
        ("早晨", Half::Earlier),
        ("下午", Half::Later),
        ("晚上", Half::Later),
        ("傍晚", Half::Later),
        ("中午", Half::Later),
    ];
    match PARTS.iter().find(|(word, _)| lexed.has_han(at, word)) {
        Some((_, half)) => (Some(*half), at + 2),
        None => (None, at),
    }
}

fn chinese_clock(lexed: &Lexed<'_>, at: usize, half: Option<Half>) -> Option<(Moment, usize)> {
    if let (Some(Kind::Clock), Some(half)) = (lexed.kind(at), half) {
        let clock = Clock::parse(lexed.str(at))?;
        let clock = Clock::new(clock.minutes / 60, clock.minutes % 60, Some(half))?;
        return Some((Moment::Clock(clock), at + 1));
    }
    let (hour, next) = chinese_number(lexed, at).filter(|(hour, _)| *hour <= 24)?;
    if !lexed.han(next).is_some_and(|c| matches!(c, '点' | '时')) {
        return None;
    }
    let after = next + 1;
    let (minute, end, is_told) = match lexed.han(after) {
        Some('半') => (30, after + 1, true),
        Some('整') => (0, after + 1, true),
        Some('钟') => (0, after + 1, true),
        _ => match chinese_number(lexed, after).filter(|(minute, _)| *minute < 60) {
            Some((minute, end)) => (minute, end + usize::from(lexed.han(end) == Some('分')), true),
            None => (0, after, false),
        },
    };
    // `三点建议` are three pieces of advice.
    let follows = lexed.han(end);
    let is_time = half.is_some()
        || lexed.kind(at) == Some(Kind::Number)
        || is_told
        || follows.is_none()
        || follows.is_some_and(|c| "之前后左到至开出在的了见吧".contains(c));
    is_time.then(|| Clock::new(hour, minute, half)).flatten().map(|clock| (Moment::Clock(clock), end))
}

/// Reads a whole number in digits or characters.
fn chinese_number(lexed: &Lexed<'_>, at: usize) -> Option<(u16, usize)> {
    let (value, next) = match lexed.kind(at)? {
        Kind::Number => (decimal(lexed.str(at))?, at + 1),
        Kind::Han => {
            let characters = (at..).map_while(|at| lexed.han(at));
            let (value, length) = numerals::chinese(characters)?;
            (value, at + length)
        }
        _ => return None,
    };
    (value % ONE == 0).then(|| u16::try_from(value / ONE).ok()).flatten().map(|value| (value, next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::lex::Form;

    /// The first moment of a text, as `y-m-d`, `day n` or `h:m`, with `?` if it may be another one.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let lexed = Lexed::of(text, Form::Prose);
        let found = (0..lexed.tokens.len()).find_map(|at| moment(&lexed, at)).map(|(moment, _)| moment);
        let part = |part: Option<u16>| part.map_or("_".to_owned(), |part| part.to_string());
        let shown = match found {
            None => "-".to_owned(),
            Some(Moment::Weekday(day)) => format!("day {day}"),
            Some(Moment::Clock(clock)) => {
                format!(
                    "{}:{:02}{}",
                    clock.minutes / 60,
                    clock.minutes % 60,
                    if clock.is_either { "?" } else { "" }
                )
            }
            Some(Moment::Day(day)) => {
                let (month, date) = (part(day.month.map(u16::from)), part(day.day.map(u16::from)));
                format!("{}-{month}-{date}{}", part(day.year), if day.is_either { "?" } else { "" })
            }
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn days_in_english() {
        for text in [
            "on March 5, 2026",
            "5 March 2026",
            "the 5th of March 2026",
            "Mar 5 2026",
            "2026-03-05",
            "5.3.2026",
        ] {
            check(text, "2026-3-5");
        }
        check("3/5/2026", "2026-3-5?");
        check("15/3/26", "2026-3-15");
        check("in March", "_-3-_");
        check("March 2026", "2026-3-_");
        check("we march on", "-");
        check("May I ask", "-");
        check("on Fridays", "day 4");
    }

    #[test]
    fn days_in_chinese() {
        for text in ["2026年3月5日", "二〇二六年三月五号", "于2026年03月05日"] {
            check(text, "2026-3-5");
        }
        check("3月5日", "_-3-5");
        check("2026年", "2026-_-_");
        check("周三见", "day 2");
        check("星期天", "day 6");
        check("三个月", "-");
    }

    #[test]
    fn times_in_english() {
        check("at 19:30", "19:30");
        check("7:30 p.m.", "19:30");
        check("at 7:30", "7:30?");
        check("9am", "9:00");
        check("nine in the morning", "9:00");
        check("at nine o'clock", "9:00?");
        check("at noon", "12:00");
        check("one in the house", "-");
    }

    #[test]
    fn times_in_chinese() {
        check("早上九点之前", "9:00");
        check("下午3点半", "15:30");
        check("晚上7点20分", "19:20");
        check("19点30分", "19:30");
        check("三点建议", "-");
    }
}
