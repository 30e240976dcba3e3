//! What WebAssembly asks of JavaScript: functions of the host's own, and whether it has waited long enough.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use ctx_operations::{AskHost, Deadline, PortFuture};
use serde_json::Value;

use crate::border::{given, put};

#[link(wasm_import_module = "ctx")]
unsafe extern "C" {
    /// Takes the answer as a question for the functions of this number, and gives what they say; −1 for an error.
    safe fn ask(host: i32) -> i32;
    /// Returns 1 if the limit of time of the call that runs is over, or it was cancelled.
    safe fn is_over() -> i32;
}

/// Makes what asks the functions of a host.
pub(crate) fn asking(host: i32) -> Arc<AskHost> {
    Arc::new(move |question: Value| {
        put(question.to_string());
        let has_failed = ask(host) < 0;
        let said = given();
        if has_failed {
            return Err(String::from_utf8_lossy(&said).into_owned());
        }
        serde_json::from_slice(&said).map_err(|error| error.to_string())
    })
}

/// The limit of the call that runs: JavaScript knows it.
pub(crate) struct Limit;

impl Deadline for Limit {
    fn is_over(&self) -> bool {
        is_over() != 0
    }

    fn over(&self) -> PortFuture<'_, ()> {
        // Nothing here waits for anything, so that nothing needs to be woken.
        Box::pin(pending())
    }

    fn within(&self, _: Duration) -> Box<dyn Deadline> {
        Box::new(Self)
    }
}
