//! The client against a server that answers by a script.

mod failures;
mod keys;
mod logs;
mod retries;
mod streams;
mod transcripts;

use std::future::Future;
use std::time::Duration;

use ctx_chat::{ChatModel as _, Client, Endpoint, Progress, RequestFailure, RetryPolicy};
use ctx_pipeline::Cancel;
use ctx_wire::{Delta, Dialect, Reply};

use crate::server::{Answer, Server};

/// Runs a test that waits.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// An endpoint that waits next to nothing between attempts.
fn endpoint(server: &Server) -> Endpoint {
    Endpoint {
        time: server.time_limits(),
        retry: RetryPolicy { first_wait: Duration::from_millis(1), ..RetryPolicy::default() },
        ..Endpoint::new(Dialect::OpenaiChat, server.base_url())
    }
}

/// An endpoint that asks once only.
fn once(server: &Server) -> Endpoint {
    let endpoint = endpoint(server);
    Endpoint { retry: RetryPolicy { retries: 0, ..endpoint.retry }, ..endpoint }
}

/// What a client made of a question: its answer, and what was heard on the way.
struct Asked {
    result: Result<Reply, RequestFailure>,
    heard: Vec<Progress>,
}

impl Asked {
    /// The words of the answer, or the code of the error and the words that came before it.
    fn outline(&self) -> String {
        match &self.result {
            Ok(reply) => reply.text.as_str().to_owned(),
            Err(failure) => {
                let partial =
                    failure.partial.as_ref().map(|reply| format!(" after `{}`", reply.text.as_str()));
                format!("{}{}", failure.cause.code(), partial.unwrap_or_default())
            }
        }
    }

    fn retries(&self) -> usize {
        self.heard.iter().filter(|progress| matches!(progress, Progress::Retry { .. })).count()
    }

    /// The words that came in pieces.
    fn pieces(&self) -> Vec<&str> {
        let text = |progress| match progress {
            &Progress::Delta(Delta::Text(ref text)) => Some(text.as_str()),
            _ => None,
        };
        self.heard.iter().filter_map(text).collect()
    }
}

fn ask(endpoint: Endpoint) -> Asked {
    ask_with(endpoint, &Cancel::default(), |_, _| ())
}

/// Asks, and lets something happen whenever something is heard.
fn ask_with(endpoint: Endpoint, cancel: &Cancel, on: impl Fn(&Progress, &Cancel) + Sync) -> Asked {
    let mut heard = Vec::new();
    let result = match Client::new(endpoint) {
        Err(error) => Err(error.into()),
        Ok(client) => block_on(client.ask(
            br#"{"model":"m","messages":[]}"#[..].into(),
            &mut |progress| {
                on(&progress, cancel);
                heard.push(progress);
            },
            cancel,
        )),
    };
    Asked { result, heard }
}

/// Asks a server that has these answers, and compares the outline.
#[track_caller]
fn check(answers: impl IntoIterator<Item = Answer>, expected: &str) -> Asked {
    let server = Server::script(answers);
    let asked = ask(endpoint(&server));
    assert_eq!(asked.outline(), expected, "{:?}", asked.result);
    asked
}
