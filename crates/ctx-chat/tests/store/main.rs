//! The store: what is kept, and what happens when something goes wrong.
#![expect(clippy::unwrap_used, reason = "a broken expectation is a failed test")]

mod damage;
mod log;
mod property;
mod sharing;
mod spill;

use std::future::Future;

use ctx_chat::{Conversation, SqliteStore, StoreError};
use ctx_types::{Node, Role};

/// Runs a test that waits.
#[track_caller]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// A store of its own with one conversation, `c`, in which these words were said.
async fn chat(words: &[&str]) -> Result<(SqliteStore, Conversation), StoreError> {
    let store = SqliteStore::in_memory()?;
    let mut chat = Conversation::create(&store, "c", Some(1)).await?;
    for words in words {
        chat.append(&store, Node::new(Role::User, *words), Some(2)).await?;
    }
    Ok((store, chat))
}

/// What a conversation says on its active path.
fn words(chat: &Conversation) -> Vec<String> {
    let path = chat.session().path();
    path.iter()
        .map(|node| node.content.as_ref().map_or_else(String::new, |content| content.text().into_owned()))
        .collect()
}
