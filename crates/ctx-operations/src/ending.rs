//! A limit of time that ends a whole assembly.

use std::time::Duration;

use ctx_engine::prelude::Cancel;
use ctx_types::ports::{Deadline, PortFuture};

/// Cancels an assembly as soon as its time is over: without that, only the processor that runs would end.
pub(crate) struct Ending<'a> {
    deadline: &'a dyn Deadline,
    pub(crate) cancel: Cancel,
}

impl<'a> Ending<'a> {
    pub(crate) fn of(deadline: &'a dyn Deadline) -> Self {
        Self { deadline, cancel: Cancel::default() }
    }
}

impl Deadline for Ending<'_> {
    fn is_over(&self) -> bool {
        let is_over = self.deadline.is_over();
        if is_over {
            self.cancel.cancel();
        }
        is_over
    }

    fn over(&self) -> PortFuture<'_, ()> {
        Box::pin(async {
            self.deadline.over().await;
            self.cancel.cancel();
        })
    }

    fn within(&self, limit: Duration) -> Box<dyn Deadline> {
        self.deadline.within(limit)
    }
}
