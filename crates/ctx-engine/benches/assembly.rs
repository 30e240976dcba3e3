//! What compiling and assembling cost, beside the bare costs of the same texts.
//!
//! `scale` prints the same for longer conversations, with memory and the promised ratios.

mod conversation;

use std::hint::black_box;

use bpe_openai::o200k_base;
use conversation::{Conversation, agent, append, turn, warm, with};
use criterion::{
    BatchSize, BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use ctx_engine::Engine;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = compiling, assembling, bare
}
criterion_main!(benches);

fn compiling(criterion: &mut Criterion) {
    let (engine, agent, with) = (Engine::new(), agent(), with());
    criterion.bench_function("compile", |bencher| {
        bencher.iter(|| engine.compile(black_box(&agent), &with));
    });
}

/// The first assembly of a conversation whose texts were never counted, and the next one after one more
/// message. What loads once per process is loaded before.
fn assembling(criterion: &mut Criterion) {
    let (compiled, turn) = (warm(), turn());
    let mut group = criterion.benchmark_group("assemble");
    // Each first assembly needs a conversation of its own.
    group.sampling_mode(SamplingMode::Flat);
    for size in SIZES {
        group.bench_function(BenchmarkId::new("first", size), |bencher| {
            let load = || Conversation::new(1).session(size);
            let assemble = |session| (compiled.assemble_blocking(&session, &turn), session);
            bencher.iter_batched(load, assemble, BatchSize::PerIteration);
        });
        group.bench_function(BenchmarkId::new("next", size), |bencher| {
            let mut conversation = Conversation::new(1);
            let mut session = conversation.session(size);
            black_box(compiled.assemble_blocking(&session, &turn)).ok();
            let mut number = 0;
            bencher.iter_custom(|turns| {
                let mut taken = std::time::Duration::ZERO;
                for node in conversation.by_ref().take(usize::try_from(turns).unwrap_or(usize::MAX)) {
                    append(&mut session, number, node);
                    number += 1;
                    let start = std::time::Instant::now();
                    let context = compiled.assemble_blocking(&session, &turn);
                    taken += start.elapsed();
                    black_box(context).ok();
                }
                taken
            });
        });
    }
    group.finish();
}

/// Counting and copying the text that is sent, and nothing else.
fn bare(criterion: &mut Criterion) {
    let context = warm().assemble_blocking(&Conversation::new(1).session(10_000), &turn());
    let Ok(context) = context else { return };
    let texts: Vec<String> = context.messages.iter().map(|message| message.text().into_owned()).collect();
    let mut group = criterion.benchmark_group("bare");
    group.throughput(Throughput::Bytes(texts.iter().map(|text| text.len() as u64).sum()));
    group.bench_function("count sent text", |bencher| {
        bencher.iter(|| texts.iter().map(|text| o200k_base().count(text)).sum::<usize>());
    });
    group.bench_function("copy sent text", |bencher| bencher.iter(|| texts.clone()));
    group.finish();
}
