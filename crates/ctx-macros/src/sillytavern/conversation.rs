use ctx_types::{Trust, phrase};

use crate::call::{Call, Failure, Value};
use crate::definition::Definition;
use crate::env::{Conversation, SpokenText};

pub(super) fn definitions() -> Vec<Definition> {
    let mut all = vec![
        spoken_text("lastMessage", |chat| chat.last.as_ref(), "Newest message."),
        spoken_text("lastUserMessage", |chat| chat.last_user.as_ref(), "Newest message of the user."),
        spoken_text("lastCharMessage", |chat| chat.last_agent.as_ref(), "Newest message of the agent."),
        number(
            "lastMessageId",
            |call| call.env().conversation.length.checked_sub(1),
            "Number of the newest message, from 0.",
        ),
        number(
            "firstIncludedMessageId",
            |call| call.require_host_value(call.env().conversation.first_included),
            "Number of the oldest message in the last request.",
        ),
        number(
            "firstDisplayedMessageId",
            |call| call.require_host_value(call.env().conversation.first_displayed),
            "Number of the oldest message on the screen.",
        ),
        number(
            "lastSwipeId",
            |call| call.env().conversation.swipes,
            "Number of versions of the newest message.",
        ),
        number(
            "currentSwipeId",
            |call| call.env().conversation.current_swipe,
            "Number of the shown version of the newest message, from 1.",
        ),
        Definition::always("allChatRange", range)
            .volatile()
            .describe("Range of message numbers, such as `0-5`, or empty.", "{{allChatRange}}"),
    ];
    all.extend(TEXTS.iter().map(|(name, description)| text(name, description)));
    all.push(last_chat_message());
    all
}

const TEXTS: [(&str, &str); 4] = [
    ("summary", "Summary of the conversation."),
    ("authorsNote", "Author's note of this conversation."),
    ("charAuthorsNote", "Author's note of this agent."),
    ("defaultAuthorsNote", "Default author's note."),
];

fn spoken_text(
    name: &'static str,
    read: fn(&Conversation) -> Option<&SpokenText>,
    description: &str,
) -> Definition {
    let expand = move |call: &mut Call<'_>| call.spoken_text(read(&call.env().conversation));
    Definition::always(name, expand).volatile().describe(description, format!("{{{{{name}}}}}"))
}

fn number(name: &'static str, read: fn(&mut Call<'_>) -> Option<usize>, description: &str) -> Definition {
    let expand =
        move |call: &mut Call<'_>| read(call).map_or(Value::EMPTY, |number| number.to_string().into());
    Definition::always(name, expand).volatile().describe(description, format!("{{{{{name}}}}}"))
}

fn range(call: &mut Call<'_>) -> Value {
    match call.env().conversation.length.checked_sub(1) {
        Some(last) => format!("0-{last}").into(),
        None => Value::EMPTY,
    }
}

fn text(name: &'static str, description: &str) -> Definition {
    let expand = move |call: &mut Call<'_>| Value::from(call.host_text(name));
    let definition = Definition::always(name, expand).trust(Trust::Model).volatile();
    definition.describe(description, format!("{{{{{name}}}}}"))
}

/// Works only in the prompt for which the host provides it.
fn last_chat_message() -> Definition {
    let expand = |call: &mut Call<'_>| match call.env().texts.get("lastChatMessage") {
        Some(text) => Ok(text.clone().into()),
        None => Err(Failure::from_message(phrase!("`lastChatMessage` works only when a reply is continued"))),
    };
    Definition::new("lastChatMessage", expand).trust(Trust::Model).volatile().describe(
        "Message to continue, in the prompt that requests it; elsewhere the call stays as text.",
        "{{lastChatMessage}}",
    )
}
