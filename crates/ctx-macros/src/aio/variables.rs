//! Variables of one run.
//!
//! Values are texts and stay as they are written; only counting reads them as numbers. AIO Hub turns numeric
//! texts into numbers when they are stored (`007` becomes 7, and an empty value becomes 0); here they stay.

use ctx_types::excerpt;

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;
use crate::number;
use crate::state::Scope;

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
        Definition::new("incvar", |call| count(call, 1.0))
            .arity(1, 1)
            .changes_state()
            .describe("Nothing; adds 1 to a variable.", "{{incvar::score}}"),
        Definition::new("decvar", |call| count(call, -1.0))
            .arity(1, 1)
            .changes_state()
            .describe("Nothing; takes 1 from a variable.", "{{decvar::score}}"),
    ]
}

fn setvar(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.set_variable(Scope::Local, call.argument(0), call.argument(1))?;
    Ok(Value::EMPTY)
}

fn getvar(call: &mut Call<'_>) -> Value {
    call.variable(Scope::Local, call.argument(0)).into()
}

fn addvar(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (name, added) = (call.argument(0), call.argument(1));
    let old = call.variable(Scope::Local, name).unwrap_or_default();
    match (number::read(&old), number::read(added)) {
        (Some(old), Some(added)) => call.set_number(Scope::Local, name, old + added)?,
        _ => call.set_variable(Scope::Local, name, [old.as_str(), added].concat())?,
    }
    Ok(Value::EMPTY)
}

fn count(call: &mut Call<'_>, step: f64) -> Result<Value, Failure> {
    let name = call.argument(0);
    let old = call.variable(Scope::Local, name).unwrap_or_default();
    let number = number::read(&old).unwrap_or_else(|| {
        call.warn(
            codes::NOT_A_NUMBER,
            format!("variable `{}` is not a number and counts as 0", excerpt(name)),
        );
        0.0
    });
    call.set_number(Scope::Local, name, number + step)?;
    Ok(Value::EMPTY)
}
