//! Time of patterns with catastrophic backtracking, each on 10,000 characters.
//!
//! Prints the times for compilation and one search, and for replacing all matches, and the cases above the
//! limit. Without `--bench`, as under `cargo test`, each case runs once.
#![expect(clippy::print_stdout, reason = "benchmarks print results")]
#![expect(clippy::expect_used, reason = "all patterns are valid")]

#[path = "../tests/regex/catastrophic/cases.rs"]
mod cases;

use std::hint::black_box;
use std::time::{Duration, Instant};

use cases::{Case, End};
use ctx_regex::{Flags, Limits, Regex, Replacement};

/// Time limit for each case.
const MOST: Duration = Duration::from_millis(100);

/// Runs per case, for the median.
const RUNS: usize = 7;

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let runs = if is_bench { RUNS } else { 1 };
    println!("| {:<46} | {:<8} | {:>12} | {:>12} |", "pattern", "ends", "search", "replace all");
    println!("|{:-<48}|{:-<10}|{:->13}:|{:->13}:|", "", "", "", "");
    let mut longest = Duration::ZERO;
    for case in cases::all() {
        let mut taken: Vec<(Duration, Duration)> = (0..runs).map(|_| run(&case)).collect();
        taken.sort_unstable();
        let (search, replace) = taken.get(runs / 2).copied().unwrap_or_default();
        longest = longest.max(search).max(replace);
        let ends = match case.end {
            End::Linear(_) => "linear",
            End::GivenUp => "given up",
        };
        let shown = |taken: Duration| {
            let mark = if taken > MOST { "missed " } else { "" };
            format!("{mark}{:.2} ms", taken.as_secs_f64() * 1e3)
        };
        let pattern = format!("`{}`", case.pattern.replace('|', "\\|"));
        println!("| {pattern:<46} | {ends:<8} | {:>12} | {:>12} |", shown(search), shown(replace));
    }
    println!("\nlongest: {:.2} ms, at most {:.0} ms", longest.as_secs_f64() * 1e3, MOST.as_secs_f64() * 1e3);
}

fn run(case: &Case) -> (Duration, Duration) {
    let compile = |flags: &str| {
        let flags = Flags::parse(&format!("{}{flags}", case.flags)).expect("the flags are valid");
        Regex::new(case.pattern, flags, &Limits::default()).expect("the pattern is valid")
    };
    let start = Instant::now();
    let found = compile("").is_match(black_box(&case.text));
    let search = start.elapsed();
    let start = Instant::now();
    let replaced = compile("g").replace(black_box(&case.text), &Replacement::parse("$1"));
    let replace = start.elapsed();
    let _ = black_box((found, replaced.map(|text| text.len())));
    (search, replace)
}
