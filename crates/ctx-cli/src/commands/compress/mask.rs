//! Summaries in conversations: planned, written, put into the tree.

use ctx_language::Language;
use std::path::{Path, PathBuf};

use anyhow::Result;
use ctx_compress::mask::{
    MaskCommit, MaskDraft, MaskPlan, MaskSelection, MaskSettings, MaskStatistics, MaskTotals, MaskTrigger,
    StaleMask, SummaryFailure,
};
use ctx_types::{NodeId, Phrase, Session, phrase, plural};
use serde_json::{Value, json};

use crate::args::{MaskArguments, OutputArguments, PassArguments, RunArguments};
use crate::commands::compress::batch::{self, PassResult};
use crate::commands::compress::conversations;
use crate::commands::compress::writer::Writer;
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use crate::show::masks;
use ctx_project::Sources;
use ctx_project::compress;
use ctx_project::config::Config;
use ctx_project::counting::TokenCounting;
use ctx_project::error::ProjectError;
use ctx_project::inputs;
use ctx_project::options::SummarizerOptions;
use ctx_project::session_file::{SessionFile, Target};
use ctx_project::turn::time;

/// Shows what summaries would stand for.
pub(super) fn plan(language: Language, arguments: &PassArguments) -> Result<Exit> {
    let work = Work::of(language, arguments, None)?;
    batch::run(language, &work.sessions, arguments.json, &mut |path, sources| {
        let file = SessionFile::open(path, &Target::Nowhere, sources)?;
        Ok(match work.plan(&file)? {
            Planned::Nothing(reason) => work.nothing(language, &file, reason),
            Planned::Plan(plan) => work.planned(language, &file, &plan),
        })
    })
}

/// Puts summaries into conversations.
pub(super) fn run(language: Language, arguments: &RunArguments) -> Result<Exit> {
    let pass = &arguments.pass;
    let work = Work::of(language, pass, Some(arguments))?;
    if !batch::is_one(&work.sessions) && matches!(work.target, Target::Other(_)) {
        let message = phrase!("`--out` takes one conversation; `--write` overwrites each file in place");
        return Err(ProjectError::Usage(message).into());
    }
    let mut writer = Writer::of(&arguments.summarizer, &work.settings.config, &work.config)?;
    batch::run(language, &work.sessions, pass.json, &mut |path, sources| {
        work.compress(language, path, &mut writer, sources)
    })
}

/// What is the same for all conversations of a run.
struct Work<'a> {
    sessions: Vec<PathBuf>,
    mask: &'a MaskArguments,
    counting: TokenCounting,
    settings: MaskSettings,
    config: Config,
    target: Target,
    at_millis: i64,
}

