//! Which folders' `ctx.toml` the user trusts, each by what the file held when the user said so.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use crate::error::{Result, unusable};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::files::{self, pretty_json};
use crate::home;

/// The name of the record.
const NAME: &str = "trusted.json";

/// How many folders are remembered.
const MAX_FOLDERS: usize = 10_000;

/// The folders that are trusted, by their paths without links, each with the hash of its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusted {
    folders: BTreeMap<String, String>,
}

impl Trusted {
    /// Reads the record; one that is not there trusts nothing.
    pub fn read() -> Result<Self> {
        home::data().map_or_else(|| Ok(Self::default()), |folder| Self::read_in(&folder))
    }

    fn read_in(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        if !path.exists() {
            return Ok(Self::default());
        }
        // A pipe would be waited for.
        let bytes = if path.is_file() { files::read(&path)? } else { Vec::new() };
        let record = serde_json::from_slice::<Value>(&bytes).ok();
        let folders = record.as_ref().and_then(|record| record.get("folders")?.as_object());
        let Some(folders) = folders else {
            return Err(unusable!(
                "`{path}` is not a record of trusted folders; remove it, and trust them again",
                path = files::name(&path)
            ));
        };
        let hash = |(folder, hash): (&String, &Value)| Some((folder.clone(), hash.as_str()?.to_owned()));
        Ok(Self { folders: folders.iter().filter_map(hash).collect() })
    }

    /// Returns whether a folder is trusted with what its file holds.
    pub fn holds(&self, folder: &Path, bytes: &[u8]) -> bool {
        key(folder).is_ok_and(|key| self.folders.get(&key) == Some(&hash(bytes)))
    }

    /// Returns whether a folder was trusted with whatever its file held then.
    pub fn held(&self, folder: &Path) -> bool {
        key(folder).is_ok_and(|key| self.folders.contains_key(&key))
    }

    /// Returns the folders, in order.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(String::as_str)
    }

    /// Trusts a folder with what its file holds.
    pub fn add(folder: &Path, bytes: &[u8]) -> Result<()> {
        Self::add_in(&made()?, key(folder)?, hash(bytes))
    }

    fn add_in(record: &Path, key: String, hash: String) -> Result<()> {
        // The record itself is another file after each change.
        let _lock = files::lock(record)?;
        let mut trusted = Self::read_in(record)?;
        trusted.folders.insert(key, hash);
        if trusted.folders.len() > MAX_FOLDERS {
            return Err(unusable!(
                "{limit} folders are already trusted; remove some with `ctx trust --remove DIR`",
                limit = MAX_FOLDERS
            ));
        }
        trusted.write_in(record)
    }

    /// Trusts a folder no longer; tells whether it was trusted.
    pub fn remove(folder: &Path) -> Result<bool> {
        // A folder that is gone has no path without links any more.
        let named = key(folder).unwrap_or_else(|_| files::name(&plain(folder)));
        if !Self::read()?.folders.contains_key(&named) {
            return Ok(false);
        }
        let record = made()?;
        let _lock = files::lock(&record)?;
        let mut trusted = Self::read_in(&record)?;
        let was_trusted = trusted.folders.remove(&named).is_some();
        trusted.write_in(&record)?;
        Ok(was_trusted)
    }

    fn write_in(&self, folder: &Path) -> Result<()> {
        let record = pretty_json(&json!({ "folders": self.folders }));
        files::write_private(&folder.join(NAME), &record)
    }
}

/// The folder of the record, which is made if there is none.
fn made() -> Result<PathBuf> {
    let folder =
        home::data().ok_or_else(|| unusable!("there is no home folder to store it in; set `CTX_HOME`"))?;
    files::make_private_folder(&folder)?;
    Ok(folder)
}

/// The path of a folder without links.
fn key(folder: &Path) -> Result<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let whole = folder.canonicalize();
    let whole = whole.map_err(|error| {
        unusable!(
            "cannot find `{folder}`: {error}",
            folder = files::name(folder),
            error = files::reason(&error)
        )
    })?;
    match whole.to_str() {
        Some(path) => Ok(path.to_owned()),
        None => Err(unusable!(
            "the path of `{folder}` is not Unicode; it cannot be stored",
            folder = files::name(folder)
        )),
    }
}

/// A path from the root without `.`, `..` and a slash at its end, by its words alone.
fn plain(folder: &Path) -> PathBuf {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    whole.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a text never fails.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn folders_that_are_trusted_at_once_are_all_remembered() {
        let record = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let record = record.path();
                scope.spawn(move || {
                    Trusted::add_in(record, format!("/folder/{number}"), hash(b"")).unwrap();
                });
            }
        });
        assert_eq!(Trusted::read_in(record.path()).unwrap().folders().count(), 16);
    }
}
