//! Values are stored as written; only arithmetic parses numbers. AIO Hub converts numeric texts when it
//! stores them: `007` becomes 7, and an empty value 0.

use ctx_types::internal::excerpt;
use ctx_types::phrase;

use crate::call::{Call, Failure, Value};
use crate::codes;
use crate::definition::Definition;
use crate::number;
use crate::state::Scope;

pub(super) fn definitions() -> Vec<Definition> {
    let mut all = scope_definitions(Scope::Local, "var", "variable");
    all.push(
        Definition::new("addvar", addvar)
            .arity(2, 2)
            .changes_state()
            .describe("Empty; adds a number to a variable, or appends a text.", "{{addvar::score::5}}"),
    );
    all.extend(scope_definitions(Scope::Global, "globalvar", "global variable"));
    all
}

fn scope_definitions(scope: Scope, suffix: &str, kind: &str) -> Vec<Definition> {
    let name = |verb: &str| format!("{verb}{suffix}");
    let example = |verb: &str, rest: &str| format!("{{{{{verb}{suffix}::{rest}}}}}");
    vec![
        Definition::new(name("set"), move |call| setvar(scope, call))
            .arity(2, 2)
            .changes_state()
            .describe(format!("Empty; sets a {kind}."), example("set", "mood::calm")),
        Definition::always(name("get"), move |call| {
            let name = call.variable_name();
            call.variable(scope, name).into()
        })
        .arity(1, 1)
        .describe(format!("Value of a {kind}, or empty."), example("get", "mood")),
        Definition::new(name("inc"), move |call| count(scope, 1.0, call))
            .arity(1, 1)
            .changes_state()
            .describe(format!("Empty; adds 1 to a {kind}."), example("inc", "score")),
        Definition::new(name("dec"), move |call| count(scope, -1.0, call))
            .arity(1, 1)
            .changes_state()
            .describe(format!("Empty; subtracts 1 from a {kind}."), example("dec", "score")),
    ]
}

fn setvar(scope: Scope, call: &mut Call<'_>) -> Result<Value, Failure> {
    let name = call.variable_name();
    call.set_variable(scope, name, call.argument(1))?;
    Ok(Value::EMPTY)
}

fn addvar(call: &mut Call<'_>) -> Result<Value, Failure> {
    let (name, added) = (call.variable_name(), call.argument(1));
    let old = call.variable(Scope::Local, name).unwrap_or_default();
    match (number::read(&old), number::read(added)) {
        (Some(old), Some(added)) => call.set_number(Scope::Local, name, old + added)?,
        _ => call.set_variable(Scope::Local, name, [old.as_str(), added].concat())?,
    }
    Ok(Value::EMPTY)
}

fn count(scope: Scope, step: f64, call: &mut Call<'_>) -> Result<Value, Failure> {
    let name = call.variable_name();
    let old = call.variable(scope, name).unwrap_or_default();
    let number = number::read(&old).unwrap_or_else(|| {
        call.warn(
            codes::NOT_A_NUMBER,
            phrase!("variable `{name}` is not a number; 0 is used", name = excerpt(name)),
        );
        0.0
    });
    call.set_number(scope, name, number + step)?;
    Ok(Value::EMPTY)
}
