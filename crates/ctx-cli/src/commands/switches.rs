//! Names of processors that `case.yaml` switches on or off: whether there are such processors.

use ctx_engine::{Compile, Engine, Switches};
use ctx_types::{Agent, Diagnostic, Edit, Fix};

/// How many names of one list are looked at.
const MAX_NAMES: usize = 200;

/// Finds what compiling says about each name of a list, and says it there.
pub(super) fn faults(list: &str, names: &[String], is_on: bool, engine: &Engine) -> Vec<Diagnostic> {
    let known = about(Switches::default(), engine);
    let names = names.iter().take(MAX_NAMES).enumerate();
    let of_name = |(index, name): (usize, &String)| {
        let name = vec![name.clone()];
        let switches = match is_on {
            true => Switches { enable: name, ..Switches::default() },
            false => Switches { disable: name, ..Switches::default() },
        };
        let mut found = about(switches, engine);
        found.retain(|finding| !known.contains(finding));
        found.into_iter().map(move |finding| place(finding, format!("{list}/{index}")))
    };
    names.flat_map(of_name).collect()
}

/// Returns what compiling with these switches finds.
fn about(switches: Switches, engine: &Engine) -> Vec<Diagnostic> {
    let with = Compile { switches, ..Compile::default() };
    engine.compile(&Agent::default(), &with).diagnostics().to_vec()
}

/// Says a finding about an entry of settings at a name that stands for it.
fn place(mut finding: Diagnostic, pointer: String) -> Diagnostic {
    finding.fix = finding.fix.and_then(|fix| match fix.edit {
        Edit::Value(name) => Some(Box::new(Fix::value(name))),
        _ => None,
    });
    finding.at_pointer(pointer)
}
