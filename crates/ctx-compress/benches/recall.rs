//! What an index for recall costs: to make it beside counting the tokens once, to add to it, and to search it.

mod conversation;

use std::hint::black_box;

use conversation::{bytes, conversation};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use ctx_compress::recall::{RecallIndex, RecallRequest, recall};
use ctx_compress::request::Meter;
use ctx_tokens::{Counter, Encoding};
use ctx_types::{Message, Role, TokenCounter as _};

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = making, searching
}
criterion_main!(benches);

const SIZES: [usize; 2] = [10_000, 100_000];

fn indexed(messages: &[Message]) -> RecallIndex {
    let mut index = RecallIndex::default();
    messages.iter().for_each(|message| index.push(message));
    index
}

/// The first answer needs an index of everything that was said.
fn making(criterion: &mut Criterion) {
    let counter = Counter::bpe(Encoding::O200kBase).unwrap_or_else(Counter::estimate);
    counter.warm();
    for size in SIZES {
        let messages = conversation(size);
        let mut group = criterion.benchmark_group("made");
        group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(bytes(&messages) as u64));
        group.bench_function(BenchmarkId::new("index", size), |bencher| {
            bencher.iter(|| indexed(black_box(&messages)));
        });
        if size == SIZES[0] {
            let count = |message: &Message| counter.count(&message.text());
            group.bench_function(BenchmarkId::new("count once", size), |bencher| {
                bencher.iter(|| messages.iter().map(count).sum::<u32>());
            });
        }
        group.finish();
    }
}

/// Searches by few and rare words, by a message of some 60 words, and by words that many messages have.
fn searching(criterion: &mut Criterion) {
    for size in SIZES {
        let messages = conversation(size);
        let index = indexed(&messages);
        let said = messages[size / 3].text().into_owned();
        let short: String = said.split(' ').take(8).collect::<Vec<_>>().join(" ");
        let long: String =
            messages.iter().rev().take(60).map(|message| message.text().into_owned()).collect();
        let mut group = criterion.benchmark_group("search");
        for (name, question) in [("8 words", &short), ("a message", &said), ("60 messages", &long)] {
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| index.search(black_box(&[(question, 100)])));
            });
            let query = [(&**question, 100)];
            let hits = index.search(&query);
            group.bench_function(BenchmarkId::new(format!("lines for {name}"), size), |bencher| {
                bencher.iter(|| {
                    recall(&RecallRequest {
                        hits: black_box(&hits),
                        index: &index,
                        message: &|at| messages.get(at).cloned(),
                        is_held: &|_| false,
                        others: 0,
                        query: &query,
                        room: 12_800,
                        role: Role::System,
                        meter: &Meter::estimate(),
                    })
                });
            });
        }
        group.finish();
    }
}
