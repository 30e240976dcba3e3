//! What 200 turns cost with a moving and with an append-only prefix. The guide has the table.
//!
//! Prices relative to uncached input. Anthropic (2026-11): reads 0.1, writes 1.25, at cache marks. OpenAI
//! (GPT-5 and later, 2026-11): reads 0.1 in steps of 128 from 1,024 tokens on, writes at the input price.

use std::fmt::Write as _;
use std::sync::LazyLock;

use ctx_engine::{Compile, CompiledAgent, Context, Engine, Switches, read_agent};
use ctx_types::internal::SplitMix64;
use ctx_types::session::{Node, Session, SessionOp, StoredToolCall};
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{CacheMark, CachePolicy, Message, Persist as _, PrefixMode, Reader, Role, TurnInput};
use serde_json::{Value, json};

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);

const TURNS: u64 = 200;
const ENTRIES: usize = 300;

/// The words of the conversation. The first 300 are keys of the worldbook.
const VOCABULARY: f64 = 3_000.0;

fn word(random: &mut SplitMix64) -> usize {
    // Common words are frequent, as in a language.
    let unit = random.fraction() * random.fraction();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the vocabulary")]
    let index = (unit * VOCABULARY) as usize;
    index
}

fn text(random: &mut SplitMix64, words: usize) -> String {
    let words: Vec<String> = (0..words).map(|_| format!("word{}", word(random))).collect();
    words.join(" ")
}

fn compiled() -> CompiledAgent {
    let agent = json!({
        "presetMessages": [
            { "id": "rules", "role": "system", "content": "Stay in the story. ".repeat(40) },
            { "type": "chat_history" },
            { "id": "note", "role": "system", "content": "The mood is calm. Write two paragraphs.",
              "injectionStrategy": { "type": "depth", "depth": 4 } },
        ],
    });
    let agent = read_agent(agent.to_string().as_bytes(), "a.json").unwrap();
    let entries: Vec<Value> = (0..ENTRIES)
        .map(|uid| {
            let content = format!("Lore {uid}: {}", "the old tower stands by the lake. ".repeat(6));
            let (position, depth) = [(0, 0), (4, 2), (4, 4), (1, 0)][uid % 4];
            // Rare words, so that some entries become active in each turn.
            let key = format!("word{}", 600 + uid * 8);
            json!({ "uid": uid, "key": [key], "content": content, "position": position, "depth": depth })
        })
        .collect();
    let book = Worldbook::read(json!({ "entries": entries }), &mut Reader::new());
    let book = LoadedWorldbook { id: "b".into(), name: "b".into(), book: book.into(), is_global: true };
    let with = Compile::default().with(|compile| {
        compile.worldbooks = vec![book];
        compile.switches = Switches { enable: vec!["recall".to_owned()], disable: vec![] };
    });
    ENGINE.compile(&agent.value, &with)
}

/// A request as a provider's cache sees it: the bytes and tokens of each message.
struct CachedRequest {
    messages: Vec<(String, u64)>,
    /// Lengths of the prefixes with a cache mark.
    marks: Vec<usize>,
}

impl CachedRequest {
    fn new(context: &Context) -> Self {
        let describe = |message: &Message| {
            format!(
                "{} {:?} {:?} {:?}",
                message.role, message.content, message.tool_calls, message.tool_call_id
            )
        };
        let tokens = context.tokens().into_iter().map(u64::from);
        let messages = context.messages.iter().map(describe).zip(tokens).collect();
        let marked = |(at, message): (usize, &Message)| {
            (message.cache_mark == Some(CacheMark::Short)).then_some(at + 1)
        };
        Self { messages, marks: context.messages.iter().enumerate().filter_map(marked).collect() }
    }

    fn tokens(&self, messages: usize) -> u64 {
        self.messages[..messages].iter().map(|(_, tokens)| tokens).sum()
    }

    fn shared(&self, earlier: &Self) -> usize {
        self.messages.iter().zip(&earlier.messages).take_while(|(a, b)| a.0 == b.0).count()
    }
}

