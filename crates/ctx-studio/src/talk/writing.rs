//! Summaries that a model writes: on a thread of its own, told and stopped like an answer.

use std::sync::Arc;

use ctx_compress::mask::SummaryFailure;
use ctx_project::Sources;
use ctx_project::chat::now;
use ctx_project::compress::{
    MaskOutcome, MaskPlanned, Masking, NothingToMask, Progress, SummaryFile, SummaryWriter,
};
use ctx_project::error::ProjectError;
use ctx_project::session_file::{SessionFile, Target};
use ctx_project::store;
use ctx_types::{Phrase, phrase};

use super::compressing::masking;
use super::open;
use super::turns::{Running, go_on, setup};
use crate::api_talk::{CompressRange, StepTaken};
use crate::api_turn::{BeginSummary, SummaryOf, TurnBegun};
use crate::call::{Call, Refusal};
use crate::server::Server;

/// Begins to have a summary written, if there is something to summarize.
pub(crate) fn begin_summary(server: &Arc<Server>, call: &Call) -> Result<TurnBegun, Refusal> {
    let BeginSummary { with, summary } = call.json()?;
    let id = call.part("f");
    let holds = server.talks.begin();
    let file = open(server, id, &with.base)?;
    let range = match &summary {
        SummaryOf::Range { range } => range.clone(),
        SummaryOf::Again { .. } => CompressRange::All,
    };
    let masking = masking(server, with.agent.as_deref(), &range)?;
    let setup = setup(server, &with)?;
    match &summary {
        SummaryOf::Range { .. } => {
            if let MaskPlanned::Nothing(NothingToMask { reason, .. }) = masking.plan(&file.session)? {
                return Err(Refusal::unusable(reason));
            }
        }
        SummaryOf::Again { id } => {
            let (file, counter) = (file.clone(), masking.counting.counter);
            let found = SummaryFile::find(file, id, counter, masking.at_millis)?;
            found.plan(&masking.settings.config)?;
        }
    }
    let model = setup.summarizer();
    let running = server.turns.begin(id, call.language, Some(summary.clone()))?;
    drop(holds);
    go_on(server, &running, move |server, running| {
        let writer = SummaryWriter::asking(model, progress(server, running), running.cancel.clone());
        let work = write(&masking, &writer, file, &summary);
        let written = store::wait(work).and_then(|written| written).map_err(|error| error.phrase())?;
        told(server, running, written)
    })
}

/// Tells windows how far the model is.
fn progress(server: &Arc<Server>, running: &Arc<Running>) -> Progress {
    let (server, running) = (server.clone(), running.clone());
    Box::new(move |request, of| {
        running.note_summary(&server, |work| (work.request, work.requests) = (request, of));
    })
}

/// What came of a summary: the conversation with it, what to tell people, and its node; or why there is none.
type Written = Result<(SessionFile, Phrase, String), Phrase>;

async fn write(
    masking: &Masking,
    writer: &SummaryWriter,
    file: SessionFile,
    summary: &SummaryOf,
) -> Result<Option<Written>, ProjectError> {
    if let SummaryOf::Again { id } = summary {
        return again(masking, writer, file, id).await;
    }
    let masked = masking.mask_open(file, writer, &mut Sources::default()).await?;
    Ok(match masked.outcome {
        MaskOutcome::Summarized(new) => Some(Ok((masked.file, new.notice.phrase(), new.id.to_string()))),
        MaskOutcome::Nothing(nothing) => Some(Err(nothing.reason)),
        MaskOutcome::Failed { failure, .. } => failed(&failure),
        MaskOutcome::Stale { stale, .. } => Some(Err(stale.phrase())),
    })
}

/// Has a summary that is there written again.
async fn again(
    masking: &Masking,
    writer: &SummaryWriter,
    file: SessionFile,
    id: &str,
) -> Result<Option<Written>, ProjectError> {
    let mut sources = Sources::default();
    let counter = masking.counting.counter;
    let mut summary = SummaryFile::find(file, id, counter, now())?;
    let plan = summary.plan(&masking.settings.config)?;
    let draft = match writer.write(plan, counter).await {
        Ok(draft) => draft,
        Err(failure) => return Ok(failed(&failure)),
    };
    summary.read_again(&mut sources)?;
    let (step, notice) = match summary.rewrite(&draft) {
        Ok(rewritten) => rewritten,
        Err(stale) => return Ok(Some(Err(stale.phrase()))),
    };
    summary.take(&step)?;
    summary.file.save(&Target::InPlace, &sources.files_read)?;
    Ok(Some(Ok((summary.file, notice.phrase(), id.to_owned()))))
}

/// Why there is no summary; nothing where somebody has cancelled it.
fn failed(failure: &SummaryFailure) -> Option<Written> {
    match failure {
        SummaryFailure::Stopped => None,
        failure => Some(Err(failure.phrase())),
    }
}

/// Tells windows what came of it.
fn told(server: &Server, running: &Running, written: Option<Written>) -> Result<(), Phrase> {
    match written {
        None => running.say(&phrase!("canceled; the conversation is unchanged")),
        Some(Err(why)) => return Err(phrase!("{why}; the conversation is unchanged", why)),
        Some(Ok((file, notice, id))) => {
            let hash = super::told(server, &running.id, file);
            let told = running.language.say(&notice);
            let taken = StepTaken { hash, told, id: Some(id), view: None };
            running.note_summary(server, |work| work.taken = Some(taken));
        }
    }
    Ok(())
}
