use async_trait::async_trait;
use ctx_pipeline::{ContextProcessor, Descriptor, PipelineContext, ProcessorError};
use ctx_types::report::TokenFigure;
use ctx_types::{Content, Message, Place, Role, Source, SourceKind, Trust};
use serde_json::json;

use crate::limiter::case::{Case, Plugins, check, check_decisions, limited, words};

/// Loads everything; each message has 10 tokens.
#[track_caller]
fn check_chat(budget: u32, chat: &'static str, expected: &str) {
    check(Case { budget: Some(budget), ..Case::new(chat) }, expected);
}

#[test]
fn drops_tool_calls_with_their_question() {
    check_chat(44, "u c:x t:x a u", "a3 u4");
    check_chat(34, "u c:x t:x c:y t:y u", "u5");
    check_chat(60, "u a c:x t:x a u a u", "a4 u5 a6 u7");
    // A conversation without a question keeps the messages that fit.
    check_chat(24, "c:x t:x c:y t:y", ":y t3:y");
    check_chat(36, "a=100 c:x t:x a u", ":x t2:x a3 u4");
    // An unloaded question is not sent either.
    let unloaded = Case { budget: Some(36), window: Some(40), ..Case::new("u c:x t:x c:y t:y c:z t:z a u") };
    check(unloaded, "a7 u8");
    // A shortened question keeps its rounds.
    let config = json!({ "retainedCharacters": 2, "truncationMarker": "" });
    check(Case { budget: Some(40), config, ..Case::new("u=30 c:x t:x a u") }, "u0 :x t2:x a3 u4");
    let run = Case { budget: Some(44), ..Case::new("u c:x t:x a u") }.run().unwrap();
    assert_eq!(limited(&run).kept, Some(TokenFigure::Exact(20)));
}

#[test]
fn reports_no_placeholder_that_is_not_sent() {
    let chat = "u c:a t:a=50 c:b t:b=50 c:d t:d c:e t:e c:f";
    let run = Case { budget: Some(160), ..Case::new(chat) }.run().unwrap();
    assert!(words(&run).len() < 100 && run.diagnostics.iter().all(|found| found.code.number() != 800));
}

#[test]
fn estimates_tokens_of_long_text_from_bytes() {
    check_decisions(
        Case { budget: Some(25), window: Some(100_000), ..Case::new("u=70000 a u a=5 u a u") },
        &[
            "dropped history:0 and 4 more: does not fit the budget of 25 tokens (70035 bytes, at most 70035 tokens)",
        ],
    );
}

#[test]
fn records_no_decision_without_drops() {
    check_decisions(Case { budget: Some(30), ..Case::new("u a u") }, &[]);
    // Too few tokens are loaded; the caller has to try a larger limit.
    let case = Case { budget: Some(100), window: Some(5), ..Case::new("u a u a u") };
    assert_eq!(limited(&case.run().unwrap()).dropped, 0);
    check_decisions(case, &[]);
}

#[test]
fn returns_kept_tokens_and_dropped_count() {
    let kept = |case: Case| limited(&case.run().unwrap());
    let exact = kept(Case { budget: Some(25), ..Case::new("u a u a u") });
    assert_eq!((exact.dropped, exact.kept), (3, Some(TokenFigure::Exact(20))));
    let whole = kept(Case { budget: Some(50), ..Case::new("u a u a u") });
    assert_eq!((whole.dropped, whole.kept), (0, Some(TokenFigure::AtMost(50))));
    assert_eq!(kept(Case::new("u")).kept, None);
}

/// Joins neighbors before the limiter, like an early formatter.
struct Joins;

#[async_trait]
impl ContextProcessor for Joins {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("joins", "", "").with(|descriptor| descriptor.priority = 350)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let joined = |pair: &[Message]| {
            let mut message = pair[0].clone();
            let mut text = message.text().into_owned();
            message.written = message.segments().into_owned();
            for other in &pair[1..] {
                for segment in other.segments().iter() {
                    let mut segment = segment.clone();
                    segment.span.start += text.len();
                    segment.span.end += text.len();
                    message.written.push(segment);
                }
                text.push_str(&other.text());
            }
            message.content = Content::Text(text.into());
            message.place = Place::History;
            message.source = Source::new(SourceKind::Merged, Trust::User);
            message
        };
        let messages = cx.draft.messages().chunks(2).map(joined).collect();
        cx.draft.set_messages(messages);
        Ok(())
    }
}

#[test]
fn drops_joined_messages_from_conversation_only() {
    let plugins = Plugins::one(Joins);
    let case = Case { plugins: plugins.clone(), budget: Some(35), ..Case::new("a a a a u") };
    check(case, "a2........a3 u4");
    let preset = json!([{ "role": "assistant", "content": "Hi" }, { "type": "chat_history" }]);
    check(Case { plugins, preset, budget: Some(35), ..Case::new("a a a u u") }, "Hia0 u3........u4");
}

/// Puts a message above everything, before the assembler.
struct InsertsAbove;

#[async_trait]
impl ContextProcessor for InsertsAbove {
    fn descriptor(&self) -> Descriptor {
        Descriptor::new("above", "", "").with(|descriptor| descriptor.priority = 150)
    }

    async fn execute(&self, cx: &mut PipelineContext<'_>) -> Result<(), ProcessorError> {
        let source = Source::new(SourceKind::Plugin, Trust::Preset);
        cx.draft.messages_mut().insert(0, Message::new(Role::System, "above", source.clone()));
        cx.draft.messages_mut().push(Message::new(Role::System, "below", source));
        Ok(())
    }
}

#[test]
fn places_plugin_messages_after_instructions_before_reply() {
    let case = Case { plugins: Plugins::one(InsertsAbove), budget: Some(40), ..Case::new("s u a u p") };
    check(case, "s0 above u3 below >p4");
}
