//! Regex rules that cannot run, reported at the scripts that they were imported from.

use ctx_engine::{Compile, Engine};
use ctx_preset_import::Import;
use ctx_processors::codes::RULE_PATTERN;
use ctx_types::Diagnostic;

/// Compiles the agent, and adds what is wrong with its rules to the report of the file that brought them.
pub fn report_broken(made: &mut Import) {
    let Some(agent) = &made.agent else { return };
    if agent.regex_config.is_none() {
        return;
    }
    let compiled = Engine::new().compile(agent, &Compile::default());
    let broken: Vec<Diagnostic> =
        compiled.diagnostics().iter().filter(|finding| finding.code == RULE_PATTERN).cloned().collect();
    for finding in broken {
        let Some(at) = finding.location.pointer.clone() else { continue };
        let brought = made.report.files.iter_mut().find_map(|file| {
            let field = file.fields.iter().find(|field| field.to == Some(&*at))?;
            let pointer = field.pointer.to_owned();
            Some((file, pointer))
        });
        if let Some((file, pointer)) = brought {
            let document = file.path.clone();
            file.diagnostics.push(finding.at_pointer(pointer).in_document(document));
        }
    }
}