/// What is to be done with a conversation.
enum Planned {
    Plan(Box<MaskPlan>),
    /// Nothing, and why: a name and a phrase.
    Nothing((&'static str, Phrase)),
}

impl<'a> Work<'a> {
    fn of(language: Language, pass: &'a PassArguments, run: Option<&RunArguments>) -> Result<Self> {
        let mut sources = show::sources(language);
        let config = project::config(language, &pass.config, &mut sources)?;
        let settings = &pass.mask.settings;
        let files = pass.session.iter().chain(&settings.settings).chain(&settings.agent);
        inputs::check_stdin(files.chain(&pass.counting.models))?;
        let given = [("agent", settings.agent.is_some()), ("session", !pass.session.is_empty())];
        project::tell_beside(language, config.beside(&given).as_ref());
        let sessions = conversations(pass, &config, &sources)?;
        let mut found = config.found.clone();
        let counting = TokenCounting::of(&(&pass.counting).into(), &config, &mut sources, &mut found)?;
        let summarizer = run.map(|run| &run.summarizer);
        let settings = compress::settings(
            &settings.into(),
            summarizer.map(SummarizerOptions::from).as_ref(),
            &config,
            &mut sources,
        )?;
        found.extend(settings.diagnostics.iter().cloned());
        show::findings(language, &sources, &found);
        let output = run.map(|run| &run.output);
        let target = output.map_or(Target::Nowhere, Target::from);
        let at_millis = at_millis(output)?;
        Ok(Self { sessions, mask: &pass.mask, counting, settings, config, target, at_millis })
    }

    fn plan(&self, file: &SessionFile) -> Result<Planned> {
        let (session, config, counter) = (&file.session, &self.settings.config, &self.counting.counter);
        if self.mask.auto {
            let trigger = MaskTrigger::check(config, MaskTotals::of(session, counter));
            if !trigger.fires() {
                return Ok(Planned::Nothing(("notNeeded", trigger.phrase())));
            }
        }
        let selection = selection(self.mask, session)?;
        match MaskPlan::new(session, config, &selection, counter) {
            Ok(plan) => Ok(Planned::Plan(Box::new(plan))),
            Err(none) if none.is_misuse() => Err(ProjectError::Usage(none.phrase()).into()),
            Err(none) => Ok(Planned::Nothing((none.as_str(), none.phrase()))),
        }
    }

    /// Compresses one conversation.
    fn compress(
        &self,
        language: Language,
        path: &Path,
        writer: &mut Writer,
        sources: &mut Sources,
    ) -> Result<PassResult> {
        let mut file = SessionFile::open(path, &self.target, sources)?;
        let plan = match self.plan(&file)? {
            Planned::Nothing(reason) => return Ok(self.nothing(language, &file, reason)),
            Planned::Plan(plan) => plan,
        };
        let plan_json = plan.to_json();
        let draft = match writer.write(*plan, self.counting.counter) {
            Ok(draft) => draft,
            Err(failure) => return Ok(self.failed(&file, &plan_json, &failure)),
        };
        if writer.takes_time() {
            file = file.read_again(sources)?;
        }
        match draft.commit(&file.session, self.at_millis) {
            Ok(commit) => self.commit(language, file, (&draft, commit), sources),
            Err(stale) => Ok(self.stale(&file, &plan_json, &stale)),
        }
    }

    fn commit(
        &self,
        language: Language,
        mut file: SessionFile,
        (draft, commit): (&MaskDraft, MaskCommit),
        sources: &Sources,
    ) -> Result<PassResult> {
        let MaskCommit { op, id, notice } = commit;
        let before = MaskTotals::of(&file.session, &self.counting.counter);
        let label = label(notice.messages, notice.summaries);
        file.apply(&label, self.at_millis, &op)?;
        let statistics = MaskStatistics::of(&file.session, &self.counting.counter);
        let written = file.save(&self.target, &sources.files_read)?;
        let node = file.session.node(&id);
        let mut json = json!({
            "outcome": { "kind": "compacted" },
            "plan": draft.plan.to_json(),
            "node": node,
            "madeBy": draft.made_by.as_str(),
            "notice": notice_json(&notice),
            "statistics": statistics,
            "written": written,
        });
        if !written {
            json["session"] = file.to_json();
        }
        let text = masks::plan_line(language, &draft.plan)
            + "\n"
            + &masks::summary(language, draft, &id)
            + &format!(
                "\n{}\n{}\n",
                lang::say(language, &notice.phrase()),
                masks::statistics(language, &statistics)
            )
            + &masks::written(language, &self.target, &file.name, written);
        let done = self.done(&file, "compacted", text, json);
        Ok(PassResult {
            messages: (before.messages, done.messages.1),
            tokens: (before.tokens, done.tokens.1),
            ..done
        })
    }

    fn planned(&self, language: Language, file: &SessionFile, plan: &MaskPlan) -> PassResult {
        let totals = MaskTotals::of(&file.session, &self.counting.counter);
        let trigger = MaskTrigger::check(&self.settings.config, totals);
        let json = json!({
            "outcome": { "kind": "planned" },
            "plan": plan.to_json(),
            "trigger": { "fires": trigger.fires(), "detail": trigger.to_string() },
            "settings": self.settings.values,
        });
        let text = masks::plan(language, plan, &file.session, &self.counting, trigger);
        let mut done = self.done(file, "planned", text, json);
        done.found.extend(plan.diagnostics.iter().cloned());
        done
    }

    fn nothing(
        &self,
        language: Language,
        file: &SessionFile,
        (kind, reason): (&'static str, Phrase),
    ) -> PassResult {
        let json = json!({ "outcome": { "kind": "notNeeded", "reason": kind, "detail": reason } });
        self.done(
            file,
            "not needed",
            lang::say(language, &phrase!("nothing to compress: {reason}", reason)) + "\n",
            json,
        )
    }

    fn failed(&self, file: &SessionFile, plan: &Value, failure: &SummaryFailure) -> PassResult {
        let kind = match failure {
            SummaryFailure::WindowTooSmall { .. } | SummaryFailure::TooManyParts { .. } => "infeasible",
            SummaryFailure::NoProgress | SummaryFailure::NoExtract(_) => "noProgress",
            _ => "failed",
        };
        let json = json!({
            "outcome": { "kind": kind, "reason": failure.as_str(), "detail": failure.to_string() },
            "plan": plan,
            "written": false,
        });
        PassResult {
            error: Some(as_it_was(file, &failure.phrase())),
            exit: Exit::of_summary(failure),
            stops: *failure == SummaryFailure::Stopped,
            ..self.done(file, kind_for_people(kind), String::new(), json)
        }
    }

    fn stale(&self, file: &SessionFile, plan: &Value, stale: &StaleMask) -> PassResult {
        let json = json!({
            "outcome": { "kind": "stale", "reason": stale.as_str(), "detail": stale.to_string() },
            "plan": plan,
            "written": false,
        });
        PassResult {
            error: Some(as_it_was(file, &stale.phrase())),
            exit: Exit::Unreadable,
            ..self.done(file, "stale", String::new(), json)
        }
    }

    fn done(&self, file: &SessionFile, outcome: &'static str, text: String, json: Value) -> PassResult {
        let totals = MaskTotals::of(&file.session, &self.counting.counter);
        PassResult {
            outcome,
            text,
            json,
            messages: (totals.messages, totals.messages),
            tokens: (totals.tokens, totals.tokens),
            found: file.found.clone(),
            ..PassResult::default()
        }
    }
}

fn as_it_was(file: &SessionFile, stale: &Phrase) -> Phrase {
    phrase!("{stale}; `{name}` is as it was", stale, name = file.name)
}

fn kind_for_people(kind: &'static str) -> &'static str {
    if kind == "noProgress" { "no progress" } else { kind }
}

/// Writes what people are told of a new summary, for programs.
pub(super) fn notice_json(notice: &ctx_compress::mask::MaskNotice) -> Value {
    let mut json = json!(notice);
    json["savedTokens"] = json!(notice.saved_tokens());
    json["text"] = json!(notice.to_string());
    json
}

/// Names the step that a new summary is.
fn label(messages: usize, summaries: usize) -> String {
    let named = match summaries {
        1 => "1 summary".to_owned(),
        _ => format!("{summaries} summaries"),
    };
    match (messages, summaries) {
        (messages, 0) => format!("compress {}", plural(messages, "message")),
        (0, _) => format!("join {named}"),
        (messages, _) => format!("compress {} and {named}", plural(messages, "message")),
    }
}

/// Returns the time that is noted.
pub(super) fn at_millis(output: Option<&OutputArguments>) -> Result<i64> {
    Ok(time(output.and_then(|output| output.at.as_deref()))?.as_millisecond())
}

/// Returns what the command line selects.
fn selection(mask: &MaskArguments, session: &Session) -> Result<MaskSelection, ProjectError> {
    let path = session.path();
    let ends = || path.first().zip(path.last()).map(|(first, last)| (first.id.clone(), last.id.clone()));
    match (&mask.from, &mask.to) {
        (None, None) if mask.roll_up => Ok(MaskSelection::Summaries),
        (None, None) if mask.auto => Ok(MaskSelection::Oldest),
        (None, None) => Ok(MaskSelection::All),
        (from, to) => {
            let (first, last) = ends().unwrap_or_default();
            let from = from.as_deref().map(|from| node(session, from)).transpose()?.or(first);
            let to = to.as_deref().map(|to| node(session, to)).transpose()?.or(last);
            Ok(MaskSelection::Between { from: from.unwrap_or_default(), to: to.unwrap_or_default() })
        }
    }
}

/// Finds a message by its id, else by its place on the active path, from 1.
fn node(session: &Session, text: &str) -> Result<NodeId, ProjectError> {
    if session.node(text).is_some() {
        return Ok(text.into());
    }
    let path = session.path();
    let place: Option<usize> = text.parse().ok();
    let found = place.and_then(|place| path.get(place.checked_sub(1)?)?.id.clone());
    found.ok_or_else(|| {
        let places = path.len();
        ProjectError::Usage(phrase!(
            "there is no message `{text}`; give its id, or its position on the path, from 1 to {places}",
            text,
            places
        ))
    })
}
