use crate::call::{Call, Value};
use crate::codes;
use crate::definition::Definition;
use ctx_types::phrase;

const FACTS: [(&str, &str, &str); 6] = [
    ("os", "Operating system", "{{os}}"),
    ("osVersion", "Version of the operating system", "{{osVersion}}"),
    ("arch", "Architecture of the processor", "{{arch}}"),
    ("platform", "Platform of the application", "{{platform}}"),
    ("hostname", "Name of the machine", "{{hostname}}"),
    ("locale", "Language of the system", "{{locale}}"),
];

pub(super) fn definitions() -> Vec<Definition> {
    let fact = |(name, what, example): (&'static str, &str, &str)| {
        let description = format!("{what}, if the host provides it [default: `Unknown`].");
        Definition::always(name, move |call| fact(name, call)).describe(description, example)
    };
    FACTS.into_iter().map(fact).collect()
}

fn fact(name: &str, call: &mut Call<'_>) -> Value {
    let env = call.env();
    let told = env.ports.system.as_ref().and_then(|system| system.fact(name));
    let told = told.or_else(|| env.locale.clone().filter(|_| name == "locale"));
    if let Some(told) = told.filter(|told| !told.is_empty()) {
        return told.to_string().into();
    }
    call.note(codes::NOT_PROVIDED, phrase!("the host does not provide `{name}`", name));
    "Unknown".into()
}
