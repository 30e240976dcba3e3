use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use ctx_types::{Deadline, PortFuture};

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

pub(crate) struct GuardedWork<'a, F> {
    work: Pin<Box<F>>,
    control: Control<'a>,
    wait: Wait<'a>,
    expiry: Option<PortFuture<'a, ()>>,
}

impl<'a, F> GuardedWork<'a, F> {
    pub(crate) fn new(control: Control<'a>, work: F) -> Self {
        let expiry = control.deadline.map(Deadline::over);
        Self { work: Box::pin(work), control, wait: Wait::new(control.cancel), expiry }
    }
}

impl<F> Future for GuardedWork<'_, F>
where
    F: Future<Output = Result<(), ProcessorError>>,
{
    type Output = Result<(), ProcessorError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.wait.listen(cx.waker());
        self.control.check()?;
        if let Some(expiry) = &mut self.expiry
            && expiry.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(ProcessorError::TimedOut));
        }
        let work = self.work.as_mut();
        // The draft of a panicked processor is discarded.
        catch_unwind(AssertUnwindSafe(|| work.poll(cx)))
            .unwrap_or_else(|panic| Poll::Ready(Err(panic_error(panic.as_ref()))))
    }
}

pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, ProcessorError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_error(panic.as_ref()))
}

fn panic_error(panic: &(dyn std::any::Any + Send)) -> ProcessorError {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let message = text.or_else(|| panic.downcast_ref::<String>().cloned());
    ProcessorError::Panicked { message: message.unwrap_or_else(|| "without a message".to_owned()) }
}
