use jiff::civil;

/// `the 7th day of November, in the year of our Lord 2025`.
pub(crate) fn date(date: civil::Date, month: &str) -> String {
    let (day, ending) = (date.day(), ordinal_ending(date.day().into()));
    let year = match date.year() {
        year @ 1.. => format!("of our Lord {year}"),
        year => format!("{} before our Lord", 1 - i32::from(year)),
    };
    format!("the {day}{ending} day of {month}, in the year {year}")
}

/// `st`, `nd`, `rd`, or `th`.
pub(crate) const fn ordinal_ending(number: i16) -> &'static str {
    match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

/// `half past 3 in the afternoon`, `a quarter to noon`, or `the stroke of midnight`.
pub(crate) fn time(time: civil::Time) -> String {
    let (hour, minute) = (time.hour(), time.minute());
    match minute {
        0 if hour == 0 => "the stroke of midnight".to_owned(),
        0 if hour == 12 => "high noon".to_owned(),
        0 => format!("{} o'clock {}", on_the_dial(hour), part_of_day(hour)),
        15 => format!("a quarter past {}", hour_name(hour)),
        30 => format!("half past {}", hour_name(hour)),
        45 => format!("a quarter to {}", next(hour)),
        1..30 => format!("{} past {}", minutes(minute), hour_name(hour)),
        _ => format!("{} to {}", minutes(60 - minute), next(hour)),
    }
}

fn hour_name(hour: i8) -> String {
    format!("{} {}", on_the_dial(hour), part_of_day(hour))
}

fn next(hour: i8) -> String {
    match (hour + 1) % 24 {
        0 => "midnight".to_owned(),
        12 => "noon".to_owned(),
        hour => hour_name(hour),
    }
}

fn minutes(count: i8) -> String {
    if count == 1 { "1 minute".to_owned() } else { format!("{count} minutes") }
}

fn on_the_dial(hour: i8) -> i8 {
    if hour % 12 == 0 { 12 } else { hour % 12 }
}

fn part_of_day(hour: i8) -> &'static str {
    match hour {
        5..12 => "in the morning",
        12..17 => "in the afternoon",
        17..21 => "in the evening",
        _ => "at night",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(hour: i8, minute: i8, expected: &str) {
        assert_eq!(time(civil::time(hour, minute, 0, 0)), expected);
    }

    #[test]
    fn names_time_by_nearer_hour() {
        check(0, 0, "the stroke of midnight");
        check(12, 0, "high noon");
        check(15, 30, "half past 3 in the afternoon");
        check(15, 15, "a quarter past 3 in the afternoon");
        check(6, 0, "6 o'clock in the morning");
        check(12, 30, "half past 12 in the afternoon");
        check(0, 1, "1 minute past 12 at night");
        check(20, 40, "20 minutes to 9 at night");
    }

    #[test]
    fn names_part_of_day_by_coming_hour() {
        check(11, 45, "a quarter to noon");
        check(23, 45, "a quarter to midnight");
        check(16, 45, "a quarter to 5 in the evening");
        check(4, 45, "a quarter to 5 in the morning");
    }

    #[test]
    fn writes_days_as_ordinals() {
        let days = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 30, 31];
        let endings =
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "30th", "31st"];
        for (day, ending) in days.into_iter().zip(endings) {
            let expected = format!("the {ending} day of May, in the year of our Lord 1024");
            assert_eq!(date(civil::date(1024, 5, day), "May"), expected);
        }
        assert_eq!(
            date(civil::date(-43, 3, 15), "March"),
            "the 15th day of March, in the year 44 before our Lord"
        );
    }
}
