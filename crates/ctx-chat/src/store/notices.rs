//! Telling this process of changes that it made.

use tokio::sync::broadcast;

use crate::store::Notice;

/// How many notices a slow listener may be behind before he misses some and has to ask for changes.
const MOST_BEHIND: usize = 1_024;

/// Tells whoever listens.
#[derive(Clone, Debug)]
pub(super) struct Notices(broadcast::Sender<Notice>);

impl Default for Notices {
    fn default() -> Self {
        Self(broadcast::channel(MOST_BEHIND).0)
    }
}

impl Notices {
    pub(super) fn changed(&self, id: &str, revision: u64) {
        self.tell(Notice::Changed { id: id.to_owned(), revision });
    }

    pub(super) fn deleted(&self, id: &str) {
        self.tell(Notice::Deleted { id: Some(id.to_owned()) });
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Notice> {
        self.0.subscribe()
    }

    fn tell(&self, notice: Notice) {
        // An error means that nobody listens.
        drop(self.0.send(notice));
    }
}
