//! Facts that a summary lost, kept beside it word for word within an allowance.

use ctx_compress::mask::{MaskConfig, MaskDraft, MaskSelection, edit_summary, switch_appendix};
use ctx_compress::quality::QualityReport;
use ctx_tokens::Counter;
use ctx_types::Role;
use ctx_types::ports::TokenCounter as _;
use ctx_types::session::{Node, Session};

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
    let facts = draft.appendix.iter().flat_map(|appendix| &appendix.facts);
    let appended: Vec<String> = facts.clone().map(|fact| format!("{} {}", &*fact.from, fact.text)).collect();
    assert_eq!(appended, expected);
    let counter = Counter::estimate();
    let used: u32 = facts.clone().map(|fact| counter.count(&fact.text) + 2).sum();
    assert!(used <= tokens, "{used}");
    assert_eq!(&*draft.text, "They talk about an umbrella and a hat.", "they are no part of the text");
    let sent = draft.sent_text();
    assert!(facts.clone().all(|fact| sent.contains(&*fact.text)));
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
    assert_eq!((&draft.appendix, &*draft.text), (&None, said));
}

#[test]
fn facts_that_were_added_go_on_into_the_summary_that_takes_them_in() {
    let mut session = session();
    let first = draft(&session, &between("n1", "n4"), 80, "They talk about an umbrella and a hat.");
    let commit = first.commit(&session, 0).unwrap();
    session.apply(&commit.op).unwrap();
    assert_eq!(QualityReport::of_node(&session, &commit.id).unwrap().lost, vec![]);

    let both = draft(&session, &between(&commit.id, "n6"), 120, "They talk.");
    let texts: Vec<&str> =
        both.appendix.iter().flat_map(|appendix| &appendix.facts).map(|fact| &*fact.text).collect();
    assert_eq!(
        texts,
        [
            "Never call Greta Holm before 9:00.",
            "The umbrella of Greta Holm is in locker B-17, and the fee is 340 crowns.",
            "She comes on 5 March 2026."
        ]
    );
}

#[test]
fn an_edit_keeps_them_and_a_switch_leaves_them_out() {
    let mut session = session();
    let counter = Counter::estimate();
    let commit = draft(&session, &between("n1", "n4"), 18, "They talk.").commit(&session, 0).unwrap();
    session.apply(&commit.op).unwrap();
    let id = commit.id;
    let sent = |session: &Session| session.node(&id).unwrap().to_message(&id).text().into_owned();
    let fact = "Never call Greta Holm before 9:00.";
    let told = format!("\n\nAlso said, word for word:\n- {fact}");
    let before = session.clone();
    for (op, expected) in [
        (edit_summary(&session, &id, "A talk.", &counter), format!("A talk.{told}")),
        (switch_appendix(&session, &id, false, &counter), "They talk.".to_owned()),
        (edit_summary(&session, &id, fact, &counter), fact.to_owned()),
    ] {
        let undo = session.apply(&op.unwrap()).unwrap();
        assert_eq!(sent(&session), expected);
        let noted = session.node(&id).unwrap().metadata.as_ref().unwrap().kept.get("tokenCount").cloned();
        assert_eq!(noted, Some((counter.count(&expected) + 3).into()));
        session.apply(&undo).unwrap();
        assert_eq!(session.node(&id), before.node(&id));
    }
    let switched = switch_appendix(&session, "n1", false, &counter);
    assert_eq!(switched.unwrap_err().to_string(), "`n1` is not a summary");
}
