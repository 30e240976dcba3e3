//! Limits of time on tokio's clock, which also end when the caller cancels.

use std::time::Duration;

use ctx_pipeline::Cancel;
use ctx_types::ports::{Deadline, PortFuture};
use tokio::time::Instant;

/// A limit of time on tokio's clock; cancelling ends it too.
#[derive(Clone, Debug)]
pub struct TokioDeadline {
    cancel: Cancel,
    until: Option<Instant>,
}

impl TokioDeadline {
    /// A limit that only cancelling ends; [`Deadline::within`] makes shorter ones of it.
    pub const fn new(cancel: Cancel) -> Self {
        Self { cancel, until: None }
    }
}

impl Deadline for TokioDeadline {
    fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.until.is_some_and(|until| until <= Instant::now())
    }

    fn over(&self) -> PortFuture<'_, ()> {
        Box::pin(async move {
            match self.until {
                Some(until) => tokio::select! {
                    () = self.cancel.cancelled() => {}
                    () = tokio::time::sleep_until(until) => {}
                },
                None => self.cancel.cancelled().await,
            }
        })
    }

    fn within(&self, limit: Duration) -> Box<dyn Deadline> {
        let until = Instant::now().checked_add(limit);
        let until = match (self.until, until) {
            (Some(own), Some(until)) => Some(own.min(until)),
            (own, until) => own.or(until),
        };
        Box::new(Self { cancel: self.cancel.clone(), until })
    }
}
