//! Regex rules that cannot run, reported at the scripts that they were imported from.

use ctx_engine::{Compile, Engine};
use ctx_preset_import::{FieldReport, FileReport, Import};
use ctx_processors::codes::RULE_PATTERN;
use ctx_types::Diagnostic;

/// Compiles the agent with this engine, and adds what is wrong with its rules to the report of the file that brought
/// them. O(rows · broken rules).
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
    for finding in broken {
        let Some(at) = finding.location.pointer.as_deref() else { continue };
        let pointer = |file: &FileReport| file.fields.iter().find_map(|field| source_pointer(field, at));
        let found = made.report.files.iter_mut().find_map(|file| Some((pointer(file)?, file)));
        if let Some((pointer, file)) = found {
            let document = file.path.clone();
            file.diagnostics.push(finding.at_pointer(pointer).in_document(document));
        }
    }
}

/// Returns the pointer in the document of a row for a pointer in the agent, if the row leads there.
fn source_pointer(field: &FieldReport, at: &str) -> Option<String> {
    let (to, mut numbers) = (field.to.as_deref()?, Vec::new());
    let is_same = |(wanted, step): (&str, &str)| {
        let is_number = wanted == "*";
        numbers.extend(is_number.then(|| step.to_owned()));
        is_number || wanted == step
    };
    let is_there =
        to.split('/').count() == at.split('/').count() && to.split('/').zip(at.split('/')).all(is_same);
    let mut numbers = numbers.into_iter();
    let steps = field.pointer.split('/').map(|step| match step {
        "*" => numbers.next(),
        step => Some(step.to_owned()),
    });
    let steps: Vec<String> = steps.collect::<Option<_>>()?;
    is_there.then(|| steps.join("/"))
}
