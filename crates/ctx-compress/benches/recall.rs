//! What an index for recall costs: to make it beside counting the tokens once, to add to it, to search it, and to keep
//! it in memory.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it finds")]

mod conversation;

use std::hint::black_box;
use std::time::Instant;

use conversation::{bytes, conversation};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use ctx_compress::recall::{RecallAnswer, RecallIndex, RecallRequest};
use ctx_compress::request::Meter;
use ctx_tokens::{Counter, Encoding};
use ctx_types::ports::TokenCounter as _;
use ctx_types::{Message, Role};

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = making, adding, searching, keeping
}
criterion_main!(benches);

const SIZES: [usize; 2] = [10_000, 100_000];

fn indexed(messages: &[Message]) -> RecallIndex {
    let mut index = RecallIndex::default();
    index.extend(messages);
    index
}

/// The bytes of memory of an index, beside those of the text.
fn keeping(_: &mut Criterion) {
    for size in SIZES {
        let messages = conversation(size);
        let (mut english, mut chinese) = (messages.clone(), messages);
        english.retain(|message| message.text().is_ascii());
        chinese.retain(|message| !message.text().is_ascii());
        for (name, messages) in [("English", english), ("Chinese", chinese)] {
            let (index, text) = (indexed(&messages).memory(), bytes(&messages));
            let share = index * 100 / text;
            println!("kept/{name}/{size}: {index} bytes of index, {text} bytes of text, {share} %");
            if size == SIZES[0] {
                println!("kept/{name}/{size}: {} % while it grows, at most", grown(&messages));
            }
        }
    }
}

/// Returns the percentage of an index that grows message by message, at most, once it has a quarter of them.
fn grown(messages: &[Message]) -> usize {
    let (mut index, mut text) = (RecallIndex::default(), 0);
    let shares = messages.iter().map(|message| {
        index.add(message);
        text += message.text().len();
        index.memory() * 100 / text.max(1)
    });
    shares.skip(messages.len() / 4).max().unwrap_or_default()
}

/// Adds one message after the other.
fn adding(criterion: &mut Criterion) {
    const ADDED: usize = 5_000;
    for size in SIZES {
        let messages = conversation(size + ADDED);
        let (first, new) = messages.split_at(size);
        let mut index = indexed(first);
        let mut next = new.iter().cycle();
        criterion.benchmark_group("added").bench_function(BenchmarkId::new("a message", size), |bencher| {
            bencher.iter_custom(|times| {
                let start = Instant::now();
                next.by_ref()
                    .take(usize::try_from(times).unwrap_or(ADDED))
                    .for_each(|message| index.add(message));
                start.elapsed()
            });
        });
    }
}

/// The first answer needs an index of everything that was said.
fn making(criterion: &mut Criterion) {
    let counter = Counter::new(Encoding::O200kBase).unwrap_or_else(Counter::estimate);
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
            let found = index.search(&query);
            group.bench_function(BenchmarkId::new(format!("lines for {name}"), size), |bencher| {
                bencher.iter(|| {
                    RecallAnswer::of(&RecallRequest {
                        found: black_box(&found),
                        index: &index,
                        message: &|at| messages.get(at).cloned(),
                        is_held: &|_, _| false,
                        is_noted: &|_, _, _| false,
                        others: 0,
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
