//! Streams that are open at the same time, each with one turn after the other; and what must be stored of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Plan;
use super::client::{self, Call, Heard};
use super::gateway::Gateway;
use super::upstream::RATE;

/// How many messages the conversations have that are not long.
const SHORT: usize = 20;

/// How often an unfinished turn is asked for again, and how long is waited before that.
const ATTEMPTS: usize = 100;
const PAUSE: Duration = Duration::from_millis(200);

/// How many microseconds later in the time of a piece each stream begins than the one before: some 0.618 of the 20,000 that
/// a piece has, and without a common divisor, so that however many streams there are, they are spread over that time.
const PHASE: u64 = 12_361;

/// How often the memory of processes is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// What messages are made of.
const WORDS: [&str; 16] = [
    "harbour", "the", "lamp", "was", "lit", "before", "dawn", "and", "nobody", "in", "town", "knew", "who",
    "had", "the", "keys",
];

/// Streams through these gateways.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams<'a> {
    pub(super) to: &'a [SocketAddr],
    pub(super) plan: Plan,
    /// How many of the conversations are gone on with.
    pub(super) conversations: usize,
    /// What is sent in place of what a user says.
    pub(super) body: Option<&'a [u8]>,
    /// What tells the words of these streams from those of others.
    pub(super) salt: &'a str,
}

/// A turn whose end its client has heard of.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    conversation: usize,
    text: String,
    answer: String,
}

/// What came of streams; times are sorted, in microseconds.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) first: Vec<u64>,
    pub(super) pieces: Vec<u64>,
    pub(super) end: Vec<u64>,
    pub(super) said: Vec<Turn>,
    /// How much memory the gateways had at the most, in KiB.
    pub(super) memory: Option<u64>,
    /// How much processor time they had, in milliseconds.
    processor: Option<u64>,
}

impl Outcome {
    fn take(&mut self, turn: Turn, heard: Heard) {
        self.first.push(heard.first);
        self.pieces.extend(heard.pieces);
        self.end.push(heard.end);
        self.said.push(turn);
    }

    fn sort(mut self) -> Self {
        for times in [&mut self.first, &mut self.pieces, &mut self.end] {
            times.sort_unstable();
        }
        self
    }

    pub(super) fn summary(&self) -> String {
        let turns = self.said.len();
        let processor = self.processor.map_or("n/a".to_owned(), |millis| {
            format!("{}.{:02} ms", millis / turns.max(1) as u64, millis * 100 / turns.max(1) as u64 % 100)
        });
        format!(
            "{turns} turns, {} pieces; processor time of the gateway for a turn: {processor}",
            self.pieces.len()
        )
    }
}

/// What came of a stream while processes were killed.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) said: Vec<Turn>,
    pub(super) unfinished: usize,
}

/// The name of a conversation.
pub(super) fn name(index: usize) -> String {
    format!("c{index}")
}

/// Begins the conversations, the long ones first.
pub(super) fn seed(plan: Plan, to: &[SocketAddr]) -> Result<()> {
    for index in 0..plan.conversations {
        let count = if index < plan.long { plan.messages } else { SHORT };
        let messages: Vec<Value> = (0..count - 1).map(|number| message(index, number)).collect();
        let body = json!({ "model": "agent", "messages": messages }).to_string();
        let name = name(index);
        let call = Call { conversation: Some(&name), ..Call::default() };
        client::ask(to[index % to.len()], &call, body.as_bytes()).context("a conversation was not begun")?;
    }
    Ok(())
}

/// A message of some 600 bytes.
fn message(conversation: usize, number: usize) -> Value {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    let mut state = conversation * 100_003 + number;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        WORDS[(state >> 33) % WORDS.len()]
    });
    let text: Vec<&str> = words.take(110).collect();
    json!({ "role": role, "content": format!("{number} {}", text.join(" ")) })
}

