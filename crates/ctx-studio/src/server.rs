//! What all requests of one run share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use ctx_engine::Engine;
use ctx_language::Language;
use ctx_project::check::Checker;
use ctx_project::files;
use ctx_project::{Config, ConfigOptions, Sources, store};
use ctx_types::internal::TextCache;
use ctx_types::{Diagnostic, Phrase, phrase};
use tokio::sync::Semaphore;

use crate::access::{Access, lock, random};
use crate::api::{Finding, NoticeKind};
use crate::call::Refusal;
use crate::codes;
use crate::desk::Desk;
use crate::folder::Folder;
use crate::guard::Names;
use crate::imports::Imports;
use crate::journal::Journal;
use crate::notices::Notices;
use crate::page;
use crate::preview::{Conversations, Previews};
use crate::studio::{Studio, StudioError};
use crate::talk::{Attached, StoredTalks, Talks, Turns};

/// How many requests are answered at once; others wait.
const MAX_REQUESTS: usize = 16;

/// How many logins are answered at once.
const MAX_LOGINS: usize = 4;

/// How many windows listen.
const MAX_WINDOWS: usize = 32;

/// One run: its folder, its secrets, and what windows have asked for.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) names: Names,
    pub(crate) access: Arc<Access>,
    pub(crate) notices: Arc<Notices>,
    pub(crate) desk: Desk,
    pub(crate) previews: Previews,
    pub(crate) conversations: Conversations,
    pub(crate) talks: Talks,
    pub(crate) stored: StoredTalks,
    pub(crate) turns: Turns,
    pub(crate) attached: Attached,
    /// The texts of earlier previews, whose tokens are known.
    pub(crate) texts: Arc<TextCache>,
    pub(crate) imports: Imports,
    pub(crate) journal: Option<Journal>,
    /// Why the latest edits could not be kept, as on a disk that is full.
    unkept: Mutex<Option<Phrase>>,
    /// What is odd about the folder as a whole.
    found: Vec<Diagnostic>,
    pub(crate) build: String,
    pub(crate) language: Language,
    pub(crate) is_read_only: bool,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) logins: Arc<Semaphore>,
    pub(crate) windows: Arc<Semaphore>,
}

impl Server {
    /// Opens the folder, and takes up the edits that were not saved.
    pub(crate) fn open(studio: Studio, port: u16) -> Result<Self, StudioError> {
        studio.check()?;
        let folder = Folder::open(&studio.folder)?;
        let run = random::<12>().map_err(|error| {
            let error = error.to_string();
            StudioError::Random(phrase!("cannot get random bytes from the system: {error}", error))
        })?;
        let notices = Arc::new(Notices::new(run));
        let checker =
            Checker::on(studio.engine.clone(), &[]).map_err(|error| StudioError::Folder(error.phrase()))?;
        let mut found = Vec::new();
        let store = store_path(&studio, &folder);
        let (journal, kept) = if studio.is_read_only {
            (None, Vec::new())
        } else {
            match open_journal(&store, &folder) {
                Ok((journal, kept)) => (Some(journal), kept),
                Err(why) => {
                    found.push(Diagnostic::warning(codes::NO_JOURNAL, why));
                    (None, Vec::new())
                }
            }
        };
        let desk = Desk::new(folder, studio.is_read_only, checker, notices.clone());
        desk.restore(kept);
        let stored = StoredTalks::new(store.ok());
        stored.look(&notices);
        Ok(Self {
            engine: studio.engine,
            names: Names::of_port(port),
            access: studio.access,
            notices,
            desk,
            previews: Previews::default(),
            conversations: Conversations::default(),
            talks: Talks::default(),
            stored,
            turns: Turns::default(),
            attached: Attached::default(),
            texts: Arc::default(),
            imports: Imports::default(),
            journal,
            unkept: Mutex::default(),
            found,
            build: page::build(),
            language: studio.language,
            is_read_only: studio.is_read_only,
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            logins: Arc::new(Semaphore::new(MAX_LOGINS)),
            windows: Arc::new(Semaphore::new(MAX_WINDOWS)),
        })
    }

