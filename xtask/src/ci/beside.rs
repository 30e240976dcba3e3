//! Verbs that run beside the other steps of CI, one after the other.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::workspace;

/// How many lines of a verb that failed are said again at the very end.
const LAST_LINES: usize = 80;

/// The verbs that run; dropped before its end, it begins no further one.
pub(super) struct Beside {
    thread: Option<JoinHandle<Result<()>>>,
    is_given_up: Arc<AtomicBool>,
}

impl Beside {
    /// Begins to run verbs that find the command `ctx` there.
    pub(super) fn begin(verbs: &'static [&'static [&'static str]], program: PathBuf) -> Self {
        let is_given_up = Arc::new(AtomicBool::new(false));
        let is_over = is_given_up.clone();
        let thread = thread::spawn(move || {
            for verb in verbs.iter().take_while(|_| !is_over.load(Ordering::Relaxed)) {
                perform(verb, &program)?;
            }
            Ok(())
        });
        Self { thread: Some(thread), is_given_up }
    }

    /// Waits for all of them.
    pub(super) fn finish(mut self) -> Result<()> {
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|_| bail!("a step that ran beside others panicked"))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }
}

/// Runs a verb, and prints what it printed once it ends, so that its lines stand together.
fn perform(verb: &[&str], program: &Path) -> Result<()> {
    let start = Instant::now();
    // Building all tests has written this program anew, so the file that runs has no name any more; the new one is beside.
    let mut command = Command::new(program.with_file_name(format!("xtask{}", std::env::consts::EXE_SUFFIX)));
    command.args(verb).env(workspace::PROGRAM, program).stdin(Stdio::null());
    let Output { status, stdout, stderr } = command.output().context("cannot start a step beside others")?;
    let (title, seconds) = (verb.join(" "), start.elapsed().as_secs_f64());
    let told = [String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)].concat();
    println!("\n==> beside: {title}\n{told}==> beside: {title} ended with {status} in {seconds:.1} s");
    if !status.success() {
        // Other steps print much after it, and of a long log often only the end is kept.
        bail!("`cargo xtask {title}` failed; the end of what it printed above:\n{}", end(&told));
    }
    Ok(())
}

/// The last lines of a text.
fn end(text: &str) -> String {
    let first = text.lines().count().saturating_sub(LAST_LINES);
    text.lines().skip(first).collect::<Vec<_>>().join("\n")
}
