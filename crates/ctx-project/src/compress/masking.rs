//! Summaries that hide older messages of a conversation in a file: planned, written, put into the tree.

use std::path::Path;

use ctx_chat::StepLabel;
use ctx_compress::mask::{
    MaskCommit, MaskDraft, MaskNotice, MaskPlan, MaskSelection, MaskSettings, MaskTotals, MaskTrigger,
    StaleMask, SummaryFailure,
};
use ctx_types::session::{NodeId, Session};
use ctx_types::{Phrase, phrase};
use serde_json::Value;

use crate::compress::SummaryWriter;
use crate::counting::TokenCounting;
use crate::error::{ProjectError, Result};
use crate::session_file::{SessionFile, Target, with_way_out};
use crate::sources::Sources;

/// How conversations are masked: the same for all of a run.
#[derive(Debug)]
pub struct Masking {
    /// Which messages a summary is to stand for.
    pub choice: MaskChoice,
    /// The settings of summaries, of all layers.
    pub settings: MaskSettings,
    /// How tokens are counted.
    pub counting: TokenCounting,
    /// Where changed conversations are written.
    pub target: Target,
    /// The time that is noted, in milliseconds since 1970.
    pub at_millis: i64,
}

/// Which messages a summary is to stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MaskChoice {
    /// All that the settings do not protect.
    #[default]
    All,
    /// Only where the settings would compress by themselves, and only as much as they would.
    Auto,
    /// The summaries that are there, which are joined.
    RollUp,
    /// From one message to another, each an id or a place on the active path from 1; an end that is absent is that of
    /// the path.
    Between {
        /// The first message.
        from: Option<String>,
        /// The last message.
        to: Option<String>,
    },
}

/// What is to be done with a conversation.
#[derive(Debug)]
pub enum MaskPlanned {
    /// This.
    Plan(Box<MaskPlan>),
    /// Nothing.
    Nothing(NothingToMask),
}

/// Why there is nothing to do with a conversation.
#[derive(Clone, Debug)]
pub struct NothingToMask {
    /// A word for programs, such as `notNeeded`.
    pub kind: &'static str,
    /// Why.
    pub reason: Phrase,
}

/// What came of a conversation.
#[derive(Debug)]
pub struct Masked {
    /// The conversation, with the summary if there is one.
    pub file: SessionFile,
    /// What happened to it.
    pub outcome: MaskOutcome,
}

/// What happened to a conversation.
#[derive(Debug)]
pub enum MaskOutcome {
    /// It has a new summary.
    Summarized(Box<NewSummary>),
    /// There was nothing to do.
    Nothing(NothingToMask),
    /// There is no summary; the conversation is as it was.
    Failed {
        /// What was to be done, for programs.
        plan: Value,
        /// Why it was not.
        failure: SummaryFailure,
    },
    /// The conversation changed while the summary was written, which no longer fits; it is as it was found.
    Stale {
        /// What was to be done, for programs.
        plan: Value,
        /// What has changed.
        stale: StaleMask,
    },
}

/// A summary that was put into a conversation.
#[derive(Debug)]
pub struct NewSummary {
    /// The summary, and what it was made of.
    pub draft: MaskDraft,
    /// Its node.
    pub id: NodeId,
    /// What to tell people.
    pub notice: MaskNotice,
    /// What was sent before it.
    pub before: MaskTotals,
    /// Whether the conversation was written.
    pub is_written: bool,
}

impl Masking {
    /// Plans the summary of a conversation.
    pub fn plan(&self, session: &Session) -> Result<MaskPlanned> {
        let (config, counter) = (&self.settings.config, &self.counting.counter);
        if self.choice == MaskChoice::Auto {
            let trigger = MaskTrigger::check(config, MaskTotals::of(session, counter));
            if !trigger.fires() {
                let nothing = NothingToMask { kind: "notNeeded", reason: trigger.phrase() };
                return Ok(MaskPlanned::Nothing(nothing));
            }
        }
        match MaskPlan::new(session, config, &self.choice.selection(session)?, counter) {
            Ok(plan) => Ok(MaskPlanned::Plan(Box::new(plan))),
            Err(none) if none.is_misuse() => Err(ProjectError::Usage(none.phrase())),
            Err(none) => {
                Ok(MaskPlanned::Nothing(NothingToMask { kind: none.as_str(), reason: none.phrase() }))
            }
        }
    }

