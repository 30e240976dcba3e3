use ctx_compress::recall::Noted;
use ctx_engine::{Compile, CompiledAgent, Context, Engine, Ports, Switches, TurnCache};
use ctx_types::ports::{Embedder, PortError, PortErrorKind, PortFuture};
use ctx_types::session::{Change, Node, NodeEdit, Session, SessionOp};
use ctx_types::{Agent, Content, Message, Persist, Reader, Role, Text, TurnInput, phrase};
use proptest::prelude::*;
use serde_json::json;

use crate::pipeline::case::{log, texts, total};

const NUTS: &str = "By the way, my daughter is allergic to walnuts.";

fn compile(enable: &[&str]) -> CompiledAgent {
    compile_counting(enable, 0)
}

fn compile_counting(enable: &[&str], extra: u32) -> CompiledAgent {
    let file = json!({
        "presetMessages": [{ "role": "system", "content": "You help." }, { "type": "chat_history" }],
        "parameters": { "processors": [{ "id": "token-limiter", "config": { "extraTokensPerMessage": extra } }] },
    });
    let agent = Agent::read(file, &mut Reader::new());
    let enable = enable.iter().map(|id| (*id).to_owned()).collect();
    // The formatters would join passages with system messages.
    let disable = ["merge-system-to-head", "merge-consecutive-roles"].map(str::to_owned).to_vec();
    let switches = Switches { enable, disable };
    Engine::new().compile(&agent, &Compile::default().with(|compile| compile.switches = switches))
}

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

