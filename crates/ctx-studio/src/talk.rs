//! Conversations of the folder and of the store: read once while they stay the same, changed step by step, each written
//! at once.

mod attached;
mod compressing;
mod greetings;
mod inserted;
mod path;
mod search;
mod steps;
mod stored;
mod summary;
mod tree;
mod turns;
mod writing;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use ctx_project::files::{self, Stamp, hash};
use ctx_project::session_file::{SessionFile, Target};
use ctx_project::{ProjectError, Sources};
use ctx_types::phrase;
use ctx_types::session::Session;

pub(crate) use attached::{ATTACHMENTS, Attached, attach, discard};
pub(crate) use compressing::{compress, plan, settings};
pub(crate) use greetings::list as greetings;
pub(crate) use path::{Asked, view};
pub(crate) use search::search;
pub(crate) use steps::{make_session, take};
pub(crate) use stored::{StoredTalks, create, delete, rename};
pub(crate) use summary::summary;
pub(crate) use tree::tree;
pub(crate) use turns::{Turns, begin, verdict};
pub(crate) use writing::begin_summary;

use crate::access::lock;
use crate::api_files::FileKind;
use crate::call::Refusal;
use crate::codes;
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
    /// What a step names, to say what it goes on from.
    pub(crate) hash: String,
    pub(crate) file: Arc<SessionFile>,
}

impl Known {
    fn of(id: &str, stamp: Option<Stamp>, file: SessionFile) -> Self {
        let hash = file.revision().map_or_else(|| hash(file.bytes()), |revision| revision.to_string());
        Self { id: id.to_owned(), stamp, hash, file: Arc::new(file) }
    }
}

impl Talks {
    /// Reads a conversation, unless it was read as it is now.
    pub(crate) fn read(&self, server: &Server, id: &str) -> Result<Known, Refusal> {
        let known = lock(&self.known).iter().find(|known| known.id == id).cloned();
        if let Some(name) = server.stored.name(id) {
            return match known {
                Some(known) if known.file.revision() == server.stored.revision(&name)? => Ok(known),
                Some(known) => {
                    let mut file = SessionFile::clone(&known.file);
                    file.catch_up()?;
                    Ok(self.keep(id, None, file))
                }
                None => Ok(self.keep(id, None, server.stored.open(&name)?)),
            };
        }
        let path = path(server, id)?;
        let stamp = Stamp::certain(&path);
        if let Some(known) = known {
            if known.stamp.is_some() && known.stamp == stamp {
                return Ok(known);
            }
            if files::read(&path)? == known.file.bytes() {
                return Ok(self.put(Known { stamp, ..known }));
            }
        }
        let file = SessionFile::open(&path, &Target::Nowhere, &mut Sources::default())?;
        Ok(self.keep(id, stamp, file))
    }

    /// Returns a conversation that was read or written with exactly these bytes, if nothing about it is odd.
    pub(crate) fn known(&self, id: &str, hash: &str) -> Option<Arc<Session>> {
        let known = lock(&self.known);
        let file = &known.iter().find(|known| known.id == id && known.hash == hash)?.file;
        Some(file.session.clone()).filter(|_| file.found.is_empty())
    }

    fn keep(&self, id: &str, stamp: Option<Stamp>, file: SessionFile) -> Known {
        self.put(Known::of(id, stamp, file))
    }

    fn put(&self, known: Known) -> Known {
        let mut kept = lock(&self.known);
        kept.retain(|other| other.id != known.id);
        kept.push_back(known.clone());
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
        known
    }

    /// Waits for the step or the start of a turn that is in progress, and keeps others from beginning.
    pub(crate) fn begin(&self) -> MutexGuard<'_, ()> {
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
    let known = server.talks.read(server, id)?;
    if known.file.revision().is_none() {
        server.desk.folder.refuse_elsewhere(&server.desk.path(id)?)?;
    }
    if let Some(why) = known.file.refusal() {
        return Err(ProjectError::Usage(why).into());
    }
    if known.hash == base {
        return Ok(SessionFile::clone(&known.file));
    }
    let message = phrase!("the conversation changed since it was read; check it, then retry");
    Err(Refusal::new(409, codes::STALE_FILE, message))
}

/// Tells all windows that a conversation has changed, and returns the hash of what it holds now.
fn told(server: &Server, id: &str, file: SessionFile) -> String {
    let hash = server.talks.keep(id, None, file).hash;
    server.look();
    hash
}
