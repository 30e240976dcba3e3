//! The folder that is served: which files it has, and reading and writing them without ever leaving it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use ctx_chat::files::open_regular_in;
use ctx_engine::{Format, ImportError};
use ctx_preset_import::detect;
use ctx_project::files::{self, Existing, FilesRead, Stamp, hash};
use ctx_project::folder::{self as listing, FolderEntry};
use ctx_project::options::TurnOptions;
use ctx_project::{Config, ConfigOptions, Sources};
use ctx_types::phrase;

use crate::api_files::FileKind;
use crate::call::Refusal;
use crate::codes;
use crate::studio::StudioError;
use crate::talk::ATTACHMENTS;

/// How many files are listed.
pub(crate) const MAX_FILES: usize = 5_000;

/// The largest file that is read.
const MAX_BYTES: u64 = 64 << 20;

/// The largest file of which is found out what it is.
const MAX_TOLD: u64 = 32 << 20;

/// A folder, and the right to its files alone.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its path, without links.
    pub(crate) path: PathBuf,
    dir: Dir,
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundFile {
    /// The path below the folder, with `/`.
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    pub(crate) is_read_only: bool,
}

impl Folder {
    /// Opens a folder.
    pub(crate) fn open(path: &Path) -> Result<Self, StudioError> {
        let failed = |error| StudioError::Folder(files::not_opened(path, &error));
        let path = path.canonicalize().map_err(failed)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(failed)?;
        Ok(Self { path, dir })
    }

    /// Returns the name that people know.
    pub(crate) fn name(&self) -> String {
        self.path
            .file_name()
            .map_or_else(|| files::name(&self.path), |name| name.to_string_lossy().into_owned())
    }

