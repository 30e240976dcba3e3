//! Stopping a run: cancellation and time limits.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use ctx_types::Deadline;

use crate::error::ProcessorError;

/// A handle that stops runs; clones stop the same ones.
///
/// ```
/// use ctx_pipeline::Cancel;
///
/// let cancel = Cancel::default();
/// let handle = cancel.clone();
/// handle.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Clone, Default)]
pub struct Cancel(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    cancelled: AtomicBool,
    /// Who waits; woken once.
    wakers: Mutex<Vec<Waker>>,
}

impl Cancel {
    /// Stops the runs that hold this handle, at their next await point or checkpoint.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        let mut wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        for waker in wakers.drain(..) {
            waker.wake();
        }
    }

    /// Tells whether it was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    fn listen(&self, waker: &Waker) {
        let mut wakers = self.0.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

/// What can stop a processor.
#[derive(Clone, Copy)]
pub(crate) struct Control<'a> {
    pub(crate) cancel: &'a Cancel,
    pub(crate) deadline: Option<&'a dyn Deadline>,
}

impl Control<'_> {
    /// Ends a processor that was cancelled or is too late.
    pub(crate) fn check(&self) -> Result<(), ProcessorError> {
        if self.cancel.is_cancelled() {
            return Err(ProcessorError::Cancelled);
        }
        if self.deadline.is_some_and(Deadline::is_over) {
            return Err(ProcessorError::TimedOut);
        }
        Ok(())
    }
}

/// A processor's future that ends when its run is cancelled, its time is up, or it panics.
pub(crate) struct Guarded<'a, F> {
    pub(crate) work: Pin<Box<F>>,
    pub(crate) control: Control<'a>,
    pub(crate) expiry: Option<Pin<Box<dyn Future<Output = ()> + Send + 'a>>>,
}

impl<F> Future for Guarded<'_, F>
where
    F: Future<Output = Result<(), ProcessorError>>,
{
    type Output = Result<(), ProcessorError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.control.cancel.listen(cx.waker());
        self.control.check()?;
        if let Some(expiry) = &mut self.expiry
            && expiry.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(ProcessorError::TimedOut));
        }
        let work = self.work.as_mut();
        let poll = std::panic::AssertUnwindSafe(|| work.poll(cx));
        // The draft of a processor that panicked is thrown away, so that no broken state is seen.
        std::panic::catch_unwind(poll).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            Poll::Ready(Err(ProcessorError::Panicked { message }))
        })
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}
