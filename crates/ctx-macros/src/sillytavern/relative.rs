//! Durations in words, rounded like Moment.js.

const SECOND: f64 = 1_000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;
/// 400 Gregorian years / 4,800 months.
const MONTH: f64 = DAY * 146_097.0 / 4_800.0;

/// Ignores the sign.
#[expect(clippy::cast_precision_loss, reason = "the lost milliseconds are below the output precision")]
pub(super) fn duration(millis: i64) -> String {
    let length = millis.unsigned_abs() as f64;
    let count = |unit: f64| (length / unit).round();
    let years = (length / (MONTH * 12.0)).round();
    match () {
        () if count(SECOND) < 45.0 => "a few seconds".to_owned(),
        () if count(MINUTE) <= 1.0 => "a minute".to_owned(),
        () if count(MINUTE) < 45.0 => format!("{} minutes", count(MINUTE)),
        () if count(HOUR) <= 1.0 => "an hour".to_owned(),
        () if count(HOUR) < 22.0 => format!("{} hours", count(HOUR)),
        () if count(DAY) <= 1.0 => "a day".to_owned(),
        () if count(DAY) < 26.0 => format!("{} days", count(DAY)),
        () if count(MONTH) <= 1.0 => "a month".to_owned(),
        () if count(MONTH) < 11.0 => format!("{} months", count(MONTH)),
        () if years <= 1.0 => "a year".to_owned(),
        () => format!("{years} years"),
    }
}

/// `in 4 days` or `3 hours ago`.
pub(super) fn signed(millis: i64) -> String {
    let duration = duration(millis);
    if millis > 0 { format!("in {duration}") } else { format!("{duration} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, expected: &str) {
        assert_eq!(duration(seconds * 1000), expected);
        assert_eq!(signed(seconds * 1000), format!("in {expected}"));
        assert_eq!(signed(-seconds * 1000), format!("{expected} ago"));
    }

    #[test]
    fn rounds_durations_to_a_unit() {
        check(1, "a few seconds");
        check(44, "a few seconds");
        check(45, "a minute");
        check(89, "a minute");
        check(90, "2 minutes");
        check(44 * 60, "44 minutes");
        check(45 * 60, "an hour");
        check(90 * 60, "2 hours");
        check(21 * 3600, "21 hours");
        check(22 * 3600, "a day");
        check(36 * 3600, "2 days");
        check(25 * 86_400, "25 days");
        check(26 * 86_400, "a month");
        check(46 * 86_400, "2 months");
        check(319 * 86_400, "10 months");
        check(320 * 86_400, "a year");
        check(548 * 86_400, "2 years");
    }

    #[test]
    fn treats_zero_duration_as_past() {
        assert_eq!(signed(0), "a few seconds ago");
    }
}
