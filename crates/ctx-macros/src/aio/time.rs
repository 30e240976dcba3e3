use ctx_types::phrase;
use jiff::tz::TimeZone;

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::dates::{locale, pattern};
use crate::definition::Definition;

const DATE_AND_TIME: &str = "YYYY-MM-DD HH:mm:ss";

pub(super) fn definitions() -> Vec<Definition> {
    let definition = |name: &'static str, pattern: &'static str| {
        Definition::new(name, move |call| Ok(format_time(pattern, call)?.into())).volatile()
    };
    vec![
        definition("time", "h:mm A").describe("Time, such as `10:30 PM`.", "{{time}}"),
        definition("time24", "HH:mm").describe("Time, such as `22:30`.", "{{time24}}"),
        definition("date", "MMMM D, YYYY").describe("Date, such as `November 7, 2025`.", "{{date}}"),
        definition("date_ymd", "YYYY-MM-DD").describe("Date, such as `2025-11-07`.", "{{date_ymd}}"),
        definition("datetime", DATE_AND_TIME)
            .describe("Date and time, such as `2025-11-07 22:30:05`.", "{{datetime}}"),
        definition("weekday", "dddd").describe("Day of the week, such as `Friday`.", "{{weekday}}"),
        Definition::new("isotime", |call| Ok(iso(call)?.into()))
            .volatile()
            .describe("Date and time in UTC, such as `2025-11-07T14:30:05.123Z`.", "{{isotime}}"),
        Definition::new("timestamp", |call| Ok(call.now()?.timestamp().as_millisecond().to_string().into()))
            .volatile()
            .describe("Milliseconds since 1970.", "{{timestamp}}"),
        Definition::new("datetime_format", datetime_format).arity(0, None).volatile().describe(
            "Date and time in a format with `YYYY YY MMMM MMM MM M dddd ddd DD D HH H hh h mm m ss s A a`; \
                 text in `[…]` is kept.",
            "{{datetime_format::D MMMM YYYY [at] HH:mm}}",
        ),
    ]
}

pub(super) fn format_time(pattern: &str, call: &mut Call<'_>) -> Result<String, Failure> {
    Ok(pattern::format(pattern, &call.now()?, locale::english()))
}

fn iso(call: &mut Call<'_>) -> Result<String, Failure> {
    let time = call.now()?.with_time_zone(TimeZone::UTC);
    let text = pattern::format("YYYY-MM-DD[T]HH:mm:ss", &time, locale::english());
    Ok(format!("{text}.{:03}Z", time.subsec_nanosecond() / 1_000_000))
}

/// `::` in a pattern splits it into several arguments.
fn datetime_format(call: &mut Call<'_>) -> Result<Value, Failure> {
    let parts: Vec<&str> = (0..call.argument_count()).map(|index| call.argument(index)).collect();
    let pattern = parts.join("::");
    if pattern::has_open_bracket(&pattern) {
        call.warn(codes::BAD_PATTERN, phrase!("a bracket of the format is not closed; it is kept as text"));
    }
    let pattern = if pattern.is_empty() { DATE_AND_TIME } else { &pattern };
    call.check_output(pattern.len())?;
    Ok(format_time(pattern, call)?.into())
}
