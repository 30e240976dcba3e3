//! Recall: what was left out comes back when it is asked about, and only then.

use ctx_engine::{Compile, CompiledAgent, Context, ConversationMemory, Engine, Ports, Switches};
use ctx_types::{Agent, Message, Node, Persist, Reader, Role, Session, SessionOp, TurnInput};
use proptest::prelude::*;
use serde_json::json;

use crate::pipeline::case::{log, texts, total};

const NUTS: &str = "By the way, my daughter is allergic to walnuts.";

fn compile(enable: &[&str]) -> CompiledAgent {
    let file = json!({ "presetMessages": [{ "role": "system", "content": "You help." }, { "type": "chat_history" }] });
    let agent = Agent::read(file, &mut Reader::new());
    let enable = enable.iter().map(|id| (*id).to_owned()).collect();
    // The formatters would join what is recalled with instructions.
    let disable = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned).to_vec();
    let switches = Switches { enable, disable };
    Engine::new().compile(&agent, &Compile::default().with(|compile| compile.switches = switches))
}

/// A conversation of so many messages, in which the 21st tells of the allergy.
fn session(count: usize) -> Session {
    let said = |at: usize| {
        let role = if at.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let text = match at {
            20 => NUTS.to_owned(),
            _ => {
                format!("I saw lamp X{at}Q on the pier at {}:{:02}, and it was rather dim.", at % 24, at % 60)
            }
        };
        Node::new(role, text).with_id(format!("n{}", at + 1))
    };
    Session::linear("s", (0..count).map(said)).0
}

fn assemble(
    compiled: &CompiledAgent,
    session: &Session,
    input: &str,
    memory: &ConversationMemory,
) -> Context {
    let turn = TurnInput::default().with(|turn| {
        turn.context_tokens = Some(2_000);
        turn.input = Some(input.into());
    });
    let ports = Ports::default().with(|ports| ports.memory = Some(memory));
    pollster::block_on(compiled.assemble_with(session, &turn, ports)).unwrap()
}

fn recalled(context: &Context) -> Option<&Message> {
    context.messages.iter().find(|message| message.text().starts_with("Recalled"))
}

/// Checks whether the allergy is in what is sent when something is said.
#[track_caller]
fn check(enable: &[&str], session: &Session, input: &str, is_there: bool) {
    let compiled = compile(enable);
    let context = assemble(&compiled, session, input, &ConversationMemory::default());
    let has = |text: &String| text.contains("allergic to walnuts");
    let times = texts(&context).iter().filter(|text| has(text)).count();
    assert_eq!(times, usize::from(is_there), "{:#?}", texts(&context));
    assert!(total(&context) <= 2_000);
}

#[test]
fn a_fact_comes_back_when_it_is_asked_about_and_only_then() {
    let session = session(420);
    for enable in [&["recall"][..], &["recall", "request-compressor"]] {
        check(enable, &session, "May she have walnut cake?", true);
        check(enable, &session, "Which harbour?", false);
    }
    check(&["request-compressor"], &session, "May she have walnut cake?", false);
}

#[test]
fn what_is_recalled_stands_before_the_question_and_says_why() {
    let (session, memory) = (session(420), ConversationMemory::default());
    let context = assemble(&compile(&["recall"]), &session, "May she have walnut cake?", &memory);
    let at = context.messages.iter().position(|message| message.text().starts_with("Recalled")).unwrap();
    assert_eq!(at + 2, context.messages.len());
    let message = &context.messages[at];
    assert!(message.text().contains("\n#21 U: By way daughter allergic to walnuts."), "{}", message.text());
    let reasons: Vec<String> = context
        .report
        .decisions
        .iter()
        .map(|decision| format!("{}: {}", decision.source, decision.reason))
        .collect();
    let reason = "history:n21: recalled: `walnut` in it, 399 messages ago".to_owned();
    assert!(reasons.contains(&reason), "{reasons:#?}");
    assert!(log(&context, "recall").contains("recalled"), "{}", log(&context, "recall"));
    let again = assemble(&compile(&["recall"]), &session, "May she have walnut cake?", &memory);
    assert_eq!(texts(&again), texts(&context));
}

#[test]
fn what_is_switched_off_or_on_another_branch_stays_away() {
    let mut off = session(420);
    off.apply(&SessionOp::Toggle { id: "n21".into(), enabled: false }).unwrap();
    check(&["recall"], &off, "May she have walnut cake?", false);
    let mut branch = session(420);
    let mut parent: std::sync::Arc<str> = "n20".into();
    for at in 0..300 {
        let id = format!("b{at}");
        let role = if at % 2 == 0 { Role::User } else { Role::Assistant };
        let node = Node::new(role, format!("The ferry {at} came in at dawn, and went out at dusk."))
            .with_id(id.clone());
        branch.apply(&SessionOp::Append { parent, node: Box::new(node) }).unwrap();
        parent = id.into();
    }
    branch.apply(&SessionOp::ActivateLeaf { id: parent }).unwrap();
    check(&["recall"], &branch, "May she have walnut cake?", false);
}

#[test]
fn questions_that_say_nothing_recall_nothing() {
    let (session, memory) = (session(420), ConversationMemory::default());
    let compiled = compile(&["recall"]);
    for input in ["what is it?", "🙂🙂🙂", "zebra ".repeat(200).trim()] {
        let context = assemble(&compiled, &session, input, &memory);
        assert_eq!(recalled(&context), None, "{input}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_sent_twice_and_the_budget_is_kept(count in 30..300_usize, lamp in 0..300_usize, is_compressed in any::<bool>()) {
        let session = session(count);
        let enable: &[&str] = if is_compressed { &["recall", "request-compressor"] } else { &["recall"] };
        let input = format!("When did I see lamp X{lamp}Q, and who has walnuts?");
        let context = assemble(&compile(enable), &session, &input, &ConversationMemory::default());
        prop_assert!(total(&context) <= 2_000);
        let sent: Vec<&str> = context.messages.iter().filter_map(|message| message.source.id.as_deref()).collect();
        let lines = recalled(&context).map(|message| message.written.clone()).unwrap_or_default();
        for source in lines.iter().flat_map(|line| &line.via) {
            prop_assert!(!sent.contains(&source.id.as_deref().unwrap_or_default()), "{source}");
        }
    }
}