    /// Returns the full path of a file of the listing.
    pub(crate) fn full(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    /// Returns the path of a file below the folder, by its full path.
    pub(crate) fn below(&self, full: &Path) -> Option<String> {
        let below = full.strip_prefix(&self.path).ok()?;
        Some(below.to_str()?.replace(std::path::MAIN_SEPARATOR, "/"))
    }

    /// Lists the files, by path; and whether there are more than are listed. Links are no files.
    pub(crate) fn list(&self) -> (Vec<FoundFile>, bool) {
        let mut found = Vec::new();
        let assets = self.assets();
        let is_asset = |path: &str| assets.as_ref().is_some_and(|folder| path.starts_with(folder));
        for entry in listing::files(&self.path) {
            let FolderEntry::File(full) = entry else { continue };
            // A name that is no text cannot be told to the page.
            let Some(path) = self.below(&full) else { continue };
            if is_attached(&path) || is_asset(&path) {
                continue;
            }
            if found.len() >= MAX_FILES {
                return (found, true);
            }
            let Ok(metadata) = full.symlink_metadata() else { continue };
            let is_read_only = metadata.permissions().readonly();
            found.push(FoundFile { path, stamp: Stamp::new(&metadata), is_read_only });
        }
        (found, false)
    }

    /// Returns the folder that `assets` names, below this one and with `/`; none where files of other kinds are known to
    /// be in it.
    fn assets(&self) -> Option<String> {
        let config = Config::read_for(&self.path, &ConfigOptions::default(), &mut Sources::default()).ok()?;
        let folder = self.below(&std::path::absolute(config.assets()?).ok()?)?;
        let folder = Some(format!("{folder}/")).filter(|folder| folder != "/")?;
        let mut named = TurnOptions::default();
        config.complete(&mut named, &Sources::default()).ok()?;
        let single = [named.agent, named.session, named.profile, named.models];
        let mut named = single.into_iter().flatten().chain(named.worldbooks);
        let is_inside = |path: PathBuf| self.below(&path).is_some_and(|path| path.starts_with(&folder));
        (!named.any(is_inside)).then_some(folder)
    }

    /// Reads a file; none if it is gone.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Refusal> {
        let failed = |error: &std::io::Error| {
            let reason = files::reason(error);
            Refusal::unusable(phrase!("cannot read `{path}`: {reason}", path, reason))
        };
        match self.dir.symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => (),
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&error)),
        }
        let mut bytes = Vec::new();
        let file = open_regular_in(&self.dir, Path::new(path)).map_err(|error| failed(&error))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        if bytes.len() as u64 > MAX_BYTES {
            let message = phrase!("`{path}` is larger than {limit} MiB", path, limit = MAX_BYTES >> 20);
            return Err(Refusal::new(413, codes::TOO_LARGE, message));
        }
        Ok(Some(bytes))
    }

    /// Writes a file of the listing, which must still be a file of this folder.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Refusal> {
        self.put(path, bytes, Existing::Replace)
    }

    /// Writes a file, if it still has these bytes.
    pub(crate) fn replace(&self, path: &str, before: &[u8], bytes: &[u8]) -> Result<(), Refusal> {
        if self.read(path)?.as_deref() != Some(before) {
            let message = phrase!("nothing written: another program changed `{path}`", path);
            return Err(Refusal::new(409, codes::STALE_FILE, message));
        }
        self.write(path, bytes)
    }

    /// Writes a new file. Never replaces a file.
    pub(crate) fn create(&self, path: &str, bytes: &[u8]) -> Result<(), Refusal> {
        if self.dir.symlink_metadata(path).is_ok() {
            let message = phrase!("nothing written: `{path}` exists", path);
            return Err(Refusal::new(409, codes::STALE_FILE, message));
        }
        self.put(path, bytes, Existing::Keep)
    }

    fn put(&self, path: &str, bytes: &[u8], existing: Existing) -> Result<(), Refusal> {
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        // Whoever writes a file that was deleted means its folder too.
        if !parent.as_os_str().is_empty() {
            self.dir.create_dir_all(parent).map_err(|error| {
                let reason = files::reason(&error);
                Refusal::unusable(phrase!("cannot write `{path}`: {reason}", path, reason))
            })?;
        }
        self.refuse_elsewhere(path)?;
        files::write(&[(self.full(path), bytes)], existing, &FilesRead::default())?;
        Ok(())
    }

    /// Renames a file. Never replaces a file.
    pub(crate) fn rename(&self, path: &str, to: &str) -> Result<(), Refusal> {
        self.refuse_elsewhere(path)?;
        let is_same = path != to && self.is_same(path, to);
        if is_same {
            self.refuse_elsewhere(to)?;
        } else {
            // Reserves the name: a rename alone would replace a file that another program creates now.
            self.create(to, b"")?;
        }
        self.dir.rename(path, &self.dir, to).map_err(|error| {
            let reason = files::reason(&error);
            if !is_same {
                // An empty file that stays is visible in the list.
                drop(self.remove(to));
            }
            Refusal::unusable(phrase!("cannot rename `{path}`: {reason}", path, reason))
        })
    }

    /// Returns whether two paths mean one file: some systems ignore the case of letters.
    fn is_same(&self, path: &str, other: &str) -> bool {
        let canonical = |path: &str| self.full(path).canonicalize().ok();
        canonical(path).is_some_and(|path| canonical(other) == Some(path))
    }

    /// Returns whether there is such a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.dir.symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
    }

    /// Deletes a file; one that is gone is no fault.
    pub(crate) fn remove(&self, path: &str) -> Result<(), Refusal> {
        match self.dir.remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let reason = files::reason(&error);
                Err(Refusal::unusable(phrase!("cannot delete `{path}`: {reason}", path, reason)))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to write where a path leads out of the folder, through a link or otherwise.
    pub(crate) fn refuse_elsewhere(&self, path: &str) -> Result<(), Refusal> {
        let is_link = self.dir.symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        let is_moved = !parent.as_os_str().is_empty()
            && !self.dir.canonicalize(parent).is_ok_and(|canonical| canonical == parent);
        if is_link || is_moved {
            let message = phrase!("`{path}` is a link or is outside the folder", path);
            Err(Refusal::new(403, codes::READ_ONLY, message))
        } else {
            Ok(())
        }
    }

    /// Returns what tells that a file may have changed.
    pub(crate) fn stamp(&self, path: &str) -> Option<Stamp> {
        let metadata = self.full(path).symlink_metadata().ok()?;
        metadata.is_file().then(|| Stamp::new(&metadata))
    }
}

/// Returns whether a file was attached to a message: it is no part of the project.
fn is_attached(path: &str) -> bool {
    path.starts_with(ATTACHMENTS) || path.contains(&format!("/{ATTACHMENTS}"))
}

/// Returns the id under which a file is asked for: nothing that a path could be made of.
pub(crate) fn id_of(path: &str) -> String {
    hash(path.as_bytes()).chars().take(20).collect()
}

/// Finds out what a file is.
pub(crate) fn kind_of(path: &str, bytes: &[u8]) -> FileKind {
    if ctx_project::config::is_config(Path::new(path)) {
        return FileKind::Config;
    }
    if bytes.len() as u64 > MAX_TOLD || ctx_project::case::is_case(Path::new(path)) {
        return FileKind::Other;
    }
    match detect(bytes, path) {
        Ok(Format::PresetList | Format::PresetFile) => FileKind::Preset,
        Ok(Format::Agent) => FileKind::Agent,
        Ok(Format::Profile) => FileKind::Profile,
        Ok(format) if format.is_worldbook() => FileKind::Worldbook,
        Ok(format) if format.is_conversation() => FileKind::Conversation,
        Ok(format) if is_agent(format) => FileKind::Agent,
        Ok(_) | Err(ImportError::UnknownShape { .. }) if is_settings(path, bytes) => FileKind::Settings,
        Ok(_) | Err(_) => FileKind::Other,
    }
}

