//! The time of the turn, in the zone of the turn.

use std::sync::Arc;

use ctx_types::{Diagnostic, excerpt};
use jiff::fmt::strtime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::new("time", |call| formatted(call, "%-I:%M %p"))
            .volatile()
            .describe("The time of day, such as `10:30 PM`.", "{{time}}"),
        Definition::new("date", |call| formatted(call, "%B %-d, %Y"))
            .volatile()
            .describe("The date, such as `November 7, 2025`.", "{{date}}"),
    ]
}

fn formatted(call: &mut Call<'_>, format: &str) -> Result<Value, Failure> {
    let now = now(call)?;
    match strtime::format(format, &now) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Failure::because(error.to_string())),
    }
}

/// Returns the time of the turn in its zone.
fn now(call: &mut Call<'_>) -> Result<Zoned, Failure> {
    let Some(millis) = call.env().at_millis else {
        return Err(no_time("no time is given, so `{}` stays as it is written", call));
    };
    match Timestamp::from_millisecond(millis) {
        Ok(instant) => Ok(instant.to_zoned(zone(call))),
        Err(_) => Err(no_time("the given time is out of range, so `{}` stays as it is written", call)),
    }
}

fn no_time(message: &str, call: &Call<'_>) -> Failure {
    let message = message.replace("{}", &call.definition().name);
    Failure::new(Diagnostic::warning(codes::NO_TIME, message))
}

/// Returns the zone of the turn; an unknown name is reported when a run meets it first, and UTC used.
fn zone(call: &mut Call<'_>) -> TimeZone {
    let Some(name) = &call.env().zone else {
        return TimeZone::UTC;
    };
    if let Some(known) = call.state.known_zone(name) {
        return known;
    }
    let zone = TimeZoneDatabase::bundled().get(name).unwrap_or_else(|_| {
        call.warn(codes::UNKNOWN_ZONE, format!("there is no time zone `{}`, UTC is used", excerpt(name)));
        TimeZone::UTC
    });
    call.state.remember_zone(Arc::clone(name), zone.clone());
    zone
}
