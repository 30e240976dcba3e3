//! `cargo xtask bench compression`: how much of what matters later survives a cut to a number of tokens, and how much of
//! what does not the quality report knows.
//!
//! The conversations are those of `cargo xtask conversations`; the compressor is `ctx compress run`, which sees
//! the messages and none of the labels. What is counted here, tokens too, shares no code with the compressor.

mod label;
mod output;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::workspace;
use label::Conversation;
use output::Output;

/// The shares of the conversation's tokens that it is cut to, in percent.
const SHARES: [u64; 3] = [50, 25, 10];

/// The strategies that are compared.
const STRATEGIES: [&str; 4] = ["telegraphic", "sentences", "key-message", "last-rounds"];

/// Builds `ctx` with optimizations and prints a row for each strategy and share, then how well reports do.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        bail!("usage: cargo xtask bench compression");
    }
    workspace::run(&mut workspace::cargo(&["build", "--release", "--package", "ctx-cli", "--quiet"]))?;
    let folder = workspace::root().join("target/retention");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let conversations = Conversation::read_all(&workspace::root().join("crates/ctx-compress/conversations"))?;
    println!("{} conversations; all figures in percent but the last", conversations.len());
    println!(
        "{:<12} {:>5} {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>5} {:>5} {:>7}",
        "strategy", "share", "chat", "task", "beside", "trail", "asked", "stale", "pairs", "over", "ms"
    );
    for strategy in STRATEGIES {
        for share in SHARES {
            println!("{}", row(&conversations, strategy, share, &folder)?);
        }
    }
    println!("facts that reports on labelled summaries found, of those that were lost and invented");
    let test = [
        "test",
        "--quiet",
        "--package",
        "ctx-compress",
        "--test",
        "quality",
        "labelled",
        "--",
        "--nocapture",
    ];
    workspace::run(&mut workspace::cargo(&test))
}

/// What is added up over the conversations, as (kept, of).
#[derive(Default)]
struct Sums {
    counts: BTreeMap<&'static str, (usize, usize)>,
    time: Duration,
}

impl Sums {
    fn add(&mut self, name: &'static str, (kept, of): (usize, usize)) {
        let sum = self.counts.entry(name).or_default();
        *sum = (sum.0 + kept, sum.1 + of);
    }

    /// A share in percent with one decimal.
    fn percent(&self, name: &str) -> String {
        let (kept, of) = self.counts.get(name).copied().unwrap_or_default();
        let tenths = (kept * 1_000).checked_div(of);
        tenths.map_or_else(|| "-".to_owned(), |tenths| format!("{}.{}", tenths / 10, tenths % 10))
    }

    fn count(&self, name: &str) -> usize {
        self.counts.get(name).map_or(0, |(kept, _)| *kept)
    }
}

fn row(conversations: &[Conversation], strategy: &str, share: u64, folder: &Path) -> Result<String> {
    let mut sums = Sums::default();
    for conversation in conversations {
        let budget = conversation.tokens() * share / 100;
        let started = Instant::now();
        let output = compress(conversation, strategy, budget, folder)?;
        sums.time += started.elapsed();
        let kept = conversation.facts.iter().filter(|fact| output.has(fact)).count();
        let is_task = conversation.name.starts_with("task") || conversation.name.starts_with("technical");
        sums.add(if is_task { "task" } else { "chat" }, (kept, conversation.facts.len()));
        let cued = || conversation.facts.iter().filter(|fact| !fact.cues.is_empty());
        sums.add("beside", (cued().filter(|fact| output.has_beside(fact)).count(), cued().count()));
        sums.add("trail", output.trail(&conversation.messages));
        sums.add("asked", (usize::from(output.keeps_task(&conversation.messages)), 1));
        let stale =
            conversation.updates.iter().filter(|(old, new)| output.has(old) && !output.has(new)).count();
        sums.add("stale", (stale, conversation.updates.len()));
        sums.add("pairs", (usize::from(!output.is_paired()), 1));
        sums.add("over", (usize::from(output.tokens() > budget), 1));
    }
    let each = sums.time.as_millis() / conversations.len().max(1) as u128;
    Ok(format!(
        "{strategy:<12} {share:>4}% {:>7} {:>7} {:>7} {:>6} {:>6} {:>6} {:>5} {:>5} {each:>7}",
        sums.percent("chat"),
        sums.percent("task"),
        sums.percent("beside"),
        sums.percent("trail"),
        sums.percent("asked"),
        sums.percent("stale"),
        sums.count("pairs"),
        sums.count("over"),
    ))
}

/// Runs `ctx compress run` on the messages alone.
fn compress(conversation: &Conversation, strategy: &str, budget: u64, folder: &Path) -> Result<Output> {
    let input = folder.join(format!("{}.json", conversation.name));
    fs::write(&input, Value::from(conversation.messages.clone()).to_string())?;
    let program: PathBuf = workspace::root().join("target/release/ctx");
    let mut command = Command::new(program);
    command.args(["compress", "run", "--json", "--counter", "estimate", "--strategy", strategy, "--session"]);
    command.arg(&input).args(["--budget", &budget.to_string()]).stdin(Stdio::null());
    let output = command.output().context("cannot start `ctx`")?;
    if !output.status.success() {
        bail!("{} at {budget} tokens: {}", conversation.name, String::from_utf8_lossy(&output.stderr).trim());
    }
    Output::read(&output.stdout).with_context(|| format!("`ctx compress` on {}", conversation.name))
}
