//! Days and times in Chinese.

use crate::quality::lex::{Kind, Lexed};
use crate::quality::moments::{Clock, Day, Half, Moment, is_year};
use crate::quality::numerals;
use crate::quality::units::{ONE, decimal};

/// Moments in Chinese: `2026年3月5日`, `三月五号`, `周三`, `下午3点半`.
pub(super) fn chinese(lexed: &Lexed<'_>, at: usize) -> Option<(Moment, usize)> {
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

/// Returns whether a month stands alone, and not `三月内`, which would be a span of months.
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
pub(super) fn chinese_number(lexed: &Lexed<'_>, at: usize) -> Option<(u16, usize)> {
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
