//! A session's file as a store of one conversation, so that turns of a chat are carried out in it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use ctx_chat::{
    Checkpoint, ConversationEntry, ConversationStore, LearnedLimit, LogEntry, Notice, Step, StoreError,
    StoreFault, Stored,
};
use ctx_types::session::Session;
use tokio::sync::broadcast;

use crate::error::{ProjectError, Result};
use crate::files::{self, FilesRead};
use crate::session_file::{SessionFile, Target};
use crate::sources::Sources;

/// A session's file. Each step is written before it returns, and none over what another program wrote.
#[derive(Debug)]
pub struct SessionStore {
    path: PathBuf,
    id: String,
    state: Mutex<State>,
    told: broadcast::Sender<Notice>,
}

/// What the file holds, and how many steps were taken here.
#[derive(Debug)]
struct State {
    file: SessionFile,
    revision: u64,
}

impl SessionStore {
    /// Opens a session's file, which must be one that can be changed; its conversation has this id.
    pub fn open(path: &Path, id: &str) -> Result<Self> {
        let file = SessionFile::open(path, &Target::InPlace, &mut Sources::default())?;
        let state = Mutex::new(State { file, revision: 0 });
        Ok(Self { path: path.to_owned(), id: id.to_owned(), state, told: broadcast::channel(16).0 })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse_other(&self, id: &str) -> Result<(), StoreError> {
        if id == self.id { Ok(()) } else { Err(StoreError::NotFound { id: id.to_owned() }) }
    }

    /// Takes steps on the file as it is now, and writes it.
    fn take(&self, expected: u64, steps: &[LogEntry]) -> Result<u64, StoreError> {
        let mut state = self.state();
        let found = state.revision;
        let stale = || StoreError::Stale { id: self.id.clone(), expected, found };
        if found != expected {
            return Err(stale());
        }
        if files::read(&self.path).map_err(unwritable)? != state.file.bytes() {
            return Err(stale());
        }
        // What is in memory stays as the file is, should a step not be taken.
        let mut file = state.file.clone();
        for LogEntry { at_millis, step } in steps {
            match step {
                Step::Do { label, op } => file.apply(label, at_millis.unwrap_or_default(), op)?,
                Step::Undo => drop(file.undo()?),
                Step::Redo => drop(file.redo()?),
            }
        }
        file.save(&Target::InPlace, &FilesRead::default()).map_err(unwritable)?;
        state.file = file;
        state.revision += steps.len() as u64;
        Ok(state.revision)
    }
}

fn unwritable(error: ProjectError) -> StoreError {
    StoreError::Unwritable(StoreFault::new(error))
}

#[async_trait]
impl ConversationStore for SessionStore {
    async fn create(
        &self,
        id: &str,
        _checkpoint: Session,
        _at_millis: Option<i64>,
    ) -> Result<(), StoreError> {
        Err(StoreError::Exists { id: id.to_owned() })
    }

    async fn load(&self, id: &str) -> Result<Stored, StoreError> {
        self.refuse_other(id)?;
        let state = self.state();
        let checkpoint =
            Checkpoint { revision: state.revision, session: Session::clone(&state.file.session) };
        Ok(Stored { checkpoint, steps: Vec::new(), revision: state.revision })
    }

    async fn append(&self, id: &str, expected: u64, steps: Vec<LogEntry>) -> Result<u64, StoreError> {
        self.refuse_other(id)?;
        let revision = self.take(expected, &steps)?;
        // Nobody needs to listen.
        drop(self.told.send(Notice::Changed { id: id.to_owned(), revision }));
        Ok(revision)
    }

    async fn checkpoint(&self, _id: &str, _checkpoint: Checkpoint) -> Result<(), StoreError> {
        // The file holds the whole conversation after each step.
        Ok(())
    }

    async fn list(&self) -> Result<Vec<ConversationEntry>, StoreError> {
        let (id, revision) = (self.id.clone(), self.state().revision);
        Ok(vec![ConversationEntry { id, name: None, revision, created_millis: None, changed_millis: None }])
    }

    async fn delete(&self, id: &str) -> Result<(), StoreError> {
        Err(StoreError::NotFound { id: id.to_owned() })
    }

    async fn changes(&self, _since: u64) -> Result<(Vec<Notice>, u64), StoreError> {
        Ok((Vec::new(), 0))
    }

    fn watch(&self) -> broadcast::Receiver<Notice> {
        self.told.subscribe()
    }

    async fn limits(&self) -> Result<Vec<LearnedLimit>, StoreError> {
        Ok(Vec::new())
    }

    async fn learn(&self, _limit: LearnedLimit) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ctx_chat::Conversation;
    use ctx_types::Role;
    use ctx_types::session::Node;

    use super::*;

    #[test]
    fn each_step_is_in_the_file_and_none_goes_over_what_another_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat.json");
        std::fs::write(&path, serde_json::to_vec_pretty(&Session::new("s")).unwrap()).unwrap();
        let store = SessionStore::open(&path, "chat").unwrap();
        let texts = || {
            let read = SessionFile::open(&path, &Target::Nowhere, &mut Sources::default()).unwrap();
            let said = read.session.path().into_iter().filter_map(|node| node.content.clone());
            said.map(|content| content.text().into_owned())
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
        };
        pollster::block_on(async {
            let (mut talk, _) = Conversation::open(&store, "chat", None).await.unwrap();
            talk.append(&store, Node::new(Role::User, "Hello"), Some(1)).await.unwrap();
            talk.append(&store, Node::new(Role::Assistant, "Hi"), Some(2)).await.unwrap();
            assert_eq!(texts(), ["Hello", "Hi"]);
            talk.undo(&store, Some(3)).await.unwrap();
            assert_eq!(texts(), ["Hello"]);
            let other = std::fs::read_to_string(&path).unwrap().replace("Hello", "Other");
            std::fs::write(&path, other).unwrap();
            let refused = talk.append(&store, Node::new(Role::User, "x"), Some(4)).await;
            assert!(matches!(refused, Err(StoreError::Stale { .. })), "{refused:?}");
            assert_eq!(texts(), ["Other"]);
            assert!(matches!(store.load("nobody").await, Err(StoreError::NotFound { .. })));
        });
    }
}
