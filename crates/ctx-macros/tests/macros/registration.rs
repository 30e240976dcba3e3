//! Custom macros.

use crate::support;
use ctx_types::phrase;

use ctx_macros::{
    Definition, Dialect, Failure, Limits, RegisterError, Registry, Scope, State, Template, codes,
};
use ctx_types::{Span, Text};
use support::{env, origin};

#[track_caller]
fn check(definition: Definition, expected: &Result<(), RegisterError>) {
    assert_eq!(&Registry::builtin().register(definition), expected);
}

fn empty_definition(name: &str) -> Definition {
    Definition::new(name, |_| Ok("".into()))
}

#[test]
fn registers_new_name() {
    check(empty_definition("weather"), &Ok(()));
    check(empty_definition("天气").alias("tianqi"), &Ok(()));
}

#[test]
fn rejects_duplicate_name_in_any_case() {
    let duplicate = |name: &str| Err(RegisterError::Duplicate { name: name.to_owned() });
    check(empty_definition("user"), &duplicate("user"));
    check(empty_definition("weather").alias("AGENT"), &duplicate("AGENT"));
    check(empty_definition("weather").alias("Weather"), &duplicate("Weather"));
}

#[test]
fn rejects_invalid_name() {
    for name in ["", " ", "a b", "a::b", "{x", "1x", "/x"] {
        check(empty_definition(name), &Err(RegisterError::BadName { name: name.to_owned() }));
    }
}

#[test]
fn rejects_impossible_arity() {
    check(empty_definition("x").arity(2, 1), &Err(RegisterError::BadArity { name: "x".to_owned() }));
}

#[test]
fn passes_arguments_and_variables_to_closure() {
    let mut registry = Registry::new();
    let prefix = String::from("> ");
    registry
        .register(
            Definition::new("quote", move |call| {
                let all: Vec<&str> = (0..call.argument_count()).map(|index| call.argument(index)).collect();
                let count = call.variable(Scope::Local, "quotes").map_or(1, |old| old.len() + 1);
                call.set_variable(Scope::Local, "quotes", "i".repeat(count))?;
                Ok(format!("{prefix}{}", all.join("/")).into())
            })
            .arity(1, None),
        )
        .unwrap();
    let mut state = State::new(Limits::default());
    let template = Template::parse(&Text::from("{{quote::a::b}} {{quote::c}}"), Dialect::Aio, &registry);
    assert_eq!(template.expand(&env(), &mut state, &origin()).text, "> a/b > c");
    assert_eq!(state.variables(Scope::Local).collect::<Vec<_>>(), [("quotes", &Text::from("ii"))]);
}

#[test]
fn keeps_call_and_reports_failure_reason() {
    let mut registry = Registry::new();
    registry.register(Definition::new("net", |_| Err(Failure::from_message(phrase!("offline"))))).unwrap();
    let template = Template::parse(&Text::from("a {{ net }} b"), Dialect::Aio, &registry);
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "a {{ net }} b");
    let finding = &expansion.diagnostics[0];
    assert_eq!((finding.code, finding.message.to_string().as_str()), (codes::MACRO_FAILED, "offline"));
    assert_eq!(finding.location.span, Some(Span::new(2, 11)));
}

#[test]
fn keeps_macros_registered_at_compile_time() {
    let mut registry = Registry::new();
    registry.register(empty_definition("a")).unwrap();
    let template = Template::parse(&Text::from("{{a}}{{b}}"), Dialect::Aio, &registry);
    registry.register(empty_definition("b")).unwrap();
    let expansion = template.expand(&env(), &mut State::new(Limits::default()), &origin());
    assert_eq!(expansion.text, "{{b}}");
}

#[test]
fn allows_sharing_across_threads() {
    fn check<T: Send + Sync + Clone>() {}
    check::<Template>();
    check::<Registry>();
}

#[test]
fn describes_every_builtin_macro_with_valid_example() {
    let registry = Registry::builtin();
    for definition in registry.iter() {
        assert!(!definition.description.is_empty(), "{definition:?}");
        for dialect in definition.dialects() {
            let template = example(definition, dialect, &registry);
            // These two have no value and therefore no call in a template.
            let is_called = !matches!(&*definition.name, "else" | "//");
            let mut used = template.macros().map(|used| used.name);
            assert!(!is_called || used.any(|name| *name == *definition.name), "{definition:?}");
            assert_eq!(template.diagnostics(), []);
        }
    }
}

/// Parses the example of a macro, or the form suggested by the diagnostic in this macro syntax.
fn example(definition: &Definition, dialect: Dialect, registry: &Registry) -> Template {
    let parse = |text: &str| Template::parse(&Text::from(text), dialect, registry);
    let template = parse(&definition.example);
    match template.diagnostics() {
        [finding] if finding.code == codes::UNREAD_CALL => {
            let help = finding.help.as_ref().map(ToString::to_string).unwrap_or_default();
            parse(help.trim_start_matches("write it like `").trim_end_matches('`'))
        }
        _ => template,
    }
}

#[test]
fn allows_same_name_in_different_macro_syntaxes() {
    let mut registry = Registry::new();
    registry.register(empty_definition("tea").dialect(Dialect::Aio)).unwrap();
    registry.register(empty_definition("Tea").dialect(Dialect::SillyTavern)).unwrap();
    let taken = registry.register(empty_definition("tea"));
    assert_eq!(taken, Err(RegisterError::Duplicate { name: "tea".to_owned() }));
    let name = |dialect| registry.get("Tea", dialect).map(|known| &*known.name);
    assert_eq!(name(Dialect::Aio), None);
    assert_eq!(name(Dialect::SillyTavern), Some("Tea"));
}

#[test]
fn derives_random_values_from_seed_and_text() {
    let mut registry = Registry::new();
    registry.register(Definition::always("d6", |call| (call.draw(6) + 1).to_string().into())).unwrap();
    let template = Template::parse(&Text::from("{{d6}}".repeat(20).as_str()), Dialect::Aio, &registry);
    let roll = |seed, id: &str, state: &mut State| {
        let env = ctx_macros::Env { seed, ..env() };
        template.expand(&env, state, &origin().with_id(id)).text.to_string()
    };
    let fresh = || State::new(Limits::default());
    let first = roll(1, "a", &mut fresh());
    assert!(first.bytes().all(|byte| (b'1'..=b'6').contains(&byte)));
    let mut state = fresh();
    roll(1, "b", &mut state);
    assert_eq!(roll(1, "a", &mut state), first);
    assert_ne!(roll(1, "a", &mut state), first);
    assert_ne!(roll(2, "a", &mut fresh()), first);
}
