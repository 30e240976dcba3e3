//! Variables.

use crate::call::{Call, Failure, Value};
use crate::definition::Definition;
use crate::number;
use crate::state::Scope;

pub(super) fn definitions() -> Vec<Definition> {
    vec![
        Definition::new("setvar", setvar)
            .arity(2, 2)
            .changes_state()
            .describe("Nothing; sets a variable.", "{{setvar::mood::calm}}"),
        Definition::always("getvar", |call| call.variable(Scope::Local, call.argument(0)).into())
            .arity(1, 1)
            .describe("The value of a variable; nothing if it is not set.", "{{getvar::mood}}"),
        Definition::new("addvar", addvar).arity(2, 2).changes_state().describe(
            "Nothing; adds a number to a variable, or appends text if one of the two is no number.",
            "{{addvar::score::5}}",
        ),
        Definition::new("incvar", |call| count(call, 1.0))
            .arity(1, 1)
            .changes_state()
            .describe("Adds 1 to a variable and gives its value.", "{{incvar::score}}"),
        Definition::new("decvar", |call| count(call, -1.0))
            .arity(1, 1)
            .changes_state()
            .describe("Takes 1 from a variable and gives its value.", "{{decvar::score}}"),
    ]
}

fn setvar(call: &mut Call<'_>) -> Result<Value, Failure> {
    call.set_variable(Scope::Local, call.argument(0), call.argument(1))?;
    Ok(Value::EMPTY)
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
    call.set_number(Scope::Local, name, number::read(&old).unwrap_or(0.0) + step)?;
    Ok(call.variable(Scope::Local, name).into())
}