    /// Puts a summary into a conversation in a file and writes it to the target.
    pub async fn mask(&self, path: &Path, writer: &SummaryWriter, sources: &mut Sources) -> Result<Masked> {
        let way_out = phrase!("use `--out FILE` to write a session");
        let file = SessionFile::open(path, &self.target, sources).map_err(with_way_out(way_out))?;
        self.mask_open(file, writer, sources).await
    }

    /// Puts a summary into a conversation that was read, and writes it to the target.
    pub async fn mask_open(
        &self,
        mut file: SessionFile,
        writer: &SummaryWriter,
        sources: &mut Sources,
    ) -> Result<Masked> {
        let plan = match self.plan(&file.session)? {
            MaskPlanned::Nothing(nothing) => {
                return Ok(Masked { file, outcome: MaskOutcome::Nothing(nothing) });
            }
            MaskPlanned::Plan(plan) => *plan,
        };
        let json = plan.to_json();
        let draft = match writer.write(plan, self.counting.counter).await {
            Ok(draft) => draft,
            Err(failure) => {
                return Ok(Masked { file, outcome: MaskOutcome::Failed { plan: json, failure } });
            }
        };
        if writer.takes_time() {
            file = file.read_again(sources)?;
        }
        match draft.commit(&file.session, self.at_millis) {
            Ok(commit) => self.commit(file, (draft, commit), sources),
            Err(stale) => Ok(Masked { file, outcome: MaskOutcome::Stale { plan: json, stale } }),
        }
    }

    fn commit(
        &self,
        mut file: SessionFile,
        (draft, commit): (MaskDraft, MaskCommit),
        sources: &Sources,
    ) -> Result<Masked> {
        let MaskCommit { op, id, notice } = commit;
        let before = MaskTotals::of(&file.session, &self.counting.counter);
        file.apply(&StepLabel::compress(notice.messages, notice.summaries), self.at_millis, &op)?;
        let is_written = file.save(&self.target, &sources.files_read)?;
        let summary = NewSummary { draft, id, notice, before, is_written };
        Ok(Masked { file, outcome: MaskOutcome::Summarized(Box::new(summary)) })
    }
}

impl MaskChoice {
    fn selection(&self, session: &Session) -> Result<MaskSelection> {
        let (from, to) = match self {
            Self::All => return Ok(MaskSelection::All),
            Self::Auto => return Ok(MaskSelection::Oldest),
            Self::RollUp => return Ok(MaskSelection::Summaries),
            Self::Between { from, to } => (from, to),
        };
        let path = session.path();
        let ends = path.first().zip(path.last()).map(|(first, last)| (first.id.clone(), last.id.clone()));
        let (first, last) = ends.unwrap_or_default();
        let end = |given: &Option<String>, own: Option<NodeId>| match given {
            Some(text) => node(session, text),
            None => Ok(own.unwrap_or_default()),
        };
        Ok(MaskSelection::Between { from: end(from, first)?, to: end(to, last)? })
    }
}

/// Finds a message by its id, else by its place on the active path, from 1.
fn node(session: &Session, text: &str) -> Result<NodeId> {
    if session.node(text).is_some() {
        return Ok(text.into());
    }
    let path = session.path();
    let place: Option<usize> = text.parse().ok();
    let found = place.and_then(|place| path.get(place.checked_sub(1)?)?.id.clone());
    found.ok_or_else(|| {
        let places = path.len();
        ProjectError::Usage(phrase!(
            "no message `{text}`; use an id, or a position on the active branch from 1 to {places}",
            text,
            places
        ))
    })
}
