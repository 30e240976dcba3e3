//! What is done with summaries that are there: each is one step.

use ctx_language::Language;
use std::io::Read as _;

use anyhow::Result;
use ctx_compress::mask::{
    MaskDetails, MaskPlan, MaskStatistics, delete_summary, edit_summary, switch_appendix, switch_summary,
};
use ctx_types::{Argument, Divider, NodeId, Phrase, Session, SessionOp, SummaryAppendix, count_of, phrase};
use serde_json::{Value, json};

use crate::args::{EditArguments, RegenerateArguments, SummaryArguments, SwitchSummaryArguments};
use crate::commands::compress::mask::{at_millis, notice_json};
use crate::commands::compress::writer::Writer;
use crate::exit::Exit;
use crate::lang::{self, Told};
use crate::project;
use crate::show::{self, masks};
use ctx_project::Sources;
use ctx_project::compress;
use ctx_project::config::Config;
use ctx_project::counting::TokenCounting;
use ctx_project::error::ProjectError;
use ctx_project::files;
use ctx_project::inputs;
use ctx_project::session_file::{SessionFile, Target};

/// Switches a summary on or off, or the facts beside it.
pub(super) fn switch(language: Language, arguments: &SwitchSummaryArguments, enabled: bool) -> Result<Exit> {
    let work = Work::of(language, &arguments.summary, &[])?;
    let (node, session) = (work.file.session.node(&work.id), &work.file.session);
    let (id, is_of_facts) = (work.id.clone(), arguments.appendix);
    let is_enabled = match is_of_facts {
        // Without an appendix the switch itself says so.
        true => node.and_then(SummaryAppendix::of).map_or(!enabled, |appendix| appendix.is_sent),
        false => node.is_some_and(ctx_types::Node::is_enabled),
    };
    if is_enabled == enabled {
        return work.unchanged(
            language,
            &match (is_of_facts, enabled) {
                (true, true) => phrase!("the facts beside `{id}` are switched on already", id),
                (true, false) => phrase!("the facts beside `{id}` are switched off already", id),
                (false, true) => phrase!("`{id}` is switched on already", id),
                (false, false) => phrase!("`{id}` is switched off already", id),
            },
        );
    }
    let told = match (is_of_facts, enabled) {
        (true, true) => phrase!("switched on the facts beside `{id}`", id),
        (true, false) => phrase!("switched off the facts beside `{id}`", id),
        (false, true) => phrase!("switched on `{id}`", id),
        (false, false) => phrase!("switched off `{id}`", id),
    };
    let label = told.to_string().replacen("switched", "switch", 1).replace('`', "");
    let op = if arguments.appendix {
        let op = switch_appendix(session, &id, enabled, &work.counting.counter);
        op.map_err(|error| ProjectError::Usage(error.phrase()))?
    } else {
        switch_summary(session, &id, enabled)?
    };
    work.finish(language, (&label, &lang::say(language, &told)), &op, Value::Null)
}

/// Deletes a summary.
pub(super) fn delete(language: Language, arguments: &SummaryArguments) -> Result<Exit> {
    let work = Work::of(language, arguments, &[])?;
    let id = work.id.clone();
    let op = delete_summary(&work.file.session, &id)?;
    let told = lang::say(language, &phrase!("deleted `{id}`", id));
    work.finish(language, (&format!("delete {id}"), &told), &op, Value::Null)
}

/// Gives a summary other words.
pub(super) fn edit(language: Language, arguments: &EditArguments) -> Result<Exit> {
    let text = match &arguments.text {
        Some(text) => text.clone(),
        None if arguments.summary.session.as_deref().is_some_and(files::is_stdin) => {
            let message = phrase!("standard input is already the conversation; give the text with `--text`");
            return Err(ProjectError::Usage(message).into());
        }
        None => standard_input(language)?,
    };
    let work = Work::of(language, &arguments.summary, &[])?;
    let id = work.id.clone();
    let op = edit_summary(&work.file.session, &id, text.trim_end(), &work.counting.counter)
        .map_err(|error| ProjectError::Usage(error.phrase()))?;
    let told = lang::say(language, &phrase!("edited `{id}`", id));
    work.finish(language, (&format!("edit {id}"), &told), &op, Value::Null)
}

/// Has a summary written again.
pub(super) fn regenerate(language: Language, arguments: &RegenerateArguments) -> Result<Exit> {
    let settings = &arguments.settings;
    let mut work = Work::of(language, &arguments.summary, &[&settings.settings, &settings.agent])?;
    let is_session_given = arguments.summary.session.is_some();
    let given = [("agent", settings.agent.is_some()), ("session", is_session_given)];
    project::tell_beside(language, work.config.beside(&given).as_ref());
    let settings = compress::settings(
        &settings.into(),
        Some(&(&arguments.summarizer).into()),
        &work.config,
        &mut work.sources,
    )?;
    show::findings(language, &work.sources, &settings.diagnostics);
    let mut writer = Writer::of(&arguments.summarizer, &settings.config, &work.config)?;
    let counter = work.counting.counter;
    let plan = MaskPlan::regenerate(&work.file.session, &settings.config, &work.id, &counter);
    let plan = plan.map_err(|none| ProjectError::Usage(none.phrase()))?;
    let draft = writer.write(plan, counter).map_err(anyhow::Error::new);
    let draft = draft.map_err(|error| error.context(as_it_was(&work.file.name)))?;
    if writer.takes_time() {
        work.file = work.file.read_again(&mut work.sources)?;
    }
    let commit = draft.commit(&work.file.session, work.at_millis);
    let commit = commit.map_err(|stale| {
        let (stale, name) = (stale.phrase(), &work.file.name);
        Told(phrase!("{stale}; `{name}` is as it was", stale, name))
    })?;
    let id = work.id.clone();
    let text = format!(
        "{}\n{}",
        masks::summary(language, &draft, &id),
        lang::say(language, &commit.notice.phrase())
    );
    work.finish(language, (&format!("write {id} again"), &text), &commit.op, notice_json(&commit.notice))
}

