//! What holds for every list of messages.

use std::sync::Arc;

use ctx_types::{
    Attachment, Content, ContentPart, Message, MessageExtras, Reasoning, Role, Source, ToolCall,
};
use ctx_wire::{Request, openai_chat};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn any_role() -> impl Strategy<Value = Role> {
    prop_oneof![
        Just(Role::System),
        Just(Role::Developer),
        Just(Role::User),
        Just(Role::Assistant),
        Just(Role::Tool),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any_key(), inner), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

fn any_key() -> impl Strategy<Value = String> {
    prop_oneof!["type|text|model|messages|tools|temperature", any::<String>()]
}

fn any_content() -> impl Strategy<Value = Content> {
    let part = prop_oneof![
        any::<String>().prop_map(|text| ContentPart::Text(text.into())),
        any_value().prop_map(|value| ContentPart::Other(Arc::new(value))),
    ];
    prop_oneof![
        any::<String>().prop_map(|text| Content::Text(text.into())),
        vec(part, 0..4).prop_map(Content::Parts),
    ]
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    ("[a-c]?", any::<String>(), any::<String>()).prop_map(|(id, name, arguments)| ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: arguments.into(),
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let name = option::of("[a-z_-]{0,3}|.{0,80}");
    let reasoning = option::of((option::of(any::<String>()), vec(any_value(), 0..2)));
    let call_id = option::of("[a-c]?");
    let shape = (any_role(), any_content(), vec(any_call(), 0..3), call_id, name, reasoning);
    (shape, vec(any_value(), 0..2), any::<bool>()).prop_map(|(shape, files, is_continuation_prefix)| {
        let (role, content, tool_calls, call_id, name, reasoning) = shape;
        let reasoning = reasoning.map(|(text, artifacts)| Reasoning {
            text: text.map(Into::into),
            artifacts: artifacts.into_iter().map(Arc::new).collect(),
            model: None,
        });
        let extras = MessageExtras::default().with(|extras| {
            extras.tool_calls = tool_calls;
            extras.tool_call_id = call_id.map(Into::into);
            extras.name = name.map(Into::into);
            extras.attachments = files.iter().map(Attachment::from_value).collect();
            extras.reasoning = reasoning;
        });
        Message::new(role, "", Source::history("n", role)).with_extras(extras).with(|message| {
            message.content = content;
            message.is_continuation_prefix = is_continuation_prefix;
        })
    })
}

/// The text of a written content, as [`Content::text`] joins it.
fn written_text(content: &Value, parts: &Content) -> String {
    match (content, parts) {
        (Value::String(text), _) => text.clone(),
        (Value::Array(written), Content::Parts(_)) => {
            // Parts of other dialects are not sent.
            let texts = written.iter().filter(|part| part["type"] == "text");
            texts.map(|written| written["text"].as_str().unwrap_or_default()).collect()
        }
        _ => String::new(),
    }
}

proptest! {
    #[test]
    fn every_message_is_written_in_its_place_with_its_role_and_text(
        messages in vec(any_message(), 0..12),
        model: String,
        tools in vec(any_value(), 0..2),
        parameters in vec((any_key(), any_value()), 0..4),
    ) {
        let parameters: Map<String, Value> = parameters.into_iter().collect();
        let request = Request { model: &model, tools: &tools, parameters: &parameters };
        let encoded = openai_chat::encode(&messages, &request);

        let body = encoded.to_value();
        prop_assert_eq!(&body["model"], &json!(model));
        let written = body["messages"].as_array().unwrap();
        // Messages that have nothing else are not sent either.
        let with_text = messages.iter().filter(|message| !message.text().is_empty()).count();
        prop_assert!((with_text..=messages.len()).contains(&written.len()));
        let mut rest = messages.iter();
        for written in written {
            let is_it = |message: &Message| {
                written["role"] == message.role.as_str()
                    && written_text(&written["content"], &message.content) == message.text()
            };
            prop_assert!(rest.any(is_it), "{} is another message", written);
        }

        let bytes = encoded.to_bytes();
        prop_assert_eq!(&bytes, &openai_chat::encode(&messages, &request).to_bytes());
        prop_assert_eq!(&bytes, &serde_json::to_vec(&body).unwrap());
        prop_assert_eq!(&openai_chat::encode(&messages, &request).into_owned(), &encoded);
    }

    #[test]
    fn findings_point_into_the_body(messages in vec(any_message(), 1..12)) {
        let request = Request { model: "m", tools: &[], parameters: &Map::new() };
        let encoded = openai_chat::encode(&messages, &request);
        let body = encoded.to_value();
        for diagnostic in &encoded.diagnostics {
            let pointer = diagnostic.location.pointer.as_deref().unwrap();
            // Places are those of the messages, of which one may not be sent.
            let is_shorter = body["messages"].as_array().unwrap().len() < messages.len();
            prop_assert!(body.pointer(pointer).is_some() || is_shorter, "{}", diagnostic);
        }
    }
}
