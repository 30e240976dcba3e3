//! Checks that 2 processes on one `SQLite` file lose no completed turn while one of them is killed repeatedly.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail, ensure};

use super::client::{self, Call};
use super::gateway::{Folder, Gateway};
use super::{streams, upstream};

/// Concurrent turns, and the conversations that share them.
const TURNS: usize = 200;
const CONVERSATIONS: usize = 4;

/// Chunks of a reply. A reply takes 0.2 s, so some kills interrupt a reply.
const CHUNKS: u32 = 10;

/// Interval of kills.
const KILL_INTERVAL: Duration = Duration::from_secs(2);

/// Attempts of each turn, and the pause between them.
const ATTEMPTS: usize = 200;
const PAUSE: Duration = Duration::from_millis(200);

/// A turn that the client saw complete.
struct Turn {
    conversation: usize,
    text: String,
    reply: String,
}

pub(super) fn run(program: &Path) -> Result<()> {
    let (begun, folder, upstream) = (Instant::now(), Folder::new()?, upstream::start(CHUNKS)?);
    let store = folder.0.join("conversations.db");
    let store = store.to_string_lossy();
    let start = |port| Gateway::start(program, &folder, (&store, port), upstream);
    let (lasting, mut killed) = (start(0)?, start(0)?);
    let to = [lasting.address, killed.address];
    let (answered, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (turns, kills) = thread::scope(|scope| {
        let (answered, failed) = (&answered, &failed);
        let clients: Vec<_> =
            (0..TURNS).map(|turn| scope.spawn(move || insist(to, turn, answered, failed))).collect();
        let mut kills = 0;
        while clients.iter().any(|client| !client.is_finished()) {
            thread::sleep(KILL_INTERVAL);
            killed.kill()?;
            killed = start(to[1].port())?;
            kills += 1;
        }
        let turns =
            clients.into_iter().map(|client| client.join().map_err(|_| anyhow!("a client panicked"))?);
        Ok::<_, anyhow::Error>((turns.collect::<Result<Vec<_>>>()?, kills))
    })?;
    let messages = verify(to[0], &turns)?;
    println!(
        "{TURNS} turns of {CONVERSATIONS} conversations were answered in {} s by two processes on one SQLite file, one of \
         which was killed {kills} times; {} attempts failed, {} of them in the middle of a turn. Each answered turn is on \
         the active path exactly once",
        begun.elapsed().as_secs(),
        failed.into_inner(),
        messages - 2 * TURNS,
    );
    Ok(())
}

/// Repeats a turn until it completes. Each attempt has a different text, because an earlier attempt may be stored.
fn insist(to: [SocketAddr; 2], turn: usize, answered: &AtomicUsize, failed: &AtomicUsize) -> Result<Turn> {
    let conversation = turn % CONVERSATIONS;
    let name = streams::name(conversation);
    let call = Call { conversation: Some(&name), ..Call::default() };
    for attempt in 0..ATTEMPTS {
        let text = format!("turn {turn}, attempt {attempt}.");
        // Each process starts with its own conversations, so that a killed process holds leases.
        let address = to[(turn + attempt) % to.len()];
        match client::stream(address, &call, &client::body(&text, true)) {
            Ok(heard) => {
                answered.fetch_add(1, Ordering::Relaxed);
                return Ok(Turn { conversation, text, reply: heard.text });
            }
            Err(_) => failed.fetch_add(1, Ordering::Relaxed),
        };
        thread::sleep(PAUSE);
    }
    bail!("turn {turn} was never answered; {} were", answered.load(Ordering::Relaxed))
}

/// Checks that each turn is on the active path once and its reply follows. Returns the number of messages.
fn verify(from: SocketAddr, turns: &[Turn]) -> Result<usize> {
    let mut count = 0;
    for conversation in 0..CONVERSATIONS {
        let path = streams::texts(from, conversation)?;
        count += path.len();
        for Turn { text, reply, .. } in turns.iter().filter(|turn| turn.conversation == conversation) {
            let places: Vec<usize> = (0..path.len()).filter(|place| path[*place] == *text).collect();
            let [place] = places[..] else {
                bail!("`{text}` is {} times on the active path of conversation {conversation}", places.len())
            };
            let next = path.get(place + 1).map(String::as_str);
            ensure!(next == Some(reply), "`{text}` is followed by {next:?} and not by `{reply}`");
        }
    }
    Ok(count)
}