fn standard_input(language: Language) -> Result<String> {
    show::waiting(language);
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text);
    read.map_err(|error| {
        Told(phrase!("cannot read standard input: {reason}", reason = files::reason(&error)))
    })?;
    match text.len() as u64 > MAX_TEXT {
        true => {
            let limit = MAX_TEXT / 1024 / 1024;
            Err(Told(phrase!("standard input is larger than {limit} MiB", limit)).into())
        }
        false => Ok(text),
    }
}

/// What is said of a file before what went wrong.
fn as_it_was(name: &str) -> Told {
    Told(phrase!("`{name}` is as it was", name))
}

/// The longest text of a summary, in bytes.
const MAX_TEXT: u64 = 1024 * 1024;

/// A conversation and the summary in it that something is done with.
struct Work<'a> {
    arguments: &'a SummaryArguments,
    config: Config,
    sources: Sources,
    counting: TokenCounting,
    file: SessionFile,
    id: NodeId,
    target: Target,
    at_millis: i64,
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
        let file = SessionFile::open(&path, &target, &mut sources)?;
        found.extend(file.found.iter().cloned());
        show::findings(language, &sources, &found);
        let id = find(&file.session, &arguments.node)?;
        let at_millis = at_millis(Some(&arguments.output))?;
        Ok(Self { arguments, config, sources, counting, file, id, target, at_millis })
    }

    /// Reports that there is nothing to do.
    fn unchanged(&self, language: Language, text: &Phrase) -> Result<Exit> {
        match self.arguments.json {
            true => show::json(&json!({
                "outcome": { "kind": "notNeeded", "detail": text },
                "node": self.file.session.node(&self.id),
                "written": false,
            }))?,
            false => show::result(&format!("{}\n", lang::say(language, text)))?,
        }
        Ok(Exit::Success)
    }

    /// Carries out the step and writes the file, if that is wanted.
    fn finish(
        mut self,
        language: Language,
        (label, text): (&str, &str),
        op: &SessionOp,
        notice: Value,
    ) -> Result<Exit> {
        let known = self.file.found.len();
        self.file.apply(label, self.at_millis, op)?;
        show::findings(language, &self.sources, self.file.found.get(known..).unwrap_or_default());
        let counter = &self.counting.counter;
        let statistics = MaskStatistics::of(&self.file.session, counter);
        let details = MaskDetails::of(&self.file.session, &self.id, counter);
        let written = self.file.save(&self.target, &self.sources.files_read)?;
        if !self.arguments.json {
            let details = details.map(|details| lang::say(language, &details.phrase()) + "\n");
            let details = details.unwrap_or_default();
            let statistics = masks::statistics(language, &statistics);
            let written = masks::written(language, &self.target, &self.file.name, written);
            show::result(&format!("{text}\n{details}{statistics}\n{written}"))?;
            return Ok(Exit::Success);
        }
        let mut json = json!({
            "outcome": { "kind": "done", "step": label },
            "node": self.file.session.node(&self.id),
            "details": details,
            "statistics": statistics,
            "written": written,
        });
        if !notice.is_null() {
            json["notice"] = notice;
        }
        if !written {
            json["session"] = self.file.to_json();
        }
        show::json(&json)?;
        Ok(Exit::Success)
    }
}

/// Finds a summary by its id, or by the beginning of it.
pub(super) fn find(session: &Session, text: &str) -> Result<NodeId, ProjectError> {
    if let Some(node) = session.node(text) {
        return match node.is_summary() {
            true => Ok(text.into()),
            false => Err(ProjectError::Usage(phrase!("`{text}` is not a summary", text))),
        };
    }
    let summaries = || session.nodes().filter(|(_, node)| node.is_summary()).map(|(id, _)| id);
    let begun: Vec<&NodeId> = summaries().filter(|id| !text.is_empty() && id.starts_with(text)).collect();
    match (begun.as_slice(), summaries().count()) {
        ([id], _) => Ok((*id).clone()),
        ([], 0) => Err(ProjectError::Usage(phrase!(
            "there is no node `{text}`; the conversation has no summary",
            text
        ))),
        ([], _) => {
            let known = Argument::names(summaries().take(MOST_NAMED), Divider::Comma);
            Err(ProjectError::Usage(phrase!(
                "there is no node `{text}`; the summaries are {known}",
                text,
                known
            )))
        }
        (several, _) => Err(ProjectError::Usage(phrase!(
            "{ids} begin with `{text}`",
            ids = count_of!(several.len(), "id"),
            text
        ))),
    }
}

/// How many summaries a message names.
const MOST_NAMED: usize = 5;
