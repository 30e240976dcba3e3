//! Conversations that were read: while an agent is edited, its conversation stays the same, and so does what was counted.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ctx_project::Sources;
use ctx_project::files::{Stamp, hash};
use ctx_project::inputs::InputFile;
use ctx_project::turn::ReadSession;
use ctx_types::session::Session;

use crate::access::lock;

/// How many conversations are kept.
const MAX_KEPT: usize = 4;

/// The conversations that were read last, by their files and what tells that these are the same.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<VecDeque<Known>>);

#[derive(Debug)]
struct Known {
    path: PathBuf,
    stamp: Option<Stamp>,
    hash: String,
    read: ReadSession,
}

impl Conversations {
    /// Reads a conversation, unless it was read with the same bytes, here or where it is changed; none where it cannot be
    /// read.
    pub(super) fn read(
        &self,
        file: &InputFile,
        is_draft: bool,
        sources: &mut Sources,
        changed: impl FnOnce(&str) -> Option<Arc<Session>>,
    ) -> Option<ReadSession> {
        let stamp = Stamp::certain(&file.path).filter(|_| !is_draft);
        // Where something was found, its text is shown.
        let is_same =
            |known: &Known| known.stamp.is_some() && known.stamp == stamp && known.read.found.is_empty();
        if let Some(read) = self.known(file, is_same, None) {
            return Some(read);
        }
        let bytes = sources.read(&file.path, &file.name).ok()?;
        let hash = hash(&bytes);
        if let Some(read) = self.known(file, |known| known.hash == hash, stamp) {
            return Some(read);
        }
        let read = if let Some(session) = changed(&hash) {
            ReadSession { session, found: Vec::new() }
        } else {
            let given = InputFile { bytes: Some(bytes), ..file.clone() };
            ReadSession::read(&given, sources).ok()?
        };
        let mut kept = lock(&self.0);
        kept.push_back(Known { path: file.path.clone(), stamp, hash, read: read.clone() });
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
        Some(read)
    }

    /// Returns what is known of a file, and notes by what it is known from now on.
    fn known(
        &self,
        file: &InputFile,
        is_same: impl Fn(&Known) -> bool,
        stamp: Option<Stamp>,
    ) -> Option<ReadSession> {
        let mut kept = lock(&self.0);
        let known = kept.iter_mut().find(|known| known.path == file.path && is_same(known))?;
        known.stamp = stamp.or(known.stamp);
        Some(known.read.clone())
    }
}
