use crate::generate;

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use ctx_engine::{AssembleError, Compile, CompiledAgent, Context, Engine};
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_processors::WindowSize;
use ctx_types::{
    Agent, LoadedWorldbook, Node, Outcome, Persist, Reader, Role, Session, Severity, TurnInput, Worldbook,
    is_partition,
};
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

#[track_caller]
fn check_many(setting: impl Fn(usize) -> Value, findings: usize, last: &str) {
    let settings: Vec<Value> = (0..10_000).map(setting).collect();
    let (compiled, context) = assemble(json!({ "processors": settings }), &TurnInput::default());
    let found = compiled.diagnostics();
    assert_eq!(
        (found.len(), found.last().map(|found| found.message.to_string()).unwrap_or_default().as_str()),
        (findings, last)
    );
    assert_eq!(context.unwrap().messages.len(), 2);
}

#[test]
fn limits_diagnostics_of_unknown_processors() {
    let more = "9000 more diagnostics in settings of processors are not shown";
    check_many(|at| json!({ "id": format!("nobody-{at}"), "enabled": false }), 1_001, more);
}

#[test]
fn limits_diagnostics_of_repeated_processor() {
    let more = "8999 more diagnostics in settings of processors are not shown";
    check_many(|at| json!({ "id": "token-limiter", "config": { "retainedCharacters": at } }), 1_001, more);
}

#[test]
fn limits_diagnostics_of_unknown_keys() {
    let keys = || (0..10_000).map(|at| (format!("key {at}"), json!(at))).collect();
    let config = Value::Object(keys());
    let user = json!({ "processors": [{ "id": "token-limiter", "config": config }] });
    let (compiled, context) = assemble(user, &TurnInput::default());
    assert_eq!(compiled.diagnostics().len(), 1_001);
    assert_eq!(context.unwrap().messages.len(), 2);
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

#[track_caller]
fn check_error(context_tokens: i64, reserve: Option<u32>, expected: &str) {
    let turn = TurnInput::default().with(|turn| {
        turn.context_tokens = Some(context_tokens);
        turn.reserve = reserve;
    });
    assert_eq!(assemble(json!({}), &turn).1.unwrap_err().to_string(), expected);
}

#[test]
fn rejects_budgets_without_remaining_tokens() {
    for tokens in [-1, i64::MIN, 1_000_000_001, i64::MAX] {
        let range = "use 0 to 1000000000; 0 means the model's context window";
        check_error(tokens, None, &format!("invalid context size `{tokens}`: {range}"));
    }
    let account =
        "no tokens left for messages: context limit 100, response reserve -4294967295, reply prefix -3";
    check_error(100, Some(u32::MAX), account);
    check_error(1, None, "no tokens left for messages: context limit 1, reply prefix -3");
    let named = "no context fits the budget: 1 token is available, but 11 cannot be dropped: preset 6 (preset#0), pending turn 5 (history:n1)";
    check_error(4, None, named);
}

#[track_caller]
fn check_said(user: Value, model: Option<&str>, context_tokens: Option<i64>, expected: &[&str]) {
    let turn = TurnInput::default().with(|turn| {
        turn.model = model.map(Into::into);
        turn.context_tokens = context_tokens;
    });
    let report = assemble(user, &turn).1.unwrap().report;
    assert_eq!(
        report.diagnostics.iter().map(|found| found.message.to_string()).collect::<Vec<_>>(),
        expected
    );
}

#[test]
fn reports_unknown_context_limit_once() {
    let known = Some("gpt-4");
    let unknown = Some("nobody-7b");
    let not_known = "unknown model `nobody-7b`; tokens are estimated";
    let no_window = "the context window of `nobody-7b` is unknown; the context has no token limit";
    let unnamed = "no model is set; the context has no token limit";
    let zero = || json!({ "contextManagement": { "enabled": true, "maxContextTokens": 0 } });
    for tokens in [None, Some(0), Some(100)] {
        check_said(json!({}), known, tokens, &[]);
    }
    for tokens in [None, Some(0)] {
        check_said(json!({}), unknown, tokens, &[not_known, no_window]);
    }
    check_said(json!({}), unknown, Some(100), &[not_known]);
    check_said(json!({}), None, None, &[]);
    check_said(json!({}), None, Some(0), &[unnamed]);
    check_said(zero(), None, None, &[unnamed]);
    check_said(zero(), None, Some(100), &[]);
    check_said(zero(), known, None, &[]);
}

/// The command line rejects an invalid number; a file's is ignored.
#[test]
fn reports_invalid_token_limit_in_each_layer() {
    for number in ["-1", "1000000001", "1e30", "0.5", "\"8000\""] {
        let value: Value = serde_json::from_str(number).unwrap();
        let parameters = json!({ "contextManagement": { "enabled": true, "maxContextTokens": value } });
        let file = json!({ "parameters": parameters });
        let with = Compile::default().with(|compile| {
            compile.user_parameters = Some(parameters.clone());
            compile.model_parameters = Some(parameters);
        });
        let compiled = ENGINE.compile(&Agent::read(file, &mut Reader::new()), &with);
        let found = compiled.diagnostics();
        assert_eq!(found.len(), 3, "{found:?}");
        let message =
            format!("`maxContextTokens` must be a whole number from 0 to 1000000000, found `{value}`");
        for finding in found {
            assert_eq!((finding.severity, finding.message.to_string()), (Severity::Error, message.clone()));
        }
    }
}

#[test]
fn sets_no_limit_for_unknown_model() {
    let turn = TurnInput::default().with(|turn| turn.model = Some("\u{0}nobody\n-7b".into()));
    let context = assemble(json!({}), &turn).1.unwrap();
    assert_eq!(context.report.usage.as_ref().unwrap().available, None);
    assert_eq!(context.report.diagnostics.len(), 2);
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
fn rejects_messages_over_budget_without_limiter() {
    let user = json!({ "processors": [{ "id": "token-limiter", "enabled": false }] });
    let turn = TurnInput::default().with(|turn| turn.context_tokens = Some(10));
    let error = assemble(user, &turn).1.unwrap_err();
    insta::assert_snapshot!(error, @"no context fits the budget: 7 tokens are available, but the messages have 11, and `token-limiter` is disabled (user): preset 6 (preset#0), pending turn 5 (history:n1); enable it, or raise the budget");
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
