//! Record of trusted folders, with the hash of each `ctx.toml` and the targets of its paths.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Result, unusable};
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};
use serde::{Deserialize, Deserializer, Serialize};

use crate::files::{self, hash, pretty_json};
use crate::home;

use super::document::ConfigDocument;

/// File name of the record.
const NAME: &str = "trusted.json";

/// Maximum number of trusted folders.
const MAX_FOLDERS: usize = 10_000;

/// Trusted folders and files by path, without links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    folders: BTreeMap<String, TrustedFolder>,
    /// SHA-256 hashes of each trusted file, by path. Such a file controls access, such as the keys of `ctx serve`. A
    /// file that is being changed has two hashes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "read_hashes")]
    files: BTreeMap<String, Vec<String>>,
}

/// Reads the hashes of files. A single hash may be a string.
fn read_hashes<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Hashes {
        One(String),
        Many(Vec<String>),
    }

    let files = BTreeMap::<String, Hashes>::deserialize(from)?.into_iter();
    let listed = files.map(|(path, hashes)| match hashes {
        Hashes::One(hash) => (path, vec![hash]),
        Hashes::Many(hashes) => (path, hashes),
    });
    Ok(listed.collect())
}

/// A trusted folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TrustedFolder {
    /// Hash of its `ctx.toml`.
    hash: String,
    /// Targets of the paths in the file, by key.
    targets: BTreeMap<String, String>,
}

/// Trust in a `ctx.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TrustState {
    /// The file is trusted.
    Trusted,
    /// The file was never trusted.
    #[default]
    New,
    /// The file changed after it was trusted.
    Changed,
    /// The paths under these keys led to other targets when the file was trusted.
    Moved(Vec<String>),
}

impl TrustState {
    /// Describes the state. The text follows the name of the file.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::Trusted => phrase!("is trusted"),
            Self::New => phrase!("is not trusted"),
            Self::Changed => phrase!("changed since it was trusted"),
            Self::Moved(keys) => phrase!(
                "was trusted, but the target of {keys} changed",
                keys = Argument::names(keys.iter().cloned(), Divider::And)
            ),
        }
    }
}

impl Trusted {
    /// Reads the record. A missing record trusts nothing.
    pub fn read() -> Result<Self> {
        home::data().map_or_else(|| Ok(Self::default()), |folder| Self::read_in(&folder))
    }

    fn read_in(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        if !path.exists() {
            return Ok(Self::default());
        }
        serde_json::from_slice(&files::read(&path)?).map_err(|_| {
            unusable!(
                "`{path}` is not a valid trust record; delete it, then trust the folders again",
                path = files::name(&path)
            )
        })
    }

    /// Returns the trust in a file with its current content and the current targets of its paths.
    pub fn state(&self, document: &ConfigDocument) -> TrustState {
        self.state_at(document, &document.targets())
    }

    pub(super) fn state_at(&self, document: &ConfigDocument, targets: &[(String, PathBuf)]) -> TrustState {
        let Ok(key) = key(&document.folder) else { return TrustState::New };
        let Some(trusted) = self.folders.get(&key) else { return TrustState::New };
        if trusted.hash != hash(&document.bytes) {
            return TrustState::Changed;
        }
        let is_moved =
            |(key, target): &&(String, PathBuf)| trusted.targets.get(key) != Some(&files::name(target));
        let moved: Vec<String> = targets.iter().filter(is_moved).map(|(key, _)| key.clone()).collect();
        if moved.is_empty() { TrustState::Trusted } else { TrustState::Moved(moved) }
    }

    /// Returns whether a folder was trusted, even if its file has changed since.
    pub(crate) fn has_folder(&self, folder: &Path) -> bool {
        key(folder).is_ok_and(|key| self.folders.contains_key(&key))
    }

