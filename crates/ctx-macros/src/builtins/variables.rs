//! Variables of one run.
//!
//! Values are texts and stay as they are written; only counting reads them as numbers. AIO Hub turns numeric
//! texts into numbers when they are stored (`007` becomes 7, and an empty value becomes 0); here they stay.

use ctx_types::{Text, excerpt};

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;
use crate::number;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::new("setvar", setvar)
            .arity(2, 2)
            .changes_state()
            .describe("Nothing; sets a variable.", "{{setvar::mood::calm}}"),
        Definition::always("getvar", getvar)
            .arity(1, 1)
            .describe("The value of a variable; nothing if it is not set.", "{{getvar::mood}}"),
        Definition::new("addvar", addvar).arity(2, 2).changes_state().describe(
            "Nothing; adds a number to a variable, or appends text if one of the two is no number.",
            "{{addvar::score::5}}",
        ),
        Definition::new("incvar", |call| count(call, 1.0)).arity(1, 1).changes_state().describe(
            "Adds 1 to a variable; gives the new value in SillyTavern's dialect, else nothing.",
            "{{incvar::score}}",
        ),
        Definition::new("decvar", |call| count(call, -1.0)).arity(1, 1).changes_state().describe(
            "Takes 1 from a variable; gives the new value in SillyTavern's dialect, else nothing.",
            "{{decvar::score}}",
        ),
    ]
}

fn setvar(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.set_variable(call.argument(0), call.argument(1))?;
    Ok(Value::EMPTY)
}

fn getvar(call: &mut Call<'_>) -> Value {
    call.variable(call.argument(0)).into()
}

fn addvar(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (name, added) = (call.argument(0), call.argument(1));
    let old = call.variable(name).unwrap_or_default();
    let new = match (number::read(&old), number::read(added)) {
        (Some(old), Some(added)) => number::write(old + added),
        _ => [old.as_str(), added].concat(),
    };
    call.set_variable(name, new)?;
    Ok(Value::EMPTY)
}

fn count(call: &mut Call<'_>, step: f64) -> Result<Value, Failure> {
    let name = call.argument(0);
    let old = call.variable(name).unwrap_or_default();
    let number = number::read(&old).unwrap_or_else(|| {
        call.warn(
            codes::NOT_A_NUMBER,
            format!("variable `{}` is not a number and counts as 0", excerpt(name)),
        );
        0.0
    });
    let new = Text::from(number::write(number + step));
    call.set_variable(name, new.clone())?;
    Ok(if call.dialect().counting_writes_value() { new.into() } else { Value::EMPTY })
}
