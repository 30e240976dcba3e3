//! Signals that end a command: Ctrl-C, a closed terminal, or a system shutdown.

use std::future::poll_fn;
use std::task::{Context, Poll};

use ctx_project::error::Result;

/// Listens for signals from its creation on.
pub(crate) struct Interrupts {
    #[cfg(unix)]
    signals: Vec<(tokio::signal::unix::Signal, Interrupt)>,
    #[cfg(not(unix))]
    ctrl_c: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Target of an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Ctrl-C: the current work.
    Work,
    /// Any other signal: the whole command.
    Command,
}

impl Interrupts {
    /// Starts to listen. Requires an async runtime.
    #[cfg(unix)]
    pub(crate) fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let kinds = [
            (SignalKind::interrupt(), Interrupt::Work),
            (SignalKind::terminate(), Interrupt::Command),
            (SignalKind::hangup(), Interrupt::Command),
        ];
        let signals = kinds.into_iter().map(|(kind, meant)| Ok((signal(kind)?, meant)));
        let signals = signals
            .collect::<std::io::Result<_>>()
            .map_err(|error| ctx_project::error::not_started(&error))?;
        Ok(Self { signals })
    }

    /// Polls for an interrupt.
    #[cfg(unix)]
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Interrupt> {
        for (signal, meant) in &mut self.signals {
            if signal.poll_recv(context).is_ready() {
                return Poll::Ready(*meant);
            }
        }
        Poll::Pending
    }

    /// Starts to listen.
    #[cfg(not(unix))]
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { ctrl_c: Box::pin(ctrl_c()) })
    }

    /// Polls for an interrupt.
    #[cfg(not(unix))]
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Interrupt> {
        std::task::ready!(self.ctrl_c.as_mut().poll(context));
        self.ctrl_c = Box::pin(ctrl_c());
        Poll::Ready(Interrupt::Work)
    }

    /// Waits for an interrupt.
    pub(crate) async fn next(&mut self) {
        poll_fn(|context| self.poll_next(context)).await;
    }
}

#[cfg(not(unix))]
async fn ctrl_c() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