    /// Looks for what other programs have changed.
    pub(crate) fn look(&self) {
        self.desk.look();
        self.stored.look(&self.notices);
    }

    /// Reads the defaults that hold in the folder.
    pub(crate) fn config(&self, sources: &mut Sources) -> ctx_project::error::Result<Config> {
        Config::read_for(&self.desk.folder.path, &ConfigOptions::default(), sources)
    }

    /// Returns what reads files as they are edited.
    pub(crate) fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        for overlay in self.desk.overlays() {
            sources.put_draft(overlay.path, overlay.bytes);
        }
        sources
    }

    /// Refuses to write where nothing may be written.
    pub(crate) fn refuse_read_only(&self) -> Result<(), Refusal> {
        if self.is_read_only {
            let message = phrase!("this run is read-only (`--read-only`)");
            Err(Refusal::new(403, codes::READ_ONLY, message))
        } else {
            Ok(())
        }
    }

    /// Returns the id of a file of the folder, whatever names it.
    pub(crate) fn id(&self, path: &Path) -> Option<String> {
        self.desk.id(&self.desk.folder.below(&std::path::absolute(path).ok()?)?)
    }

    /// Returns the path of a file below the folder, by the name that results give it.
    pub(crate) fn below_name(&self, name: &str) -> Option<String> {
        self.desk.folder.below(Path::new(name))
    }

    /// Names files as they are seen from the folder.
    pub(crate) fn below(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        for file in findings.iter_mut().filter_map(|finding| finding.file.as_mut()) {
            if let Some(below) = self.below_name(file) {
                *file = below;
            }
        }
        findings
    }

    /// Writes down what is not saved. What cannot be kept now is tried again with the next edit: windows are told, and
    /// the drafts themselves are still here.
    pub(crate) fn keep(&self) {
        let Some(journal) = &self.journal else { return };
        let failed = journal.keep(|| self.desk.unsaved()).err();
        let why = failed
            .map(|error| phrase!("cannot back up unsaved edits: {reason}", reason = files::reason(&error)));
        let mut unkept = lock(&self.unkept);
        let is_news = unkept.is_some() != why.is_some();
        *unkept = why;
        drop(unkept);
        if is_news {
            self.notices.tell(NoticeKind::Project, None, None, None);
        }
    }

    /// Returns what is odd about the folder as a whole, and about what is kept of it.
    pub(crate) fn findings(&self) -> Vec<Diagnostic> {
        let unkept = lock(&self.unkept).clone().map(|why| Diagnostic::warning(codes::NO_JOURNAL, why));
        let is_shared = self.journal.as_ref().is_some_and(Journal::is_shared);
        let shared = is_shared.then(|| {
            let text = phrase!(
                "another `ctx studio` uses this folder; its unsaved edits are not shown and can conflict with yours"
            );
            Diagnostic::warning(codes::OTHER_SERVER, text)
        });
        let unread = self.stored.failure().map(|reason| {
            let text = phrase!("cannot show the stored conversations: {reason}", reason);
            Diagnostic::warning(codes::UNUSABLE, text)
        });
        self.found.iter().cloned().chain(unkept).chain(shared).chain(unread).collect()
    }
}

/// Returns the file of the store; none where there is no place for one.
fn store_path(studio: &Studio, folder: &Folder) -> Result<PathBuf, Phrase> {
    let config = Config::read_for(&folder.path, &ConfigOptions::default(), &mut Sources::default());
    let config = config.unwrap_or_default();
    let path =
        store::path(studio.store.as_deref(), &config).or_else(|_| store::path(None, &Config::default()));
    path.map_err(|error| error.phrase())
}

/// Opens the journal beside the store.
fn open_journal(
    store: &Result<PathBuf, Phrase>,
    folder: &Folder,
) -> Result<(Journal, Vec<crate::journal::KeptDraft>), Phrase> {
    let store = store.as_ref().map_err(Phrase::clone)?;
    // Hidden: where the store is in the folder that is served, what is kept is none of its files.
    let place = store.parent().unwrap_or(Path::new("")).join(".studio");
    Journal::open(&place, &folder.path)
}
