//! The native part of the Python package `ctx-engine`: values in, values out, over the operations of `ctx-operations`.
//!
//! While an operation works, other threads of Python run. `python/ctx/__init__.py` is what users see.

mod host;
mod values;

use std::sync::{Mutex, MutexGuard, PoisonError};

use ctx_operations::{Engine, Kept, OperationError, Role, Text};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Map, Value};

use host::{Limit, Stop, asking, check_idle};
use values::{Given, plain_messages, to_python};

create_exception!(
    ctx,
    CtxError,
    PyException,
    "Why an operation gives nothing; `code` says of which kind it is."
);

/// The native part of `ctx`.
#[pymodule]
mod _ctx {
    #[pymodule_export]
    use super::{Agent, Conversation, Crossed, CtxError, Stop, Stream, call, call_json};
}

/// Carries out an operation: a dict of options in, a value out.
#[pyfunction]
fn call<'py>(py: Python<'py>, name: &str, options: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let input = serde_json::to_value(Given::new(options)).map_err(|error| unwritten(py, &error))?;
    let result = py.detach(|| ctx_operations::call(name, input));
    to_python(py, &result.map_err(|error| exception(py, &error))?)
}

/// Carries out an operation: the text of a JSON object in, JSON out, byte for byte what Rust writes.
#[pyfunction]
fn call_json(py: Python<'_>, name: &str, options: &str) -> PyResult<String> {
    let result = py.detach(|| {
        let input = serde_json::from_str(options).map_err(OperationError::usage)?;
        Ok(ctx_operations::call(name, input)?.to_string())
    });
    result.map_err(|error| exception(py, &error))
}

/// Messages that have come over and are nothing yet, so that what that takes can be measured.
#[pyclass(frozen, module = "ctx._ctx")]
struct Crossed {
    _messages: Option<Vec<(Role, Text)>>,
}

#[pymethods]
impl Crossed {
    #[new]
    fn new(messages: &Bound<'_, PyAny>) -> Self {
        Self { _messages: plain_messages(messages) }
    }
}

/// An agent that was compiled once.
#[pyclass(frozen, module = "ctx._ctx")]
struct Agent(ctx_operations::Agent);

#[pymethods]
impl Agent {
    /// Compiles; what the host adds is the option `host`, and `answer` is asked for its functions.
    #[new]
    #[pyo3(signature = (options, answer = None))]
    fn new(py: Python<'_>, options: &Bound<'_, PyAny>, answer: Option<Py<PyAny>>) -> PyResult<Self> {
        let mut options = map(py, options)?;
        let compiled = py.detach(|| {
            let engine = match options.shift_remove("host").zip(answer) {
                Some((parts, answer)) => ctx_operations::engine_with(parts, &asking(answer))?,
                None => Engine::new(),
            };
            ctx_operations::Agent::compile(engine, options)
        });
        compiled.map(Self).map_err(|error| exception(py, &error))
    }

    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &py.detach(|| self.0.to_json()))
    }

    #[pyo3(signature = (conversation, options, limits = (None, None)))]
    fn assemble<'py>(
        &self,
        py: Python<'py>,
        conversation: &Conversation,
        options: &Bound<'py, PyAny>,
        limits: Limits<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (options, limit) = (map(py, options)?, limit(py, &limits)?);
        let made = py.detach(|| self.0.assemble(&*lock(&conversation.0)?, options, Some(&limit)));
        to_python(py, &made.map_err(|error| exception(py, &error))?)
    }

    #[pyo3(signature = (conversation, options, limits = (None, None)))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        conversation: &Conversation,
        options: &Bound<'py, PyAny>,
        limits: Limits<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (options, limit) = (map(py, options)?, limit(py, &limits)?);
        let made = py.detach(|| self.0.explain(&*lock(&conversation.0)?, options, Some(&limit)));
        to_python(py, &made.map_err(|error| exception(py, &error))?)
    }
}

/// A conversation that grows.
#[pyclass(frozen, module = "ctx._ctx")]
struct Conversation(Mutex<ctx_operations::Conversation>);

#[pymethods]
impl Conversation {
    /// Reads a conversation: a document, or nothing.
    #[new]
    #[pyo3(signature = (document = None))]
    fn new(py: Python<'_>, document: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(document) = document else { return Ok(Self(Mutex::default())) };
        let document = serde_json::to_value(Given::new(document)).map_err(|error| unwritten(py, &error))?;
        let read = py.detach(|| ctx_operations::Conversation::of_given(&document));
        read.map(|read| Self(Mutex::new(read))).map_err(|error| exception(py, &error))
    }

