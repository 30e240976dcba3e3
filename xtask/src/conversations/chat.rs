//! Two people who talk about their lives, in English, in Chinese, and in both.

use super::draws::Draws;
use super::story::Story;
use super::values::{Kind, Stated, draw};
use super::words;

/// How many turns a chat has.
const TURNS: usize = 110;

/// One thing to say, in one language: `{v}` is its value and `{t}` what it is about.
pub(super) struct Topic {
    kind: Kind,
    said: &'static str,
    summed: &'static str,
    /// A word beside the thing that a question about it would use.
    cue: &'static str,
}

const fn topic(kind: Kind, said: &'static str, summed: &'static str, cue: &'static str) -> Topic {
    Topic { kind, said, summed, cue }
}

pub(super) const ENGLISH: &[Topic] = &[
    topic(
        Kind::Number,
        "We finally paid {v} as the deposit for the {t}.",
        "The deposit for the {t} was {v}.",
        "deposit",
    ),
    topic(
        Kind::Number,
        "Fixing the {t} is going to cost {v}, can you believe it?",
        "Repairing the {t} costs {v}.",
        "cost",
    ),
    topic(Kind::Date, "By the way, the {t} opens on {v}.", "The opening of the {t} is on {v}.", "opens"),
    topic(
        Kind::Date,
        "They moved the inspection of the {t} to {v}.",
        "The {t} will be inspected on {v}.",
        "inspection",
    ),
    topic(
        Kind::Name,
        "My neighbour {v} is looking after the {t} now.",
        "{v} looks after the {t}.",
        "neighbour",
    ),
    topic(
        Kind::Name,
        "I learned everything about the {t} from {v}.",
        "The teacher for the {t} is {v}.",
        "learned",
    ),
    topic(
        Kind::Quote,
        "You would love {v}, it is all about a {t}.",
        "They recommended {v}, about a {t}.",
        "love",
    ),
    topic(
        Kind::Identifier,
        "The receipt for the {t} has the number {v}.",
        "The receipt of the {t} is {v}.",
        "receipt",
    ),
];

pub(super) const CHINESE: &[Topic] = &[
    topic(Kind::Number, "{t}的定金我们最后付了{v}。", "{t}的定金是{v}。", "定金"),
    topic(Kind::Number, "修{t}居然要{v}，你敢信吗？", "修理{t}需要{v}。", "修"),
    topic(Kind::Date, "对了，{t}的开业时间定在{v}。", "{t}将于{v}开业。", "开业"),
    topic(Kind::Date, "{t}的检查改到{v}了。", "{t}的检查日期是{v}。", "检查"),
    topic(Kind::Quote, "你一定会喜欢{v}，讲的是{t}的故事。", "推荐了{v}，内容与{t}有关。", "喜欢"),
    topic(Kind::Identifier, "{t}的收据编号是 {v}。", "{t}的收据编号为 {v}。", "收据"),
];

/// Rules, refusals and questions: the sentence and how a summary says it.
const SENTENCES: &[(Kind, &str, &str)] = &[
    (
        Kind::Constraint,
        "Please never call me before nine in the morning.",
        "They must never be called before nine in the morning.",
    ),
    (
        Kind::Constraint,
        "You must always use the side entrance when you visit.",
        "Visitors must always use the side entrance.",
    ),
    (Kind::Negation, "I do not eat shellfish at all.", "They do not eat shellfish."),
    (Kind::Negation, "My sister isn't coming to the wedding.", "The sister isn't coming to the wedding."),
    (
        Kind::Question,
        "Which terminal does the night ferry leave from?",
        "Open question: which terminal does the night ferry leave from?",
    ),
];
const SENTENCES_CHINESE: &[(Kind, &str, &str)] = &[
    (Kind::Constraint, "以后请务必走侧门进来。", "必须走侧门进来。"),
    (Kind::Constraint, "千万不要在早上九点之前给我打电话。", "不要在早上九点之前打电话。"),
    (Kind::Negation, "我完全不吃贝类。", "对方不吃贝类。"),
    (Kind::Question, "夜班渡轮从哪个码头出发？", "未解决的问题：夜班渡轮从哪个码头出发？"),
];

pub(super) fn english(draws: &mut Draws) -> Story {
    tell(draws, &[false])
}

pub(super) fn chinese(draws: &mut Draws) -> Story {
    tell(draws, &[true])
}

pub(super) fn mixed(draws: &mut Draws) -> Story {
    tell(draws, &[false, true])
}

