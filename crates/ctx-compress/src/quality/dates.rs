//! Days and times in English, Chinese and digits.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::quality::key::Key;
use crate::quality::numbers::{ENGLISH_DIGITS, small_number};

/// A day, a month or a year.
#[expect(clippy::struct_field_names, reason = "a day has a day of the month")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Day {
    pub(super) year: Option<u16>,
    pub(super) month: Option<u16>,
    pub(super) day: Option<u16>,
    /// Whether day and month may be swapped: `3/5/2026`.
    pub(super) is_ambiguous: bool,
}

impl Day {
    pub(super) fn swapped(self) -> Option<Self> {
        self.is_ambiguous.then_some(Self { month: self.day, day: self.month, ..self })
    }
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Clock {
    /// Minutes since midnight.
    pub(super) minutes: u16,
    /// Whether it may mean twelve hours later.
    pub(super) is_ambiguous: bool,
}

/// The first letters of months and weekdays.
const MONTHS: &str = "jan feb mar apr may jun jul aug sep oct nov dec";
const WEEKDAYS: &str = "mon tue wed thu fri sat sun";

/// A word boundary between ASCII characters. Chinese characters are not letters for it.
const B: &str = r"(?-u:\b)";
const MONTH: &str = "(?<month>(?i-u:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|\
    aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))";
const TH: &str = "(?:st|nd|rd|th)?";
const YEAR: &str = "(?<y>(?:19|20)[0-9]{2})";
/// Digits or Chinese numerals of a day, a month or an hour.
const HAN: &str = "[0-9]{1,2}|[一二两三四五六七八九十]{1,3}";

/// Groups: `y`, `m` (number) or `month` (name), `d`, and `to` for the second day of a range.
pub(super) static DAYS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let han_year = r"[0-9]{4}|[〇零一二三四五六七八九]{4}";
    let patterns = [
        format!(r"{B}(?<y>[0-9]{{4}})[-/.](?<m>[0-9]{{1,2}})[-/.](?<d>[0-9]{{1,2}})"),
        format!(r"{B}(?<m>[0-9]{{1,2}})/(?<d>[0-9]{{1,2}})/(?<y>[0-9]{{4}}){B}"),
        format!(r"{B}(?<d>[0-9]{{1,2}})\.(?<m>[0-9]{{1,2}})\.(?<y>[0-9]{{4}}){B}"),
        format!(
            r"{B}{MONTH}\.?\s(?<d>[0-9]{{1,2}}){TH}(?:\s?(?:-|–|to)\s?(?<to>[0-9]{{1,2}}){TH})?{B}(?:,?\s{YEAR}{B})?"
        ),
        format!(r"{B}(?<d>[0-9]{{1,2}}){TH}\s(?:of\s)?{MONTH}{B}(?:,?\s{YEAR}{B})?"),
        format!(r"{B}{MONTH},?\s{YEAR}{B}"),
        format!(r"(?:(?<y>{han_year})\s?年\s?)?(?<m>{HAN})\s?月(?:\s?(?<d>{HAN})\s?[日号])?"),
        format!(r"(?<y>{han_year})\s?年"),
        r"(?<d>[0-9]{1,2})\s?日".to_owned(),
        format!(r"{B}the\s(?<d>[0-9]{{1,2}})(?:st|nd|rd|th){B}"),
        format!(r"{B}(?<m>0[1-9])-(?<d>[0-3][0-9]){B}"),
        // `May` and `March` are also verbs.
        format!(
            "{B}(?<month>January|February|April|June|July|August|September|October|November|December){B}"
        ),
    ];
    patterns.iter().map(|pattern| Regex::new(pattern).expect("a valid pattern")).collect()
});

/// Reads a match of [`DAYS`], and the second day of a range.
pub(super) fn days(found: &Captures<'_>) -> Option<(Day, Option<Day>)> {
    let group = |name| found.name(name).map(|group| group.as_str());
    let number = |name| group(name).map(small_number);
    let named = group("month").and_then(|name| {
        let at = MONTHS.split(' ').position(|month| month.eq_ignore_ascii_case(&name[..3]))?;
        u16::try_from(at + 1).ok()
    });
    let day = Day { year: number("y"), month: named.or(number("m")), day: number("d"), is_ambiguous: false };
    let is_valid = |day: &Day| {
        day.month.is_none_or(|month| (1..=12).contains(&month))
            && day.day.is_none_or(|day| (1..=31).contains(&day))
    };
    let second = number("to").map(|last| Day { day: Some(last), ..day }).filter(is_valid);
    if found[0].contains('/') && group("y").is_some_and(|year| found[0].ends_with(year)) {
        let swapped = Day { month: day.day, day: day.month, ..day };
        let both = is_valid(&day) && is_valid(&swapped) && day != swapped;
        let day = if is_valid(&day) { day } else { swapped };
        return is_valid(&day).then_some((Day { is_ambiguous: both, ..day }, None));
    }
    is_valid(&day).then_some((day, second))
}

pub(super) static WEEKDAY: LazyLock<Regex> = LazyLock::new(|| {
    let english =
        "(?i-u:monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?|Mon|Tues?|Wed|Thu|Thurs|Fri";
    let chinese = "(?:周|星期|礼拜)(?<han>[一二三四五六日天])";
    Regex::new(&format!("{B}(?<name>{english}){B}|{chinese}")).expect("a valid pattern")
});

