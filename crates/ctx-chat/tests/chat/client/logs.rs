//! Everything that is logged in this process, at the finest level, by us and by the libraries below.

use std::fmt::{Debug, Write as _};
use std::sync::{Mutex, Once, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static HEARD: Mutex<String> = Mutex::new(String::new());

/// Listens from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing::subscriber::set_global_default(Listener).unwrap();
        log::set_logger(&Listener).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
}

/// What was logged so far.
pub(crate) fn heard() -> String {
    HEARD.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

struct Listener;

/// Notes the fields of whatever is recorded.
struct Words;

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        note(format_args!("{field}={value:?}"));
    }
}

fn note(line: std::fmt::Arguments<'_>) {
    let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(heard, "{line}").unwrap();
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Words);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Words);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Words);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl log::Log for Listener {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        note(format_args!("{}: {}", record.target(), record.args()));
    }

    fn flush(&self) {}
}
