//! The stores: what is kept, and what happens when something goes wrong.
//!
//! What holds for every store is tested on each: on `SQLite` always, on `PostgreSQL` with the feature `postgres`
//! where `CTX_TEST_POSTGRES` names a database.

mod batches;
mod damage;
mod file;
mod log;
mod older;
mod place;
#[cfg(feature = "postgres")]
mod postgres;
mod property;
mod sharing;
mod spill;

use std::future::Future;

use ctx_chat::{Conversation, ConversationStore, StoreError};
use ctx_types::Role;
use ctx_types::session::Node;

/// Runs a test that waits.
#[track_caller]
fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Begins the conversation `c`, in which these words are said.
async fn chat(store: &dyn ConversationStore, words: &[&str]) -> Result<Conversation, StoreError> {
    let mut chat = Conversation::create(store, "c", Some(1)).await?;
    for words in words {
        chat.append(store, Node::new(Role::User, *words), Some(2)).await?;
    }
    Ok(chat)
}

/// What a conversation says on its active path.
fn words(chat: &Conversation) -> Vec<String> {
    let path = chat.session().path();
    path.iter()
        .map(|node| node.content.as_ref().map_or_else(String::new, |content| content.text().into_owned()))
        .collect()
}