    /// Returns the trusted folders in order.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(String::as_str)
    }

    /// Trusts a file with its current content and the current targets of its paths.
    pub fn add(document: &ConfigDocument) -> Result<()> {
        Self::add_at(document, &document.targets())
    }

    pub(super) fn add_at(document: &ConfigDocument, targets: &[(String, PathBuf)]) -> Result<()> {
        let targets = targets.iter().map(|(key, target)| (key.clone(), files::name(target)));
        let folder = TrustedFolder { hash: hash(&document.bytes), targets: targets.collect() };
        Self::add_in(&made()?, key(&document.folder)?, folder)
    }

    fn add_in(record: &Path, key: String, folder: TrustedFolder) -> Result<()> {
        Self::change_in(record, |trusted| drop(trusted.folders.insert(key, folder)))
    }

    /// Returns whether a file is trusted with this content, such as the key file of `ctx serve`.
    pub fn has_file(&self, path: &Path, bytes: &[u8]) -> bool {
        let hashes = file_key(path).ok().and_then(|key| self.files.get(&key));
        hashes.is_some_and(|hashes| hashes.contains(&hash(bytes)))
    }

    /// Returns whether any content of a file is trusted.
    pub fn knows_file(&self, path: &Path) -> bool {
        file_key(path).is_ok_and(|key| self.files.contains_key(&key))
    }

    /// Trusts a file with this content.
    pub fn add_file(path: &Path, bytes: &[u8]) -> Result<()> {
        Self::change_file(path, bytes, || Ok(()))
    }

    /// Trusts a file with the content that `write` writes. During the write, also trusts the previous content if it was
    /// trusted.
    ///
    /// # Errors
    ///
    /// The record or the file cannot be written. Then the new content is not trusted.
    pub fn change_file(path: &Path, bytes: &[u8], write: impl FnOnce() -> Result<()>) -> Result<()> {
        Self::change_file_in(&made()?, path, bytes, write)
    }

    fn change_file_in(
        record: &Path,
        path: &Path,
        bytes: &[u8],
        write: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let (key, new) = (file_key(path)?, hash(bytes));
        Self::change_in(record, |trusted| trusted.files.entry(key.clone()).or_default().push(new.clone()))?;
        let written = write();
        Self::change_in(record, |trusted| {
            let hashes = trusted.files.entry(key).or_default();
            if written.is_ok() {
                *hashes = vec![new];
            } else {
                hashes.pop_if(|hash| *hash == new);
            }
            trusted.files.retain(|_, hashes| !hashes.is_empty());
        })?;
        written
    }

    fn change_in(record: &Path, change: impl FnOnce(&mut Self)) -> Result<()> {
        // The lock is on the folder, because each write replaces the record.
        let _lock = files::lock(record)?;
        let mut trusted = Self::read_in(record)?;
        change(&mut trusted);
        if trusted.folders.len() > MAX_FOLDERS || trusted.files.len() > MAX_FOLDERS {
            return Err(unusable!(
                "too many trusted folders ({limit}); remove some with `ctx trust --remove DIR`",
                limit = MAX_FOLDERS
            ));
        }
        trusted.write_in(record)
    }

    /// Removes trust from a folder and its files. Returns whether there was any.
    pub fn remove(folder: &Path) -> Result<bool> {
        // A deleted folder cannot be canonicalized.
        let named = key(folder).unwrap_or_else(|_| files::name(&files::plain(folder)));
        let is_inside = |file: &String| Path::new(file).parent() == Some(Path::new(&named));
        let trusted = Self::read()?;
        if !trusted.folders.contains_key(&named) && !trusted.files.keys().any(is_inside) {
            return Ok(false);
        }
        Self::change_in(&made()?, |trusted| {
            trusted.folders.remove(&named);
            trusted.files.retain(|file, _| !is_inside(file));
        })?;
        Ok(true)
    }

    fn write_in(&self, folder: &Path) -> Result<()> {
        files::write_private(&folder.join(NAME), &pretty_json(self))
    }
}

/// Returns the folder of the record and creates it if it is missing.
fn made() -> Result<PathBuf> {
    let folder =
        home::data().ok_or_else(|| unusable!("no home folder for the trust record; set `CTX_HOME`"))?;
    files::make_private_folder(&folder)?;
    Ok(folder)
}

/// Returns the path of a folder or file without links.
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
            "cannot store the path of `{folder}`: it is not valid Unicode",
            folder = files::name(folder)
        )),
    }
}

