//! What a turn costs with `recall` on: the first answer, for which the whole conversation is indexed, and each one
//! after, which must not grow with the length of the conversation.

mod conversation;

use std::hint::black_box;
use std::time::{Duration, Instant};

use conversation::{BUDGET, Conversation, Variables, agent, append, turn, warm, with};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use ctx_engine::{CompiledAgent, ConversationMemory, Engine, Ports, Switches};
use ctx_types::{Content, Session, TurnInput};

/// How many messages a conversation has; the first answer is measured for the fewest.
const SIZES: [usize; 2] = [10_000, 1_000_000];

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = recalling
}
criterion_main!(benches);

fn recalling(criterion: &mut Criterion) {
    warm(Variables::Off);
    let compiled = |enable: &[&str]| {
        let enable = enable.iter().map(|id| (*id).to_owned()).collect();
        let with = with().with(|compile| compile.switches = Switches { enable, ..Switches::default() });
        Engine::new().compile(&agent(Variables::Off), &with)
    };
    let (with_recall, without) = (compiled(&["recall"]), compiled(&[]));
    for size in SIZES {
        let mut messages = Conversation::new(1, Variables::Off);
        let mut talk = Talk {
            session: messages.session(size),
            messages,
            memory: ConversationMemory::default(),
            appended: 0,
            budget: BUDGET,
        };
        let mut group = criterion.benchmark_group("recall");
        group.sampling_mode(SamplingMode::Flat);
        if size == SIZES[0] {
            for (name, compiled) in [("first answer", &with_recall), ("first answer, off", &without)] {
                group.bench_function(BenchmarkId::new(name, size), |bencher| {
                    bencher.iter_custom(|times| (0..times).map(|_| talk.first(compiled, size)).sum());
                });
            }
        }
        for (name, compiled, budget) in [
            ("turn", &with_recall, BUDGET),
            ("turn, off", &without, BUDGET),
            ("turn in 32,000 tokens", &with_recall, 32_000),
            ("turn in 32,000 tokens, off", &without, 32_000),
        ] {
            talk.budget = budget;
            talk.assemble(compiled);
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter_custom(|times| (0..times).map(|_| talk.next(compiled)).sum());
            });
        }
        group.finish();
    }
}

/// A conversation, and what its turns keep.
struct Talk {
    session: Session,
    messages: Conversation,
    memory: ConversationMemory,
    appended: usize,
    /// In tokens.
    budget: i64,
}

impl Talk {
    /// Times an assembly of a conversation that nobody has seen.
    fn first(&mut self, compiled: &CompiledAgent, size: usize) -> Duration {
        self.session = self.messages.session(size);
        self.memory = ConversationMemory::default();
        self.assemble(compiled)
    }

    /// Times an assembly after two more messages.
    fn next(&mut self, compiled: &CompiledAgent) -> Duration {
        for _ in 0..2 {
            let Some(node) = self.messages.next() else { continue };
            append(&mut self.session, self.appended, node);
            self.appended += 1;
        }
        self.assemble(compiled)
    }

    /// Asks about something that was said long ago.
    fn assemble(&self, compiled: &CompiledAgent) -> Duration {
        let path = self.session.path();
        let old = path.get(path.len() / 3 + self.appended).and_then(|node| node.content.as_ref());
        let words = old.map(Content::text).unwrap_or_default();
        let words: Vec<&str> = words.split(' ').take(8).collect();
        let turn: TurnInput = turn().with(|turn| {
            turn.input = Some(format!("What about {}?", words.join(" ")).into());
            turn.context_tokens = Some(self.budget);
        });
        let ports = Ports::default().with(|ports| ports.memory = Some(&self.memory));
        let start = Instant::now();
        let context = pollster::block_on(compiled.assemble_with(&self.session, &turn, ports));
        let taken = start.elapsed();
        black_box(context).ok();
        taken
    }
}
