//! Workbook dates: days since 1899-12-30 or 1904-01-01.

/// Days from Excel's epoch to 1970-01-01. The 1900 epoch is exact from March 1900 on.
const FROM_1900: i64 = 25_569;
const FROM_1904: i64 = 24_107;

/// Writes a date, with the time unless it is midnight; `None` after the year 9999.
pub(super) fn format_date(days: f64, counts_from_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&days) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "range is checked above")]
    let seconds = (days * 86_400.0).round() as i64;
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let time = format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    if day == 0 && !counts_from_1904 {
        return Some(time);
    }
    let (year, month, day) = civil(day - if counts_from_1904 { FROM_1904 } else { FROM_1900 });
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if second == 0 { date } else { format!("{date} {time}") })
}

/// Converts days since 1970-01-01. Years begin in March, which puts leap days last.
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_numbers_to_dates() {
        assert_eq!(format_date(46_053.0, false).as_deref(), Some("2026-01-31"));
        assert_eq!(format_date(46_053.5, false).as_deref(), Some("2026-01-31 12:00:00"));
        assert_eq!(format_date(44_591.0, true).as_deref(), Some("2026-01-31"));
        assert_eq!(format_date(0.75, false).as_deref(), Some("18:00:00"));
        assert_eq!(format_date(-1.0, false), None);
        assert_eq!(format_date(f64::NAN, false), None);
    }
}
