//! Facts that a summary lost, added to it word for word within an allowance.

use ctx_compress::mask::{MaskConfig, MaskDraft, MaskSelection};
use ctx_compress::quality::QualityReport;
use ctx_tokens::Counter;
use ctx_types::{Node, Role, Session, TokenCounter as _};

use crate::{between, plan, says, summarize};

/// A talk of which the summaries below say very little.
const TALK: [&str; 6] = [
    "Hello there! Never call Greta Holm before 9:00. The weather has been rather mild for weeks now, has it?",
    "It has been mild, and people say that it will stay like this for a good while, which is fine with me.",
    "The umbrella of Greta Holm is in locker B-17, and the fee is 340 crowns. I was told so by the porter himself.",
    "That is good to know. I will write it down and tell everybody who asks for it when they come along here.",
    "She comes on 5 March 2026. By the way, what a lovely hat that is that you are wearing today on your head!",
    "Thank you, I like it as well, and I have had it for a very long time, as you can see from the old brim.",
];

fn session() -> Session {
    let role = |at| if at % 2 == 0 { Role::User } else { Role::Assistant };
    Session::linear("s1", TALK.iter().enumerate().map(|(at, text)| Node::new(role(at), *text))).0
}

fn draft(session: &Session, selection: &MaskSelection, tokens: u32, text: &'static str) -> MaskDraft {
    let config = MaskConfig { appendix_tokens: tokens, protect_recent_count: 0, ..MaskConfig::default() };
    summarize(plan(session, &config, selection).unwrap(), &says(text)).unwrap()
}

#[track_caller]
fn check(tokens: u32, expected: &[&str]) {
    let draft = draft(&session(), &between("n1", "n6"), tokens, "They talk about an umbrella and a hat.");
    let appended: Vec<String> =
        draft.appendix.iter().map(|fact| format!("{} {}", &*fact.from, fact.text)).collect();
    assert_eq!(appended, expected);
    let counter = Counter::estimate();
    let used: u32 = draft.appendix.iter().map(|fact| counter.count(&fact.text) + 2).sum();
    assert!(used <= tokens, "{used}");
    assert!(draft.appendix.iter().all(|fact| draft.text.contains(&*fact.text)));
}

#[test]
fn without_an_allowance_nothing_is_added() {
    check(0, &[]);
}

#[test]
fn what_says_most_for_its_length_comes_first() {
    check(18, &["n1 Never call Greta Holm before 9:00."]);
    check(
        80,
        &[
            "n1 Never call Greta Holm before 9:00.",
            "n3 The umbrella of Greta Holm is in locker B-17, and the fee is 340 crowns.",
            "n5 She comes on 5 March 2026.",
        ],
    );
}

#[test]
fn what_the_summary_says_is_not_added() {
    let said = "Greta Holm must never be called before 9 am; she comes on 2026-03-05. Her umbrella is in locker B-17 for 340 crowns.";
    let draft = draft(&session(), &between("n1", "n6"), 200, said);
    assert_eq!((draft.appendix.len(), &*draft.text), (0, said));
}

#[test]
fn facts_that_were_added_go_on_into_the_summary_that_takes_them_in() {
    let mut session = session();
    let first = draft(&session, &between("n1", "n4"), 80, "They talk about an umbrella and a hat.");
    let commit = first.commit(&session, 0).unwrap();
    session.apply(&commit.op).unwrap();
    assert_eq!(QualityReport::of_node(&session, &commit.id).unwrap().lost, vec![]);

    let both = draft(&session, &between(&commit.id, "n6"), 120, "They talk.");
    let texts: Vec<&str> = both.appendix.iter().map(|fact| &*fact.text).collect();
    assert_eq!(
        texts,
        [
            "Never call Greta Holm before 9:00.",
            "The umbrella of Greta Holm is in locker B-17, and the fee is 340 crowns.",
            "She comes on 5 March 2026."
        ]
    );
}
