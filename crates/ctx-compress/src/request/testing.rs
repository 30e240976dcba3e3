//! Messages for tests, written as words.

use ctx_types::{Message, Role, Source, ToolCall};

/// Builds messages from words: `s`, `u`, `a`, `t` by role; `a:x,y` with calls; `t:x` a result; ids are `n0`, `n1`, …
pub(crate) fn messages(words: &str) -> Vec<Message> {
    words.split_whitespace().enumerate().map(|(index, word)| message(index, word)).collect()
}

/// Writes messages as words again.
pub(crate) fn words(messages: &[Message]) -> String {
    let word = |message: &Message| {
        let role = &message.role.as_str()[..1];
        let ids: Vec<&str> = message.tool_calls.iter().map(|call| &*call.id).collect();
        let ids = message.tool_call_id.as_deref().map_or(ids.join(","), str::to_owned);
        if ids.is_empty() { role.to_owned() } else { format!("{role}:{ids}") }
    };
    messages.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn message(index: usize, word: &str) -> Message {
    let (role, ids) = word.split_once(':').unwrap_or((word, ""));
    let role = match role {
        "u" => Role::User,
        "a" => Role::Assistant,
        "t" => Role::Tool,
        _ => Role::System,
    };
    let ids: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).collect();
    let call = |id: &&str| ToolCall { id: (*id).into(), name: "f".into(), arguments: "{}".into() };
    Message::new(role, word, Source::history(format!("n{index}"), role)).with(|message| {
        if role == Role::Tool {
            message.tool_call_id = ids.first().map(|id| (*id).into());
        } else if !ids.is_empty() {
            message.tool_calls = ids.iter().map(call).collect();
        }
    })
}
