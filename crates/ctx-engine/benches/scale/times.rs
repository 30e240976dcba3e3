use std::hint::black_box;
use std::time::{Duration, Instant};

use bpe_openai::o200k_base;
use ctx_engine::{CompiledAgent, Context, Engine};
use ctx_types::TurnInput;
use ctx_types::session::Session;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::conversation::{Conversation, Variables, agent, append, turn, warm, with};

const NEXT_TURNS: usize = 20;

/// Times are medians in seconds.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) text_bytes: u64,
    pub(crate) kept_messages: usize,
    pub(crate) kept_bytes: u64,
    pub(crate) kept_tokens: u64,
    pub(crate) compile: f64,
    pub(crate) first: f64,
    pub(crate) next: f64,
    pub(crate) count_kept: f64,
    pub(crate) count_all: f64,
    pub(crate) copy_kept: f64,
}

pub(crate) fn measure(size: usize, runs: usize, variables: Variables) -> Outcome<Times> {
    let (compiled, turn) = (warm(variables), turn());
    let mut samples = Samples::default();
    let mut last = None;
    for run in 0..runs {
        // Texts cache their token counts: use new ones.
        let mut conversation = Conversation::new(run as u64, variables);
        let mut session = conversation.session(size);
        let context = samples.add_first(&compiled, &session, &turn)?;
        samples.add_bare(&context);
        for number in 0..NEXT_TURNS {
            append(&mut session, number, conversation.next().ok_or("a conversation has no end")?);
            let (next, taken) = timed(|| compiled.assemble_blocking(&session, &turn));
            black_box(next?);
            samples.next.push(taken);
        }
        last = Some((session, context));
    }
    let (session, context) = last.ok_or("it was never run")?;
    let (engine, agent, with) = (Engine::new(), agent(variables), with());
    samples.compile.extend((0..50).map(|_| timed(|| engine.compile(&agent, &with)).1));
    Ok(Times {
        text_bytes: session.sent_bytes(session.sent_len()),
        kept_messages: context.messages.len(),
        kept_bytes: texts(&context).map(|text| text.len() as u64).sum(),
        kept_tokens: texts(&context).map(|text| o200k_base().count(&text) as u64).sum(),
        compile: median(samples.compile),
        first: median(samples.first),
        next: median(samples.next),
        count_kept: median(samples.count_kept),
        count_all: count_all(&session),
        copy_kept: median(samples.copy_kept),
    })
}

#[derive(Default)]
struct Samples {
    compile: Vec<Duration>,
    first: Vec<Duration>,
    next: Vec<Duration>,
    count_kept: Vec<Duration>,
    copy_kept: Vec<Duration>,
}

impl Samples {
    fn add_first(
        &mut self,
        compiled: &CompiledAgent,
        session: &Session,
        turn: &TurnInput,
    ) -> Outcome<Context> {
        let (context, taken) = timed(|| compiled.assemble_blocking(session, turn));
        self.first.push(taken);
        Ok(context?)
    }

    fn add_bare(&mut self, context: &Context) {
        let texts: Vec<_> = texts(context).collect();
        let count = || texts.iter().map(|text| o200k_base().count(text)).sum::<usize>();
        self.count_kept.push(timed(|| black_box(count())).1);
        let copy = || texts.iter().map(|text| text.clone().into_owned()).collect::<Vec<_>>();
        self.copy_kept.push(timed(|| black_box(copy())).1);
    }
}

fn count_all(session: &Session) -> f64 {
    let nodes = (0..session.sent_len()).filter_map(|at| session.sent_node(at));
    let texts = nodes.filter_map(|(_, node)| Some(node.content.as_ref()?.text()));
    timed(|| black_box(texts.map(|text| o200k_base().count(&text)).sum::<usize>())).1.as_secs_f64()
}

fn texts(context: &Context) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    context.messages.iter().map(|message| message.text())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn median(mut samples: Vec<Duration>) -> f64 {
    samples.sort_unstable();
    samples.get(samples.len() / 2).map_or(0.0, Duration::as_secs_f64)
}
