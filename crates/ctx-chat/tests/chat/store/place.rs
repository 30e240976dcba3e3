//! Where stores of tests are: each test has one of its own in each database.

use std::sync::Arc;

use ctx_chat::{ConversationStore, SqliteStore};

use crate::store::block_on;

/// A place for a store, which several can open.
pub(crate) enum Place {
    /// A file in a folder of its own.
    File(tempfile::TempDir),
    /// A schema of a database.
    #[cfg(feature = "postgres")]
    Schema(crate::store::postgres::Schema),
}

impl Place {
    /// Opens the store; each time another handle, as another process has it.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unused_async, reason = "opening a database takes waiting")
    )]
    pub(crate) async fn open(&self) -> Arc<dyn ConversationStore> {
        match self {
            Self::File(folder) => Arc::new(SqliteStore::open(&folder.path().join("chats.db")).unwrap()),
            #[cfg(feature = "postgres")]
            Self::Schema(schema) => Arc::new(schema.open().await),
        }
    }
}

/// Runs a test on every store that there is.
pub(crate) fn on_every_store<F: Future<Output = ()>>(test: impl Fn(Arc<Place>) -> F) {
    block_on(test(Arc::new(Place::File(tempfile::tempdir().unwrap()))));
    #[cfg(feature = "postgres")]
    block_on(async {
        let Some(schema) = crate::store::postgres::Schema::new().await else { return };
        let name = schema.name().to_owned();
        test(Arc::new(Place::Schema(schema))).await;
        crate::store::postgres::drop_schema(&name).await;
    });
}
