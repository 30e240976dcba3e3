//! `cargo xtask attack`: tries to read secrets, reach other files, and stop or fill the command, and prints what happened.
//!
//! Everything runs in temporary folders with their own `CTX_HOME`, and on the loopback interface.

mod cases;
mod place;

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};

use crate::workspace;
use place::Place;

/// Result of one attempt, with the observation for the table.
pub(super) enum Outcome {
    Held(String),
    Broken(String),
    /// This machine does not allow the attempt.
    Skipped(&'static str),
}

impl Outcome {
    pub(super) fn new(seen: impl Into<String>, is_held: bool) -> Self {
        if is_held { Self::Held(seen.into()) } else { Self::Broken(seen.into()) }
    }
}

/// Runs all attempts, or those whose names contain a text.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let [program, wanted] = workspace::options(arguments, ["--program", "--only"], "attack")?;
    let (program, wanted) = (workspace::given(program, workspace::ctx)?, wanted.unwrap_or_default());
    let has_terminal = Command::new("script").arg("--version").output().is_ok();
    let (begun, mut broken) = (Instant::now(), 0);
    for (name, attempt) in cases::CASES.iter().filter(|(name, _)| name.contains(wanted)) {
        let start = Instant::now();
        let outcome = if name.starts_with("terminal") && !has_terminal {
            Ok(Outcome::Skipped("needs `script` of util-linux"))
        } else {
            Place::new(&program).and_then(|place| attempt(&place))
        };
        let (word, seen) = match outcome.unwrap_or_else(|error| Outcome::Broken(format!("{error:#}"))) {
            Outcome::Held(seen) => ("held", seen),
            Outcome::Skipped(reason) => ("SKIPPED", reason.to_owned()),
            Outcome::Broken(seen) => {
                broken += 1;
                ("BROKEN", seen)
            }
        };
        println!("{name:<42} {word:<8} {:>5.1} s  {seen}", start.elapsed().as_secs_f64());
    }
    ensure!(broken == 0, "{broken} attempts succeeded");
    println!("attack: no attempt succeeded, in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}
