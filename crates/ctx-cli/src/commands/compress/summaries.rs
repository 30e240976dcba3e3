//! What is done with summaries that are there: each is one step.

use std::io::Read as _;

use anyhow::{Result, anyhow};
use ctx_compress::mask::{
    MaskDetails, MaskPlan, MaskStatistics, delete_summary, edit_summary, switch_appendix, switch_summary,
};
use ctx_types::{NodeId, Phrase, Session, SessionOp, SummaryAppendix, count_of, phrase};
use serde_json::{Value, json};

use crate::args::{EditArguments, RegenerateArguments, SummaryArguments, SwitchSummaryArguments};
use crate::commands::compress::mask::{at_millis, notice_json};
use crate::commands::compress::writer::Writer;
use crate::exit::Exit;
use crate::lang;
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
pub(super) fn switch(arguments: &SwitchSummaryArguments, enabled: bool) -> Result<Exit> {
    let work = Work::of(&arguments.summary, &[])?;
    let (node, session) = (work.file.session.node(&work.id), &work.file.session);
    let (id, how) = (work.id.clone(), if enabled { "on" } else { "off" });
    let (is_enabled, what) = if arguments.appendix {
        // Without an appendix the switch itself says so.
        let is_sent = node.and_then(SummaryAppendix::of).map_or(!enabled, |appendix| appendix.is_sent);
        (is_sent, format!("the facts beside `{id}`"))
    } else {
        (node.is_some_and(ctx_types::Node::is_enabled), format!("`{id}`"))
    };
    if is_enabled == enabled {
        let are = if arguments.appendix { "are" } else { "is" };
        return work.unchanged(&format!("{what} {are} switched {how} already"));
    }
    let op = if arguments.appendix {
        let op = switch_appendix(session, &id, enabled, &work.counting.counter);
        op.map_err(|error| ProjectError::Usage(Phrase::verbatim(error.to_string())))?
    } else {
        switch_summary(session, &id, enabled)?
    };
    work.finish(
        &format!("switch {how} {}", what.replace('`', "")),
        &format!("switched {how} {what}"),
        &op,
        Value::Null,
    )
}

/// Deletes a summary.
pub(super) fn delete(arguments: &SummaryArguments) -> Result<Exit> {
    let work = Work::of(arguments, &[])?;
    let id = work.id.clone();
    let op = delete_summary(&work.file.session, &id)?;
    work.finish(&format!("delete {id}"), &format!("deleted `{id}`"), &op, Value::Null)
}

/// Gives a summary other words.
pub(super) fn edit(arguments: &EditArguments) -> Result<Exit> {
    let text = match &arguments.text {
        Some(text) => text.clone(),
        None if arguments.summary.session.as_deref().is_some_and(files::is_stdin) => {
            let message = phrase!("standard input is the conversation already; give the words with `--text`");
            return Err(ProjectError::Usage(message).into());
        }
        None => standard_input()?,
    };
    let work = Work::of(&arguments.summary, &[])?;
    let id = work.id.clone();
    let op = edit_summary(&work.file.session, &id, text.trim_end(), &work.counting.counter)
        .map_err(|error| ProjectError::Usage(Phrase::verbatim(error.to_string())))?;
    work.finish(&format!("edit {id}"), &format!("edited `{id}`"), &op, Value::Null)
}

/// Has a summary written again.
pub(super) fn regenerate(arguments: &RegenerateArguments) -> Result<Exit> {
    let settings = &arguments.settings;
    let mut work = Work::of(&arguments.summary, &[&settings.settings, &settings.agent])?;
    let is_session_given = arguments.summary.session.is_some();
    let given = [("agent", settings.agent.is_some()), ("session", is_session_given)];
    project::tell_beside(work.config.beside(&given).as_ref());
    let settings = compress::settings(
        &settings.into(),
        Some(&(&arguments.summarizer).into()),
        &work.config,
        &mut work.sources,
    )?;
    show::findings(&work.sources, &settings.diagnostics);
    let mut writer = Writer::of(&arguments.summarizer, &settings.config, &work.config)?;
    let counter = work.counting.counter;
    let plan = MaskPlan::regenerate(&work.file.session, &settings.config, &work.id, &counter);
    let plan = plan.map_err(|none| ProjectError::Usage(Phrase::verbatim(none.to_string())))?;
    let draft = writer.write(plan, counter).map_err(anyhow::Error::new);
    let draft = draft.map_err(|error| error.context(format!("`{}` is as it was", work.file.name)))?;
    if writer.takes_time() {
        work.file = work.file.read_again(&mut work.sources)?;
    }
    let commit = draft.commit(&work.file.session, work.at_millis);
    let commit = commit.map_err(|stale| anyhow!("{stale}; `{}` is as it was", work.file.name))?;
    let id = work.id.clone();
    let text = format!("{}\n{}", masks::summary(&draft, &id), lang::text(&commit.notice.to_string()));
    work.finish(&format!("write {id} again"), &text, &commit.op, notice_json(&commit.notice))
}

