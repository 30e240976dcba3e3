//! Opens the store of conversations.

use std::path::{Path, PathBuf};

use ctx_chat::{SpillFolder, SqliteStore};
use tokio::runtime::{Builder, Runtime};

use crate::config::Config;
use crate::error::{Result, not_started, unusable};
use crate::files;
use crate::home;

/// Opens the store from the command line, then from `ctx.toml`, then the user's own store. Creates a missing store.
pub fn open(given: Option<&Path>, config: &Config) -> Result<(SqliteStore, SpillFolder)> {
    let path = path(given, config)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::make_private_folder(folder)?;
    }
    open_file(&path)
}

/// Opens the same store if it exists. Returns an error if the command line names a missing store.
pub fn open_existing(given: Option<&Path>, config: &Config) -> Result<Option<(SqliteStore, SpillFolder)>> {
    let path = path(given, config)?;
    match path.exists() {
        true => open_file(&path).map(Some),
        false if given.is_some() => Err(unusable!("no store `{name}`", name = files::name(&path))),
        false => Ok(None),
    }
}

/// Blocks until a future of the store completes.
pub fn wait<T>(work: impl Future<Output = T>) -> Result<T> {
    Ok(runtime()?.block_on(work))
}

/// Builds a runtime for this thread.
pub fn runtime() -> Result<Runtime> {
    Builder::new_current_thread().enable_all().build().map_err(|error| not_started(&error))
}

/// Returns the path of the store.
pub fn path(given: Option<&Path>, config: &Config) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => config.store()?.map_or_else(default_path, |path| Ok(path.to_owned()))?,
    };
    if files::is_stdin(&path) { Err(unusable!("the store must be a file, not `-`")) } else { Ok(path) }
}

fn open_file(path: &Path) -> Result<(SqliteStore, SpillFolder)> {
    let name = files::name(path);
    let store = SqliteStore::open(path)
        .map_err(|error| unusable!("cannot open `{name}`: {error}", name, error = error.phrase()))?;
    Ok((store, SpillFolder::new(results(path))))
}

/// Returns the folder for large tool results, next to the store.
fn results(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".results");
    path.with_file_name(name)
}

/// Returns the path of the user's own store.
fn default_path() -> Result<PathBuf> {
    let folder = home::data();
    let folder =
        folder.ok_or_else(|| unusable!("no home folder for the store; set a file with `--store`"))?;
    Ok(folder.join("conversations.db"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn reports_missing_named_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none.db");
        let error = open_existing(Some(&path), &Config::default()).map(drop).unwrap_err();
        assert_eq!(error.to_string(), format!("no store `{}`", files::name(&path)));
        assert!(!path.exists());
    }

    #[test]
    fn creates_private_store_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/conversations.db");
        let _opened = open(Some(&path), &Config::default()).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder.path().join("new"))), (0o600, 0o700));
    }
}
