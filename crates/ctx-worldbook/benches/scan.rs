//! Scans 200 KB for a large book, and compares simpler searches.
//!
//! The simpler searches only find keys; a scan also does recursion and reports statuses.

mod large_book;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_worldbook::{
    Book, BookSet, Limits, NoMacros, Ports, Scan, ScanInput, ScanMessage, SeededDraws, Settings,
    internal::Entry,
};
use regex::RegexBuilder;

const SIZES: [usize; 2] = [2_000, 20_000];

criterion_group!(benches, scan, contains, regex_per_key, compile, catastrophic);
criterion_main!(benches);

fn run(set: &BookSet, messages: &[ScanMessage]) -> Scan {
    let input = ScanInput { messages, ..ScanInput::default() };
    let ports = Ports { draws: &mut SeededDraws::new(0), expand: &mut NoMacros, counter: None };
    set.scan(&input, ports)
}

fn scan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("worldbook");
    for size in SIZES {
        let set = large_book::set(large_book::book(size));
        let messages = large_book::messages(size);
        let scan = run(&set, &messages);
        assert!(scan.passes.len() > 1, "recursion is part of it");
        group.throughput(Throughput::Bytes(large_book::BYTES as u64));
        group.bench_function(format!("scan/{size}"), |bencher| {
            bencher.iter(|| run(black_box(&set), black_box(&messages)));
        });
    }
}

fn text(messages: &[ScanMessage]) -> String {
    let texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
    texts.join("\n").to_lowercase()
}

fn all_keys(size: usize) -> Vec<[String; 3]> {
    (0..size).map(large_book::keys).collect()
}

fn contains(criterion: &mut Criterion) {
    let size = SIZES[0];
    let (messages, keys) = (large_book::messages(size), all_keys(size));
    let find = |messages: &[ScanMessage]| {
        let text = text(messages);
        keys.iter().filter(|keys| keys.iter().any(|key| text.contains(key.as_str()))).count()
    };
    check(size, find(&messages));
    let mut group = criterion.benchmark_group("worldbook");
    group.sample_size(10);
    group.bench_function(format!("contains per key/{size}"), |bencher| {
        bencher.iter(|| find(black_box(&messages)));
    });
}

fn regex_per_key(criterion: &mut Criterion) {
    let size = SIZES[0];
    let (messages, keys) = (large_book::messages(size), all_keys(size));
    let regex = |key: &String| RegexBuilder::new(&regex::escape(key)).case_insensitive(true).build();
    let regexes: Vec<Vec<_>> =
        keys.iter().map(|keys| keys.iter().filter_map(|key| regex(key).ok()).collect()).collect();
    let find = |messages: &[ScanMessage]| {
        let texts: Vec<&str> = messages.iter().map(|message| message.text.as_str()).collect();
        let text = texts.join("\n");
        regexes.iter().filter(|regexes| regexes.iter().any(|regex| regex.is_match(&text))).count()
    };
    check(size, find(&messages));
    let mut group = criterion.benchmark_group("worldbook");
    group.sample_size(10);
    group.bench_function(format!("one regex per key/{size}"), |bencher| {
        bencher.iter(|| find(black_box(&messages)));
    });
}

fn check(size: usize, found: usize) {
    let scan = run(&large_book::set(large_book::book(size)), &large_book::messages(size));
    let first = scan.activations.iter().filter(|activation| activation.pass == 1).count();
    assert_eq!((first, found > 0), (found, true));
}

fn compile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("worldbook");
    group.sample_size(10);
    for size in SIZES {
        let book = large_book::book(size);
        group.bench_function(format!("compile/{size}"), |bencher| {
            bencher.iter_with_large_drop(|| large_book::set(black_box(book.clone())));
        });
    }
}

/// Each key exceeds its step limit on 10 KB.
fn catastrophic(criterion: &mut Criterion) {
    let entry =
        |n: usize| Entry { keys: vec![format!("/(a+)+\\1[b-z]{{1,{n}}}/").into()], ..Entry::default() };
    let book = Book { name: "B".into(), entries: (1..=200).map(entry).collect(), ..Book::default() };
    let (set, _) = BookSet::compile([book], Settings::default(), Limits::default());
    let messages = [ScanMessage { name: None, text: "a".repeat(10_000).into() }];
    let mut group = criterion.benchmark_group("worldbook");
    group.sample_size(10);
    group.bench_function("catastrophic keys/200", |bencher| {
        bencher.iter(|| run(black_box(&set), black_box(&messages)));
    });
}