/// Returns whether a file of another application is read as an agent.
const fn is_agent(format: Format) -> bool {
    matches!(
        format,
        Format::AgentExport
            | Format::CardV1
            | Format::CardV2
            | Format::CardV3
            | Format::Pygmalion
            | Format::ChatPreset
            | Format::PromptExport
    )
}

/// Returns whether a file sets processors, as the settings of a model do.
fn is_settings(path: &str, bytes: &[u8]) -> bool {
    let read = ctx_preset_import::Document::read(bytes, path);
    read.is_ok_and(|document| document.value.get("processors").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_without_links_and_read_only_inside() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.json"), "{}").unwrap();
        let inside = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(inside.path().join("books/attachments")).unwrap();
        std::fs::create_dir(inside.path().join("attachments")).unwrap();
        for attached in ["attachments/a.json", "books/attachments/b.yaml"] {
            std::fs::write(inside.path().join(attached), "{}").unwrap();
        }
        std::fs::write(inside.path().join("agent.yaml"), "name: Ada\npresetMessages: []\n").unwrap();
        std::fs::write(inside.path().join("books/a.json"), r#"{"entries": {}}"#).unwrap();
        std::fs::write(inside.path().join("notes.md"), "no").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path().join("secret.json"), inside.path().join("link.json"))
                .unwrap();
            std::os::unix::fs::symlink(outside.path(), inside.path().join("away")).unwrap();
        }
        let folder = Folder::open(inside.path()).unwrap();
        let (found, is_cut) = folder.list();
        let paths: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
        assert_eq!((paths.as_slice(), is_cut), (["agent.yaml", "books/a.json"].as_slice(), false));
        let odd = [
            "../secret.json",
            "away/secret.json",
            "link.json",
            "/etc/passwd",
            "books/../../secret.json",
            "..",
            "",
            "books",
            "missing.json",
        ];
        for path in odd {
            assert!(!matches!(folder.read(path), Ok(Some(_))), "{path}");
        }
        for path in ["away/secret.json", "link.json", "../new.json", "books/../../new.json"] {
            assert!(folder.write(path, b"x").is_err(), "{path}");
        }
        assert_eq!(std::fs::read(outside.path().join("secret.json")).unwrap(), b"{}");
        folder.write("books/a.json", b"{\"entries\": {} }").unwrap();
    }

    #[test]
    fn replaces_no_file_and_stays_inside() {
        let outside = tempfile::tempdir().unwrap();
        let inside = outside.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("a.yaml"), "a").unwrap();
        std::fs::write(inside.join("b.yaml"), "b").unwrap();
        let folder = Folder::open(&inside).unwrap();
        assert!(folder.create("a.yaml", b"x").is_err());
        assert!(folder.rename("a.yaml", "b.yaml").is_err());
        for path in ["../c.yaml", "/tmp/c.yaml", "x/../../c.yaml"] {
            assert!(folder.create(path, b"x").is_err(), "{path}");
            assert!(folder.rename("a.yaml", path).is_err(), "{path}");
        }
        assert!(folder.rename("missing.yaml", "d.yaml").is_err());
        assert!(folder.rename("a.yaml", "a.yaml").is_err());
        folder.rename("a.yaml", "A.yaml").unwrap();
        folder.rename("A.yaml", "a.yaml").unwrap();
        folder.rename("a.yaml", "sub/c.yaml").unwrap();
        let text = |path: &str| std::fs::read_to_string(inside.join(path)).unwrap();
        assert_eq!((text("b.yaml"), text("sub/c.yaml")), ("b".to_owned(), "a".to_owned()));
        assert!(!inside.join("a.yaml").exists() && !inside.join("d.yaml").exists());
        assert!(!outside.path().join("c.yaml").exists());
    }

    #[test]
    fn a_file_is_what_it_holds() {
        assert_eq!(kind_of("ctx.toml", b""), FileKind::Config);
        assert_eq!(kind_of("a.yaml", b"name: Ada\npresetMessages: []\n"), FileKind::Agent);
        assert_eq!(kind_of("b.json", br#"{"processors": []}"#), FileKind::Settings);
        assert_eq!(kind_of("c.json", br#"[{"role": "user", "content": "Hi"}]"#), FileKind::Conversation);
        assert_eq!(kind_of("d.json", b"{"), FileKind::Other);
    }
}
