//! `ctx assemble`: the messages that a model receives.

use std::path::Path;

use anyhow::{Context as _, Result};
use ctx_engine::Template;
use ctx_types::{closest, phrase};

use crate::args::{AssembleArguments, Format};
use crate::exit::Exit;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::ProjectError;
use ctx_project::files::{self, Existing};
use ctx_project::inputs::{self, InputFile};

/// Assembles one context and prints it.
pub(crate) fn run(arguments: &AssembleArguments) -> Result<Exit> {
    let mut sources = show::sources();
    let mut turn = project::turn(&arguments.turn, &mut sources)?;
    let format = if arguments.json { Format::Json } else { arguments.format };
    turn.input.dialect = format.dialect().map(|dialect| dialect.name().into());
    turn.input.cache_marks = arguments.cache_marks.into();
    let context = project::assemble(&turn, &sources, arguments.turn.timings)?;
    show::findings(&sources, &context.report.diagnostics);
    if let Some(path) = &arguments.report {
        let report = serde_json::to_vec_pretty(&context.report).context("cannot write the report as JSON")?;
        files::write(&[(path.clone(), &report)], Existing::Named, &sources.files_read)?;
    }
    match format {
        Format::Table => show::result(&show::context(&context, arguments.all))?,
        Format::Json => show::json(&context.to_json())?,
        Format::Text => show::result(&show::messages(&context.messages))?,
        Format::Snapshot => show::result(&context.to_snapshot())?,
        Format::Openai
        | Format::OpenaiResponses
        | Format::Anthropic
        | Format::Gemini
        | Format::Completion => {
            let dialect = format.dialect().unwrap_or_default();
            let template = template(arguments, &mut sources)?;
            let (body, found) = turn.body(&context, dialect, template.as_ref());
            show::findings(&sources, &turn.unnamed_model().into_iter().chain(found).collect::<Vec<_>>());
            show::json(&body)?;
        }
    }
    if arguments.turn.timings {
        show::timings(&context.timings);
    }
    Ok(Exit::Success)
}

/// Reads the template of text completions: a built-in one by its name, else a file.
fn template(arguments: &AssembleArguments, sources: &mut Sources) -> Result<Option<Template>> {
    let Some(wanted) = arguments.template.as_deref() else { return Ok(None) };
    if let Some(template) = Template::builtin(wanted) {
        return Ok(Some(template));
    }
    let path = Path::new(wanted);
    if !files::is_stdin(path) && !path.exists() {
        let names: Vec<&str> = Template::names().collect();
        let hint = match closest(wanted, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        let message = phrase!("`--template {wanted}` is neither a template nor a file; {hint}", wanted, hint);
        return Err(ProjectError::Usage(message).into());
    }
    let (template, found) = inputs::template(&InputFile::from(path), sources)?;
    show::findings(sources, &found);
    Ok(Some(template))
}
