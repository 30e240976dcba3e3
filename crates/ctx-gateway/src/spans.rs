//! OpenTelemetry spans: one for each request, with counts and the operator's names, without texts and keys.

mod otlp;

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use ctx_wire::{Dialect, ReplyUsage};

use crate::lock;
use crate::turn::TurnProgress;

pub(crate) use otlp::Exporter;

/// Span of a running request. Dropping it sends it to the exporter.
#[derive(Debug)]
pub(crate) struct Span {
    exporter: Option<Arc<Exporter>>,
    begun: SystemTime,
    dialect: Dialect,
    status: AtomicU16,
    progress: OnceLock<Arc<Mutex<TurnProgress>>>,
}

/// Span of a finished request.
#[derive(Debug)]
struct FinishedSpan {
    begun: SystemTime,
    dialect: Dialect,
    status: u16,
    turn: SpanAttributes,
}

/// Attributes of a turn's span.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanAttributes {
    /// Name of the agent.
    pub(crate) agent: Option<String>,
    /// Host of the provider.
    pub(crate) server: Option<String>,
    /// Time until the first provider request.
    pub(crate) ready: Option<Duration>,
    pub(crate) usage: ReplyUsage,
    /// Code of the error of a failed turn.
    pub(crate) error: Option<&'static str>,
}

impl Span {
    pub(crate) fn new(exporter: Option<Arc<Exporter>>, dialect: Dialect) -> Arc<Self> {
        let (begun, status, progress) = (SystemTime::now(), AtomicU16::new(0), OnceLock::new());
        Arc::new(Self { exporter, begun, dialect, status, progress })
    }

    /// Sets the running turn.
    pub(crate) fn set_turn(&self, progress: &Arc<Mutex<TurnProgress>>) {
        // A request has one turn.
        drop(self.progress.set(progress.clone()));
    }

    pub(crate) fn set_status(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(exporter) = &self.exporter else { return };
        let turn = self.progress.get().map(|progress| lock(progress).attributes.clone()).unwrap_or_default();
        let status = self.status.load(Ordering::Relaxed);
        exporter.send(&FinishedSpan { begun: self.begun, dialect: self.dialect, status, turn });
    }
}