impl Streams<'_> {
    /// Opens all streams, and takes the turns of each, one after the other.
    pub(super) fn run(&self, gateways: &[&Gateway]) -> Result<Outcome> {
        let spent = || gateways.iter().map(|gateway| gateway.processor_millis()).sum::<Option<u64>>();
        let before = spent();
        let mut outcome = Outcome::default();
        let heard = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..self.plan.streams).map(|stream| scope.spawn(move || self.turns(stream))).collect();
            while !gateways.is_empty() && threads.iter().any(|thread| !thread.is_finished()) {
                let memory = gateways.iter().map(|gateway| gateway.memory("VmRSS")).sum();
                outcome.memory = outcome.memory.max(memory);
                thread::sleep(LOOK);
            }
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for turns in heard {
            let turns = turns.map_err(|_| anyhow::anyhow!("a client ended early"))??;
            for (turn, heard) in turns {
                outcome.take(turn, heard);
            }
        }
        outcome.processor = before.and_then(|before| Some(spent()? - before));
        Ok(outcome.sort())
    }

    /// Where a stream begins in the time of one answer: nobody begins all at once, nor in step with the pieces of others.
    fn wait(&self, stream: usize) {
        let (stream, piece) = (stream as u64, 1_000_000 / u64::from(RATE));
        let answer = u64::from(self.plan.pieces) * piece * stream / self.plan.streams as u64;
        thread::sleep(Duration::from_micros(answer + stream * PHASE % piece));
    }

    fn turn(&self, stream: usize, round: usize) -> Turn {
        let conversation = (stream + round * self.plan.streams) % self.conversations;
        Turn { conversation, text: format!("{}-{stream}-{round}", self.salt), answer: String::new() }
    }

    fn turns(&self, stream: usize) -> Result<Vec<(Turn, Heard)>> {
        self.wait(stream);
        let turns = (0..self.plan.rounds).map(|round| {
            let mut turn = self.turn(stream, round);
            let heard = self.ask(&turn, None, stream + round)?;
            turn.answer.clone_from(&heard.text);
            Ok((turn, heard))
        });
        turns.collect()
    }

    fn ask(&self, turn: &Turn, after: Option<&str>, which: usize) -> Result<Heard> {
        let name = name(turn.conversation);
        let own = client::body(&turn.text, true);
        let call = Call { conversation: Some(&name), after, ..Call::default() };
        client::stream(self.to[which % self.to.len()], &call, self.body.unwrap_or(&own))
            .with_context(|| format!("`{}` was not answered", turn.text))
    }

    /// Takes turns until it is over, each to its end, whatever becomes of the processes.
    pub(super) fn insist(&self, stream: usize, over: &AtomicBool) -> Result<Kept> {
        self.wait(stream);
        let mut kept = Kept::default();
        for round in 0.. {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let mut turn = self.turn(stream, round);
            turn.answer = if let Ok(heard) = self.ask(&turn, None, stream + round) {
                heard.text
            } else {
                kept.unfinished += 1;
                self.finish(&turn, stream + round)?
            };
            kept.said.push(turn);
        }
        Ok(kept)
    }

    /// Goes on with a turn that was not finished, as far as it is stored, and returns its answer.
    fn finish(&self, turn: &Turn, which: usize) -> Result<String> {
        let mut last = None;
        for attempt in 0..ATTEMPTS {
            thread::sleep(PAUSE);
            let which = which + attempt + 1;
            let Ok(stored) = messages(self.to[which % self.to.len()], turn.conversation) else { continue };
            let after = match stored.as_slice() {
                [.., said, answer] if said.content == turn.text => return Ok(answer.content.clone()),
                [.., before, said] if said.content == turn.text => Some(before.id.as_str()),
                _ => None,
            };
            match self.ask(turn, after, which) {
                Ok(heard) => return Ok(heard.text),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| anyhow::anyhow!("no process answers")))
    }
}

/// A stored message.
#[derive(Debug)]
struct Stored {
    id: String,
    content: String,
}

fn messages(from: SocketAddr, conversation: usize) -> Result<Vec<Stored>> {
    let shown: Value = serde_json::from_slice(&client::show(from, &name(conversation))?)?;
    let text = |message: &Value, key: &str| message[key].as_str().unwrap_or_default().to_owned();
    let messages = shown["messages"].as_array().context("a conversation has no messages")?;
    Ok(messages
        .iter()
        .map(|message| Stored { id: text(message, "id"), content: text(message, "content") })
        .collect())
}

/// Checks that each conversation ends with its turns, each of them once and in order.
pub(super) fn verify(from: SocketAddr, said: &[Turn]) -> Result<()> {
    let mut expected = BTreeMap::<usize, Vec<&str>>::new();
    for turn in said {
        expected.entry(turn.conversation).or_default().extend([turn.text.as_str(), &turn.answer]);
    }
    for (conversation, expected) in &expected {
        let stored = messages(from, *conversation)?;
        let end = stored.len().saturating_sub(expected.len());
        let end: Vec<&str> = stored.iter().skip(end).map(|message| message.content.as_str()).collect();
        ensure!(end == *expected, "`{}` has {end:?} and not {expected:?}", name(*conversation));
    }
    println!("{} turns of {} conversations are stored once each, in order", said.len(), expected.len());
    Ok(())
}
