//! Summaries in conversations: planned, written, put into the tree.

use std::path::{Path, PathBuf};

use ctx_compress::mask::{MaskNotice, MaskPlan, MaskStatistics, MaskTotals, MaskTrigger, SummaryFailure};
use ctx_language::Language;
use ctx_project::Sources;
use ctx_project::compress::{
    self, Conversations, MaskChoice, MaskOutcome, MaskPlanned, Masked, Masking, NewSummary, NothingToMask,
    SummaryWriter,
};
use ctx_project::config::Config;
use ctx_project::counting::TokenCounting;
use ctx_project::error::{ProjectError, Result};
use ctx_project::inputs;
use ctx_project::options::SummarizerOptions;
use ctx_project::session_file::{SessionFile, Target};
use ctx_project::turn::time;
use ctx_types::{Phrase, phrase};
use serde_json::{Value, json};

use crate::args::{MaskArguments, OutputArguments, PassArguments, RunArguments};
use crate::commands::compress::batch::{self, PassResult};
use crate::commands::compress::conversations;
use crate::commands::compress::waiting::Waiting;
use crate::exit::Exit;
use crate::show::masks;
use crate::{lang, project, show};

/// Shows what summaries would stand for.
pub(super) fn plan(language: Language, arguments: &PassArguments) -> Result<Exit> {
    let work = Work::of(language, arguments, None)?;
    batch::run(language, &work.sessions, arguments.json, &mut |path, sources| {
        let file = SessionFile::open(path, &Target::Nowhere, sources)?;
        Ok(match work.masking.plan(&file.session)? {
            MaskPlanned::Nothing(nothing) => work.nothing(language, &file, nothing),
            MaskPlanned::Plan(plan) => work.planned(language, &file, &plan),
        })
    })
}

/// Puts summaries into conversations.
pub(super) fn run(language: Language, arguments: &RunArguments) -> Result<Exit> {
    let pass = &arguments.pass;
    let work = Work::of(language, pass, Some(arguments))?;
    if !Conversations::is_one(&work.sessions) && matches!(work.masking.target, Target::Other(_)) {
        let message = phrase!("`--out` writes one conversation; use `--write` to update each file");
        return Err(ProjectError::Usage(message));
    }
    let config = &work.masking.settings.config;
    let writer = SummaryWriter::of(&(&arguments.summarizer).into(), config, &work.config)?;
    let mut waiting = Waiting::of(&writer)?;
    batch::run(language, &work.sessions, pass.json, &mut |path, sources| {
        work.mask(language, path, (&writer, &mut waiting), sources)
    })
}

/// What is the same for all conversations of a run.
struct Work {
    sessions: Vec<PathBuf>,
    masking: Masking,
    config: Config,
}

impl Work {
    fn of(language: Language, pass: &PassArguments, run: Option<&RunArguments>) -> Result<Self> {
        let mut sources = show::sources(language);
        let config = project::config(language, &pass.config, &mut sources)?;
        let settings = &pass.mask.settings;
        let files = pass.session.iter().chain(&settings.settings).chain(&settings.agent);
        inputs::check_stdin(files.chain(&pass.counting.models))?;
        let given = [("agent", settings.agent.is_some()), ("session", !pass.session.is_empty())];
        project::report_added_files(language, config.added_files(&given).as_ref());
        let sessions = conversations(pass, &config, &sources)?;
        let mut found = config.found.clone();
        let counting = TokenCounting::of(&(&pass.counting).into(), &config, &mut sources, &mut found)?;
        let summarizer = run.map(|run| SummarizerOptions::from(&run.summarizer));
        let settings = compress::settings(&settings.into(), summarizer.as_ref(), &config, &mut sources)?;
        found.extend(settings.diagnostics.iter().cloned());
        show::findings(language, &sources, &found);
        let output = run.map(|run| &run.output);
        let masking = Masking {
            choice: choice(&pass.mask),
            settings,
            counting,
            target: output.map_or(Target::Nowhere, Target::from),
            at_millis: at_millis(output)?,
        };
        Ok(Self { sessions, masking, config })
    }

    /// Masks one conversation.
    fn mask(
        &self,
        language: Language,
        path: &Path,
        (writer, waiting): (&SummaryWriter, &mut Waiting),
        sources: &mut Sources,
    ) -> Result<PassResult> {
        let Masked { file, outcome } = waiting.until_done(self.masking.mask(path, writer, sources))?;
        Ok(match outcome {
            MaskOutcome::Summarized(summary) => self.summarized(language, &file, &summary),
            MaskOutcome::Nothing(nothing) => self.nothing(language, &file, nothing),
            MaskOutcome::Failed { plan, failure } => self.failed(&file, &plan, &failure),
            MaskOutcome::Stale { plan, stale } => {
                let outcome =
                    json!({ "kind": "stale", "reason": stale.as_str(), "detail": stale.to_string() });
                PassResult {
                    error: Some(as_it_was(&file, &stale.phrase())),
                    exit: Exit::Unreadable,
                    ..self.done(&file, "stale", String::new(), unwritten(&outcome, &plan))
                }
            }
        })
    }

