//! `cargo xtask load --turns N`: the prefix that each request of a long conversation shares with the previous one.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::client::{self, Call};
use super::gateway::{self, Folder, Gateway};
use super::upstream;

/// An agent with lore, recall, a clock, and a note. Nothing is summarized.
const AGENT: &str = "name: Ada\nprefix: append-only\npresetMessages:\n- {role: system, content: You are Ada.}\n\
     - {role: system, content: \"It is {{time}}.\"}\n- {type: chat_history}\n\
     - {role: system, content: Answer in one sentence., depth: 4}\n\
     parameters: {processors: [{id: recall, enabled: true}], contextCompression: {autoTrigger: false}}\n";

/// Number of lamps, each with an entry of the worldbook.
const LAMPS: usize = 17;

/// Token limit of the context. A conversation of 1,000 turns exceeds it.
const TOKENS: &str = "32000";

/// Minimum share of the median request that repeats the previous one, in thousandths.
const MIN_SHARE: u64 = 950;

/// A client, and the messages that it sends.
struct Client {
    name: &'static str,
    conversation: Option<&'static str>,
    /// Maximum number of messages in a request.
    window: usize,
}

const CLIENTS: [Client; 4] = [
    Client { name: "unnamed, full history", conversation: None, window: usize::MAX },
    Client { name: "named, full history", conversation: Some("full"), window: usize::MAX },
    Client { name: "named, one message", conversation: Some("single"), window: 1 },
    Client { name: "named, last 21 messages", conversation: Some("window"), window: 21 },
];

/// Prints the shared part of requests of conversations with so many turns.
pub(super) fn measure(turns: usize, program: &Path) -> Result<()> {
    ensure!(turns > 0, "a conversation has at least 1 turn");
    let upstream = upstream::start(Some(1))?;
    let folder = Folder::new()?;
    fs::write(folder.0.join("agent.yaml"), AGENT)?;
    fs::create_dir_all(folder.0.join("worldbooks"))?;
    fs::write(folder.0.join("worldbooks/lamps.json"), lamps().to_string())?;
    let store = folder.0.join("conversations.db");
    let mut command = gateway::command(program, &folder, (&store.to_string_lossy(), 0), upstream);
    let gateway = Gateway::spawn(command.args(["--context-tokens", TOKENS]))?;
    println!("{turns} turns in {TOKENS} tokens, the share of a request that repeats the previous one:");
    for client in CLIENTS {
        let shares = client.shares(turns, gateway.address)?;
        let [median, low] = [shares[turns / 2], shares[turns / 20]];
        println!(
            "{}: median {} (at least {}: {}), 5th percentile {}",
            client.name,
            percent(median),
            percent(MIN_SHARE),
            if median >= MIN_SHARE { "ok" } else { "LESS" },
            percent(low)
        );
    }
    Ok(())
}

impl Client {
    /// Sends the turns of a conversation. Returns the share of each request that repeats the previous one, in thousandths,
    /// sorted.
    fn shares(&self, turns: usize, address: SocketAddr) -> Result<Vec<u64>> {
        let (mut said, mut shares) = (Vec::new(), Vec::new());
        let call = Call { conversation: self.conversation, ..Call::default() };
        for turn in 0..turns {
            said.push(json!({ "role": "user", "content": question(turn) }));
            let sent = &said[said.len().saturating_sub(self.window)..];
            let body = json!({ "model": "agent", "messages": sent }).to_string();
            let (head, reply) = client::ask_with_head(address, &call, body.as_bytes())?;
            shares.push(share(&head).context("the response has no `x-ctx-shared-prefix`")?);
            let reply: Value = serde_json::from_slice(&reply)?;
            said.push(reply["choices"][0]["message"].clone());
        }
        shares.sort_unstable();
        Ok(shares)
    }
}

/// Reads `x-ctx-shared-prefix: SHARED/TOTAL`, in thousandths.
fn share(head: &str) -> Option<u64> {
    let value = head.lines().find_map(|line| line.strip_prefix("x-ctx-shared-prefix: "))?;
    let (shared, total) = value.split_once('/')?;
    (1_000 * shared.parse::<u64>().ok()?).checked_div(total.trim().parse().ok()?)
}

fn question(turn: usize) -> String {
    let (lamp, hour, other) = (turn % LAMPS, turn % 24, turn * 7 % LAMPS);
    format!(
        "Question {turn}: who lit lamp {lamp} of the pier at {hour}:30, and which ship passed it in the rain before \
        the keeper of lamp {other} had found the key of the harbor office?"
    )
}

fn lamps() -> Value {
    let entry = |lamp: usize| {
        let content = format!("The harbor master built lamp {lamp} in the year of the great storm.");
        json!({ "uid": lamp, "key": [format!("lamp {lamp} ")], "content": content })
    };
    json!({ "entries": (0..LAMPS).map(entry).collect::<Vec<_>>() })
}

fn percent(thousandths: u64) -> String {
    format!("{}.{}%", thousandths / 10, thousandths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_shared_prefix_of_a_head() {
        assert_eq!(share("HTTP/1.0 200 OK\r\nx-ctx-shared-prefix: 95/100\r\n\r\n"), Some(950));
        assert_eq!(share("HTTP/1.0 200 OK\r\n\r\n"), None);
        assert_eq!(percent(972), "97.2%");
    }
}
