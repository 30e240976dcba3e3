use crate::generate;

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use ctx_engine::{AssembleError, Compile, CompiledAgent, Context, Engine};
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_processors::internal::WindowSize;
use ctx_types::internal::is_partition;
use ctx_types::report::Outcome;
use ctx_types::session::{Node, Session};
use ctx_types::worldbook::{LoadedWorldbook, Worldbook};
use ctx_types::{Agent, Persist, Reader, Role, TurnInput};
use generate::turn::turn;
use proptest::prelude::*;
use serde_json::{Value, json};

struct EverythingLoader;

#[async_trait]
impl ContextProcessor for EverythingLoader {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("loads-everything", "", "").with(|descriptor| descriptor.priority = 50)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        cx.blackboard.insert(WindowSize { tokens: u64::MAX, is_final: false });
        Ok(())
    }
}

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::new);
static LOADING: LazyLock<Engine> = LazyLock::new(|| {
    let mut engine = Engine::new();
    engine.register(Arc::new(EverythingLoader)).unwrap();
    engine
});

fn total(context: &Context) -> u64 {
    context.tokens().into_iter().map(u64::from).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sends_fitting_context_or_explains_error(turn in turn()) {
        match turn.run(&ENGINE, &turn.input()) {
            Ok(context) => {
                let available = context.report.usage.as_ref().unwrap().available;
                prop_assert!(available.is_none_or(|available| total(&context) <= u64::from(available)), "{}", context.to_snapshot());
            }
            Err(AssembleError::Infeasible(infeasible)) => {
                prop_assert!(infeasible.needed() > u64::from(infeasible.available), "{}", infeasible);
            }
            Err(error) => prop_assert!(matches!(error, AssembleError::Budget(_)), "{}", error),
        }
    }

    #[test]
    fn gives_same_result_as_loading_everything(turn in turn()) {
        let (windowed, whole) = (turn.run(&ENGINE, &turn.input()), turn.run(&LOADING, &turn.input()));
        match (windowed, whole) {
            (Ok(windowed), Ok(whole)) => prop_assert_eq!(windowed.messages, whole.messages),
            (windowed, whole) => prop_assert_eq!(windowed.unwrap_err().to_string(), whole.unwrap_err().to_string()),
        }
    }

    #[test]
    fn assigns_each_byte_and_token_to_segment(turn in turn()) {
        let Ok(context) = turn.run(&ENGINE, &turn.input()) else { return Ok(()) };
        for message in &context.messages {
            prop_assert!(is_partition(&message.segments(), message.content.len()), "{:?}", message);
        }
        let shares = context.token_shares().into_iter();
        let shares: Vec<u32> = shares.map(|shares| shares.iter().map(|share| share.tokens).sum()).collect();
        prop_assert_eq!(shares, context.tokens());
    }
}

#[track_caller]
fn assemble(user: Value, turn: &TurnInput) -> (CompiledAgent, Result<Context, AssembleError>) {
    let agent = Agent::read(
        json!({ "presetMessages": [{ "role": "system", "content": "You help." }, { "type": "chat_history" }] }),
        &mut Reader::new(),
    );
    let with = Compile::default().with(|compile| compile.user_parameters = Some(user));
    let compiled = ENGINE.compile(&agent, &with);
    let session = Session::linear("s", [Node::new(Role::User, "Well?")]).0;
    let context = compiled.assemble_blocking(&session, turn);
    (compiled, context)
}

