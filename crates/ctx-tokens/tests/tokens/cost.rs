use std::sync::Arc;

use ctx_tokens::{
    Counter, ModelFacts,
    internal::{MediaFamily, message_cost, shares, tools_cost},
};
use ctx_types::ports::ToolDefinition;
use ctx_types::{Attachment, Content, ContentPart, Message, Reasoning, Role, Source, Text, ToolCall};
use proptest::prelude::*;
use serde_json::json;

/// The estimate of 12 ASCII characters is 3 tokens.
fn message() -> Message {
    Message::new(Role::Assistant, "four by four", Source::history("n1", Role::Assistant))
}

#[track_caller]
fn check(message: &Message, expected: &[(&str, u32)]) {
    let mut model = ModelFacts::unknown("mine");
    model.media = MediaFamily::Gpt4o;
    let cost = message_cost(message, &model, &Counter::estimate());
    let parts: Vec<_> = cost.parts().filter(|(_, tokens)| *tokens > 0).collect();
    assert_eq!(parts, expected);
    assert_eq!(cost.total(), expected.iter().map(|(_, tokens)| tokens).sum::<u32>());
}

#[test]
fn counts_text_and_message_overhead() {
    check(&message(), &[("text", 3), ("per message", 3)]);
}

#[test]
fn counts_overhead_of_empty_message() {
    let empty = Message::new(Role::User, "", Source::history("n1", Role::User));
    check(&empty, &[("per message", 3)]);
}

#[test]
fn counts_name_and_its_overhead() {
    let named = message().with(|message| message.name = Some("Alice".into()));
    check(&named, &[("text", 3), ("per message", 3), ("name", 3)]);
}

#[test]
fn counts_tool_calls_by_id_name_and_arguments() {
    let call = ToolCall { id: "call_001".into(), name: "read".into(), arguments: r#"{"a":"b"}"#.into() };
    let calls = message().with(|message| message.tool_calls = vec![call.clone(), call]);
    check(&calls, &[("text", 3), ("per message", 3), ("tool calls", 16)]);
}

#[test]
fn counts_tool_call_id_of_result() {
    let result = message().with(|message| {
        message.role = Role::Tool;
        message.tool_call_id = Some("call_001".into());
    });
    check(&result, &[("text", 3), ("per message", 3), ("tool call id", 4)]);
}

#[test]
fn adds_text_parts_and_media() {
    let parts = vec![
        ContentPart::Text("abcd".into()),
        ContentPart::Other(Arc::new(
            json!({"type": "image_url", "image_url": {"url": "data:", "detail": "low"}}),
        )),
        ContentPart::Text("abcd".into()),
    ];
    check(
        &message().with(|message| message.content = Content::Parts(parts)),
        &[("text", 2), ("per message", 3), ("media", 85)],
    );
}

#[test]
fn counts_json_of_unknown_part() {
    let part = ContentPart::Other(Arc::new(json!({"type": "refusal"})));
    check(
        &message().with(|message| message.content = Content::Parts(vec![part])),
        &[("per message", 3), ("media", 5)],
    );
}

#[test]
fn weighs_attachments_by_type_and_size() {
    let attachments = [
        json!({"mimeType": "image/png", "metadata": {"width": 512, "height": 512}}),
        json!({"mimeType": "audio/mp3", "duration": 9.5}),
    ];
    let attachments = attachments.iter().map(Attachment::from_value).collect();
    check(
        &message().with(|message| message.attachments = attachments),
        &[("text", 3), ("per message", 3), ("media", 85 + 170 + 100)],
    );
}

#[test]
fn counts_reasoning_text_or_estimates_it() {
    let artifacts = vec![Arc::new(json!("x".repeat(398)))];
    let mut thinking = message();
    thinking.reasoning =
        Some(Reasoning { text: Some("abcdefgh".into()), artifacts: artifacts.clone(), model: None });
    check(&thinking, &[("text", 3), ("per message", 3), ("reasoning", 2)]);
    thinking.reasoning = Some(Reasoning { text: None, artifacts, model: None });
    check(&thinking, &[("text", 3), ("per message", 3), ("reasoning", 100)]);
}

#[test]
fn counts_tool_json_and_provider_overhead() {
    let tool = ToolDefinition {
        name: "read".into(),
        description: Some(Text::from("Reads a file.")),
        parameters: Arc::new(json!({"type": "object"})),
    };
    let json = r#"{"name":"read","description":"Reads a file.","parameters":{"type":"object"}}"#;
    let each = u32::try_from(json.len().div_ceil(4)).unwrap() + 8;
    let mut model = ModelFacts::unknown("mine");
    model.overheads.with_tools = 100;
    let cost = |count| tools_cost(&vec![tool.clone(); count], &model, &Counter::estimate());
    assert_eq!([cost(0), cost(1), cost(2)], [0, 100 + each, 100 + 2 * each]);
}

#[track_caller]
fn check_shares(total: u32, weights: &[u64], expected: &[u32]) {
    assert_eq!(shares(total, weights), expected, "{total} by {weights:?}");
}

#[test]
fn gives_rest_to_largest_remainders() {
    check_shares(7, &[3, 3, 1], &[3, 3, 1]);
    check_shares(10, &[55, 25, 20], &[6, 2, 2]);
    check_shares(100, &[1, 1, 1], &[34, 33, 33]);
}

#[test]
fn resolves_equal_remainders_in_order() {
    check_shares(2, &[1, 1, 1, 1], &[1, 1, 0, 0]);
    check_shares(1, &[0, 0, 0], &[1, 0, 0]);
}

#[test]
fn handles_empty_weights_and_zero_total() {
    check_shares(5, &[], &[]);
    check_shares(0, &[1, 2], &[0, 0]);
}

#[test]
fn splits_largest_total_without_overflow() {
    check_shares(u32::MAX, &[u64::MAX, u64::MAX], &[2_147_483_648, 2_147_483_647]);
}

proptest! {
    #[test]
    fn adds_up_shares_within_one_of_exact_value(
        total in any::<u32>(),
        weights in prop::collection::vec(0..1_000_000_u64, 1..20),
    ) {
        let parts = shares(total, &weights);
        prop_assert_eq!(parts.iter().map(|part| u64::from(*part)).sum::<u64>(), u64::from(total));
        let sum: u64 = weights.iter().sum();
        for (part, weight) in parts.iter().zip(&weights).filter(|_| sum > 0) {
            let due = u128::from(total) * u128::from(*weight);
            let part = u128::from(*part) * u128::from(sum);
            prop_assert!(part.abs_diff(due) < u128::from(sum));
            prop_assert!(*weight > 0 || part == 0);
        }
    }
}
