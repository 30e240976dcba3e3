//! Interrupts of a chat.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use ctx_chat::{StoreError, within};
use ctx_pipeline::Cancel;
use ctx_project::error::ProjectError;

use crate::interrupts::{Interrupt, Interrupts};

/// Interrupts of a chat. Ctrl-C stops a reply; any other signal also ends the chat.
#[derive(Default)]
pub(super) struct Stops {
    interrupts: Mutex<Option<Interrupts>>,
    is_ended: AtomicBool,
}

impl Stops {
    /// Starts to listen. Requires an async runtime. Before this call, interrupts end the program.
    pub(super) fn listen(&self) -> Result<(), ProjectError> {
        *self.interrupts.lock().unwrap_or_else(PoisonError::into_inner) = Some(Interrupts::new()?);
        Ok(())
    }

    /// Waits for an interrupt. Returns immediately if the chat must end.
    pub(super) async fn next(&self) {
        if self.is_ended() {
            return;
        }
        let interrupt = poll_fn(|context| {
            let mut interrupts = self.interrupts.lock().unwrap_or_else(PoisonError::into_inner);
            interrupts.as_mut().map_or(Poll::Pending, |interrupts| interrupts.poll_next(context))
        });
        if interrupt.await == Interrupt::Command {
            self.is_ended.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the chat must end.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }

    /// Runs work that an interrupt cancels. Canceled work must end soon.
    pub(super) async fn stoppable<T>(&self, work: impl Future<Output = T>, cancel: &Cancel) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = self.next() => cancel.cancel(),
        }
        work.await
    }

    /// Runs store work outside a turn. After an interrupt, waits 1 s more.
    pub(super) async fn stored<T>(
        &self,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let cancel = Cancel::default();
        self.stoppable(within(&cancel, work), &cancel).await
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    /// Sends a signal while the chat waits for a store.
    #[track_caller]
    fn check(signal: Signal, ends: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stops = Stops::default();
        runtime.block_on(async {
            stops.listen().unwrap();
            kill_process(getpid(), signal).unwrap();
            let stored = stops.stored(std::future::pending::<Result<(), StoreError>>()).await;
            assert!(matches!(stored, Err(StoreError::GivenUp)), "{stored:?}");
        });
        assert_eq!(stops.is_ended(), ends);
    }

    #[test]
    fn gives_up_store_soon_after_interrupt() {
        check(Signal::INT, false);
        check(Signal::TERM, true);
        check(Signal::HUP, true);
    }
}
