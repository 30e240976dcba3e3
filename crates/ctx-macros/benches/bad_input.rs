//! Time to parse and expand harmful texts in every macro syntax.
//!
//! Prints a table, and the cases above the time limit. Without `--bench`, as under `cargo test`, each case
//! runs once.
#![expect(clippy::print_stdout, reason = "benchmarks print results")]

#[path = "../tests/macros/bad_input/cases.rs"]
mod cases;

use std::hint::black_box;
use std::time::{Duration, Instant};

use cases::Case;
use ctx_macros::{Dialect, Limits, Registry, State, Template};
use ctx_types::{Source, SourceKind, Text, Trust};

/// Time limit for each case.
const MOST: Duration = Duration::from_millis(50);

/// Runs per case, for the median.
const RUNS: usize = 7;

fn main() {
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let runs = if is_bench { RUNS } else { 1 };
    let registry = Registry::builtin();
    let dialects = Dialect::ALL.map(|dialect| format!(" {:>18} |", dialect.as_str())).concat();
    println!("| {:<40} |{dialects}", "median time to parse and expand");
    println!("|{:-<42}|{}", "", "-------------------:|".repeat(Dialect::ALL.len()));
    let mut longest = Duration::ZERO;
    for case in cases::all(if is_bench { 1 } else { 10 }) {
        let mut line = format!("| {:<40} |", case.name);
        for dialect in Dialect::ALL {
            let mut taken: Vec<Duration> = (0..runs).map(|_| run(&case, dialect, &registry)).collect();
            taken.sort_unstable();
            let median = taken.get(runs / 2).copied().unwrap_or_default();
            longest = longest.max(median);
            let mark = if median > MOST { "missed " } else { "" };
            let time = format!("{mark}{:.2} ms", median.as_secs_f64() * 1e3);
            line.extend([format!(" {time:>18} |")]);
        }
        println!("{line}");
    }
    println!("\nlongest: {:.2} ms, at most {:.0} ms", longest.as_secs_f64() * 1e3, MOST.as_secs_f64() * 1e3);
}

fn run(case: &Case, dialect: Dialect, registry: &Registry) -> Duration {
    let text = Text::from(case.text.as_str());
    let mut state = State::new(Limits::default());
    case.set_up(&mut state);
    let origin = Source::new(SourceKind::Preset, Trust::Preset);
    let start = Instant::now();
    let template = Template::parse(black_box(&text), dialect, registry);
    let expansion = template.expand(&case.env, &mut state, &origin);
    let taken = start.elapsed();
    black_box((expansion, template));
    taken
}
