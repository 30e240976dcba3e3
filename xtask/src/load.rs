//! `cargo xtask load`: load tests of `ctx serve`, compared with its provider alone and with killed processes.
//!
//! The scripted provider and the clients run in this program. They share a clock, which measures the delay of each
//! chunk.

pub(crate) mod client;
pub(crate) mod gateway;
mod prefix;
mod streams;
pub(crate) mod upstream;

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};

use crate::packages::loud;
use crate::workspace;
use client::Call;
use gateway::{Folder, Gateway, Postgres};
use streams::{Outcome, Streams, Turn, seed, verify};

/// Size of a load test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    /// Chunks of a response.
    pieces: u32,
    /// Number of conversations.
    conversations: usize,
    /// Number of long conversations, and of the messages that each starts with.
    long: usize,
    messages: usize,
    /// Concurrent streams. Must divide both numbers of conversations.
    streams: usize,
    /// Consecutive turns of each stream.
    rounds: usize,
    /// Duration of the kills, and the interval between them, in seconds.
    kill_seconds: u64,
    kill_every: u64,
}

const FULL: Plan = Plan {
    pieces: 200,
    conversations: 1_000,
    long: 200,
    messages: 10_000,
    streams: 200,
    rounds: 5,
    kill_seconds: 60,
    kill_every: 5,
};

const QUICK: Plan = Plan {
    pieces: 50,
    conversations: 40,
    long: 8,
    messages: 1_000,
    streams: 8,
    rounds: 3,
    kill_seconds: 10,
    kill_every: 3,
};

/// Maximum overhead over the provider's time, in milliseconds: median and 99th percentile.
const OVERHEAD: [f64; 2] = [3.0, 25.0];

/// Maximum memory of an open stream, in KiB.
const MEMORY: u64 = 200;

/// Runs the load tests.
///
/// - `--postgres`, `--sqlite`: only the tests of 2 processes, on that store
/// - `--quick`: small numbers
/// - `--turns N`: only the prefix that requests of conversations of so many turns share
/// - `--program`: a prebuilt command
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let (mut plan, mut program, mut part, mut rest) = (FULL, None, None, arguments);
    let mut turns = None;
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        match (first.as_str(), more.split_first()) {
            ("--quick", _) => plan = QUICK,
            ("--postgres" | "--sqlite", _) if part.is_none() => part = Some(first.as_str()),
            ("--program", Some((path, more))) => (program, rest) = (Some(std::path::absolute(path)?), more),
            ("--turns", Some((count, more))) => (turns, rest) = (Some(count.parse()?), more),
            _ => {
                bail!("usage: cargo xtask load [--postgres | --sqlite | --turns N] [--quick] [--program CTX]")
            }
        }
    }
    let program = program.map_or_else(workspace::release, Ok)?;
    if let Some(turns) = turns {
        return prefix::measure(turns, &program);
    }
    if cfg!(debug_assertions) {
        // Clients and provider share the machine with the gateway, so they must be fast too.
        let mut command =
            workspace::cargo(&["run", "--quiet", "--release", "--package", "xtask", "--", "load"]);
        command.args(part).args((plan == QUICK).then_some("--quick"));
        return workspace::run(command.arg("--program").arg(program));
    }
    let upstream = upstream::start(Some(plan.pieces))?;
    println!("{plan:?}");
    if part.is_none() {
        on_one(plan, &program, upstream)?;
    }
    if part == Some("--sqlite") {
        return on_two(plan, &program, upstream, ("SQLite", "shared.db"));
    }
    match Postgres::start() {
        Ok(postgres) => on_two(plan, &program, upstream, ("PostgreSQL", &postgres.address)),
        Err(error) => {
            println!("{}", loud(&format!("NOT RUN on PostgreSQL: {error:#}")));
            Ok(())
        }
    }
}

