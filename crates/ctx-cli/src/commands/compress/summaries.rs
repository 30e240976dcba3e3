//! What is done with summaries that are there: each is one step.

use std::io::Read as _;

use ctx_compress::mask::{MaskDetails, MaskStatistics};
use ctx_language::Language;
use ctx_project::Sources;
use ctx_project::compress::{self, SummaryFile, SummaryPart, SummaryStep, SummaryWriter};
use ctx_project::config::Config;
use ctx_project::counting::TokenCounting;
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::inputs;
use ctx_project::session_file::{SessionFile, Target, with_way_out};
use ctx_project::unusable;
use ctx_types::{Phrase, phrase};
use serde_json::{Value, json};

use crate::args::{EditArguments, RegenerateArguments, SummaryArguments, SwitchSummaryArguments};
use crate::commands::compress::mask::{as_it_was, at_millis, notice_json};
use crate::commands::compress::waiting::Waiting;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show::{self, masks};

/// Switches a summary on or off, or the facts beside it.
pub(super) fn switch(language: Language, arguments: &SwitchSummaryArguments, enabled: bool) -> Result<Exit> {
    let work = Work::of(language, &arguments.summary, &[])?;
    let (id, is_of_facts) = (work.summary.id.clone(), arguments.appendix);
    let part = if is_of_facts { SummaryPart::Facts } else { SummaryPart::All };
    let Some(step) = work.summary.switch(part, enabled)? else {
        return work.unchanged(
            language,
            &match (is_of_facts, enabled) {
                (true, true) => phrase!("the facts of `{id}` are already enabled", id),
                (true, false) => phrase!("the facts of `{id}` are already disabled", id),
                (false, true) => phrase!("`{id}` is already enabled", id),
                (false, false) => phrase!("`{id}` is already disabled", id),
            },
        );
    };
    let told = match (is_of_facts, enabled) {
        (true, true) => phrase!("enabled the facts of `{id}`", id),
        (true, false) => phrase!("disabled the facts of `{id}`", id),
        (false, true) => phrase!("enabled `{id}`", id),
        (false, false) => phrase!("disabled `{id}`", id),
    };
    work.finish(language, &step, &lang::say(language, &told), Value::Null)
}

/// Deletes a summary.
pub(super) fn delete(language: Language, arguments: &SummaryArguments) -> Result<Exit> {
    let work = Work::of(language, arguments, &[])?;
    let step = work.summary.delete()?;
    let told = lang::say(language, &phrase!("deleted `{id}`", id = work.summary.id.to_string()));
    work.finish(language, &step, &told, Value::Null)
}

/// Gives a summary other words.
pub(super) fn edit(language: Language, arguments: &EditArguments) -> Result<Exit> {
    let text = match &arguments.text {
        Some(text) => text.clone(),
        None if arguments.summary.session.as_deref().is_some_and(files::is_stdin) => {
            let message = phrase!("standard input is the conversation; pass the text with `--text`");
            return Err(ProjectError::Usage(message));
        }
        None => standard_input(language)?,
    };
    let work = Work::of(language, &arguments.summary, &[])?;
    let step = work.summary.edit(&text)?;
    let told = lang::say(language, &phrase!("edited `{id}`", id = work.summary.id.to_string()));
    work.finish(language, &step, &told, Value::Null)
}

/// Has a summary written again.
pub(super) fn regenerate(language: Language, arguments: &RegenerateArguments) -> Result<Exit> {
    let settings = &arguments.settings;
    let mut work = Work::of(language, &arguments.summary, &[&settings.settings, &settings.agent])?;
    let is_session_given = arguments.summary.session.is_some();
    let given = [("agent", settings.agent.is_some()), ("session", is_session_given)];
    project::report_added_files(language, work.config.added_files(&given).as_ref());
    let summarizer = (&arguments.summarizer).into();
    let settings = compress::settings(&settings.into(), Some(&summarizer), &work.config, &mut work.sources)?;
    show::findings(language, &work.sources, &settings.diagnostics);
    let writer = SummaryWriter::of(&summarizer, &settings.config, &work.config)?;
    let mut waiting = Waiting::of(&writer)?;
    let plan = work.summary.plan(&settings.config)?;
    let draft = match waiting.until_done(writer.write(plan, work.counting.counter)) {
        Ok(draft) => draft,
        Err(failure) => {
            let why = as_it_was(&work.summary.file, &failure.phrase());
            show::failure(language, &ProjectError::Unusable(why));
            return Ok(Exit::of_summary(&failure));
        }
    };
    if writer.takes_time() {
        work.summary.read_again(&mut work.sources)?;
    }
    let rewritten = work.summary.rewrite(&draft);
    let (step, notice) =
        rewritten.map_err(|stale| ProjectError::Unusable(as_it_was(&work.summary.file, &stale.phrase())))?;
    let summary = masks::summary(language, &draft, &work.summary.id);
    let text = format!("{summary}\n{}", lang::say(language, &notice.phrase()));
    work.finish(language, &step, &text, notice_json(&notice))
}

