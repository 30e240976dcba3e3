//! `cargo xtask attack`: tries to read secrets, reach other files, and stop or fill the command, and prints what happened.
//!
//! Everything runs in temporary folders with their own `CTX_HOME`, and on the loopback interface.

mod cases;
mod place;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace;
use place::Place;

/// Result of one attempt.
pub(super) struct Outcome {
    /// The observation, for the table.
    seen: String,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Held,
    Broken,
    Skipped,
}

impl Outcome {
    /// An attempt whose result is judged.
    pub(super) fn new(seen: impl Into<String>, is_held: bool) -> Self {
        Self { seen: seen.into(), state: if is_held { State::Held } else { State::Broken } }
    }

    /// An attempt that this machine does not allow.
    pub(super) fn skipped(reason: &str) -> Self {
        Self { seen: reason.to_owned(), state: State::Skipped }
    }
}

/// Runs all attempts, or those whose names contain a text.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut program, mut wanted, mut rest) = (None, "", arguments);
    while let [flag, value, more @ ..] = rest {
        match flag.as_str() {
            "--program" => {
                program = Some(PathBuf::from(value).canonicalize().with_context(|| value.clone())?);
            }
            "--only" => wanted = value,
            _ => bail!("usage: cargo xtask attack [--program CTX] [--only TEXT]"),
        }
        rest = more;
    }
    ensure!(rest.is_empty(), "usage: cargo xtask attack [--program CTX] [--only TEXT]");
    let program = program.map_or_else(workspace::ctx, Ok)?;
    let (begun, mut broken) = (Instant::now(), 0);
    for (name, attempt) in cases::CASES.iter().filter(|(name, _)| name.contains(wanted)) {
        let start = Instant::now();
        let outcome = Place::new(&program).and_then(|place| attempt(&place));
        let Outcome { seen, state } =
            outcome.unwrap_or_else(|error| Outcome::new(format!("{error:#}"), false));
        let word = match state {
            State::Held => "held",
            State::Broken => "BROKEN",
            State::Skipped => "SKIPPED",
        };
        broken += usize::from(state == State::Broken);
        println!("{name:<42} {word:<8} {:>5.1} s  {seen}", start.elapsed().as_secs_f64());
    }
    ensure!(broken == 0, "{broken} attempts succeeded");
    println!("attack: no attempt succeeded, in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}