fn standard_input() -> Result<String> {
    show::waiting();
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_TEXT + 1).read_to_string(&mut text);
    read.map_err(|error| anyhow!("cannot read standard input: {}", files::reason(&error)))?;
    match text.len() as u64 > MAX_TEXT {
        true => Err(anyhow!("standard input is larger than {} MiB", MAX_TEXT / 1024 / 1024)),
        false => Ok(text),
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
    file: SessionFile,
    id: NodeId,
    target: Target,
    at_millis: i64,
}

impl<'a> Work<'a> {
    fn of(arguments: &'a SummaryArguments, others: &[&Option<std::path::PathBuf>]) -> Result<Self> {
        let others = others.iter().copied().flatten();
        inputs::check_stdin(others.chain(&arguments.session).chain(&arguments.counting.models))?;
        let mut sources = show::sources();
        let config = project::config(&arguments.config, &mut sources)?;
        let mut found = config.found.clone();
        let counting = TokenCounting::of(&(&arguments.counting).into(), &config, &mut sources, &mut found)?;
        let target = Target::from(&arguments.output);
        let path = super::conversation(arguments.session.as_ref(), &config, &sources)?;
        let file = SessionFile::open(&path, &target, &mut sources)?;
        found.extend(file.found.iter().cloned());
        show::findings(&sources, &found);
        let id = find(&file.session, &arguments.node)?;
        let at_millis = at_millis(Some(&arguments.output))?;
        Ok(Self { arguments, config, sources, counting, file, id, target, at_millis })
    }

    /// Says that there is nothing to do.
    fn unchanged(&self, text: &str) -> Result<Exit> {
        match self.arguments.json {
            true => show::json(&json!({
                "outcome": { "kind": "notNeeded", "detail": text },
                "node": self.file.session.node(&self.id),
                "written": false,
            }))?,
            false => show::result(&format!("{}\n", lang::text(text)))?,
        }
        Ok(Exit::Success)
    }

    /// Carries out the step and writes the file, if that is wanted.
    fn finish(mut self, label: &str, text: &str, op: &SessionOp, notice: Value) -> Result<Exit> {
        let known = self.file.found.len();
        self.file.apply(label, self.at_millis, op)?;
        show::findings(&self.sources, self.file.found.get(known..).unwrap_or_default());
        let counter = &self.counting.counter;
        let statistics = MaskStatistics::of(&self.file.session, counter);
        let details = MaskDetails::of(&self.file.session, &self.id, counter);
        let written = self.file.save(&self.target, &self.sources.files_read)?;
        if !self.arguments.json {
            let details = details.map(|details| lang::text(&details.to_string()).into_owned() + "\n");
            let details = details.unwrap_or_default();
            let statistics = masks::statistics(&statistics);
            let written = masks::written(&self.target, &self.file.name, written);
            // Where the words of a summary are told too, that is done already.
            let text = if text.contains('\n') { text.into() } else { lang::text(text) };
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
            false => Err(ProjectError::Usage(phrase!("`{text}` is no summary", text))),
        };
    }
    let summaries = || session.nodes().filter(|(_, node)| node.is_summary()).map(|(id, _)| id);
    let begun: Vec<&NodeId> = summaries().filter(|id| !text.is_empty() && id.starts_with(text)).collect();
    match (begun.as_slice(), summaries().count()) {
        ([id], _) => Ok((*id).clone()),
        ([], 0) => {
            Err(ProjectError::Usage(phrase!("no node `{text}`; the conversation has no summary", text)))
        }
        ([], _) => {
            let known: Vec<String> = summaries().take(MOST_NAMED).map(|id| format!("`{id}`")).collect();
            Err(ProjectError::Usage(phrase!(
                "no node `{text}`; there are the summaries {known}",
                text,
                known = known.join(", ")
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
