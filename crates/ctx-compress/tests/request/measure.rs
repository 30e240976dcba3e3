//! Invariant 12: what messages cost adds up, grows with the text, and knows nothing of encodings.

use std::sync::Arc;

use ctx_compress::request::{Meter, UsageWatch};
use ctx_types::{Content, ContentPart, Message, Role, Source};
use proptest::prelude::*;
use serde_json::json;

use crate::generate::requests;
use crate::{Setting, cases, settings};

fn check_sum(messages: &[Message], setting: Setting, at: usize) {
    let meter = setting.meter();
    let (left, right) = messages.split_at(at.min(messages.len()));
    assert_eq!(meter.messages(messages), meter.messages(left) + meter.messages(right));
    assert!(messages.iter().all(|message| meter.message(message) > 0));
    let mut watch = UsageWatch::default();
    assert_eq!(watch.tokens(left, &meter), meter.messages(left));
    assert_eq!(watch.tokens(messages, &meter), meter.messages(messages), "it adds what is new");
}

fn check_growth(text: &str, more: &str) {
    let message = |text: &str| Message::new(Role::User, text, Source::history("n", Role::User));
    let (before, after) = (message(text), message(&format!("{text}{more}")));
    let meter = Meter::estimate();
    assert!(meter.message(&before) <= meter.message(&after));
    let chars: u64 = text.chars().map(|c| if c.is_ascii() { 1 } else { 4 }).sum();
    assert_eq!(meter.message(&before), 10 + chars.div_ceil(4), "the estimate");
}

fn check_image(length: usize) {
    let image = |length: usize| {
        let url = format!("data:image/png;base64,{}", "A".repeat(length));
        let part = json!({ "type": "image_url", "image_url": { "url": url } });
        let message = Message::new(Role::User, "", Source::history("n", Role::User));
        message.with(|message| message.content = Content::Parts(vec![ContentPart::Other(Arc::new(part))]))
    };
    let meter = Meter::estimate();
    assert_eq!(meter.message(&image(length)), meter.message(&image(0)));
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 12: additive, and no message is free.
    #[test]
    fn the_cost_of_messages_is_the_sum_of_each(messages in requests(), setting in settings(), at in 0_usize..40) {
        check_sum(&messages, setting, at);
    }

    /// Invariant 12: never less for more text.
    #[test]
    fn appended_text_never_makes_a_message_cheaper(text in "\\PC{0,60}", more in "\\PC{0,20}") {
        check_growth(&text, &more);
    }

    /// Invariant 12: an image costs the same however it is encoded.
    #[test]
    fn the_length_of_an_encoding_costs_nothing(length in 0_usize..4_000) {
        check_image(length);
    }
}
