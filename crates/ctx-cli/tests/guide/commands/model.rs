//! A model that answers what the page says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::server::{Answer, Server};

/// The address that pages show.
pub(crate) const SHOWN: &str = "http://localhost:8080";

/// A server on loopback with the answers that are still to be given.
pub(crate) struct Model {
    address: String,
    answers: Arc<Mutex<VecDeque<Answer>>>,
    /// Numbers calls, so that each has an id of its own.
    calls: Mutex<usize>,
}

impl Model {
    pub(crate) fn start() -> Self {
        let answers = Arc::new(Mutex::new(VecDeque::<Answer>::new()));
        let queue = answers.clone();
        let server = Server::start(move |_| {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            next.unwrap_or_else(|| Answer::error(418, "script", "the page says no more answers"))
        });
        let address = server.base_url();
        Self { address: address.trim_end_matches("/v1").to_owned(), answers, calls: Mutex::new(0) }
    }

    /// Answers with a text next.
    pub(crate) fn answer(&self, text: &str) {
        self.push(Answer::text(text));
    }

    /// Calls a tool next: its name, a blank, and its arguments.
    pub(crate) fn call(&self, call: &str) {
        let (name, arguments) = call.split_once(' ').expect("a call has a name and arguments");
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls += 1;
        self.push(Answer::calls(&[(&format!("call_{calls}"), name, arguments)]));
    }

    /// Returns how many answers are left.
    pub(crate) fn left(&self) -> usize {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Puts the server's address in the place of the one that pages show.
    pub(crate) fn put_address(&self, text: &str) -> String {
        text.replace(SHOWN, &self.address)
    }

    /// Puts the address that pages show in the place of the server's.
    pub(crate) fn hide_address(&self, text: &str) -> String {
        text.replace(&self.address, SHOWN)
    }

    fn push(&self, answer: Answer) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push_back(answer);
    }
}
