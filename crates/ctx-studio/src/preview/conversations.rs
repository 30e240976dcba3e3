//! Conversations that were read: while an agent is edited, its conversation stays the same, and so does what was counted.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Mutex;

use ctx_project::Sources;
use ctx_project::inputs::InputFile;
use ctx_project::turn::ReadSession;

use crate::access::lock;
use crate::folder::hash;

/// How many conversations are kept.
const MAX_KEPT: usize = 4;

/// The conversations that were read last, by their files and the hashes of what these held.
#[derive(Debug, Default)]
pub(crate) struct Conversations(Mutex<VecDeque<Known>>);

#[derive(Debug)]
struct Known {
    path: PathBuf,
    hash: String,
    read: ReadSession,
}

impl Conversations {
    /// Reads a conversation, unless it was read with the same bytes; none where it cannot be read.
    pub(super) fn read(&self, file: &InputFile, sources: &mut Sources) -> Option<ReadSession> {
        let bytes = sources.read(&file.path, &file.name).ok()?;
        let hash = hash(&bytes);
        let is_same = |known: &&Known| known.path == file.path && known.hash == hash;
        let known = lock(&self.0).iter().find(is_same).map(|known| known.read.clone());
        if known.is_some() {
            return known;
        }
        let given = InputFile { bytes: Some(bytes), ..file.clone() };
        let read = ReadSession::read(&given, sources).ok()?;
        let mut kept = lock(&self.0);
        kept.push_back(Known { path: file.path.clone(), hash, read: read.clone() });
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
        Some(read)
    }
}
