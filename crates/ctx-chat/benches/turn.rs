//! What a turn costs apart from the model: the user's message is stored, the trigger of summaries looked at, the
//! context built and kept small, the request written and checked, the answer stored.
//!
//! The model answers at once and in the same process; the conversation is loaded, and a turn was carried out before.
//! What is too much for the budget is compressed, as `ctx chat` does it, or cut off.
#![expect(clippy::expect_used, reason = "a benchmark ends where something is not as expected")]

#[allow(dead_code, reason = "the benchmarks of the engine use the rest")]
#[path = "../../ctx-engine/benches/conversation/mod.rs"]
mod conversation;

use std::path::Path;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use conversation::{Variables, agent, turn, warm, with};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use ctx_chat::{
    Chat, ChatLog, ChatModel, Conversation, Masks, RequestFailure, SqliteStore, TurnOutcome, TurnRequest,
    Watch, run_turn, with_compression,
};
use ctx_compress::mask::MaskConfig;
use ctx_engine::{CompiledAgent, Engine, TurnCache};
use ctx_pipeline::Cancel;
use ctx_types::phrase;
use ctx_types::ports::{PortError, PortErrorKind, PortFuture, Summarizer, SummaryAnswer, SummaryRequest};
use ctx_wire::{Dialect, Reply};
use tokio::runtime::Runtime;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = turns
}
criterion_main!(benches);

fn turns(criterion: &mut Criterion) {
    let runtime = runtime();
    // What a process loads once is loaded before.
    drop(warm(Variables::Off));
    let settings = with().with(|compile| compile.user_parameters = Some(with_compression(None)));
    let compressed = Engine::new().compile(&agent(Variables::Off), &settings);
    let cut = Engine::new().compile(&agent(Variables::Off), &with());
    let folder = folder();
    for size in SIZES {
        let mut group = criterion.benchmark_group("turn");
        group.sampling_mode(SamplingMode::Flat);
        for (name, agent, compresses, is_file) in [
            ("compressed, in memory", &compressed, true, false),
            ("compressed, on disk", &compressed, true, true),
            ("cut off, in memory", &cut, false, false),
            ("cut off, on disk", &cut, false, true),
        ] {
            let store = if is_file {
                open(&folder.path().join(format!("{name} {size}.db")))
            } else {
                SqliteStore::in_memory().expect("there is memory")
            };
            let mut talk = runtime.block_on(Talk::new(agent, compresses, store, size));
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter_custom(|turns| runtime.block_on(talk.turns(turns)));
            });
        }
        group.finish();
    }
}

/// A conversation that goes on.
struct Talk<'a> {
    agent: &'a CompiledAgent,
    /// Whether what is too much is compressed.
    compresses: bool,
    store: SqliteStore,
    conversation: Conversation,
    memory: TurnCache,
    writer: conversation::Writer,
}

impl<'a> Talk<'a> {
    async fn new(agent: &'a CompiledAgent, compresses: bool, store: SqliteStore, size: usize) -> Self {
        let session = conversation::Conversation::new(1, Variables::Off).session(size);
        let conversation = Conversation::import(&store, "c", session, None).await.expect("it is new");
        let (memory, writer) = (TurnCache::default(), conversation::Writer::new(2));
        let mut talk = Self { agent, compresses, store, conversation, memory, writer };
        talk.turns(2).await;
        talk
    }

    async fn turns(&mut self, turns: u64) -> Duration {
        let mut taken = Duration::ZERO;
        for _ in 0..turns {
            taken += self.turn().await;
        }
        taken
    }

    async fn turn(&mut self) -> Duration {
        let model = AtOnce(self.writer.text(800, false));
        // The trigger is looked at, and does not fire.
        let config = MaskConfig { token_threshold: u64::MAX, ..MaskConfig::default() };
        let mut chat = Chat::new(self.agent, &model);
        chat.compression = chat.compression.filter(|_| self.compresses);
        chat.masks = Some(Masks { config, summarizer: &Nobody });
        let input = Some(self.writer.text(400, false).into());
        let request = TurnRequest { turn: turn().with(|turn| turn.input = input), ..TurnRequest::default() };
        let log = ChatLog {
            store: &self.store,
            conversation: &mut self.conversation,
            memory: Some(&self.memory),
            lease: None,
        };
        let begun = Instant::now();
        let end = run_turn(&chat, Some(log), request, &mut |_| (), &Cancel::default()).await;
        let taken = begun.elapsed();
        assert!(matches!(end.expect("the store works").outcome, TurnOutcome::Answered), "the model answers");
        taken
    }
}

/// A model that has its answer ready.
struct AtOnce(String);

#[async_trait]
impl ChatModel for AtOnce {
    fn dialect(&self) -> Dialect {
        Dialect::OpenaiChat
    }

    async fn ask(&self, _: Bytes, _: &mut Watch<'_>, _: &Cancel) -> Result<Reply, RequestFailure> {
        Ok(Reply { text: self.0.as_str().into(), ..Reply::default() })
    }
}

/// A summarizer that nobody asks.
struct Nobody;

impl Summarizer for Nobody {
    fn summarize<'a>(&'a self, _: &'a SummaryRequest) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        Box::pin(async { Err(PortError::new(PortErrorKind::Unavailable, phrase!("there is none"))) })
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime of one thread")
}

/// A folder on the disk on which the program is built: where temporary files go may be no disk.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("the build folder can be written")
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path).expect("a new file in a new folder")
}
