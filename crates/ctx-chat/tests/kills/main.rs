//! A program that talks and calls tools is killed at chance moments: what it said was stored is there, once, and the
//! conversation goes on.
//!
//! The program is this one, started again by [`CHILD`]; it tells on standard output what is stored, and is killed
//! after a chance number of such lines and a chance time. 200 times, or as often as `CTX_KILLS` says; the moments
//! follow from `CTX_KILLS_SEED`.
#![expect(clippy::unwrap_used, reason = "a broken expectation is a failed test")]

mod chance;
mod child;
mod left;
#[path = "../server/room.rs"]
mod room;
#[path = "../server/mod.rs"]
mod server;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ctx_chat::{Conversation, SqliteStore};
use ctx_wire::{Dialect, lint};
use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

use chance::Chance;
use room::{Room, block_on, ending};
use server::{Answer, Received, Server};

/// Names the store of the program that is to be killed, and the address of its server.
const CHILD: [&str; 2] = ["CTX_KILLS_STORE", "CTX_KILLS_URL"];

/// How often one conversation is interrupted; then another begins, so that all are of some length and none is long.
const KILLS_A_STORE: u64 = 10;

/// After how many messages a program is killed at the latest.
const MOST_MESSAGES: u64 = 12;

/// How long it may go on after the last message that was waited for: what one message takes, and more.
const LONGEST: Duration = Duration::from_millis(4);

fn main() -> ExitCode {
    if let [Ok(store), Ok(url)] = CHILD.map(std::env::var) {
        child::talk(Path::new(&store), &url);
    }
    let trial = Trial::test("whatever_is_killed_loses_nothing_and_goes_on", || {
        let number = |name, usual| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
        kill(number("CTX_KILLS", 200), number("CTX_KILLS_SEED", 1));
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

/// Kills programs so often, at moments that follow from a seed; as many at once as there are processors.
fn kill(count: u64, seed: u64) {
    let stores = Mutex::new((0..count).step_by(usize::try_from(KILLS_A_STORE).unwrap()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(first) = next(&stores) {
                    kill_talks(count.min(first + KILLS_A_STORE) - first, seed.wrapping_mul(1 << 32) + first);
                }
            });
        }
    });
}

fn next(stores: &Mutex<impl Iterator<Item = u64>>) -> Option<u64> {
    stores.lock().unwrap_or_else(PoisonError::into_inner).next()
}

/// Kills one program after the other, all of which talk in one conversation.
fn kill_talks(count: u64, seed: u64) {
    let (mut chance, folder, server) = (Chance::new(seed), folder(), Server::start(answer));
    let store = folder.path().join("chats.db");
    let endpoint = child::endpoint(&server.base_url());
    let mut room = Room::at(server, endpoint, &child::agent());
    room.store = SqliteStore::open(&store).unwrap();
    room.conversation = block_on(Conversation::create(&room.store, "c", None)).unwrap();
    for _ in 0..count {
        // Nobody else has the file open while a program writes it.
        room.store = SqliteStore::in_memory().unwrap();
        let told = interrupt(&store, &room.server.base_url(), &mut chance);
        (room.store, room.conversation) = left::check(&store, &told);
        go_on(&store, &mut room);
    }
}

/// A folder in memory, where there is one: a program dies and not the machine, so no disk need be waited for.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Lets a program talk and kills it; returns what it told.
fn interrupt(store: &Path, url: &str, chance: &mut Chance) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.envs(CHILD.into_iter().zip([store.as_os_str(), url.as_ref()]));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut told = Vec::new();
    for _ in 0..chance.below(MOST_MESSAGES) {
        let mut line = String::new();
        assert!(output.read_line(&mut line).unwrap() > 0, "the program ended by itself: {:?}", child.wait());
        told.push(line);
    }
    let (begun, longest) = (Instant::now(), u64::try_from(LONGEST.as_micros()).unwrap());
    let more = Duration::from_micros(chance.below(longest));
    while begun.elapsed() < more {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_ne!(status.code(), Some(101), "the program panicked");
    // What it told before it was killed, it told; half a line says nothing.
    let rest = std::io::read_to_string(output).unwrap();
    told.extend(rest.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned));
    told.iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Goes on with what is left as whoever opens it does, says `continue`, and checks what was sent meanwhile.
fn go_on(store: &Path, room: &mut Room) {
    block_on(room.conversation.recover(&room.store, Some(1))).unwrap();
    let spill = child::spill(store);
    let end = room.turn("continue", |chat| child::equip(chat, &spill));
    assert_eq!(ending(&end), "answered", "{:?}", room.stored());
    for request in room.server.take_requests() {
        let found = lint::check(&request.json(), Dialect::OpenaiChat);
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Calls two tools, one of which says much, then another one, then answers.
fn answer(request: &Received) -> Answer {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    let turn = messages.iter().rev().take_while(|message| message["role"] != "user");
    match turn.filter(|message| message["role"] == "tool").count() {
        0 => Answer::calls(&[("call_0", "first", "{}"), ("call_1", "echo", &left::long_arguments())]),
        2 => Answer::calls(&[("call_0", "second", "{}")]),
        _ => Answer::text("That is all of it."),
    }
}