/// Reports a chat whose messages take turns through these languages.
fn tell(draws: &mut Draws, languages: &[bool]) -> Story {
    let is_chinese = languages[0];
    let mut story = Story::new(None, is_chinese);
    story.say("user", opening(is_chinese));
    let sentences = if is_chinese { SENTENCES_CHINESE } else { SENTENCES };
    let mut sentences = draws.shuffled(sentences);
    for turn in 0..TURNS {
        let role = if turn % 2 == 0 { "assistant" } else { "user" };
        let is_chinese = languages[(turn / 3) % languages.len()];
        match turn % 22 {
            7 => sentence(&mut story, role, sentences.pop(), draws),
            13 => correction(&mut story, role, is_chinese, draws),
            _ if draws.chance(38) => speak(&mut story, role, is_chinese, draws),
            _ => story.say(role, &filler(is_chinese, draws)),
        }
    }
    story
}

const fn opening(is_chinese: bool) -> &'static str {
    if is_chinese {
        "好久不见！帮我记住我们聊到的日期、价格和名字，以后我会来问你。"
    } else {
        "Hello again! Keep track of the dates, prices and names that come up, I will ask you about them later."
    }
}

/// Writes one thing between small talk.
fn speak(story: &mut Story, role: &str, is_chinese: bool, draws: &mut Draws) {
    let (said, stated) = value(is_chinese, draws);
    let text = format!("{} {said} {}", filler(is_chinese, draws), filler(is_chinese, draws));
    story.state(role, &text, vec![stated]);
}

/// Reports a rule, a refusal or a question.
fn sentence(story: &mut Story, role: &str, drawn: Option<(Kind, &str, &str)>, draws: &mut Draws) {
    let is_chinese = story.is_chinese;
    let Some((kind, said, summed)) = drawn else {
        return story.say(role, &filler(is_chinese, draws));
    };
    let stated = Stated {
        kind,
        forms: vec![said.to_owned(), summed.to_owned()],
        cues: Vec::new(),
        sentence: summed.to_owned(),
    };
    story.state(role, &format!("{} {said}", filler(is_chinese, draws)), vec![stated]);
}

/// Writes one thing and, a message later, that it is another.
fn correction(story: &mut Story, role: &str, is_chinese: bool, draws: &mut Draws) {
    let (old, new) = (draw(Kind::Date, is_chinese, draws), draw(Kind::Date, is_chinese, draws));
    let thing = thing(is_chinese, draws);
    let stated = |forms: &Vec<String>| Stated {
        kind: Kind::Date,
        forms: forms.clone(),
        cues: vec![thing.to_owned()],
        sentence: if is_chinese {
            format!("{thing}的交付是{{v}}。")
        } else {
            format!("The {thing} is delivered on {{v}}.")
        },
    };
    let (first, second) = if is_chinese {
        (
            format!("{thing}的交付定在{}。", old[0]),
            format!("更正一下：{thing}的交付不是{}，而是{}。", old[0], new[0]),
        )
    } else {
        let first = format!("The {thing} gets delivered on {}.", old[0]);
        (first, format!("Correction: the {thing} does not arrive on {}, it is {} instead.", old[0], new[0]))
    };
    let before = story.state(role, &first, vec![stated(&old)]);
    story.say(if role == "user" { "assistant" } else { "user" }, &filler(is_chinese, draws));
    let after = story.state(role, &second, vec![stated(&new)]);
    story.updates.push((before, after));
}

/// Draws one thing to say: the sentence, and its label.
pub(super) fn value(is_chinese: bool, draws: &mut Draws) -> (String, Stated) {
    let topic = draws.pick(if is_chinese { CHINESE } else { ENGLISH });
    let thing = thing(is_chinese, draws);
    let forms = draw(topic.kind, is_chinese, draws);
    let said = topic.said.replace("{t}", thing).replace("{v}", &forms[0]);
    let sentence = topic.summed.replace("{t}", thing);
    let cues = vec![thing.to_owned(), topic.cue.to_owned()];
    (said, Stated { kind: topic.kind, forms, cues, sentence })
}

fn thing(is_chinese: bool, draws: &mut Draws) -> &'static str {
    draws.pick::<&str>(if is_chinese { words::THINGS_CHINESE } else { words::THINGS })
}

fn filler(is_chinese: bool, draws: &mut Draws) -> String {
    (*draws.pick(if is_chinese { words::FILLER_CHINESE } else { words::FILLER })).to_owned()
}
