//! Invariant 9: the same input gives the same bytes.

use ctx_types::{Content, Message, Text};
use proptest::prelude::*;

use crate::generate::requests;
use crate::{Pass, Setting, cases, settings};

/// Returns the same messages in other places of memory, with nothing counted yet.
fn copied(messages: &[Message]) -> Vec<Message> {
    let copy = |message: &Message| {
        let content = match &message.content {
            Content::Text(text) => Content::Text(Text::from(text.as_str())),
            parts @ Content::Parts(_) => parts.clone(),
        };
        message.clone().with(|message| message.content = content)
    };
    messages.iter().map(copy).collect()
}

fn check(messages: &[Message], setting: Setting) {
    let first = Pass::of(messages, setting);
    let given = copied(messages);
    // In another thread, whose hash maps have other orders.
    let second = std::thread::scope(|scope| scope.spawn(|| Pass::of(&given, setting).done).join().unwrap());
    assert_eq!(second, first.done);
}

proptest! {
    #![proptest_config(cases())]

    /// Invariant 9.
    #[test]
    fn equal_requests_give_equal_bytes(messages in requests(), setting in settings()) {
        check(&messages, setting);
    }
}
