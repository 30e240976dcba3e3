//! Summaries in the conversation: made before the model is asked, when the conversation has grown enough.

use ctx_compress::mask::{MaskPlan, MaskSelection, MaskTotals, MaskTrigger, Summarizing};
use ctx_tokens::Counter;
use ctx_types::Text;

use crate::deadline::TokioDeadline;
use crate::store::StoreError;
use crate::turn::outcome::Stop;
use crate::turn::{Masks, Running, TurnEvent};

impl Running<'_, '_> {
    /// Summarises older messages if it is time; without a summary the turn goes on as it is.
    pub(super) async fn summarize(&mut self) -> Result<(), Stop> {
        let Some(masks) = self.chat.masks.as_ref().filter(|_| self.recorder.stores()) else { return Ok(()) };
        let counter = self.counter();
        let Some((trigger, plan)) = self.due_summary(masks, counter) else { return Ok(()) };
        self.emit(TurnEvent::Summarizing(trigger));
        self.carry_summary(masks, plan, counter).await
    }

    /// Tells, for a preview, that older messages would be summarised first.
    pub(super) fn tell_due_summary(&mut self) {
        let Some(masks) = self.chat.masks.as_ref().filter(|_| self.recorder.has_conversation()) else {
            return;
        };
        if let Some((trigger, _)) = self.due_summary(masks, self.counter()) {
            self.emit(TurnEvent::Summarizing(trigger));
        }
    }

    /// Plans a summary if it is time for one. Where nothing may be hidden there is nothing to do, and nothing worth
    /// telling every turn.
    fn due_summary(&self, masks: &Masks<'_>, counter: Counter) -> Option<(MaskTrigger, MaskPlan)> {
        if !masks.config.enabled || !masks.config.auto_trigger {
            return None;
        }
        let session = self.recorder.session();
        let trigger = MaskTrigger::check(&masks.config, MaskTotals::of(session, &counter));
        let plan =
            trigger.fires().then(|| MaskPlan::new(session, &masks.config, &MaskSelection::Oldest, &counter));
        Some((trigger, plan?.ok()?))
    }

    fn counter(&self) -> Counter {
        Counter::for_model(&self.chat.agent.model(&self.request.turn).0).0
    }

    async fn carry_summary(
        &mut self,
        masks: &Masks<'_>,
        plan: MaskPlan,
        counter: Counter,
    ) -> Result<(), Stop> {
        let deadline = TokioDeadline::new(self.cancel.clone());
        let with = Summarizing {
            summarizer: Some(masks.summarizer),
            deadline: Some(&deadline),
            counter: &counter,
            extract: None,
        };
        let made = plan.summarize(&with).await;
        if self.cancel.is_cancelled() {
            return Err(Stop::Aborted(Text::default()));
        }
        let commit = match made {
            Ok(draft) => {
                draft.commit(self.recorder.session(), self.recorder.now()).map_err(|error| error.to_string())
            }
            Err(failure) => Err(failure.to_string()),
        };
        match commit {
            Ok(commit) => {
                match self.recorder.apply("summarise", commit.op).await {
                    Ok(()) => self.emit(TurnEvent::Summarized(commit.notice)),
                    // Somebody else changed what was summarised.
                    Err(StoreError::Session(error)) => {
                        self.emit(TurnEvent::NotSummarized(error.to_string()));
                    }
                    Err(error) => return Err(Stop::store(error, "")),
                }
            }
            Err(reason) => self.emit(TurnEvent::NotSummarized(reason)),
        }
        Ok(())
    }
}