pub(super) fn weekday(found: &Captures<'_>) -> Option<Key> {
    let at = match (found.name("name"), found.name("han")) {
        (Some(name), _) => WEEKDAYS.split(' ').position(|day| day.eq_ignore_ascii_case(&name.as_str()[..3])),
        (None, han) => {
            "一二三四五六日天".chars().position(|day| han.is_some_and(|han| han.as_str().starts_with(day)))
        }
    };
    at.map(|at| Key::Weekday(at.min(6)))
}

/// Groups: `half` of the day (before or after the hour), `h`, `min`, `part` of a Chinese hour.
pub(super) static CLOCKS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let early = "凌晨|清晨|早上|早晨|上午|今早|明早";
    let late = "中午|下午|傍晚|晚上|今晚|明晚|夜里";
    let half = format!(r"(?:(?<before>{early}|{late})\s?)?");
    let hour = format!("(?<h>1[0-2]|[1-9]|(?i-u:{ENGLISH_DIGITS}|ten|eleven|twelve))");
    let patterns = [
        format!(
            r"{half}{B}(?<h>[01]?[0-9]|2[0-4])[:：](?<min>[0-5][0-9])(?:[:：][0-5][0-9](?:\.[0-9]+)?)?(?:\s?(?<half>(?i-u:[ap]\.?m{B}\.?)))?"
        ),
        format!(r"{B}(?<h>1[0-2]|[1-9])\s?(?<half>(?i-u:[ap]\.?m{B}\.?))"),
        format!(r"{B}{hour}(?:\so['’]clock)?\s(?:in\sthe|at)\s(?<half>morning|afternoon|evening|night){B}"),
        format!(r"{B}{hour}\so['’]clock{B}"),
        format!(r"{half}(?<h>{HAN})\s?[点點时](?:(?<part>半|一刻|三刻|整|钟)|\s?(?<min>{HAN})\s?分?)?"),
    ];
    patterns.iter().map(|pattern| Regex::new(pattern).expect("a valid pattern")).collect()
});

/// Reads a match of [`CLOCKS`].
pub(super) fn clock(found: &Captures<'_>) -> Option<Clock> {
    let group = |name| found.name(name).map(|group| group.as_str());
    let written = group("h")?;
    let part = group("part");
    // `三点建议` are three suggestions.
    let is_certain = part.or(group("before")).or(group("min")).is_some();
    if !written.is_ascii() && !is_certain {
        return None;
    }
    let hour = small_number(written);
    let minute = match part {
        Some("半") => 30,
        Some("一刻") => 15,
        Some("三刻") => 45,
        _ => group("min").map_or(0, small_number),
    };
    let half = group("half").or(group("before"));
    let is_late = half.map(|half| {
        let first = half.to_lowercase();
        first.starts_with(['p', '下', '傍', '夜', '中'])
            || ["afternoon", "evening", "night", "晚上", "今晚", "明晚"].contains(&&*first)
    });
    let is_noon = half == Some("中午") && hour >= 10;
    let hour = match is_late {
        Some(true) if hour < 12 && !is_noon => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    let is_ambiguous = half.is_none() && (1..=12).contains(&hour) && !written.starts_with('0');
    (hour <= 24 && minute < 60).then_some(Clock { minutes: hour % 24 * 60 + minute, is_ambiguous })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows the first day of a text as `y-m-d`, with `?` if it is ambiguous.
    #[track_caller]
    fn check_day(text: &str, expected: &str) {
        let found = DAYS.iter().find_map(|pattern| pattern.captures(text).and_then(|found| days(&found)));
        let part = |part: Option<u16>| part.map_or("_".to_owned(), |part| part.to_string());
        let shown = found.map_or("-".to_owned(), |(day, _)| {
            let sign = if day.is_ambiguous { "?" } else { "" };
            format!("{}-{}-{}{sign}", part(day.year), part(day.month), part(day.day))
        });
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn reads_english_days() {
        for text in [
            "on March 5, 2026",
            "5 March 2026",
            "the 5th of March 2026",
            "Mar 5 2026",
            "2026-03-05",
            "5.3.2026",
        ] {
            check_day(text, "2026-3-5");
        }
        check_day("14 May", "_-5-14");
        check_day("05-14", "_-5-14");
        check_day("3/5/2026", "2026-3-5?");
        check_day("15/3/2026", "2026-3-15");
        check_day("March 2026", "2026-3-_");
        check_day("until the 24th", "_-_-24");
        check_day("we march on; May I ask", "-");
    }

    #[test]
    fn reads_chinese_days() {
        for text in ["2026年3月5日", "二〇二六年三月五号", "于2026年03月05日"] {
            check_day(text, "2026-3-5");
        }
        check_day("3 月 5 日", "_-3-5");
        check_day("2026年", "2026-_-_");
        check_day("三个月", "-");
    }

    #[track_caller]
    fn check_clock(text: &str, expected: &str) {
        let found = CLOCKS.iter().find_map(|pattern| pattern.captures(text).and_then(|found| clock(&found)));
        let shown = found.map_or("-".to_owned(), |clock| {
            let sign = if clock.is_ambiguous { "?" } else { "" };
            format!("{}:{:02}{sign}", clock.minutes / 60, clock.minutes % 60)
        });
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn reads_times() {
        check_clock("at 19:30", "19:30");
        check_clock("7:30 p.m.", "19:30");
        check_clock("at 7:30", "7:30?");
        check_clock("9am", "9:00");
        check_clock("nine in the morning", "9:00");
        check_clock("at nine o'clock", "9:00?");
        check_clock("one in the house", "-");
        check_clock("早上九点之前", "9:00");
        check_clock("下午3点半", "15:30");
        check_clock("晚上7点20分", "19:20");
        check_clock("两点半", "2:30?");
        check_clock("三点建议", "-");
    }
}
