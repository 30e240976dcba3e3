//! Benchmarks of compiling and assembling, compared with counting and copying the same texts; see also
//! `scale`.

mod conversation;

use std::hint::black_box;
use std::time::{Duration, Instant};

use bpe_openai::o200k_base;
use conversation::{Conversation, Variables, agent, append, turn, warm, with};
use criterion::measurement::WallTime;
use criterion::{
    BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use ctx_engine::{CompiledAgent, Engine};
use ctx_types::TurnInput;
use ctx_types::session::Session;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

/// Larger sizes reuse texts: a new conversation for each first assembly would take minutes.
const MOST_ANEW: usize = 10_000;

/// Exceeds the budget, so every loaded text is uncounted.
const FRESH: usize = 1_200;

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = compiling, assembling
}
criterion_main!(benches);

fn compiling(criterion: &mut Criterion) {
    let (engine, agent, with) = (Engine::new(), agent(Variables::Off), with());
    criterion.bench_function("compile", |bencher| {
        bencher.iter(|| engine.compile(black_box(&agent), &with));
    });
}

fn assembling(criterion: &mut Criterion) {
    let (compiled, turn) = (warm(Variables::Off), turn());
    for size in SIZES {
        let mut talk = Chat::new(&compiled, &turn, size);
        bare(&mut criterion.benchmark_group("bare"), &talk, size);
        let mut group = criterion.benchmark_group("assemble");
        group.sampling_mode(SamplingMode::Flat);
        group.bench_function(BenchmarkId::new("first", size), |bencher| {
            bencher.iter_custom(|turns| (0..turns).map(|_| talk.first()).sum());
        });
        group.bench_function(BenchmarkId::new("next", size), |bencher| {
            bencher.iter_custom(|turns| (0..turns).map(|_| talk.next()).sum());
        });
        group.finish();
    }
}

struct Chat<'a> {
    compiled: &'a CompiledAgent,
    turn: &'a TurnInput,
    size: usize,
    messages: Conversation,
    session: Session,
    appended: usize,
}

impl<'a> Chat<'a> {
    fn new(compiled: &'a CompiledAgent, turn: &'a TurnInput, size: usize) -> Self {
        let mut messages = Conversation::new(1, Variables::Off);
        let session = messages.session(size);
        Self { compiled, turn, size, messages, session, appended: 0 }
    }

    fn first(&mut self) -> Duration {
        if self.size <= MOST_ANEW {
            self.session = self.messages.session(self.size);
        } else {
            (0..FRESH).for_each(|_| self.append());
        }
        self.assemble()
    }

    fn next(&mut self) -> Duration {
        self.append();
        self.assemble()
    }

    fn append(&mut self) {
        let Some(node) = self.messages.next() else { return };
        append(&mut self.session, self.appended, node);
        self.appended += 1;
    }

    fn assemble(&self) -> Duration {
        let start = Instant::now();
        let context = self.compiled.assemble_blocking(&self.session, self.turn);
        let taken = start.elapsed();
        black_box(context).ok();
        taken
    }
}

fn bare(group: &mut BenchmarkGroup<'_, WallTime>, talk: &Chat<'_>, size: usize) {
    let Ok(context) = talk.compiled.assemble_blocking(&talk.session, talk.turn) else { return };
    let sent: Vec<String> = context.messages.iter().map(|message| message.text().into_owned()).collect();
    group.throughput(Throughput::Bytes(sent.iter().map(|text| text.len() as u64).sum()));
    group.bench_function(BenchmarkId::new("count sent text", size), |bencher| {
        bencher.iter(|| count(sent.iter().map(String::as_str)));
    });
    group.bench_function(BenchmarkId::new("copy sent text", size), |bencher| bencher.iter(|| sent.clone()));
    if size <= MOST_ANEW {
        group.sample_size(10);
        let session = &talk.session;
        group.throughput(Throughput::Bytes(session.sent_bytes(session.sent_len())));
        group.bench_function(BenchmarkId::new("count all text", size), |bencher| {
            bencher.iter(|| {
                let nodes = (0..session.sent_len()).filter_map(|at| session.sent_node(at));
                let texts = nodes.filter_map(|(_, node)| Some(node.content.as_ref()?.text()));
                texts.map(|text| o200k_base().count(&text)).sum::<usize>()
            });
        });
    }
}

fn count<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| o200k_base().count(text)).sum()
}
