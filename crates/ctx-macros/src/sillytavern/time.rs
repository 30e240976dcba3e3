use ctx_types::internal::excerpt;
use ctx_types::phrase;
use jiff::SignedDuration;
use jiff::tz::TimeZone;

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::dates::moment;
use crate::definition::Definition;
use crate::instant;
use crate::sillytavern::relative;

/// Far beyond any time zone.
const MOST_MINUTES: i64 = 100_000;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::new("time", time).arity(0, 1).volatile().describe(
            "Time, such as `10:30 PM`; with an offset such as `UTC+3`, the time there.",
            "{{time::UTC+3}}",
        ),
        formatted("date", "LL", "Date, such as `November 7, 2025`."),
        formatted("weekday", "dddd", "Day of the week, such as `Friday`."),
        formatted("isotime", "HH:mm", "Time, such as `22:30`."),
        formatted("isodate", "YYYY-MM-DD", "Date, such as `2025-11-07`."),
        Definition::new("datetimeformat", date_and_time).arity(1, 1).volatile().describe(
            "Date and time in a Moment.js format; text in brackets is kept.",
            "{{datetimeformat::DD.MM.YYYY [at] HH:mm}}",
        ),
        Definition::new("idleDuration", idle)
            .alias("idle_duration")
            .volatile()
            .describe("Time since the last message of the user, such as `3 hours`.", "{{idleDuration}}"),
        Definition::always("timeDiff", difference).arity(2, 2).describe(
            "Difference between the first and the second time, such as `in 4 days` or `3 hours ago`.",
            "{{timeDiff::2025-11-07 22:30::2025-11-07 19:30}}",
        ),
    ]
}

fn formatted(name: &'static str, pattern: &'static str, description: &str) -> Definition {
    let definition = Definition::new(name, move |call| format(call, pattern));
    definition.volatile().describe(description, format!("{{{{{name}}}}}"))
}

fn format(call: &mut Call<'_>, pattern: &str) -> Result<Value, Failure> {
    let now = call.now()?;
    let written = moment::format(&now, pattern);
    call.check_output(written.len())?;
    Ok(written.into())
}

fn date_and_time(call: &mut Call<'_>) -> Result<Value, Failure> {
    let pattern = call.argument(0);
    if moment::has_open_bracket(pattern) {
        call.warn(codes::BAD_PATTERN, phrase!("a bracket of the format is not closed; it is kept as text"));
    }
    format(call, pattern)
}

/// As in SillyTavern, an invalid offset gives the local time.
fn time(call: &mut Call<'_>) -> Result<Value, Failure> {
    let now = call.now()?;
    let offset = call.argument(0);
    let minutes = minutes(offset);
    let shifted = minutes.and_then(|minutes| {
        let there = now.timestamp().checked_add(SignedDuration::from_mins(minutes)).ok()?;
        Some(there.to_zoned(TimeZone::UTC))
    });
    if shifted.is_none() && call.argument_count() > 0 {
        let message =
            phrase!("invalid offset `{offset}`; write one such as `UTC+3`", offset = excerpt(offset));
        call.warn(codes::UNKNOWN_ZONE, message);
    } else if minutes.is_some_and(|minutes| !is_of_a_zone(minutes)) {
        let message =
            phrase!("no time zone at `{offset}`; numbers from 16 up are minutes", offset = excerpt(offset));
        call.warn(codes::UNKNOWN_ZONE, message);
    }
    Ok(moment::format(&shifted.unwrap_or(now), "LT").into())
}

/// `UTC+3` or `UTC-3:30`, in minutes. As in SillyTavern, a number from 16 is in minutes.
fn minutes(text: &str) -> Option<i64> {
    let rest = text.get(..3).filter(|word| word.eq_ignore_ascii_case("utc")).and(text.get(3..))?;
    let sign = match rest.chars().next() {
        None => return Some(0),
        Some('+') => 1,
        Some('-') => -1,
        Some(_) => return None,
    };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|number| is_number && *number <= MOST_MINUTES)
    };
    let minutes = match rest.get(1..)?.split_once(':') {
        Some((hours, minutes)) => {
            number(hours).filter(|hours| *hours < 16)? * 60
                + number(minutes).filter(|minutes| *minutes < 60)?
        }
        None => match number(rest.get(1..)?)? {
            hours @ 0..16 => hours * 60,
            minutes => minutes,
        },
    };
    Some(sign * minutes)
}

/// Multiples of 15 minutes, from -12 to +14 hours.
const fn is_of_a_zone(minutes: i64) -> bool {
    minutes % 15 == 0 && minutes >= -12 * 60 && minutes <= 14 * 60
}

fn idle(call: &mut Call<'_>) -> Result<Value, Failure> {
    let now = call.now()?;
    let Some(since) = call.env().conversation.user_idle_since else {
        return Ok("just now".into());
    };
    Ok(relative::duration(now.timestamp().as_millisecond().saturating_sub(since)).into())
}

fn difference(call: &mut Call<'_>) -> Value {
    let zone = call.zone();
    let (later, earlier) = (call.argument(0), call.argument(1));
    let (wrong, problem) = match (instant::read(later, &zone), instant::read(earlier, &zone)) {
        (Ok(later), Ok(earlier)) => return relative::signed(later.saturating_sub(earlier)).into(),
        (Err(problem), _) => (later, problem),
        (Ok(_), Err(problem)) => (earlier, problem),
    };
    call.warn(
        codes::BAD_ARGUMENT,
        phrase!("`{wrong}` is {problem}", wrong = excerpt(wrong), problem = problem.phrase()),
    );
    // SillyTavern's text.
    "Invalid date".into()
}