#[derive(Default)]
struct Bill {
    total: u64,
    reused: Vec<f64>,
    breaks: usize,
    anthropic: f64,
    openai: f64,
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
impl Bill {
    fn add(&mut self, sent: &CachedRequest, earlier: Option<&CachedRequest>) {
        let total = sent.tokens(sent.messages.len());
        let shared = earlier.map_or(0, |earlier| sent.shared(earlier));
        let (common, read) = match earlier {
            None => (0, 0),
            Some(earlier) => {
                let read = earlier.marks.iter().copied().filter(|mark| *mark <= shared).max();
                (sent.tokens(shared), sent.tokens(read.unwrap_or(0)))
            }
        };
        self.total += total;
        self.reused.push(common as f64 / total as f64);
        let written = sent.marks.last().map_or(0, |mark| sent.tokens(*mark)).max(read) - read;
        self.anthropic += read as f64 * 0.1 + written as f64 * 1.25 + (total - read - written) as f64;
        let cached = if common < 1_024 { 0 } else { common / 128 * 128 };
        self.openai += cached as f64 * 0.1 + (total - cached) as f64;
    }

    fn median(&self) -> f64 {
        let mut reused = self.reused.clone();
        reused.sort_by(f64::total_cmp);
        reused[reused.len() / 2]
    }
}

fn simulate(mode: PrefixMode) -> Bill {
    let compiled = compiled();
    let mut session = Session::new("s");
    let mut random = SplitMix64::new(7);
    let mut bill = Bill::default();
    let mut earlier: Option<CachedRequest> = None;
    let mut count = 0;
    let mut append = |session: &mut Session, node: Node| {
        count += 1;
        let node = Box::new(node.with_id(format!("n{count}")));
        let parent = session.active_leaf_id().clone();
        session.apply(&SessionOp::Append { parent, node }).unwrap();
    };
    for at in 0..TURNS {
        append(&mut session, Node::new(Role::User, text(&mut random, 30)));
        let rounds = if at % 4 == 3 { 2 } else { 1 };
        for round in 0..rounds {
            if round > 0 {
                let id = format!("c{at}");
                let mut call = Node::new(Role::Assistant, "");
                call.tool_calls = vec![StoredToolCall {
                    id: Some(id.as_str().into()),
                    name: Some("look_up".into()),
                    arguments: Some("{}".into()),
                    ..StoredToolCall::default()
                }];
                append(&mut session, call);
                let mut result = Node::new(Role::Tool, text(&mut random, 150));
                result.tool_call_id = Some(id.as_str().into());
                append(&mut session, result);
            }
            let turn = TurnInput::default().with(|turn| {
                turn.prefix = Some(mode);
                turn.model = Some("claude-opus-5".into());
                turn.at_millis = Some(i64::try_from(at).unwrap() * 60_000);
                turn.seed = at;
                turn.context_tokens = Some(32_000);
                turn.cache_marks = CachePolicy::Stable;
            });
            let context = compiled.assemble_blocking(&session, &turn).unwrap();
            for op in &context.effects {
                session.apply(op).unwrap();
            }
            let sent = CachedRequest::new(&context);
            bill.add(&sent, earlier.as_ref());
            let planned = context.report.prefix.as_ref().and_then(|prefix| prefix.planned_break.as_ref());
            bill.breaks += usize::from(planned.is_some());
            earlier = Some(sent);
        }
        append(&mut session, Node::new(Role::Assistant, text(&mut random, 80)));
    }
    bill
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn costs_a_third_of_a_moving_prefix() {
    let bills = [PrefixMode::Moving, PrefixMode::AppendOnly].map(|mode| (mode, simulate(mode)));
    let mut table = String::new();
    for (mode, bill) in &bills {
        writeln!(
            table,
            "| `{}` | {} | {:.1} % | {} | {:.0} % | {:.0} % |",
            mode.as_str(),
            bill.total / 1_000,
            100.0 * bill.median(),
            bill.breaks,
            100.0 * bill.anthropic / bill.total as f64,
            100.0 * bill.openai / bill.total as f64,
        )
        .unwrap();
    }
    let page = include_str!("../../../../docs/guide/prompt-cache.md");
    assert!(page.contains(&table), "docs/guide/prompt-cache.md does not contain:\n{table}");
    let [moving, append_only] = bills.map(|(_, bill)| bill);
    assert!(append_only.median() >= 0.97, "{table}");
    assert!(append_only.anthropic <= moving.anthropic / 3.0, "{table}");
    assert!(append_only.openai <= moving.openai / 3.0, "{table}");
}