/// Returns the path of a file without links. The file may not exist yet.
fn file_key(path: &Path) -> Result<String> {
    let is_missing = path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
    match (path.parent(), path.file_name().and_then(OsStr::to_str)) {
        (Some(folder), Some(name)) if is_missing => Ok(files::name(&Path::new(&key(folder)?).join(name))),
        _ => key(path),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    #[test]
    fn remembers_folders_trusted_at_once() {
        let record = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let record = record.path();
                scope.spawn(move || {
                    let folder = TrustedFolder { hash: hash(b""), targets: BTreeMap::new() };
                    Trusted::add_in(record, format!("/folder/{number}"), folder).unwrap();
                });
            }
        });
        assert_eq!(Trusted::read_in(record.path()).unwrap().folders().count(), 16);
    }

    /// Creates a document that contains paths.
    fn document(folder: &Path) -> ConfigDocument {
        let value = json!({
            "session": "chat.json",
            "assets": "pictures",
            "tools": { "folder": "notes" },
            "worldbooks": ["a.json", "b.json"],
            "store": "chats.db",
            "fallbacks": [{ "key-file": "key" }],
        });
        let (folder, bytes) = (folder.to_owned(), value.to_string().into_bytes());
        ConfigDocument { folder, name: "ctx.toml".to_owned(), bytes, value }
    }

    #[test]
    fn distrusts_paths_that_lead_elsewhere() {
        let (place, record) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = document(place.path());
        let state = || Trusted::read_in(record.path()).unwrap().state(&file);
        assert_eq!(state(), TrustState::New);
        let known = file.targets().into_iter().map(|(key, target)| (key, files::name(&target)));
        let trusted = TrustedFolder { hash: hash(&file.bytes), targets: known.collect() };
        Trusted::add_in(record.path(), key(place.path()).unwrap(), trusted).unwrap();
        assert_eq!(state(), TrustState::Trusted);
        // Creating the target of a trusted path keeps the trust.
        std::fs::write(place.path().join("chats.db"), "").unwrap();
        std::fs::create_dir(place.path().join("pictures")).unwrap();
        assert_eq!(state(), TrustState::Trusted);
        let names = [
            ("chat.json", "session"),
            ("notes", "tools.folder"),
            ("b.json", "worldbooks.1"),
            ("key", "fallbacks.0.key-file"),
        ];
        for (name, key) in names {
            symlink("/etc/hostname", place.path().join(name)).unwrap();
            assert_eq!(state(), TrustState::Moved(vec![key.to_owned()]));
            std::fs::remove_file(place.path().join(name)).unwrap();
        }
        assert_eq!(state(), TrustState::Trusted);
    }

    #[test]
    fn reads_single_hash_of_file() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("keys.json");
        std::fs::write(&path, "{}").unwrap();
        let record = json!({ "folders": {}, "files": { file_key(&path).unwrap(): hash(b"{}") } });
        let trusted: Trusted = serde_json::from_value(record).unwrap();
        assert!(trusted.has_file(&path, b"{}"));
    }

    #[test]
    fn trusts_file_with_its_content() {
        let (place, record) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = place.path().join("serve-keys.json");
        let has = |bytes: &[u8]| Trusted::read_in(record.path()).unwrap().has_file(&path, bytes);
        let change = |bytes: &'static [u8], write: &dyn Fn() -> Result<()>| {
            Trusted::change_file_in(record.path(), &path, bytes, write)
        };
        // The file does not exist yet.
        change(b"{}", &|| {
            assert!(has(b"{}"));
            std::fs::write(&path, "{}").unwrap();
            Ok(())
        })
        .unwrap();
        assert!(has(b"{}") && !has(b"{ }"));
        change(b"{ }", &|| {
            assert!(has(b"{}") && has(b"{ }"));
            Ok(())
        })
        .unwrap();
        assert!(!has(b"{}") && has(b"{ }"));
        change(b"[]", &|| Err(unusable!("the path is not valid"))).unwrap_err();
        assert!(has(b"{ }") && !has(b"[]"));
    }
}
