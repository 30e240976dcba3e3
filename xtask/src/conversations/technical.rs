//! Somebody repairs a program with an assistant that reads files and runs tests.

use serde_json::json;

use super::draws::Draws;
use super::story::Story;
use super::values::{Kind, Stated, draw};
use super::words;

const RULES: &[(Kind, &str, &str)] = &[
    (
        Kind::Constraint,
        "You must not touch the public API of the ledger.",
        "The public API of the ledger must not be touched.",
    ),
    (
        Kind::Constraint,
        "Always run the slow tests before you commit.",
        "The slow tests must always run before a commit.",
    ),
    (Kind::Negation, "We do not support Windows paths here.", "Windows paths are not supported."),
    (
        Kind::Negation,
        "The cache was never the cause of the crash.",
        "The cache was never the cause of the crash.",
    ),
    (
        Kind::Question,
        "Why does the second worker start twice?",
        "Open question: why does the second worker start twice?",
    ),
];

pub(super) fn story(draws: &mut Draws) -> Story {
    let system = "You are a careful programmer. Show every change before you make it.";
    let mut story = Story::new(Some(system), false);
    story.say("user", "Find out why uploads time out under load, fix it with tests, and write down every file and ticket you touch.");
    let mut rules = draws.shuffled(RULES);
    for round in 0..26 {
        read(&mut story, draws);
        if round % 5 == 2
            && let Some((kind, said, summed)) = rules.pop()
        {
            let stated = Stated {
                kind,
                forms: vec![said.to_owned(), summed.to_owned()],
                cues: Vec::new(),
                sentence: summed.to_owned(),
            };
            story.state("user", said, vec![stated]);
            story.say("assistant", "Understood.");
        }
        if round % 4 == 1 {
            ticket(&mut story, draws);
        }
        if round == 12 {
            story.say("user", &format!("Here is the screenshot: data:image/png;base64,{}", draws.hex(2_400)));
            story.say("assistant", "I see the error dialog in it.");
        }
    }
    story
}

/// Reads a file: long, and of all of it one figure matters.
fn read(story: &mut Story, draws: &mut Draws) {
    let path = draw(Kind::Path, false, draws).remove(0);
    let limit =
        format!("{}_{}", draws.pick(words::MODULES).to_uppercase(), draws.pick(words::FILES).to_uppercase());
    let value = draws.between(1_100, 98_000).to_string();
    let mut lines: Vec<String> = (1..18)
        .map(|line| format!("{line:>3}  let step = self.{}.next(step)?;", draws.pick(words::FILES)))
        .collect();
    lines.insert(draws.between(3, 14), format!("     const {limit}: u64 = {value};"));
    story.call("read_file", &json!({ "path": path }), &lines.join("\n"));
    let home = format!("m{}", story.len() - 1);
    let sentence = "They read {v}.".to_owned();
    let first = story.label(vec![
        Stated { kind: Kind::Path, forms: vec![path.clone()], cues: vec!["read_file".to_owned()], sentence },
        Stated {
            kind: Kind::Number,
            forms: vec![value],
            cues: vec![limit.to_lowercase()],
            sentence: format!("{limit} is {{v}}."),
        },
    ]);
    story.facts[first].message = home;
    let text = format!("Nothing suspicious in `{path}` so far, let me look at how the steps are counted.");
    story.say("assistant", &text);
}

/// Files a ticket, which somebody will ask about.
fn ticket(story: &mut Story, draws: &mut Draws) {
    let ticket = draw(Kind::Identifier, false, draws).remove(0);
    let owner = draw(Kind::Name, false, draws).remove(0);
    story.call(
        "create_ticket",
        &json!({ "ticket": ticket, "owner": owner, "queue": "uploads" }),
        r#"{"created":true}"#,
    );
    let home = format!("m{}", story.len() - 1);
    let first = story.label(vec![
        Stated {
            kind: Kind::Identifier,
            forms: vec![ticket.clone()],
            cues: vec![owner.to_lowercase()],
            sentence: "Ticket {v} was created.".to_owned(),
        },
        Stated {
            kind: Kind::Name,
            forms: vec![owner],
            cues: vec![ticket],
            sentence: "{v} owns a ticket.".to_owned(),
        },
    ]);
    for fact in &mut story.facts[first..] {
        fact.message.clone_from(&home);
    }
    story.say("assistant", "The ticket is filed.");
}
