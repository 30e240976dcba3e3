use crate::call::{Call, Failure, Value};
use crate::definition::Definition;
use crate::sillytavern::variable_store::{self, Addend};
use crate::state::Scope;

pub(super) fn definitions() -> Vec<Definition> {
    let mut all = scope_definitions(Scope::Local, "var", "a variable");
    all.extend(scope_definitions(Scope::Global, "globalvar", "a global variable"));
    all
}

fn scope_definitions(scope: Scope, suffix: &str, what: &str) -> Vec<Definition> {
    let name = |verb: &str| format!("{verb}{suffix}");
    let example = |verb: &str, rest: &str| format!("{{{{{verb}{suffix}::{rest}}}}}");
    vec![
        Definition::new(name("set"), move |call| set(call, scope))
            .arity(2, 2)
            .changes_state()
            .describe(format!("Empty; sets {what}."), example("set", "mood::calm")),
        Definition::always(name("get"), move |call| get(call, scope))
            .arity(1, 1)
            .echoes()
            .describe(format!("Value of {what}, or empty."), example("get", "mood")),
        Definition::new(name("add"), move |call| add(call, scope)).arity(2, 2).changes_state().describe(
            format!("Empty; adds to {what}: a number to a number, an item to a JSON list, otherwise a text."),
            example("add", "score::5"),
        ),
        Definition::new(name("inc"), move |call| count(call, scope, 1.0))
            .arity(1, 1)
            .changes_state()
            .echoes()
            .describe(format!("Value of {what} after adding 1."), example("inc", "score")),
        Definition::new(name("dec"), move |call| count(call, scope, -1.0))
            .arity(1, 1)
            .changes_state()
            .echoes()
            .describe(format!("Value of {what} after subtracting 1."), example("dec", "score")),
        Definition::always(name("has"), move |call| has(call, scope))
            .alias(format!("{suffix}exists"))
            .arity(1, 1)
            .describe(format!("`true` if {what} is set, otherwise `false`."), example("has", "mood")),
        Definition::always(name("delete"), move |call| delete(call, scope))
            .alias(format!("flush{suffix}"))
            .arity(1, 1)
            .changes_state()
            .describe(format!("Empty; removes {what}."), example("delete", "mood")),
    ]
}

fn set(call: &mut Call<'_>, scope: Scope) -> Result<Value, Failure> {
    let name = call.variable_name();
    call.set_variable(scope, name, call.argument(1))?;
    Ok(Value::EMPTY)
}

fn get(call: &mut Call<'_>, scope: Scope) -> Value {
    let name = call.variable_name();
    let Some((text, trust)) = variable_store::read(call.state, scope, name) else {
        return Value::EMPTY;
    };
    call.limit_trust(trust);
    text.into()
}

fn add(call: &mut Call<'_>, scope: Scope) -> Result<Value, Failure> {
    let name = call.variable_name();
    let sum = variable_store::add(call.state, scope, name, Addend::Text(call.argument(1)), call.trust)?;
    call.add_finding(sum.finding);
    Ok(Value::EMPTY)
}

fn count(call: &mut Call<'_>, scope: Scope, step: f64) -> Result<Value, Failure> {
    let name = call.variable_name();
    let sum = variable_store::add(call.state, scope, name, Addend::Number(step), call.trust)?;
    call.limit_trust(sum.trust);
    call.add_finding(sum.finding);
    Ok(sum.text.into())
}

fn has(call: &mut Call<'_>, scope: Scope) -> Value {
    let name = call.variable_name();
    let is_set = call.has_variable(scope, name);
    if is_set { "true".into() } else { "false".into() }
}

fn delete(call: &mut Call<'_>, scope: Scope) -> Value {
    let name = call.variable_name();
    call.remove_variable(scope, name);
    Value::EMPTY
}
