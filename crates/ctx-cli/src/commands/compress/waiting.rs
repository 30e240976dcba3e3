//! Time limits and interrupts, for work that has to wait.

use std::time::Duration;

use ctx_types::{Deadline, PortFuture};
use tokio::time::{Instant, sleep_until};

/// A limit of time by the system's clock; the first one has none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Until(Option<Instant>);

impl Deadline for Until {
    fn is_over(&self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    fn over(&self) -> PortFuture<'_, ()> {
        Box::pin(async {
            match self.0 {
                Some(end) => sleep_until(end).await,
                None => std::future::pending().await,
            }
        })
    }

    fn within(&self, limit: Duration) -> Box<dyn Deadline> {
        let end = Instant::now().checked_add(limit);
        let sooner = match (self.0, end) {
            (Some(own), Some(end)) => Some(own.min(end)),
            (own, end) => own.or(end),
        };
        Box::new(Self(sooner))
    }
}

/// What ends the command from outside, remembered from the moment when this is made.
pub(in crate::commands) struct Interrupts {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl Interrupts {
    /// Begins to listen; within a runtime.
    #[cfg(unix)]
    pub(in crate::commands) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Ok(Self { signals: kinds.into_iter().map(signal).collect::<std::io::Result<_>>()? })
    }

    /// Waits for an interrupt.
    #[cfg(unix)]
    pub(in crate::commands) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let is_any = self.signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_any { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }

    /// Begins to listen.
    #[cfg(not(unix))]
    pub(in crate::commands) fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for an interrupt; if one cannot be told, for ever.
    #[cfg(not(unix))]
    pub(in crate::commands) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
