//! What a killed program leaves behind.

use std::path::Path;

use ctx_chat::{Conversation, SqliteStore};
use ctx_types::Role;
use ctx_types::session::Node;
use serde_json::json;

use crate::room::block_on;

/// What a tool is called with that says as much: more than stays in the conversation.
pub(crate) fn long_arguments() -> String {
    json!({ "text": "The red umbrella stands in room 12. ".repeat(50) }).to_string()
}

/// Checks a store after its program was killed: it is sound, and what was told to be stored is there, once and in
/// its order, and at most one message more. Returns the store and the conversation as they were left.
pub(crate) fn check(store: &Path, told: &[String]) -> (SqliteStore, Conversation) {
    check_file(store);
    let opened = SqliteStore::open(store).unwrap();
    let conversation = block_on(Conversation::load(&opened, "c")).unwrap();
    let path = conversation.session().path();
    let stored: Vec<String> = path.iter().map(|node| line(node)).collect();
    // The program's own messages follow the answer to the latest `continue`.
    let begin = path.iter().rposition(|node| text(node) == "continue");
    let answered =
        begin.and_then(|begin| stored[begin..].iter().position(|line| line.ends_with(" assistant whole")));
    let first = begin.zip(answered).map_or(0, |(begin, answered)| begin + answered + 1);
    let own: Vec<&str> = stored[first..].iter().map(|line| line.trim_end_matches(" whole")).collect();
    assert!(own.len() <= told.len() + 1, "told {told:?}, stored {own:?}");
    assert_eq!(own[..told.len().min(own.len())], *told, "what was acknowledged is there");
    for (index, node) in path.iter().enumerate() {
        check_whole(node, &stored[index]);
    }
    (opened, conversation)
}

/// Lets the database look at itself.
fn check_file(store: &Path) {
    let connection = rusqlite::Connection::open(store).unwrap();
    let said: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

/// A message as the program tells it; of an answer with words, that it is whole.
fn line(node: &Node) -> String {
    let role = node.role.unwrap_or_default();
    let is_answer = role == Role::Assistant && node.tool_calls.is_empty();
    format!("{} {role}{}", node.id.clone().unwrap_or_default(), if is_answer { " whole" } else { "" })
}

fn text(node: &Node) -> String {
    node.content.as_ref().map(|content| content.text().into_owned()).unwrap_or_default()
}

/// Checks that a message has all of its words, and a result that was put into a file all of its bytes there.
fn check_whole(node: &Node, line: &str) {
    let text = text(node);
    let is_whole = match node.role.unwrap_or_default() {
        Role::User => text.starts_with("Turn ") || text == "continue",
        Role::Assistant => text == "That is all of it." || !node.tool_calls.is_empty(),
        Role::Tool => match text.split_once("Full output: ") {
            Some((_, file)) => std::fs::read_to_string(file).unwrap() == long_arguments(),
            None => ["one", "two", ctx_chat::INTERRUPTED].contains(&text.as_str()),
        },
        _ => false,
    };
    assert!(is_whole, "{line}: {text}");
}
