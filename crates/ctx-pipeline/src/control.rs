use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use ctx_types::ports::Deadline;

use crate::error::ProcessorError;

/// A handle that cancels runs; clones cancel the same runs.
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
    is_cancelled: AtomicBool,
    waiting: Mutex<WaitingTasks>,
}

/// A finished wait removes its waker, which keeps a shared handle small.
#[derive(Default)]
struct WaitingTasks {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Cancel {
    /// Cancels the runs of this handle at their next await point or checkpoint.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Release);
        let wakers = std::mem::take(&mut self.0.lock().wakers);
        for waker in wakers.into_values() {
            waker.wake();
        }
    }

    /// Returns whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Acquire)
    }

    /// Waits for [`cancel`](Self::cancel). Needs no async runtime.
    ///
    /// ```
    /// use ctx_pipeline::Cancel;
    ///
    /// let cancel = Cancel::default();
    /// let handle = cancel.clone();
    /// let waiting = std::thread::spawn(move || pollster::block_on(handle.cancelled()));
    /// cancel.cancel();
    /// waiting.join().unwrap();
    /// ```
    pub async fn cancelled(&self) {
        let wait = Wait::new(self);
        poll_fn(|cx| {
            wait.listen(cx.waker());
            if self.is_cancelled() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

impl CancelState {
    fn lock(&self) -> MutexGuard<'_, WaitingTasks> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

struct Wait<'a> {
    cancel: &'a Cancel,
    number: u64,
}

impl<'a> Wait<'a> {
    fn new(cancel: &'a Cancel) -> Self {
        let mut waiting = cancel.0.lock();
        waiting.next += 1;
        Self { cancel, number: waiting.next }
    }

    /// Call before checking the flag, or a wakeup may be lost.
    fn listen(&self, waker: &Waker) {
        let mut waiting = self.cancel.0.lock();
        match waiting.wakers.get_mut(&self.number) {
            Some(known) => known.clone_from(waker),
            None => {
                waiting.wakers.insert(self.number, waker.clone());
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.cancel.0.lock().wakers.remove(&self.number);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Control<'a> {
    pub(crate) cancel: &'a Cancel,
    pub(crate) deadline: Option<&'a dyn Deadline>,
}

impl Control<'_> {
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

/// Fails when the run is cancelled, the time is up, or the work panics.
pub(crate) async fn guard(
    control: Control<'_>,
    work: impl Future<Output = Result<(), ProcessorError>>,
) -> Result<(), ProcessorError> {
    let mut work = pin!(work);
    let wait = Wait::new(control.cancel);
    let mut expiry = control.deadline.map(Deadline::over);
    poll_fn(|cx| {
        wait.listen(cx.waker());
        control.check()?;
        if expiry.as_mut().is_some_and(|expiry| expiry.as_mut().poll(cx).is_ready()) {
            return Poll::Ready(Err(ProcessorError::TimedOut));
        }
        // The draft of a panicked processor is discarded.
        match catch(|| work.as_mut().poll(cx)) {
            Ok(poll) => poll,
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    })
    .await
}

pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, ProcessorError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
        ProcessorError::Panicked { message: message.unwrap_or_else(|| "without a message".to_owned()) }
    })
}