    /// Adds a list of messages; returns how many there are now.
    fn extend(&self, py: Python<'_>, messages: &Bound<'_, PyAny>) -> PyResult<usize> {
        let count = match plain_messages(messages) {
            Some(messages) => py.detach(|| lock(&self.0)?.extend_texts(messages)),
            None => {
                let written = serde_json::to_value(Given::new(messages)).map_err(|error| {
                    let mut error = OperationError::usage(&error);
                    error.pointer = first_unwritten(messages).map(|place| format!("/{place}"));
                    exception(py, &error)
                })?;
                py.detach(|| lock(&self.0)?.extend(written))
            }
        };
        count.map_err(|error| exception(py, &error))
    }

    /// Fits it: the number of each message that stays as it was given, or the dict of another one, and the tokens.
    #[pyo3(signature = (options, limits = (None, None)))]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyAny>,
        limits: Limits<'py>,
    ) -> PyResult<(Bound<'py, PyList>, u64)> {
        let (options, limit) = (map(py, options)?, limit(py, &limits)?);
        let fitted = py.detach(|| lock(&self.0)?.fit(options, Some(&limit)));
        let fitted = fitted.map_err(|error| exception(py, &error))?;
        let kept = fitted.kept.iter().map(|kept| match kept {
            Kept::Whole(number) => Ok(number.into_pyobject(py)?.into_any()),
            Kept::Written(message) => to_python(py, message),
        });
        Ok((PyList::new(py, kept.collect::<PyResult<Vec<_>>>()?)?, fitted.tokens))
    }

    /// Applies the effects of a turn whose request was sent.
    fn apply(&self, py: Python<'_>, effects: &Bound<'_, PyAny>) -> PyResult<()> {
        let effects = serde_json::to_value(Given::new(effects)).map_err(|error| unwritten(py, &error))?;
        py.detach(|| lock(&self.0)?.apply(effects)).map_err(|error| exception(py, &error))
    }

    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let described = py.detach(|| Ok(lock(&self.0)?.to_json()));
        to_python(py, &described.map_err(|error| exception(py, &error))?)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| Ok(lock(&self.0)?.len())).map_err(|error| exception(py, &error))
    }
}

/// A streamed reply that is read piece by piece.
#[pyclass(frozen, module = "ctx._ctx")]
struct Stream(Mutex<ctx_operations::Stream>);

#[pymethods]
impl Stream {
    #[new]
    fn new(py: Python<'_>, dialect: &str) -> PyResult<Self> {
        let stream = ctx_operations::Stream::new(dialect);
        stream.map(|stream| Self(Mutex::new(stream))).map_err(|error| exception(py, &error))
    }

    fn push<'py>(&self, py: Python<'py>, data: &str) -> PyResult<Bound<'py, PyAny>> {
        let deltas = py.detach(|| lock(&self.0)?.push(data));
        to_python(py, &deltas.map_err(|error| exception(py, &error))?)
    }

    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let partial = py.detach(|| Ok(lock(&self.0)?.partial()));
        to_python(py, &partial.map_err(|error| exception(py, &error))?)
    }

    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let reply = py.detach(|| lock(&self.0)?.finish());
        to_python(py, &reply.map_err(|error| exception(py, &error))?)
    }
}

/// Locks what a handle holds, whatever a thread that panicked has left of it.
fn lock<T>(held: &Mutex<T>) -> Result<MutexGuard<'_, T>, OperationError> {
    check_idle()?;
    Ok(held.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Seconds, and what stops the call.
type Limits<'py> = (Option<f64>, Option<PyRef<'py, Stop>>);

fn limit(py: Python<'_>, (seconds, stop): &Limits<'_>) -> PyResult<Limit> {
    Limit::new(*seconds, stop.as_deref()).map_err(|error| exception(py, &error))
}

/// Reads options: a dict.
fn map(py: Python<'_>, options: &Bound<'_, PyAny>) -> PyResult<Map<String, Value>> {
    match serde_json::to_value(Given::new(options)) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(exception(py, &OperationError::usage("options are a dict"))),
        Err(error) => Err(unwritten(py, &error)),
    }
}

/// The place of the first message of a list that is no JSON.
fn first_unwritten(messages: &Bound<'_, PyAny>) -> Option<usize> {
    let is_unwritten = |one: Bound<'_, PyAny>| serde_json::to_value(Given::new(&one)).is_err();
    messages.try_iter().ok()?.position(|one| one.is_ok_and(is_unwritten))
}

/// The exception of a value that is no JSON.
fn unwritten(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    exception(py, &OperationError::usage(error))
}

/// The exception of an error, with its code, its place and the way out as attributes.
fn exception(py: Python<'_>, error: &OperationError) -> PyErr {
    let exception = CtxError::new_err(error.message.clone());
    let set = || {
        let value = exception.value(py);
        value.setattr("code", &error.code)?;
        value.setattr("pointer", &error.pointer)?;
        value.setattr("help", &error.help)?;
        let position = error.position.as_ref().map(|at| (at.file.clone(), at.line, at.column));
        value.setattr("position", position)
    };
    match set() {
        Ok(()) => exception,
        Err(other) => other,
    }
}