fn assemble(compiled: &CompiledAgent, session: &Session, input: &str, memory: &TurnCache) -> Context {
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

#[track_caller]
fn check(enable: &[&str], session: &Session, input: &str, is_there: bool) {
    let compiled = compile(enable);
    let context = assemble(&compiled, session, input, &TurnCache::default());
    let has = |text: &String| text.contains("allergic to walnuts");
    let times = texts(&context).iter().filter(|text| has(text)).count();
    assert_eq!(times, usize::from(is_there), "{:#?}", texts(&context));
    assert!(total(&context) <= 2_000);
}

#[test]
fn recalls_fact_only_for_related_question() {
    let session = session(420);
    for enable in [&["recall"][..], &["recall", "request-compressor"]] {
        check(enable, &session, "May she have walnut cake?", true);
        check(enable, &session, "Which harbour?", false);
    }
    check(&["request-compressor"], &session, "May she have walnut cake?", false);
}

/// A conversation of 420 messages, of which 2 summaries hide all but the newest 18.
fn session_behind_summaries() -> Session {
    let mut file = json!(session(420));
    for (summary, hidden) in [(201, 1..201), (402, 202..402)] {
        let ids: Vec<String> = hidden.map(|hidden| format!("n{hidden}")).collect();
        let node = &mut file["nodes"][format!("n{summary}")];
        node["role"] = json!("system");
        node["content"] = json!("They spoke of lamps.");
        node["metadata"] = json!({ "isCompressionNode": true, "compressedNodeIds": ids });
    }
    Session::read(file, &mut Reader::new())
}

#[test]
fn recalls_messages_behind_summaries() {
    let session = session_behind_summaries();
    check(&["recall"], &session, "May she have walnut cake?", true);
    check(&["recall"], &session, "Which harbour?", false);
    let context = assemble(&compile(&["recall"]), &session, "Which harbour?", &TurnCache::default());
    assert!(texts(&context).iter().any(|text| text.contains("They spoke of lamps.")));
}

#[test]
fn places_recalled_passages_before_question() {
    let (session, memory) = (session(420), TurnCache::default());
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
    let reason = "history:n21: recalled: contains `walnut`, 399 messages ago".to_owned();
    assert!(reasons.contains(&reason), "{reasons:#?}");
    assert!(log(&context, "recall").contains("recalled"), "{}", log(&context, "recall"));
    let again = assemble(&compile(&["recall"]), &session, "May she have walnut cake?", &memory);
    assert_eq!(texts(&again), texts(&context));
}

#[test]
fn does_not_recall_for_unspecific_questions() {
    let (session, memory) = (session(420), TurnCache::default());
    let compiled = compile(&["recall"]);
    for input in ["what is it?", "🙂🙂🙂", "zebra ".repeat(200).trim()] {
        let context = assemble(&compiled, &session, input, &memory);
        assert_eq!(recalled(&context), None, "{input}");
        assert!(log(&context, "recall").starts_with("no matches"), "{input}");
    }
    // 10% of the budget is less than a line.
    let turn = TurnInput::default().with(|turn| {
        turn.context_tokens = Some(100);
        turn.input = Some("May she have walnut cake?".into());
    });
    let context = pollster::block_on(compiled.assemble(&session, &turn)).unwrap();
    assert_eq!(recalled(&context), None);
    assert_eq!(log(&context, "recall"), "the matches do not fit into 9 tokens; raise the budget");
    let short = assemble(&compiled, &self::session(30), "May she have walnut cake?", &memory);
    assert_eq!(log(&short, "recall"), "the matches are already in the request");
}

#[test]
fn follows_removals_and_undo() {
    let (mut session, memory, compiled) = (session(420), TurnCache::default(), compile(&["recall"]));
    let has = |session: &Session| {
        let context = assemble(&compiled, session, "May she have walnut cake?", &memory);
        texts(&context).iter().any(|text| text.contains("allergic to walnuts"))
    };
    assert!(has(&session));
    let edit = NodeEdit { content: Change::Set(Content::Text("She is tall.".into())), ..NodeEdit::default() };
    for op in [
        SessionOp::Remove { id: "n21".into() },
        SessionOp::Toggle { id: "n21".into(), enabled: false },
        SessionOp::Edit { id: "n21".into(), edit: Box::new(edit) },
    ] {
        let undo = session.apply(&op).unwrap();
        assert!(!has(&session), "{op:?}");
        session.apply(&undo).unwrap();
        assert!(has(&session), "{op:?} undone");
    }
}

#[test]
fn searches_other_branches_if_configured() {
    let mut session = session(420);
    let node = Node::new(Role::User, "The lighthouse keeper is called Nils.").with_id("other");
    session.apply(&SessionOp::Append { parent: "n300".into(), node: Box::new(node) }).unwrap();
    session.apply(&SessionOp::ActivateLeaf { id: "n420".into() }).unwrap();
    for (config, is_there) in [(json!({}), false), (json!({ "branches": true }), true)] {
        let processors = json!([{ "id": "recall", "enabled": true, "config": config }]);
        let file = json!({ "parameters": { "processors": processors }, "presetMessages": [{ "type": "chat_history" }] });
        let compiled = Engine::new().compile(&Agent::read(file, &mut Reader::new()), &Compile::default());
        let memory = TurnCache::default();
        for _turn in 0..2 {
            let context = assemble(&compiled, &session, "What is the lighthouse keeper called?", &memory);
            let line = "~ U: lighthouse keeper called Nils.";
            assert_eq!(texts(&context).concat().contains(line), is_there, "{:#?}", texts(&context));
        }
    }
}

struct ToyEmbedder {
    fails: bool,
}

impl Embedder for ToyEmbedder {
    fn embed<'a>(&'a self, texts: &'a [Text]) -> PortFuture<'a, Result<Vec<Vec<f32>>, PortError>> {
        let is_about = |text: &Text| ["allergic", "food"].iter().any(|word| text.as_str().contains(word));
        let vector = |text: &Text| if is_about(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        let answer = if self.fails {
            Err(PortError::new(PortErrorKind::Unavailable, phrase!("the model sleeps")))
        } else {
            Ok(texts.iter().map(vector).collect())
        };
        Box::pin(std::future::ready(answer))
    }
}

#[test]
fn recalls_by_vectors_or_reports_missing_vectors() {
    let (session, compiled) = (session(420), compile(&["recall"]));
    let assemble = |toy: &ToyEmbedder, preview: bool| {
        let turn = TurnInput::default().with(|turn| {
            turn.context_tokens = Some(2_000);
            turn.input = Some("Which food is bad for the girl?".into());
            turn.preview = preview;
        });
        let ports = Ports::default().with(|ports| ports.embedder = Some(toy));
        let context = pollster::block_on(compiled.assemble_with(&session, &turn, ports)).unwrap();
        let found =
            context.report.diagnostics.iter().filter(|found| found.code.to_string() == "CTX0781").count();
        (texts(&context).concat().contains("allergic to walnuts"), found)
    };
    assert_eq!(assemble(&ToyEmbedder { fails: false }, false), (true, 0));
    assert_eq!(assemble(&ToyEmbedder { fails: true }, false), (false, 1));
    assert_eq!(assemble(&ToyEmbedder { fails: false }, true), (false, 1));
}

fn lost(enable: &[&str], extra: u32) -> Vec<usize> {
    let (compiled, session, memory) = (compile_counting(enable, extra), session(150), TurnCache::default());
    let is_lost = |lamp: &usize| {
        let name = format!("X{lamp}Q");
        let context = assemble(&compiled, &session, &format!("When did I see lamp {name}?"), &memory);
        let extra = context.messages.len() as u64 * u64::from(extra);
        assert!(
            total(&context) + extra <= 2_000,
            "{} {extra} {}",
            total(&context),
            log(&context, "token-limiter")
        );
        texts(&context).concat().matches(&name).count() < 2
    };
    (21..150).filter(is_lost).collect()
}

#[test]
fn sends_or_recalls_fact_at_any_budget() {
    for extra in [0, 1, 30] {
        assert_eq!(lost(&["recall"], extra), [0; 0], "{extra}");
        assert_eq!(lost(&["recall", "request-compressor"], extra), [0; 0], "{extra}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn sends_nothing_twice_and_keeps_budget(count in 30..300_usize, lamp in 0..300_usize, is_compressed in any::<bool>()) {
        let session = session(count);
        let enable: &[&str] = if is_compressed { &["recall", "request-compressor"] } else { &["recall"] };
        let input = format!("When did I see lamp X{lamp}Q, and who has walnuts?");
        let context = assemble(&compile(enable), &session, &input, &TurnCache::default());
        prop_assert!(total(&context) <= 2_000);
        let sent: Vec<&str> = context.messages.iter().filter_map(|message| message.source.id.as_deref()).collect();
        let lines = recalled(&context).map(|message| message.written.clone()).unwrap_or_default();
        for source in lines.iter().flat_map(|line| &line.via) {
            prop_assert!(!sent.contains(&source.id.as_deref().unwrap_or_default()), "{source}");
        }
        let (noted, text) = (Noted::of(&context.messages), recalled(&context).map(Message::text).unwrap_or_default());
        for line in &lines {
            let said = text.get(line.span.start..line.span.end).unwrap_or_default().trim();
            for source in &line.via {
                let again = noted.having(source.id.as_deref().unwrap_or_default(), said).next();
                prop_assert!(again.is_none(), "{}", said);
            }
        }
    }

    #[test]
    fn recalls_same_passages_with_cached_index(steps in prop::collection::vec((0..4_usize, 0..200_usize), 1..6)) {
        let (mut session, memory, compiled) = (session(200), TurnCache::default(), compile(&["recall"]));
        for (kind, at) in steps {
            let id: std::sync::Arc<str> = format!("n{}", at + 1).into();
            let op = match kind {
                0 => SessionOp::Toggle { id, enabled: false },
                1 => SessionOp::Remove { id },
                2 => SessionOp::ActivateLeaf { id },
                _ => {
                    let text = format!("I saw lamp X{at}Q again, and walnuts.");
                    SessionOp::Append { parent: session.active_leaf_id().clone(), node: Box::new(Node::new(Role::User, text)) }
                }
            };
            // A deleted message cannot be changed again.
            session.apply(&op).ok();
            let input = format!("Was lamp X{at}Q near the walnuts?");
            let context = assemble(&compiled, &session, &input, &memory);
            let anew = assemble(&compiled, &session, &input, &TurnCache::default());
            prop_assert_eq!(texts(&context), texts(&anew));
            let lines = recalled(&context).map(|message| message.written.clone()).unwrap_or_default();
            let path: Vec<_> = session.path().iter().filter_map(|node| node.id.clone()).collect();
            for source in lines.iter().flat_map(|line| &line.via) {
                let id = source.id.clone().unwrap_or_default();
                prop_assert!(session.node(&id).is_some_and(Node::is_enabled) && path.contains(&id), "{}", id);
            }
        }
    }
}
