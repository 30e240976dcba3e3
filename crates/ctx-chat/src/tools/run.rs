//! Carrying out the calls of one answer: at the same time, within limits, with one result for each.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use ctx_pipeline::Cancel;
use ctx_types::ToolCall;
use ctx_types::internal::excerpt;
use futures_util::FutureExt as _;
use futures_util::stream::{self, Stream, StreamExt as _};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::tools::{Approval, Tool, ToolHost, ToolLimits, Verdict};

/// What the model is told of a call that was stopped.
const CANCELLED: &str = "canceled by the user; the outcome is unknown";

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    /// What the model is told.
    pub(crate) text: String,
    /// Whether it is why there is no result.
    pub(crate) is_error: bool,
    /// How long it took.
    pub(crate) took: Duration,
}

/// What calls are carried out with.
#[derive(Clone, Copy)]
pub(crate) struct Calling<'a> {
    pub(crate) host: &'a dyn ToolHost,
    /// The tools that the model was told of.
    pub(crate) visible: &'a [Tool],
    pub(crate) approval: Option<&'a dyn Approval>,
    pub(crate) limits: ToolLimits,
    pub(crate) cancel: &'a Cancel,
}

impl<'a> Calling<'a> {
    /// Carries out calls at the same time; results come in the order of the calls, each as soon as it and those
    /// before it are there.
    pub(crate) fn all(self, calls: &'a [ToolCall]) -> impl Stream<Item = Ran> + 'a {
        let approved = stream::iter(calls).then(move |call| async move { (call, self.admit(call).await) });
        let work = approved.map(move |(call, admitted)| async move {
            match admitted {
                Ok(()) => self.one(call).await,
                Err(reason) => Ran { text: reason, is_error: true, took: Duration::ZERO },
            }
        });
        work.buffered(self.limits.parallel.max(1))
    }

    /// Explains why a call is not carried out, if so.
    async fn admit(&self, call: &ToolCall) -> Result<(), String> {
        let Some(tool) = self.visible.iter().find(|tool| tool.name() == &*call.name) else {
            let names: Vec<&str> = self.visible.iter().map(Tool::name).collect();
            let there_are = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(format!("unknown tool `{}`; tools: {there_are}", excerpt(&call.name)));
        };
        match serde_json::from_str::<Value>(&call.arguments) {
            Ok(Value::Object(_)) => {}
            Ok(_) => return Err("the arguments are not a JSON object".to_owned()),
            Err(error) => return Err(format!("the arguments are not valid JSON: {error}")),
        }
        match self.approval.filter(|_| tool.needs_approval) {
            None if tool.needs_approval => {
                Err("this call requires approval, but approval is not available".to_owned())
            }
            None => Ok(()),
            Some(approval) => self.ask(approval, call).await,
        }
    }

    async fn ask(&self, approval: &dyn Approval, call: &ToolCall) -> Result<(), String> {
        let asked = AssertUnwindSafe(approval.approve(call)).catch_unwind();
        let verdict = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(CANCELLED.to_owned()),
            verdict = timeout(self.limits.approval, asked) => verdict,
        };
        match verdict {
            Ok(Ok(Verdict::Allowed)) => Ok(()),
            Ok(Ok(Verdict::Refused(reason))) => Err(format!("the user rejected this call: {reason}")),
            Ok(Err(_)) => Err("the approval failed".to_owned()),
            Err(_) => Err("the approval timed out".to_owned()),
        }
    }

    async fn one(&self, call: &ToolCall) -> Ran {
        let (begun, stop) = (Instant::now(), Stop::default());
        // What a tool that panicked leaves behind is its own affair.
        let work = AssertUnwindSafe(async { self.host.call(call, &stop.0).await }).catch_unwind();
        let done = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(CANCELLED.to_owned()),
            done = timeout(self.limits.time, work) => match done {
                Ok(Ok(Ok(text))) => Ok(text),
                Ok(Ok(Err(error))) => Err(error.to_string()),
                Ok(Err(_)) => Err("the tool panicked".to_owned()),
                Err(_) => Err(format!("the tool took longer than {} s", self.limits.time.as_secs_f32())),
            },
        };
        let is_error = done.is_err();
        let text = cut(done.unwrap_or_else(|reason| reason), self.limits.bytes);
        Ran { text, is_error, took: begun.elapsed() }
    }
}

/// Notifies the tool that nobody waits for it any more, however the wait ends: work in another thread goes on until
/// then.
#[derive(Default)]
struct Stop(Cancel);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Cuts a result off between two characters, and says so.
fn cut(mut text: String, bytes: usize) -> String {
    if text.len() > bytes {
        let whole = text.len();
        let end = (0..=bytes).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.shrink_to_fit();
        let note = format!("\n[... truncated: {bytes} of {whole} bytes ...]");
        text.push_str(&note);
    }
    text
}
