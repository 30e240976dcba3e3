//! Waiting for summaries, which an interrupt ends.

use std::pin::pin;

use ctx_pipeline::Cancel;
use ctx_project::compress::SummaryWriter;
use ctx_project::error::Result;
use ctx_project::store;
use tokio::runtime::Runtime;

use crate::interrupts::Interrupts;

/// What waits for a writer of summaries.
pub(super) struct Waiting {
    cancel: Cancel,
    /// `None` where nobody is waited for.
    runtime: Option<(Runtime, Interrupts)>,
}

impl Waiting {
    /// Begins to listen for interrupts if the writer takes time.
    pub(super) fn of(writer: &SummaryWriter) -> Result<Self> {
        let cancel = writer.cancel.clone();
        if !writer.takes_time() {
            return Ok(Self { cancel, runtime: None });
        }
        let runtime = store::runtime()?;
        let interrupts = runtime.block_on(async { Interrupts::new() })?;
        Ok(Self { cancel, runtime: Some((runtime, interrupts)) })
    }

    /// Waits for work with the writer. An interrupt stops the writer, and the work says so.
    pub(super) fn until_done<T>(&mut self, work: impl Future<Output = T>) -> T {
        let Some((runtime, interrupts)) = &mut self.runtime else { return pollster::block_on(work) };
        runtime.block_on(async {
            let mut work = pin!(work);
            tokio::select! {
                biased;
                () = interrupts.next() => self.cancel.cancel(),
                done = &mut work => return done,
            }
            work.await
        })
    }
}
