//! What a pass over a long conversation costs beside counting its tokens once, what the trigger costs, and what a
//! report costs; with criterion's statistics. `memory` tells what a pass allocates.

mod conversation;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use conversation::{bytes, conversation};
use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use ctx_compress::mask::{MaskConfig, MaskTotals, MaskTrigger};
use ctx_compress::quality::QualityReport;
use ctx_compress::request::{
    CompressionPipeline, Meter, Protection, RequestConfig, STRATEGIES, UsageWatch, strategy,
};
use ctx_tokens::{Counter, Encoding, ModelTable};
use ctx_types::ports::TokenCounter;
use ctx_types::session::{Node, Session};
use ctx_types::{Content, Message};

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = passing, triggering, reporting
}
criterion_main!(benches);

/// How many messages a long conversation has, and how many tokens they are to have.
const LONG: usize = 10_000;
const BUDGET: u64 = 64_000;

/// A counter that is exact, with its tables loaded.
fn counter() -> Counter {
    let counter = Counter::new(Encoding::O200kBase).unwrap_or_else(Counter::estimate);
    let mut texts = conversation(300);
    texts.drain(..).for_each(|message| {
        black_box(counter.count(&message.text()));
    });
    counter
}

fn meter(counter: Counter) -> Meter<'static> {
    Meter::for_model(Arc::new(ModelTable::builtin().lookup("gpt-4o").0), Arc::new(counter))
}

/// Copies of messages whose texts were counted by nobody; texts remember their counts.
fn uncounted(messages: &[Message]) -> Vec<Message> {
    let anew = |message: &Message| {
        message.clone().with(|message| {
            message.content = Content::Text(message.text().into_owned().into());
            for call in &mut message.tool_calls {
                call.arguments = call.arguments.to_string().into();
            }
        })
    };
    messages.iter().map(anew).collect()
}

/// Times work on messages that were not counted before.
fn timed(times: u64, messages: &[Message], work: &dyn Fn(&[Message])) -> Duration {
    let once = |_| {
        let fresh = uncounted(messages);
        let start = Instant::now();
        work(&fresh);
        start.elapsed()
    };
    (0..times).map(once).sum()
}

fn passing(criterion: &mut Criterion) {
    let (messages, counter) = (conversation(LONG), counter());
    let mut group = criterion.benchmark_group("10,000 messages");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(bytes(&messages) as u64));
    let count = |messages: &[Message]| {
        let count = |message: &Message| {
            counter.count(&message.text())
                + message.tool_calls.iter().map(|call| counter.count(&call.arguments)).sum::<u32>()
        };
        black_box(messages.iter().map(count).sum::<u32>());
    };
    group
        .bench_function("count once", |bencher| bencher.iter_custom(|times| timed(times, &messages, &count)));
    for name in STRATEGIES {
        for how in ["estimated", "counted"] {
            let Some(strategy) = strategy(name) else { continue };
            let pipeline = CompressionPipeline::new(RequestConfig::to_fit(BUDGET))
                .with_strategy(strategy)
                .with_meter(if how == "counted" { meter(counter) } else { Meter::estimate() });
            let pass = |messages: &[Message]| {
                drop(black_box(pipeline.compress(messages, Protection::LastUserMessage)));
            };
            group.bench_function(BenchmarkId::new(name, how), |bencher| {
                bencher.iter_custom(|times| timed(times, &messages, &pass));
            });
        }
    }
    group.finish();
}

/// Both triggers on unchanged conversations. The time of the first must not grow with the length; the second reads
/// all sent messages.
fn triggering(criterion: &mut Criterion) {
    let pipeline = CompressionPipeline::new(RequestConfig::default());
    for size in [1_000, 100_000] {
        let messages = conversation(size);
        let mut watch = UsageWatch::default();
        watch.tokens(&messages, pipeline.meter());
        criterion.bench_function(&format!("trigger of requests, unchanged/{size}"), |bencher| {
            bencher.iter(|| watch.tokens(black_box(&messages), pipeline.meter()));
        });
        let (counter, config) = (Counter::estimate(), MaskConfig::default());
        let nodes = messages.iter().map(|message| Node::new(message.role, message.text().into_owned()));
        let (session, _) = Session::linear("bench", nodes);
        MaskTotals::of(&session, &counter);
        criterion.bench_function(&format!("trigger of summaries, unchanged/{size}"), |bencher| {
            bencher.iter(|| MaskTrigger::check(&config, MaskTotals::of(black_box(&session), &counter)));
        });
    }
}

/// A report on 1 MB, of which a pass has left a tenth.
fn reporting(criterion: &mut Criterion) {
    let messages = conversation(1_750);
    let pipeline = CompressionPipeline::new(RequestConfig::to_fit(30_000));
    let shorter = pipeline.compress(&messages, Protection::LastUserMessage).messages;
    let mut group = criterion.benchmark_group("report");
    group.throughput(Throughput::Bytes(bytes(&messages) as u64));
    group.bench_function(format!("{} KB", bytes(&messages) / 1_000), |bencher| {
        bencher.iter(|| QualityReport::of(black_box(&messages), &shorter));
    });
    group.finish();
}
