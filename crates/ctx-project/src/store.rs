//! The store of conversations: which file it is, and its open handle.

use std::path::{Path, PathBuf};

use ctx_chat::{SpillFolder, SqliteStore};

use crate::config::Config;
use crate::error::{Result, unusable};
use crate::files;
use crate::home;

/// Opens the store of a command line, else that of `ctx.toml`, else the user's own; it is made if there is none.
pub fn open(given: Option<&Path>, config: &Config) -> Result<(SqliteStore, SpillFolder)> {
    let path = path(given, config)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        files::make_private_folder(folder)?;
    }
    open_file(&path)
}

/// Opens the same store if there is one.
pub fn open_existing(given: Option<&Path>, config: &Config) -> Result<Option<(SqliteStore, SpillFolder)>> {
    let path = path(given, config)?;
    match path.exists() {
        true => open_file(&path).map(Some),
        false => Ok(None),
    }
}

/// Waits for work with the store.
pub fn wait<T>(work: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| unusable!("cannot wait for the store: {error}", error = files::reason(&error)))?;
    Ok(runtime.block_on(work))
}

/// Returns which file the store is.
pub fn path(given: Option<&Path>, config: &Config) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => config.store()?.map_or_else(default_path, |path| Ok(path.to_owned()))?,
    };
    match files::is_stdin(&path) {
        true => Err(unusable!("a store must be a file, not `-`")),
        false => Ok(path),
    }
}

fn open_file(path: &Path) -> Result<(SqliteStore, SpillFolder)> {
    let name = files::name(path);
    let store = SqliteStore::open(path)
        .map_err(|error| unusable!("cannot open `{name}`: {error}", name, error = error.phrase()))?;
    Ok((store, SpillFolder::new(results(path))))
}

/// Where large results of tools go: a folder beside the store.
fn results(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".results");
    path.with_file_name(name)
}

/// The user's own store.
fn default_path() -> Result<PathBuf> {
    let folder = home::data();
    let folder =
        folder.ok_or_else(|| unusable!("there is no home folder for a store; name one with `--store`"))?;
    Ok(folder.join("conversations.db"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn creates_private_store_and_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/conversations.db");
        let _opened = open(Some(&path), &Config::default()).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder.path().join("new"))), (0o600, 0o700));
    }
}