/// One process with `SQLite`: measures the overhead of a turn and the memory of open streams.
fn on_one(plan: Plan, program: &Path, upstream: SocketAddr) -> Result<()> {
    let folder = Folder::new()?;
    let store = folder.0.join("conversations.db");
    let store = store.to_string_lossy();
    let gateway = Gateway::spawn(&mut gateway::command(program, &folder, (&store, 0), upstream))?;
    seed(plan, &[gateway.address])?;
    let sent = sent(gateway.address)?;
    let long = Streams { to: &[gateway.address], plan, conversations: plan.long, body: None, salt: "long" };
    let direct = Streams { to: &[upstream], body: Some(&sent), ..long }.run(&[])?;
    let through = long.run(&[&gateway])?;
    table(&format!("{} messages a conversation", plan.messages), &direct, &through);
    let all = Streams { conversations: plan.conversations, salt: "all", ..long }.run(&[&gateway])?;
    table(&format!("{} conversations", plan.conversations), &direct, &all);
    let said: Vec<Turn> = through.said.into_iter().chain(all.said).collect();
    verify(gateway.address, &said)?;
    drop(gateway);
    memory(plan, program, (&folder, &store), upstream)
}

/// Returns the provider request of a turn of a long conversation.
fn sent(gateway: SocketAddr) -> Result<Vec<u8>> {
    let call = Call { conversation: Some("c0"), is_dry: true, ..Call::default() };
    let sent = client::ask(gateway, &call, &client::body("How far is it?", true))?;
    println!("a request for the provider has {} KB", sent.len() / 1_000);
    Ok(sent)
}

/// Measures the memory of open streams, in a process that returns freed memory to the system. Otherwise the streams
/// could reuse memory from loading.
fn memory(plan: Plan, program: &Path, (folder, store): (&Folder, &str), upstream: SocketAddr) -> Result<()> {
    let mut command = gateway::command(program, folder, (store, 0), upstream);
    // The allocator of glibc gives back what is freed.
    command.env("MALLOC_ARENA_MAX", "1").env("MALLOC_TRIM_THRESHOLD_", "65536");
    let gateway = Gateway::spawn(command.env("MALLOC_MMAP_THRESHOLD_", "65536"))?;
    for index in 0..plan.long {
        let name = streams::name(index);
        let call = Call { conversation: Some(&name), ..Call::default() };
        client::ask(gateway.address, &call, &client::body("What time is it?", false))?;
    }
    let before = gateway.memory("VmRSS");
    let plan = Plan { rounds: 1, ..plan };
    let to = [gateway.address];
    let streams = Streams { to: &to, plan, conversations: plan.long, body: None, salt: "memory" };
    let peak = streams.run(&[&gateway])?.memory;
    let (Some(before), Some(peak)) = (before, peak) else {
        println!("the system does not say how much memory a process has");
        return Ok(());
    };
    let each = peak.saturating_sub(before) / plan.streams as u64;
    println!(
        "{} MB with the conversations, at most {} MB with {} streams",
        before >> 10,
        peak >> 10,
        plan.streams
    );
    row("memory of an open stream", &format!("{each} KiB"), &format!("{MEMORY} KiB"), each <= MEMORY);
    Ok(())
}

/// Two processes on a store: undisturbed, then with one of them killed every few seconds.
fn on_two(plan: Plan, program: &Path, upstream: SocketAddr, (kind, store): (&str, &str)) -> Result<()> {
    let folder = Folder::new()?;
    // The address of a server stays as it is.
    let store = if store.contains(':') {
        store.to_owned()
    } else {
        folder.0.join(store).to_string_lossy().into_owned()
    };
    let processors = thread::available_parallelism().map_or(2, NonZero::get);
    let threads = (processors / 2).max(1).to_string();
    println!("two processes on {processors} processors: `ctx serve --threads {threads}` each");
    let start = |port| {
        let store = (&*store, port);
        Gateway::spawn(gateway::command(program, &folder, store, upstream).args(["--threads", &threads]))
    };
    let mut gateways = [start(0)?, start(0)?];
    let to = gateways.each_ref().map(|gateway| gateway.address);
    seed(plan, &to)?;
    visit(plan, &to)?;
    let sent = sent(to[0])?;
    let long = Streams { to: &to, plan, conversations: plan.long, body: None, salt: "two" };
    let [one, two] = &gateways;
    let direct = Streams { to: &[upstream], body: Some(&sent), ..long }.run(&[])?;
    let outcome = long.run(&[one, two])?;
    table(&format!("two processes on {kind}"), &direct, &outcome);
    let mut said = outcome.said;
    let over = AtomicBool::new(false);
    let all = Streams { conversations: plan.conversations, salt: "kills", ..long };
    let (kept, kills) = thread::scope(|scope| {
        let streams: Vec<_> = (0..plan.streams)
            .map(|stream| {
                scope.spawn({
                    let over = &over;
                    move || all.insist(stream, over)
                })
            })
            .collect();
        let kills = kill(plan, &mut gateways, &start, &to);
        over.store(true, Ordering::Relaxed);
        let kept: Vec<_> = streams.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        (kept, kills)
    });
    let (kills, mut unfinished) = (kills?, 0);
    for kept in kept {
        let kept = kept.map_err(|_| anyhow::anyhow!("a client ended early"))??;
        unfinished += kept.unfinished;
        said.extend(kept.said);
    }
    println!("{kills} processes were killed; {unfinished} turns were not finished, and gone on with");
    ensure!(unfinished > 0, "no turn was under way when processes were killed");
    verify(to[0], &said)
}

