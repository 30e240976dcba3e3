//! What the engine asks of Python: functions of the host's own, and whether a call is to end.

use std::cell::Cell;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ctx_operations::{AskHost, Deadline, OperationError, PortFuture};
use pyo3::prelude::*;
use serde_json::Value;

use crate::values::{Given, to_python};

thread_local! {
    /// Whether a function of the host is being asked on this thread.
    static IS_ASKING: Cell<bool> = const { Cell::new(false) };
}

/// Makes what asks a function of Python: a question in, an answer out, both dicts as JSON has them.
pub(crate) fn asking(answer: Py<PyAny>) -> Arc<AskHost> {
    Arc::new(move |question: Value| {
        Python::attach(|py| {
            let question = to_python(py, &question).map_err(|error| error.to_string())?;
            let was_asking = IS_ASKING.replace(true);
            let said = answer.bind(py).call1((question,));
            IS_ASKING.set(was_asking);
            let said = said.map_err(|error| error.to_string())?;
            serde_json::to_value(Given::new(&said)).map_err(|error| error.to_string())
        })
    })
}

/// Refuses work on a handle while a function of the host is asked: the thread would wait for itself.
pub(crate) fn check_idle() -> Result<(), OperationError> {
    if IS_ASKING.get() { Err(OperationError::usage("a function that `ctx` calls cannot use agents and conversations")) } else { Ok(()) }
}

/// Ends calls that it was given to.
#[pyclass(frozen, module = "ctx._ctx")]
#[derive(Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends them, as soon as they look.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How long a call may take.
#[derive(Clone, Default)]
pub(crate) struct Limit {
    until: Option<Instant>,
    stop: Option<Arc<AtomicBool>>,
}

impl Limit {
    /// A limit of seconds, a stop, or neither.
    ///
    /// Errors: the seconds are negative or no number.
    pub(crate) fn new(seconds: Option<f64>, stop: Option<&Stop>) -> Result<Self, OperationError> {
        let limit = seconds.map(Duration::try_from_secs_f64).transpose().map_err(OperationError::usage)?;
        // What is too far ahead to be told is no limit.
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        Ok(Self { until, stop: stop.map(|stop| stop.0.clone()) })
    }
}

impl Deadline for Limit {
    fn is_over(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn over(&self) -> PortFuture<'_, ()> {
        // Nothing here waits for anything, so that nothing needs to be woken.
        Box::pin(pending())
    }

    fn within(&self, limit: Duration) -> Box<dyn Deadline> {
        let until = Instant::now().checked_add(limit);
        let until = self.until.map_or(until, |own| Some(until.map_or(own, |until| until.min(own))));
        Box::new(Self { until, stop: self.stop.clone() })
    }
}
