//! Conversations in files: read once while they stay the same, changed step by step, each written at once.

mod attached;
mod compressing;
mod path;
mod steps;
mod summary;
mod tree;
mod turns;
mod writing;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use ctx_project::Sources;
use ctx_project::session_file::{SessionFile, Target};
use ctx_types::phrase;

pub(crate) use attached::{Attached, attach, discard};
pub(crate) use compressing::{compress, plan, settings};
pub(crate) use path::{Asked, view};
pub(crate) use steps::{make_session, take};
pub(crate) use summary::summary;
pub(crate) use tree::tree;
pub(crate) use turns::{Turns, begin, verdict};
pub(crate) use writing::begin_summary;

use crate::access::lock;
use crate::api_files::FileKind;
use crate::call::Refusal;
use crate::codes;
use crate::folder::{Stamp, hash};
use crate::server::Server;

/// How many conversations are kept.
const MAX_KEPT: usize = 4;

/// The conversations that were read last.
#[derive(Debug, Default)]
pub(crate) struct Talks {
    known: Mutex<VecDeque<Known>>,
    /// Held by whoever takes a step.
    writing: Mutex<()>,
}

/// A conversation as its file had it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    id: String,
    stamp: Option<Stamp>,
    pub(crate) hash: String,
    pub(crate) file: Arc<SessionFile>,
}

impl Talks {
    /// Reads a conversation, unless it was read as it is now.
    pub(crate) fn read(&self, server: &Server, id: &str) -> Result<Known, Refusal> {
        let path = path(server, id)?;
        let stamp = Stamp::certain(&path);
        let is_same = |known: &&Known| known.id == id && known.stamp.is_some() && known.stamp == stamp;
        if let Some(known) = lock(&self.known).iter().find(is_same) {
            return Ok(known.clone());
        }
        let file = SessionFile::open(&path, &Target::Nowhere, &mut Sources::default())?;
        let known = Known { id: id.to_owned(), stamp, hash: hash(file.bytes()), file: Arc::new(file) };
        let mut kept = lock(&self.known);
        kept.retain(|other| other.id != id);
        kept.push_back(known.clone());
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
        Ok(known)
    }

    fn begin(&self) -> MutexGuard<'_, ()> {
        lock(&self.writing)
    }
}

/// Returns the full path of a conversation of the listing.
fn path(server: &Server, id: &str) -> Result<PathBuf, Refusal> {
    let below = server.desk.path(id)?;
    match server.desk.kind(id) {
        Some(FileKind::Conversation) => Ok(server.desk.folder.full(&below)),
        _ => Err(Refusal::not_found(phrase!("`{path}` is not a conversation", path = below))),
    }
}

/// Opens a conversation to be changed, if it is still as the page saw it.
fn open(server: &Server, id: &str, base: &str) -> Result<SessionFile, Refusal> {
    server.refuse_read_only()?;
    server.turns.refuse_running(id)?;
    let path = path(server, id)?;
    server.desk.folder.refuse_elsewhere(&server.desk.path(id)?)?;
    let file = SessionFile::open(&path, &Target::InPlace, &mut Sources::default())?;
    if hash(file.bytes()) == base {
        return Ok(file);
    }
    let message = phrase!("the conversation was changed meanwhile; look at it and try again");
    Err(Refusal::new(409, codes::STALE_FILE, message))
}

/// Tells all windows that the file has changed, and returns the hash of what it holds now.
fn told(server: &Server, id: &str) -> Result<String, Refusal> {
    server.desk.look();
    Ok(server.talks.read(server, id)?.hash)
}
