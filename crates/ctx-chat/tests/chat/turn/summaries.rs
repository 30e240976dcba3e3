//! Summaries in the conversation, made before the model is asked.

use std::sync::Mutex;

use ctx_chat::Masks;
use ctx_compress::mask::{MaskConfig, TriggerMode};
use ctx_types::phrase;
use ctx_types::ports::{PortError, PortErrorKind, PortFuture, Summarizer, SummaryAnswer, SummaryRequest};

use crate::room::{Room, ending};
use crate::server::Answer;

/// Summarises by a script.
struct Scripted(Mutex<Vec<Result<&'static str, PortErrorKind>>>);

impl Scripted {
    fn new(answers: &[Result<&'static str, PortErrorKind>]) -> Self {
        Self(Mutex::new(answers.iter().rev().copied().collect()))
    }
}

impl Summarizer for Scripted {
    fn summarize<'a>(&'a self, _: &'a SummaryRequest) -> PortFuture<'a, Result<SummaryAnswer, PortError>> {
        let answer = self.0.lock().unwrap().pop().unwrap_or(Err(PortErrorKind::Unavailable));
        Box::pin(async move {
            answer.map(Into::into).map_err(|kind| PortError::new(kind, phrase!("by the script")))
        })
    }
}

fn config() -> MaskConfig {
    MaskConfig {
        trigger_mode: TriggerMode::Count,
        count_threshold: 20,
        summary_retries: 0,
        ..MaskConfig::default()
    }
}

fn room() -> Room {
    let texts: Vec<String> =
        (0..30).map(|n| format!("Umbrella {n} stands in room {n} and is red.")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    Room::new([Answer::text("Yes."), Answer::text("Yes.")]).said(&texts)
}

#[test]
fn older_messages_give_way_to_a_summary_before_the_first_call() {
    let (mut room, summarizer) = (room(), Scripted::new(&[Ok("There are thirty red umbrellas.")]));
    let end =
        room.turn("Red?", |chat| chat.masks = Some(Masks { config: config(), summarizer: &summarizer }));
    assert_eq!(ending(&end), "answered");
    let told = |line: &str| room.told.iter().position(|told| told.starts_with(line)).unwrap();
    assert!(
        told("stored user") < told("summarizing") && told("summarizing") < told("summarized: compressed 20")
    );
    assert!(told("summarized") < told("sending 1"));
    let sent = room.server.requests()[0].messages();
    assert_eq!(sent.iter().filter(|(_, text)| text.contains("Umbrella")).count(), 10);
    assert!(sent.iter().any(|(_, text)| text.contains("thirty red umbrellas")));
    assert_eq!(room.stored().len(), 30 + 1 + 2, "nothing is deleted");
}

#[test]
fn a_summary_that_fails_changes_nothing_and_the_turn_goes_on() {
    let (mut room, summarizer) = (room(), Scripted::new(&[Err(PortErrorKind::Denied)]));
    let before = room.stored();
    let end =
        room.turn("Red?", |chat| chat.masks = Some(Masks { config: config(), summarizer: &summarizer }));
    assert_eq!(ending(&end), "answered");
    let notice = "not summarized: the summarizer failed (not allowed): by the script";
    assert!(room.told.contains(&notice.to_owned()), "{:?}", room.told);
    assert_eq!(room.stored()[..30], before);
    assert_eq!(room.server.requests()[0].messages().len(), 1 + 30 + 1);
}

#[test]
fn nothing_is_summarised_where_it_is_off_or_not_time() {
    for config in [
        MaskConfig { enabled: false, ..config() },
        MaskConfig { auto_trigger: false, ..config() },
        MaskConfig { count_threshold: 31, ..config() },
    ] {
        let (mut room, summarizer) = (room(), Scripted::new(&[Ok("Umbrellas.")]));
        room.turn("Red?", |chat| chat.masks = Some(Masks { config, summarizer: &summarizer }));
        assert!(!room.told.iter().any(|line| line.contains("summar")), "{:?}", room.told);
    }
}

#[test]
fn a_summary_is_one_step_to_undo() {
    let (mut room, summarizer) = (room(), Scripted::new(&[Ok("There are thirty red umbrellas.")]));
    room.turn("Red?", |chat| chat.masks = Some(Masks { config: config(), summarizer: &summarizer }));
    let chat = &mut room.conversation;
    crate::room::block_on(async {
        // The answer, then the summary.
        chat.undo(&room.store, None).await.unwrap();
        chat.undo(&room.store, None).await.unwrap();
    });
    assert_eq!(room.stored().len(), 31);
}

#[test]
fn a_model_is_asked_for_a_summary_without_tools() {
    let server = crate::server::Server::script([Answer::text("Thirty red umbrellas.")]);
    let endpoint = ctx_chat::Endpoint::new(ctx_wire::Dialect::OpenaiChat, server.base_url());
    let client = std::sync::Arc::new(ctx_chat::Client::new(endpoint).unwrap());
    let shape = ctx_chat::RequestShape { model: "small".to_owned(), ..ctx_chat::RequestShape::default() };
    let summarizer = ctx_chat::ModelSummarizer::new(client, shape).with_profile("main");
    let request = SummaryRequest {
        prompt: "Summarise this.".into(),
        model: Some("main:large:7b".into()),
        temperature: Some(0.25),
        max_tokens: Some(500),
    };
    let answer = crate::room::block_on(summarizer.summarize(&request)).unwrap();
    assert_eq!(answer, "Thirty red umbrellas.".into());
    let sent = server.requests()[0].json();
    let expected = serde_json::json!({ "model": "large:7b", "messages": [{ "role": "user", "content": "Summarise this." }],
        "temperature": 0.25, "max_tokens": 500, "stream": true, "stream_options": { "include_usage": true } });
    assert_eq!(sent, expected);
}

#[test]
fn follows_request_rules_of_custom_models() {
    let server = crate::server::Server::script([Answer::text("Done.")]);
    let endpoint = ctx_chat::Endpoint::new(ctx_wire::Dialect::OpenaiChat, server.base_url());
    let client = std::sync::Arc::new(ctx_chat::Client::new(endpoint).unwrap());
    let rows = r#"{"models": [{"pattern": "^mine$", "request": {"samplers": "none", "outputLimit": "max_completion_tokens"}}]}"#;
    let (models, found) = ctx_tokens::ModelTable::builtin().with_override(rows);
    assert_eq!(found, []);
    let shape = ctx_chat::RequestShape { model: "mine".to_owned(), ..ctx_chat::RequestShape::default() };
    let summarizer = ctx_chat::ModelSummarizer::new(client, shape).with_models(std::sync::Arc::new(models));
    let request =
        SummaryRequest { prompt: "x".into(), model: None, temperature: Some(0.25), max_tokens: Some(500) };
    crate::room::block_on(summarizer.summarize(&request)).unwrap();
    let sent = server.requests()[0].json();
    assert_eq!((sent.get("temperature"), &sent["max_completion_tokens"]), (None, &500.into()));
}

/// Asks for a summary where the provider answers this, and compares the kind of failure.
#[track_caller]
fn check_failure(answer: Answer, expected: PortErrorKind) {
    let server = crate::server::Server::script([answer]);
    let mut endpoint = ctx_chat::Endpoint::new(ctx_wire::Dialect::OpenaiChat, server.base_url());
    endpoint.retry.retries = 0;
    let client = std::sync::Arc::new(ctx_chat::Client::new(endpoint).unwrap());
    let summarizer = ctx_chat::ModelSummarizer::new(client, ctx_chat::RequestShape::default());
    let request = SummaryRequest { prompt: "x".into(), model: None, temperature: None, max_tokens: None };
    let error = crate::room::block_on(summarizer.summarize(&request)).unwrap_err();
    assert_eq!(error.kind, expected, "{error}");
}

#[test]
fn a_summary_that_fails_says_of_what_kind_the_failure_is() {
    check_failure(Answer::error(400, "context_length_exceeded", "x"), PortErrorKind::TooLarge);
    check_failure(Answer::error(401, "invalid_api_key", "x"), PortErrorKind::Denied);
    check_failure(Answer::error(404, "x", "x"), PortErrorKind::NotFound);
    check_failure(Answer::error(400, "x", "x"), PortErrorKind::Invalid);
    check_failure(Answer::error(503, "x", "x"), PortErrorKind::Unavailable);
}
