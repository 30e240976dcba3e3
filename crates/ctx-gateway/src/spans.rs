//! What OpenTelemetry is told: one span for each request, with figures and names of the operator's, and never with words
//! or keys.

mod otlp;

use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use ctx_wire::{Dialect, ReplyUsage};

use crate::turn::{Told, lock};

pub(crate) use otlp::Exporter;

/// A request while it lasts; the exporter gets it once whoever answers it has let go of it.
#[derive(Debug)]
pub(crate) struct Span {
    exporter: Option<Arc<Exporter>>,
    begun: SystemTime,
    dialect: Dialect,
    status: AtomicU16,
    told: OnceLock<Arc<Mutex<Told>>>,
}

/// A request that is over.
#[derive(Debug)]
struct Ended {
    begun: SystemTime,
    dialect: Dialect,
    status: u16,
    turn: Observed,
}

/// What is noted of a turn for its span.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observed {
    /// The agent, by the name of its file.
    pub(crate) agent: Option<String>,
    /// The host of the provider that answered.
    pub(crate) server: Option<String>,
    /// How long it took until the provider was asked.
    pub(crate) ready: Option<Duration>,
    pub(crate) usage: ReplyUsage,
    /// Why there is no answer.
    pub(crate) error: Option<&'static str>,
}

impl Span {
    pub(crate) fn new(exporter: Option<Arc<Exporter>>, dialect: Dialect) -> Arc<Self> {
        let (begun, status, told) = (SystemTime::now(), AtomicU16::new(0), OnceLock::new());
        Arc::new(Self { exporter, begun, dialect, status, told })
    }

    /// Notes what is known of the turn, which goes on.
    pub(crate) fn follow(&self, told: &Arc<Mutex<Told>>) {
        // A request has one turn.
        drop(self.told.set(told.clone()));
    }

    pub(crate) fn answered(&self, status: u16) {
        self.status.store(status, Ordering::Relaxed);
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(exporter) = &self.exporter else { return };
        let turn = self.told.get().map(|told| lock(told).observed.clone()).unwrap_or_default();
        let status = self.status.load(Ordering::Relaxed);
        exporter.send(&Ended { begun: self.begun, dialect: self.dialect, status, turn });
    }
}