fn standard_input(language: Language) -> Result<String> {
    show::waiting(language);
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text);
    read.map_err(|error| unusable!("cannot read standard input: {reason}", reason = files::reason(&error)))?;
    if text.len() as u64 > MAX_TEXT {
        let limit = MAX_TEXT / 1024 / 1024;
        Err(unusable!("standard input is larger than {limit} MiB", limit))
    } else {
        Ok(text)
    }
}

/// The longest text of a summary, in bytes.
const MAX_TEXT: u64 = 1024 * 1024;

/// A conversation and the summary in it that something is done with.
struct Work<'a> {
    arguments: &'a SummaryArguments,
    config: Config,
    sources: Sources,
    counting: TokenCounting,
    summary: SummaryFile,
    target: Target,
}

impl<'a> Work<'a> {
    fn of(
        language: Language,
        arguments: &'a SummaryArguments,
        others: &[&Option<std::path::PathBuf>],
    ) -> Result<Self> {
        let others = others.iter().copied().flatten();
        inputs::check_stdin(others.chain(&arguments.session).chain(&arguments.counting.models))?;
        let mut sources = show::sources(language);
        let config = project::config(language, &arguments.config, &mut sources)?;
        let mut found = config.found.clone();
        let counting = TokenCounting::of(&(&arguments.counting).into(), &config, &mut sources, &mut found)?;
        let target = Target::from(&arguments.output);
        let path = super::conversation(arguments.session.as_ref(), &config, &sources)?;
        let way_out = phrase!("use `--out FILE` to write a session");
        let file = SessionFile::open(&path, &target, &mut sources).map_err(with_way_out(way_out))?;
        found.extend(file.found.iter().cloned());
        show::findings(language, &sources, &found);
        let at_millis = at_millis(Some(&arguments.output));
        let summary = SummaryFile::find(file, &arguments.node, counting.counter, at_millis?)?;
        Ok(Self { arguments, config, sources, counting, summary, target })
    }

    /// Reports that there is nothing to do.
    fn unchanged(&self, language: Language, text: &Phrase) -> Result<Exit> {
        if self.arguments.json {
            show::json(&json!({
                "outcome": { "kind": "notNeeded", "detail": text },
                "node": self.summary.file.session.node(&self.summary.id),
                "written": false,
            }))?;
        } else {
            show::result(&format!("{}\n", lang::say(language, text)))?;
        }
        Ok(Exit::Success)
    }

    /// Carries out the step and writes the file, if that is wanted.
    fn finish(mut self, language: Language, step: &SummaryStep, text: &str, notice: Value) -> Result<Exit> {
        let known = self.summary.file.found.len();
        self.summary.take(step)?;
        let SummaryFile { file, id, .. } = &mut self.summary;
        show::findings(language, &self.sources, file.found.get(known..).unwrap_or_default());
        let counter = &self.counting.counter;
        let statistics = MaskStatistics::of(&file.session, counter);
        let details = MaskDetails::of(&file.session, id, counter);
        let written = file.save(&self.target, &self.sources.files_read)?;
        if !self.arguments.json {
            let details = details.map(|details| lang::say(language, &details.phrase()) + "\n");
            let details = details.unwrap_or_default();
            let statistics = masks::statistics(language, &statistics);
            let written = masks::written(language, &self.target, &file.name, written);
            show::result(&format!("{text}\n{details}{statistics}\n{written}"))?;
            return Ok(Exit::Success);
        }
        let mut json = json!({
            "outcome": { "kind": "done", "step": step.label },
            "node": file.session.node(id),
            "details": details,
            "statistics": statistics,
            "written": written,
        });
        if !notice.is_null() {
            json["notice"] = notice;
        }
        if !written {
            json["session"] = file.to_json();
        }
        show::json(&json)?;
        Ok(Exit::Success)
    }
}