    fn summarized(&self, language: Language, file: &SessionFile, new: &NewSummary) -> PassResult {
        let NewSummary { draft, id, notice, before, is_written } = new;
        let statistics = MaskStatistics::of(&file.session, &self.masking.counting.counter);
        let mut json = json!({
            "outcome": { "kind": "compacted" },
            "plan": draft.plan.to_json(),
            "node": file.session.node(id),
            "madeBy": draft.made_by.as_str(),
            "notice": notice_json(notice),
            "statistics": statistics,
            "written": is_written,
        });
        if !is_written {
            json["session"] = file.to_json();
        }
        let text = [
            masks::plan_line(language, &draft.plan),
            masks::summary(language, draft, id),
            lang::say(language, &notice.phrase()),
            masks::statistics(language, &statistics),
            masks::written(language, &self.masking.target, &file.name, *is_written),
        ];
        let done = self.done(file, "compacted", text.join("\n"), json);
        PassResult {
            messages: (before.messages, done.messages.1),
            tokens: (before.tokens, done.tokens.1),
            ..done
        }
    }

    fn planned(&self, language: Language, file: &SessionFile, plan: &MaskPlan) -> PassResult {
        let Masking { settings, counting, .. } = &self.masking;
        let totals = MaskTotals::of(&file.session, &counting.counter);
        let trigger = MaskTrigger::check(&settings.config, totals);
        let json = json!({
            "outcome": { "kind": "planned" },
            "plan": plan.to_json(),
            "trigger": { "fires": trigger.fires(), "detail": trigger.to_string() },
            "settings": settings.values,
        });
        let text = masks::plan(language, plan, &file.session, counting, &trigger);
        let mut done = self.done(file, "planned", text, json);
        done.found.extend(plan.diagnostics.iter().cloned());
        done
    }

    fn nothing(&self, language: Language, file: &SessionFile, nothing: NothingToMask) -> PassResult {
        let NothingToMask { kind, reason } = nothing;
        let json = json!({ "outcome": { "kind": "notNeeded", "reason": kind, "detail": reason } });
        let text = lang::say(language, &phrase!("nothing to compress: {reason}", reason)) + "\n";
        self.done(file, "not needed", text, json)
    }

    fn failed(&self, file: &SessionFile, plan: &Value, failure: &SummaryFailure) -> PassResult {
        let (kind, for_people) = match failure {
            SummaryFailure::WindowTooSmall { .. } | SummaryFailure::TooManyParts { .. } => {
                ("infeasible", "infeasible")
            }
            SummaryFailure::NoExtract(_) => ("noProgress", "no progress"),
            _ => ("failed", "failed"),
        };
        let outcome = json!({ "kind": kind, "reason": failure.as_str(), "detail": failure.to_string() });
        PassResult {
            error: Some(as_it_was(file, &failure.phrase())),
            exit: Exit::of_summary(failure),
            stops: *failure == SummaryFailure::Stopped,
            ..self.done(file, for_people, String::new(), unwritten(&outcome, plan))
        }
    }

    fn done(&self, file: &SessionFile, outcome: &'static str, text: String, json: Value) -> PassResult {
        let totals = MaskTotals::of(&file.session, &self.masking.counting.counter);
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

fn unwritten(outcome: &Value, plan: &Value) -> Value {
    json!({ "outcome": outcome, "plan": plan, "written": false })
}

/// Adds to a reason that a conversation is unchanged.
pub(super) fn as_it_was(file: &SessionFile, why: &Phrase) -> Phrase {
    phrase!("{stale}; `{name}` is unchanged", stale = why, name = file.name)
}

/// Writes what people are told of a new summary, for programs.
pub(super) fn notice_json(notice: &MaskNotice) -> Value {
    let mut json = json!(notice);
    json["savedTokens"] = json!(notice.saved_tokens());
    json["text"] = json!(notice.to_string());
    json
}

/// Returns the time that is noted.
pub(super) fn at_millis(output: Option<&OutputArguments>) -> Result<i64> {
    Ok(time(output.and_then(|output| output.at.as_deref()))?.as_millisecond())
}

fn choice(mask: &MaskArguments) -> MaskChoice {
    match (&mask.from, &mask.to) {
        (None, None) if mask.roll_up => MaskChoice::RollUp,
        (None, None) if mask.auto => MaskChoice::Auto,
        (None, None) => MaskChoice::All,
        (from, to) => MaskChoice::Between { from: from.clone(), to: to.clone() },
    }
}
