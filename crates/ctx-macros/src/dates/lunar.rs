use jiff::civil;

const STEMS: [&str; 10] = ["甲", "乙", "丙", "丁", "戊", "己", "庚", "辛", "壬", "癸"];
const BRANCHES: [&str; 12] = ["子", "丑", "寅", "卯", "辰", "巳", "午", "未", "申", "酉", "戌", "亥"];
const ANIMALS: [&str; 12] = ["鼠", "牛", "虎", "兔", "龙", "蛇", "马", "羊", "猴", "鸡", "狗", "猪"];
const MONTHS: [&str; 12] = ["正", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "腊"];
const NUMBERS: [&str; 10] = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十"];

/// `乙巳年（蛇年）九月十八`; a leap month starts with `闰`.
///
/// Distant years use a mean moon, so months may start a day off. `None` outside the calendar's range, and without the
/// feature `lunar`.
pub(crate) fn date(date: civil::Date) -> Option<String> {
    let LunarDate { year, month, is_leap, day } = LunarDate::from_civil(date)?;
    let leap = if is_leap { "闰" } else { "" };
    Some(format!(
        "{}{}年（{}年）{leap}{}月{}",
        STEMS.get(year % 10)?,
        BRANCHES.get(year % 12)?,
        ANIMALS.get(year % 12)?,
        MONTHS.get(month.checked_sub(1)?)?,
        day_name(day)?,
    ))
}

struct LunarDate {
    /// Position in the cycle of 60 years, from 0.
    year: usize,
    month: usize,
    is_leap: bool,
    day: u8,
}

impl LunarDate {
    #[cfg(feature = "lunar")]
    fn from_civil(date: civil::Date) -> Option<Self> {
        let month = u8::try_from(date.month()).ok()?;
        let day = u8::try_from(date.day()).ok()?;
        let iso = icu_calendar::Date::try_new_iso(i32::from(date.year()), month, day).ok()?;
        let lunar = iso.to_calendar(icu_calendar::cal::ChineseTraditional::new());
        let month = lunar.month();
        Some(Self {
            year: usize::from(lunar.year().cyclic()?.year.checked_sub(1)?),
            month: usize::from(month.number()),
            is_leap: month.leap_status() == icu_calendar::types::LeapStatus::Leap,
            day: lunar.day_of_month().0,
        })
    }

    #[cfg(not(feature = "lunar"))]
    fn from_civil(_: civil::Date) -> Option<Self> {
        None
    }
}

/// `亥时`. The first of a day, `子时`, starts at 23:00 of the previous day.
pub(crate) fn double_hour(time: civil::Time) -> String {
    let name = BRANCHES.get(usize::from(minutes_since_eleven(time) / 120)).copied().unwrap_or_default();
    format!("{name}时")
}

/// With elapsed quarter hours: `亥时六刻`.
pub(crate) fn double_hour_and_quarter(time: civil::Time) -> String {
    let quarters = minutes_since_eleven(time) % 120 / 15;
    let quarter = usize::from(quarters).checked_sub(1).and_then(|index| NUMBERS.get(index));
    let quarter = quarter.map(|number| format!("{number}刻")).unwrap_or_default();
    format!("{}{quarter}", double_hour(time))
}

fn minutes_since_eleven(time: civil::Time) -> u16 {
    let minutes = u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs());
    (minutes + 60) % (24 * 60)
}

/// `初一` to `三十`; days 21 to 29 start with `廿`.
fn day_name(day: u8) -> Option<String> {
    let ones = NUMBERS.get(usize::from(day.checked_sub(1)? % 10)).copied()?;
    Some(match day {
        20 => "二十".to_owned(),
        30 => "三十".to_owned(),
        1..=10 => format!("初{ones}"),
        11..=19 => format!("十{ones}"),
        _ => format!("廿{ones}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "lunar")]
    #[track_caller]
    fn check(year: i16, month: i8, day: i8, expected: &str) {
        assert_eq!(date(civil::date(year, month, day)).as_deref(), Some(expected));
    }

    #[cfg(feature = "lunar")]
    #[test]
    fn names_year_month_and_day() {
        check(2025, 11, 7, "乙巳年（蛇年）九月十八");
        check(2024, 2, 10, "甲辰年（龙年）正月初一");
        check(2024, 2, 9, "癸卯年（兔年）腊月三十");
        check(2025, 6, 15, "乙巳年（蛇年）五月二十");
        check(2025, 6, 16, "乙巳年（蛇年）五月廿一");
        check(2025, 12, 21, "乙巳年（蛇年）十一月初二");
    }

    #[cfg(feature = "lunar")]
    #[test]
    fn marks_leap_months() {
        check(2025, 8, 8, "乙巳年（蛇年）闰六月十五");
        check(2033, 12, 25, "癸丑年（牛年）闰十一月初四");
        check(2023, 4, 1, "癸卯年（兔年）闰二月十一");
    }

    #[cfg(feature = "lunar")]
    #[test]
    fn names_every_day() {
        let days =
            (-9999..=9999).step_by(7).flat_map(|year| [1, 6, 12].map(|month| civil::date(year, month, 28)));
        for day in days {
            assert!(date(day).is_some(), "{day}");
        }
    }

    #[test]
    fn starts_double_hours_at_odd_hours() {
        let name = |hour, minute| double_hour_and_quarter(civil::time(hour, minute, 0, 0));
        assert_eq!(name(22, 30), "亥时六刻");
        assert_eq!(name(22, 59), "亥时七刻");
        assert_eq!(name(23, 0), "子时");
        assert_eq!(name(0, 59), "子时七刻");
        assert_eq!(name(1, 14), "丑时");
        assert_eq!(name(12, 15), "午时五刻");
        assert_eq!(double_hour(civil::time(22, 30, 0, 0)), "亥时");
    }
}
