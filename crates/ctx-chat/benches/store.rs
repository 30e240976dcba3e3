//! What the store costs: appending one message until it is durable, loading long conversations, and many conversations
//! on one file at once.
#![expect(clippy::expect_used, reason = "a benchmark ends where something is not as expected")]

#[allow(dead_code, reason = "the benchmarks of the engine use the rest")]
#[path = "../../ctx-engine/benches/conversation/mod.rs"]
mod conversation;

use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use ctx_chat::{Conversation, ConversationStore as _, LogEntry, SqliteStore, Step};
use ctx_types::Role;
use ctx_types::session::{Node, NodeId, SessionOp};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Conversations on one file, and the tasks that write them.
const CONVERSATIONS: usize = 1_000;
const TASKS: usize = 8;

/// What is said in each of them.
const MESSAGES: usize = 10;

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = appending, loading, sharing
}
criterion_main!(benches);

/// One message, and one wait for the disk.
fn appending(criterion: &mut Criterion) {
    let (runtime, folder) = (runtime(), folder());
    let mut group = criterion.benchmark_group("append");
    for size in SIZES {
        let store = open(&folder.path().join(format!("{size}.db")));
        let mut messages = conversation::Conversation::new(1, conversation::Variables::Off);
        let session = messages.session(size);
        let mut chat = runtime.block_on(Conversation::import(&store, "c", session, None)).expect("it is new");
        group.bench_function(BenchmarkId::new("durable", size), |bencher| {
            bencher.iter_custom(|times| {
                let nodes: Vec<Node> = messages.by_ref().take(usize::try_from(times).unwrap_or(0)).collect();
                runtime.block_on(append(&store, &mut chat, nodes))
            });
        });
    }
    group.finish();
}

async fn append(store: &SqliteStore, chat: &mut Conversation, nodes: Vec<Node>) -> Duration {
    let begun = Instant::now();
    for node in nodes {
        chat.append(store, node, Some(1)).await.expect("the disk has room");
    }
    begun.elapsed()
}

/// A checkpoint alone, and one that a fifth of the messages follow as steps.
fn loading(criterion: &mut Criterion) {
    let (runtime, folder) = (runtime(), folder());
    let mut group = criterion.benchmark_group("load");
    group.sampling_mode(SamplingMode::Flat);
    for size in SIZES {
        for (name, steps) in [("checkpoint", 0), ("and steps", size / 5)] {
            let store = open(&folder.path().join(format!("{name} {size}.db")));
            runtime.block_on(fill(&store, size, steps));
            group.throughput(Throughput::Elements(size as u64));
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| runtime.block_on(Conversation::load(&store, "c")).expect("it is there"));
            });
        }
    }
    group.finish();
}

/// Makes a conversation of so many messages, so many of them steps after the checkpoint.
async fn fill(store: &SqliteStore, size: usize, steps: usize) {
    let mut messages = conversation::Conversation::new(1, conversation::Variables::Off);
    let session = messages.session(size - steps);
    let mut parent = session.active_leaf_id().clone();
    Conversation::import(store, "c", session, None).await.expect("it is new");
    let step = |(number, node): (usize, Node)| {
        let id = NodeId::from(format!("later{number}"));
        let parent = std::mem::replace(&mut parent, id.clone());
        let op = Box::new(SessionOp::Append { parent, node: Box::new(node.with_id(id)) });
        LogEntry { at_millis: Some(1), step: Step::Do { label: "add".to_owned(), op } }
    };
    let steps = messages.take(steps).enumerate().map(step).collect();
    store.append("c", 0, steps).await.expect("nobody else writes");
}

/// A thousand conversations from eight tasks: begun, and ten messages said in each.
fn sharing(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let runtime = runtime.expect("a runtime of two threads");
    let mut group = criterion.benchmark_group("share");
    group.sampling_mode(SamplingMode::Flat);
    group.throughput(Throughput::Elements((CONVERSATIONS * (MESSAGES + 1)) as u64));
    group.bench_function(format!("{CONVERSATIONS} conversations, {TASKS} tasks"), |bencher| {
        bencher.iter_custom(|times| {
            (0..times)
                .map(|_| {
                    let folder = folder();
                    let store = open(&folder.path().join("chats.db"));
                    runtime.block_on(share(&store))
                })
                .sum()
        });
    });
    group.finish();
}

async fn share(store: &SqliteStore) -> Duration {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..TASKS).map(|task| tokio::spawn(talk(store.clone(), task))).collect();
    for task in tasks {
        task.await.expect("no task panics");
    }
    begun.elapsed()
}

async fn talk(store: SqliteStore, task: usize) {
    for number in (task..CONVERSATIONS).step_by(TASKS) {
        let id = format!("c{number}");
        let mut chat = Conversation::create(&store, &id, Some(1)).await.expect("it is new");
        for message in 0..MESSAGES {
            let node = Node::new(Role::User, format!("message {message}"));
            chat.append(&store, node, Some(1)).await.expect("nobody else writes it");
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime of one thread")
}

/// A folder on the disk on which the program is built: where temporary files go may be no disk.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build folder can be written")
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path).expect("a new file in a new folder")
}
