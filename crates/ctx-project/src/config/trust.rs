//! Which folders' `ctx.toml` the user trusts, each by what the file held when the user said so.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use crate::error::{Result, unusable};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::files::{self, Existing, FilesRead, pretty_json};
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
        let Some(path) = path().filter(|path| path.exists()) else { return Ok(Self::default()) };
        // A pipe would be waited for.
        let bytes = if path.is_file() { files::read(&path)? } else { Vec::new() };
        let record = serde_json::from_slice::<Value>(&bytes).ok();
        let folders = record.as_ref().and_then(|record| record.get("folders")?.as_object());
        let Some(folders) = folders else {
            return Err(unusable!(
                "`{path}` is no record of trusted folders; remove it, and trust them again",
                path = files::name(&path)
            ));
        };
        let hash = |(folder, hash): (&String, &Value)| Some((folder.clone(), hash.as_str()?.to_owned()));
        Ok(Self { folders: folders.iter().filter_map(hash).collect() })
    }

    /// Tells whether a folder is trusted with what its file holds.
    pub fn holds(&self, folder: &Path, bytes: &[u8]) -> bool {
        key(folder).is_ok_and(|key| self.folders.get(&key) == Some(&hash(bytes)))
    }

    /// Tells whether a folder was trusted with whatever its file held then.
    pub fn held(&self, folder: &Path) -> bool {
        key(folder).is_ok_and(|key| self.folders.contains_key(&key))
    }

    /// Returns the folders, in order.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(String::as_str)
    }

    /// Trusts a folder with what its file holds.
    pub fn add(folder: &Path, bytes: &[u8]) -> Result<()> {
        let mut trusted = Self::read()?;
        trusted.folders.insert(key(folder)?, hash(bytes));
        if trusted.folders.len() > MAX_FOLDERS {
            return Err(unusable!(
                "{limit} folders are trusted already; take some out with `ctx trust --remove DIR`",
                limit = MAX_FOLDERS
            ));
        }
        trusted.write()
    }

    /// Trusts a folder no longer; tells whether it was trusted.
    pub fn remove(folder: &Path) -> Result<bool> {
        let mut trusted = Self::read()?;
        // A folder that is gone has no path without links any more.
        let named = key(folder).unwrap_or_else(|_| files::name(&plain(folder)));
        let was_trusted = trusted.folders.remove(&named).is_some();
        if was_trusted {
            trusted.write()?;
        }
        Ok(was_trusted)
    }

    fn write(&self) -> Result<()> {
        let path =
            path().ok_or_else(|| unusable!("there is no home folder to remember it in; set `CTX_HOME`"))?;
        if let Some(folder) = path.parent() {
            files::make_folder(folder)?;
        }
        let record = pretty_json(&json!({ "folders": self.folders }));
        files::write(&[(path, &record)], Existing::Named, &FilesRead::default())
    }
}

fn path() -> Option<PathBuf> {
    Some(home::data()?.join(NAME))
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
            "the path of `{folder}` is no Unicode; it cannot be remembered",
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
