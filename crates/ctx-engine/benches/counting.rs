//! Benchmarks of counting tokens, compared with `bpe-openai`.
#![expect(clippy::print_stdout, reason = "benchmarks print results")]

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bpe_openai::{cl100k_base, o200k_base};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_tokens::{Counter, Encoding};
use ctx_types::ports::TokenCounter as _;

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = counting
}
criterion_main!(benches);

const SIZE: usize = 200_000;

fn counting(criterion: &mut Criterion) {
    let Some(ours) = first_counts() else { return };
    let documentation = beginning(&files("docs", "md"));
    let source = beginning(&files("crates/ctx-types/src", "rs"));
    let chinese = chinese(&files("crates/ctx-language/src/zh", "txt"));
    let texts = [
        ("source", source),
        ("Chinese", chinese),
        ("a megabyte of `a`", "a".repeat(1_000_000)),
        ("a megabyte of one run", "你好世界".repeat(1_000_000 / 12)),
        ("documentation", documentation.clone()),
    ];
    for (name, text) in &texts {
        let mut group = criterion.benchmark_group(*name);
        group.throughput(Throughput::Bytes(text.len() as u64));
        let counts = (ours.count(text), theirs(text));
        assert_eq!(counts.0, counts.1, "{name} is counted differently");
        group.bench_function("ctx", |bencher| bencher.iter(|| ours.count(black_box(text))));
        group.bench_function("bpe-openai", |bencher| bencher.iter(|| theirs(black_box(text))));
    }
    let pieces: Vec<String> =
        documentation.chars().collect::<Vec<char>>().chunks(300).map(String::from_iter).collect();
    let mut group = criterion.benchmark_group("documentation in pieces of 300 characters");
    group.bench_function("ctx", |bencher| bencher.iter(|| sum(&pieces, |piece| ours.count(piece))));
    group.bench_function("bpe-openai", |bencher| bencher.iter(|| sum(&pieces, theirs)));
    group.finish();
    let mut group = criterion.benchmark_group("up to 1,000 tokens of documentation");
    group.bench_function("ctx", |bencher| bencher.iter(|| ours.count_till_limit(&documentation, 1_000)));
    group.bench_function("bpe-openai", |bencher| {
        bencher
            .iter(|| o200k_base().count_till_limit(&o200k_base().normalize(documentation.as_str()), 1_000));
    });
}

fn first_counts() -> Option<Counter> {
    let timed = |name: &str, count: &dyn Fn() -> usize| {
        let start = Instant::now();
        black_box(count());
        println!("first count/{name}: {:.1} ms", start.elapsed().as_secs_f64() * 1_000.0);
    };
    let text = "What was the name of the harbour?";
    let (ours, older) = (Counter::new(Encoding::O200kBase)?, Counter::new(Encoding::Cl100kBase)?);
    timed("o200k_base, ctx", &|| ours.count(text) as usize);
    timed("o200k_base, bpe-openai", &|| o200k_base().count(text));
    timed("cl100k_base, ctx", &|| older.count(text) as usize);
    timed("cl100k_base, bpe-openai", &|| cl100k_base().count(text));
    Some(ours)
}

fn theirs(text: &str) -> u32 {
    u32::try_from(o200k_base().count(text)).unwrap_or(u32::MAX)
}

fn sum(pieces: &[String], count: impl Fn(&str) -> u32) -> u32 {
    pieces.iter().map(|piece| count(black_box(piece))).sum()
}

fn files(folder: &str, ending: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

fn beginning(text: &str) -> String {
    text.chars().take(SIZE).collect()
}

fn chinese(text: &str) -> String {
    text.lines().filter(|line| line.starts_with(|c| ('\u{4E00}'..='\u{9FFF}').contains(&c))).collect()
}
