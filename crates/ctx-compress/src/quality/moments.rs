//! Days and times, in whatever form they are written.

mod chinese;
mod english;

use crate::quality::lex::{Kind, Lexed};
use crate::quality::moments::chinese::{chinese, chinese_number};
use crate::quality::moments::english::{day_number, month, numbered, worded};
use crate::quality::units::half_width;

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

/// Returns whether a number is a year that people speak of.
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
