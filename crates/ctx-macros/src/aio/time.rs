//! The time of the turn, in the zone of the turn.

use jiff::fmt::strtime;

use crate::call::{Call, Failure, Value};
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
    let now = call.now()?;
    match strtime::format(format, &now) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(Failure::because(error.to_string())),
    }
}
