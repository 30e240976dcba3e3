//! Summaries in the conversation: made before the model is asked, when the conversation has grown enough.

use ctx_compress::mask::{
    MaskDraft, MaskNotice, MaskPlan, MaskSelection, MaskTotals, MaskTrigger, Summarizing,
};
use ctx_pipeline::Cancel;
use ctx_tokens::Counter;
use ctx_types::session::Session;
use ctx_types::{Phrase, Text, TurnInput, phrase};

use crate::deadline::TokioDeadline;
use crate::step_label::StepLabel;
use crate::store::StoreError;
use crate::turn::outcome::Stop;
use crate::turn::recorder::within;
use crate::turn::{Chat, ChatLog, Masks, Running, TurnEvent};

impl Running<'_, '_> {
    /// Summarises older messages if it is time; without a summary the turn goes on as it is.
    pub(super) async fn summarize(&mut self) -> Result<(), Stop> {
        let Some(masks) = self.chat.masks.as_ref().filter(|_| self.recorder.stores()) else { return Ok(()) };
        let counter = counter(self.chat, &self.request.turn);
        let Some((trigger, plan)) = due_summary(masks, self.recorder.session(), counter) else {
            return Ok(());
        };
        self.emit(TurnEvent::Summarizing(trigger));
        self.carry_summary(masks, plan, counter).await
    }

    /// Tells, for a preview, that older messages would be summarised first.
    pub(super) fn tell_due_summary(&mut self) {
        let Some(masks) = self.chat.masks.as_ref().filter(|_| self.recorder.has_conversation()) else {
            return;
        };
        let counter = counter(self.chat, &self.request.turn);
        if let Some((trigger, _)) = due_summary(masks, self.recorder.session(), counter) {
            self.emit(TurnEvent::Summarizing(trigger));
        }
    }

    async fn carry_summary(
        &mut self,
        masks: &Masks<'_>,
        plan: MaskPlan,
        counter: Counter,
    ) -> Result<(), Stop> {
        let made = summarize(masks, plan, counter, self.cancel).await;
        if self.cancel.is_cancelled() {
            return Err(Stop::Aborted(Text::default()));
        }
        let event = match made {
            Ok(draft) => self.commit(&draft).await?,
            Err(reason) => TurnEvent::NotSummarized(reason),
        };
        self.emit(event);
        Ok(())
    }

    /// Carries a summary into the conversation, if that is still what was summarised.
    async fn commit(&mut self, draft: &MaskDraft) -> Result<TurnEvent, Stop> {
        let commit = match draft.commit(self.recorder.session(), self.recorder.now()) {
            Ok(commit) => commit,
            Err(stale) => return Ok(TurnEvent::NotSummarized(stale.phrase())),
        };
        match self.recorder.apply(StepLabel::SUMMARIZE, commit.op).await {
            Ok(()) => Ok(TurnEvent::Summarized(commit.notice)),
            // Somebody else changed it meanwhile.
            Err(StoreError::Session(error)) => Ok(TurnEvent::NotSummarized(error.phrase())),
            Err(error) => Err(Stop::store(error, "")),
        }
    }
}

/// Whether older messages would be summarised before a context is built. O(1) where summaries are off.
pub(super) fn is_summary_due(chat: &Chat<'_>, turn: &TurnInput, session: &Session) -> bool {
    let due = |masks| due_summary(masks, session, counter(chat, turn));
    chat.masks.as_ref().and_then(due).is_some()
}

/// Plans a summary if it is time for one. Where nothing may be hidden there is nothing to do, and nothing worth
/// telling every turn.
fn due_summary(masks: &Masks<'_>, session: &Session, counter: Counter) -> Option<(MaskTrigger, MaskPlan)> {
    if !masks.config.enabled || !masks.config.auto_trigger {
        return None;
    }
    let trigger = MaskTrigger::check(&masks.config, MaskTotals::of(session, &counter));
    let plan =
        trigger.fires().then(|| MaskPlan::new(session, &masks.config, &MaskSelection::Oldest, &counter));
    Some((trigger, plan?.ok()?))
}

fn counter(chat: &Chat<'_>, turn: &TurnInput) -> Counter {
    Counter::for_model(&chat.agent.model(turn).0).0
}

/// Summarises messages of a conversation because somebody asks for it, whatever the triggers say.
///
/// Returns what to tell people, or why there is no summary; the conversation is then as it was.
///
/// Errors: whatever the store reports, which is not waited for long once `cancel` is called.
pub async fn compress_conversation(
    chat: &Chat<'_>,
    log: ChatLog<'_>,
    turn: &TurnInput,
    selection: &MaskSelection,
    cancel: &Cancel,
) -> Result<Result<MaskNotice, Phrase>, StoreError> {
    let Some(masks) = &chat.masks else { return Ok(Err(phrase!("no summarizer is configured"))) };
    let counter = counter(chat, turn);
    let plan = match MaskPlan::new(log.conversation.session(), &masks.config, selection, &counter) {
        Ok(plan) => plan,
        Err(none) => return Ok(Err(none.phrase())),
    };
    let draft = match summarize(masks, plan, counter, cancel).await {
        Ok(draft) => draft,
        Err(reason) => return Ok(Err(reason)),
    };
    let at = (chat.clock)();
    let commit = match draft.commit(log.conversation.session(), at) {
        Ok(commit) => commit,
        Err(stale) => return Ok(Err(stale.phrase())),
    };
    within(cancel, log.conversation.apply(log.store, StepLabel::SUMMARIZE, commit.op, Some(at))).await?;
    Ok(Ok(commit.notice))
}

async fn summarize(
    masks: &Masks<'_>,
    plan: MaskPlan,
    counter: Counter,
    cancel: &Cancel,
) -> Result<MaskDraft, Phrase> {
    let deadline = TokioDeadline::new(cancel.clone());
    let with = Summarizing {
        summarizer: Some(masks.summarizer),
        deadline: Some(&deadline),
        counter: &counter,
        extract: None,
    };
    plan.summarize(&with).await.map_err(|failure| failure.phrase())
}
