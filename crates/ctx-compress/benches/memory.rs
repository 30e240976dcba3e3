//! What a pass over 10,000 messages, and a report on it, allocate at their peak, beside the conversation.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it finds")]

mod conversation;

use std::hint::black_box;

use conversation::{bytes, conversation};
use ctx_compress::quality::QualityReport;
use ctx_compress::recall::RecallIndex;
use ctx_compress::request::{CompressionPipeline, Protection, RequestConfig, STRATEGIES, strategy};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// How many messages there are, and how many tokens they are to have.
const LONG: usize = 10_000;
const BUDGET: u64 = 64_000;

fn main() {
    let messages = conversation(LONG);
    let input = bytes(&messages);
    println!("{LONG} messages, {} KB", input / 1_000);
    println!("| {:<24} | {:>9} | {:>9} |", "allocated at the peak", "KB", "of input");
    println!("|{:-<26}|----------:|----------:|", "");
    let measure = |name: &str, work: &mut dyn FnMut()| {
        HEAP.reset_peak_usage();
        let before = HEAP.current_usage();
        work();
        let peak = HEAP.peak_usage().saturating_sub(before);
        println!("| {name:<24} | {:>9} | {:>7} % |", peak / 1_000, peak * 100 / input);
    };
    for name in STRATEGIES {
        let Some(strategy) = strategy(name) else { continue };
        let pipeline = CompressionPipeline::new(RequestConfig::to_fit(BUDGET)).with_strategy(strategy);
        measure(name, &mut || drop(black_box(pipeline.compress(&messages, Protection::LastUserMessage))));
    }
    let mut index = RecallIndex::default();
    measure("index for recall", &mut || index.extend(&messages));
    println!(
        "| {:<24} | {:>9} | {:>7} % |",
        "index for recall, kept",
        index.memory() / 1_000,
        index.memory() * 100 / input
    );
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(BUDGET));
    let shorter = pipeline.compress(&messages, Protection::LastUserMessage).messages;
    measure("report on telegraphic", &mut || drop(black_box(QualityReport::of(&messages, &shorter))));
}