#[test]
fn reports_invalid_settings() {
    for user in [
        json!(null),
        json!(5),
        json!([[[]]]),
        json!({ "processors": { "processors": [] } }),
        json!({ "processors": [null, [], {}, { "id": null }, { "id": "" }, { "id": " " }] }),
        json!({ "processors": [{ "id": "token-limiter", "config": { "retainedCharacters": 1e300 } }] }),
        json!({ "contextManagement": { "enabled": "yes", "maxContextTokens": [], "retainedCharacters": {} } }),
        json!({ "contextManagement": { "enabled": true, "maxContextTokens": 0.5 } }),
        json!({ "contextManagement": { "enabled": true, "maxContextTokens": "x".repeat(100_000) } }),
        json!({ "contextPostProcessing": { "rules": [1, null, { "type": 5 }] } }),
        json!({ "processors": [{ "id": "x".repeat(100_000) }, { "id": "x".repeat(100_000) }] }),
        json!({ "processors": [{ "id": "token-limiter", "config": { "x".repeat(100_000): 1 }, "y".repeat(9_000): 1 }] }),
    ] {
        let (compiled, context) = assemble(user.clone(), &TurnInput::default());
        assert_eq!(context.unwrap().messages.len(), 2);
        assert_eq!(compiled.diagnostics().is_empty(), user.is_null(), "{:?}", compiled.diagnostics());
        assert!(compiled.diagnostics().iter().all(|found| found.message.to_string().len() < 500));
    }
}

/// Texts cache token counts of other turns, which must not change this report.
#[test]
fn gives_same_report_with_cached_counts() {
    let words = "word ".repeat(520);
    let file =
        json!({ "presetMessages": [{ "role": "system", "content": words }, { "type": "chat_history" }] });
    let compiled = ENGINE.compile(&Agent::read(file, &mut Reader::new()), &Compile::default());
    let session = || {
        let line = "one of several lines of a conversation, not very long";
        let nodes = (0..9).map(|at| Node::new(if at % 2 == 0 { Role::User } else { Role::Assistant }, line));
        Session::linear("s", nodes).0
    };
    let turn = |context_tokens| TurnInput::default().with(|turn| turn.context_tokens = Some(context_tokens));
    let (fresh, used) = (session(), session());
    compiled.assemble_blocking(&used, &turn(2_000)).unwrap().tokens();
    let first = compiled.assemble_blocking(&fresh, &turn(600)).unwrap();
    assert!(first.messages.len() < 8);
    assert_eq!(first, compiled.assemble_blocking(&used, &turn(600)).unwrap());
}

#[test]
fn drops_huge_messages_over_budget() {
    let huge = |role| Node::new(role, "word ".repeat(400_000));
    let nodes = [huge(Role::User), huge(Role::Assistant), Node::new(Role::User, "Well?")];
    let session = Session::linear("s", nodes).0;
    let turn = TurnInput::default().with(|turn| turn.context_tokens = Some(1_000));
    let compiled = ENGINE.compile(&Agent::default(), &Compile::default());
    let context = compiled.assemble_blocking(&session, &turn).unwrap();
    assert_eq!(context.messages.len(), 1);
    let decision = context.report.decisions.first().unwrap();
    assert_eq!((decision.outcome, decision.count, decision.bytes), (Outcome::Dropped, 2, Some(4_000_000)));
}

#[test]
fn reads_worldbook_once_if_listed_repeatedly() {
    let entry = |n: usize| json!({ "uid": n, "key": [format!("key {n}")], "content": "x" });
    let book = json!({ "entries": (0..1_000).map(entry).collect::<Vec<_>>() });
    let book = LoadedWorldbook {
        id: "b".into(),
        name: "b".into(),
        book: Arc::new(Worldbook::read(book, &mut Reader::new())),
        is_global: false,
    };
    let ids: Vec<Value> =
        (0..100_000).map(|n| if n % 2 == 0 { json!("b") } else { json!(format!("b{n}")) }).collect();
    let agent = Agent::read(json!({ "worldbookIds": ids }), &mut Reader::new());
    let with = Compile::default().with(|compile| compile.worldbooks = vec![book]);
    let compiled = ENGINE.compile(&agent, &with);
    let missing =
        compiled.diagnostics().iter().filter(|found| found.message.to_string().contains("is not loaded"));
    assert_eq!(missing.count(), 50_000);
}
