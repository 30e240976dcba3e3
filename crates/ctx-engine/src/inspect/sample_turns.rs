//! Requests of a sample conversation.

use ctx_types::internal::SplitMix64;
use ctx_types::session::{Node, Session};
use ctx_types::{Role, TurnInput};

use crate::assembly::Ports;
use crate::compiled_agent::CompiledAgent;
use crate::context::Context;

/// Turns of the sample conversation.
pub(crate) const SAMPLE_TURNS: usize = 50;

/// Turns that are compared with the next turn. Their mean is the middle turn.
const COMPARED: [usize; 5] = [25, 2, 48, 13, 37];

/// Large agents have fewer samples.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// February 3, 2001, 4:05:06 in UTC.
const FIRST_TIME: i64 = 981_173_106_000;

/// About 11 years. All parts of the date and the time change.
const TIME_STEP: i64 = 357_913_941_777;

/// Syllables of words that keys of worldbooks rarely match, of about as many tokens as a foreign name.
const SYLLABLES: [&str; 12] = ["zo", "vu", "quy", "vy", "jo", "zy", "vo", "quo", "xu", "jy", "zu", "xo"];

/// Words repeat, so recall finds them.
const QUESTION_WORDS: usize = 25;
const REPLY_WORDS: usize = 75;

/// Two consecutive requests of a conversation.
pub(crate) struct SamplePair {
    pub(crate) first: Context,
    pub(crate) next: Context,
}

/// Assembles pairs of consecutive turns. Times, seeds and conversations differ in all of them.
pub(crate) fn sample_pairs(compiled: &CompiledAgent) -> Vec<SamplePair> {
    let texts = conversation();
    let (mut pairs, mut bytes) = (Vec::new(), 0);
    for turn in COMPARED {
        let both = (assemble(compiled, &texts, turn), assemble(compiled, &texts, turn + 1));
        let (Some(first), Some(next)) = both else { continue };
        bytes += first.messages.iter().map(|message| message.content.len()).sum::<usize>();
        pairs.push(SamplePair { first, next });
        if bytes > MAX_BYTES {
            break;
        }
    }
    pairs
}

/// Questions and replies in turn.
fn conversation() -> Vec<String> {
    let mut random = SplitMix64::new(50);
    let lengths = [QUESTION_WORDS, REPLY_WORDS].into_iter().cycle();
    let mut index = |len: usize| usize::try_from(random.bits() % len as u64).expect("less than a length");
    let vocabulary: Vec<String> =
        (0..400).map(|_| (0..3).map(|_| SYLLABLES[index(SYLLABLES.len())]).collect()).collect();
    let text = |length| {
        let words: Vec<&str> = (0..length).map(|_| vocabulary[index(vocabulary.len())].as_str()).collect();
        words.join(" ")
    };
    lengths.take(2 * SAMPLE_TURNS).map(text).collect()
}

/// Assembles a turn, from 1. An agent whose limit is too small is assembled without a limit.
fn assemble(compiled: &CompiledAgent, texts: &[String], turn: usize) -> Option<Context> {
    let (earlier, question) = (&texts[..2 * (turn - 1)], &texts[2 * (turn - 1)]);
    let roles = [Role::User, Role::Assistant].into_iter().cycle();
    let nodes = roles.zip(earlier).map(|(role, text)| Node::new(role, text.as_str()));
    let (session, _) = Session::linear("sample", nodes);
    let mut input = TurnInput::new(question.as_str()).with(|input| {
        input.at_millis = Some(FIRST_TIME + i64::try_from(turn).unwrap_or_default() * TIME_STEP);
        input.seed = turn as u64;
        input.preview = true;
    });
    let run = |input: &TurnInput| {
        let ports = Ports::default().with(|ports| ports.is_traced = true);
        pollster::block_on(compiled.assemble_with(&session, input, ports)).ok()
    };
    run(&input).or_else(|| {
        input.context_tokens = Some(ctx_tokens::internal::MAX_TOKENS.into());
        run(&input)
    })
}
