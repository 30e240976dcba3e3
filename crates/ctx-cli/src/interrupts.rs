//! Ctrl-C, and what else ends a command from outside: a terminal that is closed, a system that shuts down.

/// What ends the command from outside, remembered from the moment when this is made.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: Vec<tokio::signal::unix::Signal>,
}

impl Interrupts {
    /// Begins to listen; within a runtime.
    #[cfg(unix)]
    pub(crate) fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        Ok(Self { signals: kinds.into_iter().map(signal).collect::<std::io::Result<_>>()? })
    }

    /// Waits for an interrupt.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) {
        std::future::poll_fn(|context| {
            let is_any = self.signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
            if is_any { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
    }

    /// Begins to listen.
    #[cfg(not(unix))]
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for an interrupt; if one cannot be told, for ever.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
