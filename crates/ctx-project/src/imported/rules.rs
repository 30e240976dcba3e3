//! Regex rules that cannot run, reported at the scripts that they were imported from.

use std::collections::HashMap;

use ctx_engine::{Compile, Engine};
use ctx_preset_import::Import;
use ctx_processors::codes::RULE_PATTERN;
use ctx_types::Diagnostic;

/// Compiles the agent with this engine, and adds what is wrong with its rules to the report of the file that brought
/// them. O(fields + broken rules).
pub fn report_broken(made: &mut Import, engine: &Engine) {
    let Some(agent) = &made.agent else { return };
    if agent.regex_config.is_none() {
        return;
    }
    let compiled = engine.compile(agent, &Compile::default());
    let broken: Vec<Diagnostic> =
        compiled.diagnostics().iter().filter(|finding| finding.code == RULE_PATTERN).cloned().collect();
    if broken.is_empty() {
        return;
    }
    let mut brought: HashMap<String, (usize, String)> = HashMap::new();
    for (index, file) in made.report.files.iter().enumerate() {
        for field in file.fields.iter() {
            if let Some(to) = field.to {
                brought.entry(to.to_owned()).or_insert_with(|| (index, field.pointer.to_owned()));
            }
        }
    }
    for finding in broken {
        let found = finding.location.pointer.as_deref().and_then(|at| brought.get(at));
        let Some((index, pointer)) = found else { continue };
        if let Some(file) = made.report.files.get_mut(*index) {
            let document = file.path.clone();
            file.diagnostics.push(finding.at_pointer(pointer.clone()).in_document(document));
        }
    }
}
