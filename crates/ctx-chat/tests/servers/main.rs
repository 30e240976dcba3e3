//! The client and the loop against two servers that others wrote; skipped, and loudly, where they are not installed.
//!
//! Each case runs in both dialects. `aimock` answers by `aimock.json` and shows in its journal what it was asked;
//! `llmock` breaks its answers as it is told and judges what the client made of that.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken expectation is a failed test")]

mod aimock;
mod foreign;
mod llmock;
mod relay;
#[path = "../server/room.rs"]
mod room;
#[path = "../server/mod.rs"]
mod server;

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ctx_chat::{ApiKey, Endpoint, RetryPolicy};
use ctx_wire::{Dialect, lint};
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

use foreign::Foreign;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let missing = foreign::installed().err();
    if let Some(why) = missing.as_ref().filter(|_| !arguments.list) {
        foreign::tell_skipped(why);
    }
    let trials = trials().into_iter().map(|trial| trial.with_ignored_flag(missing.is_some()));
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

/// The servers, started when a case needs one; they end with the last case.
#[derive(Default)]
struct Servers {
    aimock: OnceLock<Foreign>,
    /// Those that no case uses. Each serves one case at a time: what it is told to break, it breaks for whoever asks next.
    llmock: Mutex<Vec<Foreign>>,
}

impl Servers {
    fn aimock(&self) -> &Foreign {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/aimock.json");
        self.aimock.get_or_init(|| foreign::start_aimock(&fixtures))
    }

    fn with_llmock(&self, case: impl FnOnce(&Foreign)) {
        let idle = || self.llmock.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let server = known.unwrap_or_else(foreign::start_llmock);
        case(&server);
        // The server of a case that failed ends with it.
        idle().push(server);
    }
}

fn trials() -> Vec<Trial> {
    let servers = Arc::new(Servers::default());
    let mut trials = Vec::new();
    for dialect in [Dialect::OpenaiChat, Dialect::Anthropic] {
        for &(name, case) in aimock::CASES {
            let servers = servers.clone();
            trials.push(Trial::test(format!("aimock::{dialect}::{name}"), move || {
                case(servers.aimock(), dialect);
                Ok(())
            }));
        }
        for &(name, case) in llmock::CASES {
            let servers = servers.clone();
            trials.push(Trial::test(format!("llmock::{dialect}::{name}"), move || {
                servers.with_llmock(|server| case(server, dialect));
                Ok(())
            }));
        }
    }
    trials
}

/// A case: what it is called and what it does.
type Case = (&'static str, fn(&Foreign, Dialect));

/// Lists functions as cases, by their names.
macro_rules! cases {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name)),*] };
}
use cases;

/// An endpoint that has all the time it wants and waits next to nothing between attempts.
fn endpoint(dialect: Dialect, url: String) -> Endpoint {
    let retry = RetryPolicy { first_wait: std::time::Duration::from_millis(1), ..RetryPolicy::default() };
    let key = Some(ApiKey::new(foreign::KEY, "the test").unwrap());
    Endpoint { key, retry, ..Endpoint::new(dialect, url) }
}

/// Checks that bodies are sound requests of a dialect.
#[track_caller]
fn check_bodies(bodies: &[Value], dialect: Dialect) {
    for body in bodies {
        let found = lint::check(body, dialect);
        assert!(found.is_empty(), "{found:?} in {body}");
    }
}

/// The texts of a long conversation: some 3,400 tokens.
fn long() -> Vec<String> {
    let line = "The red umbrella stands in room 12 since the 3rd of May, said Lin to Robin. ".repeat(6);
    vec![line; 30]
}
