//! Waiting until something below folders changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::unusable;

/// How long it must be quiet after a change, so that an editor that writes several files runs the tests once.
const QUIET: Duration = Duration::from_millis(100);

/// How many changes are waited out at most before the tests run all the same.
const MAX_CHANGES: usize = 1_000;

/// Folders that are watched for as long as this lives.
pub(super) struct Watched {
    events: Receiver<notify::Result<Event>>,
    /// Ends the watching when it goes.
    watcher: RecommendedWatcher,
    /// The folders that are watched with all below them, and those of which the files are, without links.
    whole: Vec<PathBuf>,
    single: BTreeSet<PathBuf>,
}

impl Watched {
    /// Begins to watch folders with all that is below them.
    pub(super) fn new(folders: &[PathBuf]) -> Result<Self> {
        let (sender, events) = channel();
        let failed =
            |error: notify::Error| unusable!("cannot watch for changes: {error}", error = error.to_string());
        let mut watcher = notify::recommended_watcher(sender).map_err(failed)?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::Recursive).map_err(|error| unwatched(folder, &error))?;
        }
        let whole = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        Ok(Self { events, watcher, whole, single: BTreeSet::new() })
    }

    /// Also watches the files in folders that lie elsewhere, such as an agent that several cases name.
    pub(super) fn add<'a>(&mut self, folders: impl Iterator<Item = &'a Path>) -> Result<()> {
        for folder in folders {
            let is_watched =
                self.whole.iter().any(|whole| folder.starts_with(whole)) || self.single.contains(folder);
            if !is_watched {
                let watched = self.watcher.watch(folder, RecursiveMode::NonRecursive);
                watched.map_err(|error| unwatched(folder, &error))?;
                self.single.insert(folder.to_owned());
            }
        }
        Ok(())
    }

    /// Waits until a file was written, made, moved or deleted, and it is quiet then.
    pub(super) fn wait(&self) -> Result<()> {
        loop {
            let event = self.events.recv().map_err(|_| unusable!("no longer watching for changes"))?;
            if event.is_ok_and(|event| !event.kind.is_access()) {
                break;
            }
        }
        let mut further = 0;
        while further < MAX_CHANGES && self.events.recv_timeout(QUIET).is_ok() {
            further += 1;
        }
        Ok(())
    }
}

fn unwatched(folder: &Path, error: &notify::Error) -> ProjectError {
    let (folder, error) = (files::name(folder), error.to_string());
    unusable!("cannot watch `{folder}` for changes: {error}", folder, error)
}