/// Runs a turn of each long conversation in both processes, so that both have loaded its latest step. Prints the time
/// of these turns separately.
fn visit(plan: Plan, to: &[SocketAddr; 2]) -> Result<()> {
    let begun = Instant::now();
    for index in 0..plan.long {
        let name = streams::name(index);
        let call = Call { conversation: Some(&name), ..Call::default() };
        for process in [index + 1, index] {
            client::ask(to[process % 2], &call, &client::body("What time is it?", false))?;
        }
    }
    let millis = begun.elapsed().as_millis() / (2 * plan.long.max(1)) as u128;
    println!("a turn of a process that reads the conversation first takes {millis} ms");
    Ok(())
}

/// Kills and restarts the processes in turn. Returns the number of kills.
fn kill(
    plan: Plan,
    gateways: &mut [Gateway; 2],
    start: &dyn Fn(u16) -> Result<Gateway>,
    to: &[SocketAddr; 2],
) -> Result<usize> {
    let (begun, mut kills) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(plan.kill_seconds) {
        thread::sleep(Duration::from_secs(plan.kill_every));
        let (gateway, address) = (&mut gateways[kills % 2], to[kills % 2]);
        gateway.kill()?;
        *gateway = start(address.port())?;
        kills += 1;
    }
    Ok(kills)
}

/// Prints the overhead of the gateways over the provider alone.
fn table(what: &str, direct: &Outcome, through: &Outcome) {
    println!("\n| {what} | provider alone, p50, p99 | through `ctx serve` | more | at most | |");
    println!("|---|--:|--:|--:|--:|---|");
    let rows = [
        ("request to first piece", &direct.first, &through.first),
        ("a piece on its way", &direct.pieces, &through.pieces),
        ("last piece to end", &direct.end, &through.end),
    ];
    for (name, direct, through) in rows {
        let [alone, with] = [direct, through].map(|times| [0.5, 0.99].map(|share| millis(times, share)));
        let more = [with[0] - alone[0], with[1] - alone[1]];
        let is_fine = more[0] <= OVERHEAD[0] && more[1] <= OVERHEAD[1];
        let [alone, with, more, most] =
            [alone, with, more, OVERHEAD].map(|[p50, p99]| format!("{p50:.1}, {p99:.1} ms"));
        println!(
            "| {name} | {alone} | {with} | {more} | {most} | {} |",
            if is_fine { "ok" } else { "**more**" }
        );
    }
    println!();
    println!("{}", through.summary());
}

fn row(name: &str, is: &str, most: &str, is_fine: bool) {
    println!("{name}: {is}, at most {most}: {}", if is_fine { "ok" } else { "MORE" });
}

/// Returns a quantile of microseconds, in milliseconds.
#[expect(clippy::cast_precision_loss, reason = "times are far below what such a number cannot say")]
fn millis(sorted: &[u64], share: f64) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of the list")]
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).map_or(0.0, |time| *time as f64 / 1_000.0)
}
