//! `ctx assemble`: the messages that a model receives.

use ctx_language::Language;
use std::path::Path;

use ctx_engine::Template;
use ctx_types::internal::{Argument, Divider, closest};
use ctx_types::{Diagnostic, phrase};

use crate::args::{AssembleArguments, Format};
use crate::exit::Exit;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files::{self, Existing};
use ctx_project::inputs::{self, InputFile};

/// Assembles one context and prints it.
pub(crate) fn run(language: Language, arguments: &AssembleArguments) -> Result<Exit> {
    let mut sources = show::sources(language);
    let mut turn = project::turn(language, &arguments.turn, &mut sources)?;
    let format = if arguments.json { Format::Json } else { arguments.format };
    turn.input.dialect = match format {
        Format::Body(dialect) => Some(dialect.name().into()),
        _ => None,
    };
    turn.input.cache_marks = arguments.cache_marks;
    let context = project::assemble(language, &turn, &sources, arguments.turn.timings)?;
    show::findings(language, &sources, &context.report.diagnostics);
    if let Some(path) = &arguments.report {
        let report = files::pretty_json(&context.report);
        files::write(&[(path.clone(), &report)], Existing::Named, &sources.files_read)?;
    }
    match format {
        Format::Table => show::result(&show::context(language, &context, arguments.all))?,
        Format::Json => show::json(&context.to_json())?,
        Format::Text => show::result(&show::messages(&context.messages))?,
        Format::Snapshot => show::result(&context.to_snapshot())?,
        Format::Body(_) => {
            let template = template(language, arguments, &mut sources)?;
            let (body, found) = turn.body(&context, template.as_ref());
            let found: Vec<Diagnostic> = turn.unnamed_model().into_iter().chain(found).collect();
            show::findings(language, &sources, &found);
            show::json(&body)?;
        }
    }
    if context.messages.is_empty() {
        let hint = phrase!(
            "to create an example, use `ctx init demo`; then `ctx assemble demo/agent.yaml --input \"Hello\"`"
        );
        show::remark(language, &hint);
    }
    if arguments.turn.timings {
        show::timings(language, &context.timings);
    }
    Ok(Exit::Success)
}

/// Reads the template of text completions: a built-in one by its name, else a file.
fn template(
    language: Language,
    arguments: &AssembleArguments,
    sources: &mut Sources,
) -> Result<Option<Template>> {
    let Some(wanted) = arguments.template.as_deref() else { return Ok(None) };
    if let Some(template) = Template::builtin(wanted) {
        return Ok(Some(template));
    }
    let path = Path::new(wanted);
    if !files::is_stdin(path) && !path.exists() {
        let names: Vec<&str> = Template::names().collect();
        let hint = match closest(wanted, names.iter().copied()) {
            Some(near) => phrase!("did you mean `{near}`?", near),
            None => phrase!("use one of {names}", names = Argument::list(names, Divider::Comma)),
        };
        let message = phrase!("`--template {wanted}` is neither a template nor a file; {hint}", wanted, hint);
        return Err(ProjectError::Usage(message));
    }
    let (template, found) = inputs::template(&InputFile::from(path), sources)?;
    show::findings(language, sources, &found);
    Ok(Some(template))
}
