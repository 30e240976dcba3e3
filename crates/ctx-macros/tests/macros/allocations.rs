//! Allocations grow with the result, not with the number of macros times the text length.

use crate::support;

use allocation_counter::{AllocationInfo, measure};
use ctx_macros::{Dialect, Limits, State, Template};
use support::{env, origin, parse};

/// Text of at least `bytes` bytes with evenly spaced calls.
fn text(bytes: usize, calls: usize) -> String {
    const CALLS: [&str; 4] = ["{{user}}", "{{setvar::a::{{char}}}}", "{{getvar::a}}", "{{description}}"];
    let piece = "x".repeat(bytes / calls);
    (0..calls).flat_map(|call| [&piece, CALLS[call % CALLS.len()]]).collect()
}

fn expanding(template: &Template) -> (AllocationInfo, usize) {
    let (env, origin) = (env(), origin());
    let mut state = State::new(Limits::default());
    // Exclude caches filled by the first run.
    drop(template.expand(&env, &mut state, &origin));
    let mut expansion = None;
    let info = measure(|| expansion = Some(template.expand(&env, &mut state, &origin)));
    (info, expansion.map_or(0, |expansion| expansion.text.len()))
}

#[track_caller]
fn check_expanding(bytes: usize, calls: usize) {
    for dialect in Dialect::ALL {
        let (info, length) = expanding(&parse(&text(bytes, calls), dialect));
        // The text with and without its reserve, and for each call its arguments, value, and writer.
        let most = 2 * length + length / 4 + 512 * calls + 8_192;
        let name = dialect.as_str();
        assert!(info.bytes_total <= most as u64, "{name}: {info:?} for {length} bytes and {calls} calls");
        assert!(info.count_total <= 8 * calls as u64 + 32, "{name}: {info:?} for {calls} calls");
        assert!(info.bytes_total >= length as u64, "{name}: something is allocated");
    }
}

#[test]
fn allocates_in_proportion_to_result() {
    for (bytes, calls) in [(100_000, 1), (100_000, 10), (100_000, 1_000), (1_000_000, 10), (1_000_000, 1_000)]
    {
        check_expanding(bytes, calls);
    }
}

#[test]
fn allocates_per_call_independent_of_text_length() {
    for dialect in Dialect::ALL {
        let more = |bytes| {
            let of = |calls| expanding(&parse(&text(bytes, calls), dialect));
            let ((few, short), (many, long)) = (of(10), of(1_010));
            (many.bytes_total - few.bytes_total).saturating_sub((long - short) as u64)
        };
        let (in_short, in_long) = (more(100_000), more(1_000_000));
        // For 1,000 calls. The reserve is 1/8 of the text.
        assert!(in_short.abs_diff(in_long) < 64_000, "{}: {in_short} {in_long}", dialect.as_str());
    }
}

#[test]
fn allocates_for_calls_not_text_when_parsing() {
    for dialect in Dialect::ALL {
        let of = |bytes, calls| {
            let text = ctx_types::Text::from(text(bytes, calls));
            let registry = ctx_macros::Registry::builtin();
            measure(|| drop(Template::parse(&text, dialect, &registry))).bytes_total
        };
        let (short, long, many) = (of(100_000, 100), of(1_000_000, 100), of(1_000_000, 1_000));
        assert_eq!(short, long, "{}", dialect.as_str());
        assert!(many < 1_024 * 1_000, "{}: {many}", dialect.as_str());
    }
}

#[test]
fn allocates_nothing_without_calls() {
    for dialect in Dialect::ALL {
        let template = parse(&"x".repeat(100_000), dialect);
        let (info, _) = expanding(&template);
        assert_eq!(info.count_total, 0, "{}", dialect.as_str());
    }
}
