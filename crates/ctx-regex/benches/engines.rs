//! Compares JavaScript patterns with the `regex` crate, and with `fancy-regex` for unsupported patterns.
//!
//! Finds all matches in 390 KB of English and Chinese prose with chat markup. Checks first that the counts
//! are equal.

#![expect(clippy::expect_used, reason = "all patterns are valid")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ctx_regex::{Flags, Limits, Regex};

criterion_group!(benches, linear, backtracking, compile);
criterion_main!(benches);

/// Pattern, flags, and equivalent for the `regex` crate.
const LINEAR: [(&str, &str, &str); 6] = [
    (r"<think>[\s\S]*?<\/think>", "g", r"<think>[\s\S]*?</think>"),
    (r"\*([^*]+)\*", "g", r"\*([^*]+)\*"),
    (r"[\u4e00-\u9fa5]{2,4}", "g", r"[\x{4e00}-\x{9fa5}]{2,4}"),
    (r"\b(the|and|of|you)\b", "gi", r"(?i-u:\b)(?i:(the|and|of|you))(?-u:\b)"),
    (r"巨龙|城堡|森林|灯笼", "g", "巨龙|城堡|森林|灯笼"),
    (r"^.*灯笼.*$", "gm", r"(?m)^.*灯笼.*$"),
];

/// Pattern, flags, and equivalent for `fancy-regex`.
const BACKTRACKING: [(&str, &str, &str); 3] = [
    (r"(?<=\*)[^*\n]+(?=\*)", "g", r"(?<=\*)[^*\n]+(?=\*)"),
    (r#"(['"])(.*?)\1"#, "g", r#"(['"])(.*?)\1"#),
    (r"<(\w+)[^>]*>[\s\S]*?<\/\1>", "gi", r"(?i)<(\w+)[^>]*>[\s\S]*?</\1>"),
];

fn text() -> String {
    let pieces = [
        "The keeper of the lantern said \"you may go\" and waited. ",
        "*She looks at the castle and sighs.* ",
        "守护者提着灯笼走过森林，巨龙在城堡里沉睡。",
        "<think>Where is the bridge? It's far.</think>\n",
        "北方的集市上没有人说话，只有河流的声音。\n",
        "<b>Nobody</b> spoke of it again, and the river went on. ",
    ];
    let mut text = String::new();
    let mut number = 0_usize;
    while text.len() < 390_000 {
        number += 1;
        text.push_str(pieces[(number.wrapping_mul(2_654_435_761) >> 13) % pieces.len()]);
    }
    text
}

fn ours(pattern: &str, flags: &str) -> Regex {
    let flags = Flags::parse(flags).expect("the flags are valid");
    Regex::new(pattern, flags, &Limits { steps: 1_000_000_000, ..Limits::default() })
        .expect("the pattern is valid")
}

fn count(regex: &Regex, text: &str) -> usize {
    let count = regex.find_iter(text).map(|found| usize::from(found.is_ok())).sum();
    assert!(count > 0, "{}", regex.pattern());
    count
}

fn linear(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("linear");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for (pattern, flags, same) in LINEAR {
        let (own, other) = (ours(pattern, flags), regex::Regex::new(same).expect("the pattern is valid"));
        assert!(own.is_linear(), "{pattern}");
        assert_eq!(count(&own, &text), other.find_iter(&text).count(), "{pattern}");
        group.bench_function(format!("ctx-regex {pattern}"), |bencher| {
            bencher.iter(|| places(&own, black_box(&text)));
        });
        group.bench_function(format!("regex     {pattern}"), |bencher| {
            bencher.iter(|| other.find_iter(black_box(&text)).map(|found| found.start()).sum::<usize>());
        });
    }
}

fn places(regex: &Regex, text: &str) -> usize {
    regex.find_iter(text).filter_map(Result::ok).map(|found| found.range().start).sum()
}

fn backtracking(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("backtracking");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    for (pattern, flags, same) in BACKTRACKING {
        let (own, other) =
            (ours(pattern, flags), fancy_regex::Regex::new(same).expect("the pattern is valid"));
        assert_eq!(count(&own, &text), other.find_iter(&text).count(), "{pattern}");
        group.bench_function(format!("ctx-regex   {pattern}"), |bencher| {
            bencher.iter(|| places(&own, black_box(&text)));
        });
        group.bench_function(format!("fancy-regex {pattern}"), |bencher| {
            let places = |text: &str| {
                other.find_iter(text).filter_map(Result::ok).map(|found| found.start()).sum::<usize>()
            };
            bencher.iter(|| places(black_box(&text)));
        });
    }
}

fn compile(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    for (pattern, flags, same) in [LINEAR[0], LINEAR[3]] {
        group.bench_function(format!("ctx-regex {pattern}"), |bencher| {
            bencher.iter(|| ours(black_box(pattern), flags));
        });
        group.bench_function(format!("regex     {pattern}"), |bencher| {
            bencher.iter(|| regex::Regex::new(black_box(same)));
        });
    }
}
