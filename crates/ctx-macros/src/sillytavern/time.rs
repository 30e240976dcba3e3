//! The time of the turn, in the zone of the turn.

use ctx_types::{Diagnostic, excerpt};
use jiff::tz::{Offset, TimeZone};

use crate::call::{Call, Failure, Value};
use crate::definition::Definition;
use crate::instant;
use crate::sillytavern::{moment, relative};

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::new("time", time).arity(0, 1).volatile().describe(
            "The time of day, such as `10:30 PM`; with an offset such as `UTC+3` the time there.",
            "{{time::UTC+3}}",
        ),
        formatted("date", "LL", "The date, such as `November 7, 2025`."),
        formatted("weekday", "dddd", "The day of the week, such as `Friday`."),
        formatted("isotime", "HH:mm", "The time of day, such as `22:30`."),
        formatted("isodate", "YYYY-MM-DD", "The date, such as `2025-11-07`."),
        Definition::new("datetimeformat", |call| format(call, call.argument(0)))
            .arity(1, 1)
            .volatile()
            .describe(
                "Date and time in a format of Moment.js; text in brackets stays as it is.",
                "{{datetimeformat::DD.MM.YYYY [at] HH:mm}}",
            ),
        Definition::new("idleDuration", idle)
            .alias("idle_duration")
            .volatile()
            .describe("How long ago the user last said something, such as `3 hours`.", "{{idleDuration}}"),
        Definition::new("timeDiff", difference).arity(2, 2).describe(
            "How long the first time is after the second, such as `in 4 days` or `3 hours ago`.",
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

fn time(call: &mut Call<'_>) -> Result<Value, Failure> {
    let mut now = call.now()?;
    let offset = call.argument(0);
    if !offset.is_empty() {
        let zone = zone(offset).ok_or_else(|| {
            let message = format!("`{}` is no offset such as `UTC+3`", excerpt(offset));
            Failure::new(Diagnostic::warning(crate::codes::UNKNOWN_ZONE, message))
        })?;
        now = now.with_time_zone(zone);
    }
    Ok(moment::format(&now, "LT").into())
}

/// Reads `UTC+3`, `UTC-3:30` and their like.
fn zone(text: &str) -> Option<TimeZone> {
    let rest = text.get(..3).filter(|word| word.eq_ignore_ascii_case("utc")).and(text.get(3..))?;
    let sign = match rest.chars().next() {
        None => return Some(TimeZone::UTC),
        Some('+') => 1,
        Some('-') => -1,
        Some(_) => return None,
    };
    let (hours, minutes) = rest.get(1..)?.split_once(':').unwrap_or((rest.get(1..)?, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let minutes: i32 = minutes.parse().ok().filter(|minutes| *minutes < 60)?;
    let hours: i32 = hours.parse().ok().filter(|hours| *hours <= 24)?;
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok().map(TimeZone::fixed)
}

fn idle(call: &mut Call<'_>) -> Result<Value, Failure> {
    let now = call.now()?;
    let Some(since) = call.env().conversation.user_idle_since else {
        return Ok("just now".into());
    };
    Ok(relative::duration(now.timestamp().as_millisecond() - since).into())
}

fn difference(call: &mut Call<'_>) -> Result<Value, Failure> {
    let zone = call.zone();
    let read = |text: &str| {
        let unreadable = || Failure::because(format!("`{}` is no date and time", excerpt(text)));
        instant::read(text, &zone).ok_or_else(unreadable)
    };
    let millis = read(call.argument(0))?.saturating_sub(read(call.argument(1))?);
    Ok(relative::signed(millis).into())
}
