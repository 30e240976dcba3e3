//! Benchmarks of `recall`: the first turn indexes the conversation; later turns must not depend on its
//! length.

mod conversation;

use std::hint::black_box;
use std::time::{Duration, Instant};

use conversation::{BUDGET, Conversation, Variables, agent, append, turn, warm, with};
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use ctx_engine::{CompiledAgent, Engine, Ports, Switches, TurnCache};
use ctx_types::session::{Node, Session};
use ctx_types::{Content, TurnInput};

/// Messages of a conversation; the first turn is measured only for the smallest.
const SIZES: [usize; 2] = [10_000, 1_000_000];

const MOST_QUESTIONS: usize = 4_000;

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
        let session = messages.session(size);
        let mut talk = Chat {
            questions: questions(&session),
            session,
            messages,
            memory: TurnCache::default(),
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

struct Chat {
    session: Session,
    questions: Vec<String>,
    messages: Conversation,
    memory: TurnCache,
    appended: usize,
    budget: i64,
}

impl Chat {
    fn first(&mut self, compiled: &CompiledAgent, size: usize) -> Duration {
        self.session = self.messages.session(size);
        self.questions = questions(&self.session);
        self.memory = TurnCache::default();
        self.assemble(compiled)
    }

    fn next(&mut self, compiled: &CompiledAgent) -> Duration {
        for _ in 0..2 {
            let Some(node) = self.messages.next() else { continue };
            append(&mut self.session, self.appended, node);
            self.appended += 1;
        }
        self.assemble(compiled)
    }

    fn assemble(&self, compiled: &CompiledAgent) -> Duration {
        let question = self.questions.get(self.appended % self.questions.len().max(1));
        let turn: TurnInput = turn().with(|turn| {
            turn.input = question.map(|question| question.as_str().into());
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

/// Runs ahead of time: walking the conversation would evict a turn's CPU caches.
fn questions(session: &Session) -> Vec<String> {
    let path = session.path();
    let question = |node: &Node| {
        let text = node.content.as_ref().map(Content::text).unwrap_or_default();
        format!("What about {}?", text.split(' ').take(8).collect::<Vec<&str>>().join(" "))
    };
    path.iter().skip(path.len() / 3).take(MOST_QUESTIONS).map(|node| question(node)).collect()
}
