//! Files of a folder that are agents, or may be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ctx_engine::{Format, ImportError};
use ctx_preset_import::detect;
use ctx_project::files::name;
use ctx_project::folder::{FolderEntry, files};
use ctx_project::{ProjectError, Sources};
use ctx_types::{Phrase, phrase};

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 32 << 20;

/// Keys that identify an agent file. Each agent file contains at least one.
const AGENT_WORDS: [&str; 3] = ["presetMessages", "prompt_order", "content"];

/// The agents of a folder at one time.
#[derive(Debug, Default)]
pub(crate) struct AgentList {
    /// Files of the agents by name.
    pub(crate) agents: BTreeMap<String, PathBuf>,
    files: BTreeMap<PathBuf, Arc<ListedFile>>,
}

/// A file of the folder.
#[derive(Debug)]
struct ListedFile {
    stamp: Option<(SystemTime, u64)>,
    content: FileContent,
}

#[derive(Debug)]
enum FileContent {
    Agent,
    /// A file that may be an agent, but cannot be read.
    Unread(UnreadFile),
    Other,
}

/// A JSON or YAML file that cannot be read.
#[derive(Debug)]
pub(crate) struct UnreadFile {
    /// Path below the folder.
    name: String,
    bytes: Vec<u8>,
    error: ImportError,
}

impl UnreadFile {
    /// Describes the error and its place.
    pub(crate) fn phrase(&self) -> Phrase {
        phrase!("`{file}` is not served: {error}", file = &self.name, error = self.error.phrase())
    }

    /// Returns the error with the line of the file.
    pub(crate) fn to_error(&self) -> ProjectError {
        let mut sources = Sources::default();
        sources.add(&self.name, &self.bytes);
        sources.explain(&self.name, &self.error)
    }
}

impl ListedFile {
    fn read(path: &Path, stamp: Option<(SystemTime, u64)>, folder: &Path) -> Self {
        let bytes = read(path);
        let may_be_agent = || {
            let text = String::from_utf8_lossy(&bytes);
            has_ending_of_agent(path) && AGENT_WORDS.iter().any(|word| text.contains(word))
        };
        let content = match detect(&bytes, &path.to_string_lossy()) {
            Ok(Format::Agent | Format::AgentExport | Format::PresetList | Format::PresetFile) => {
                FileContent::Agent
            }
            Ok(_) | Err(ImportError::UnknownShape { .. } | ImportError::Empty) => FileContent::Other,
            Err(error) if may_be_agent() => {
                let name = name(path.strip_prefix(folder).unwrap_or(path));
                FileContent::Unread(UnreadFile { name, bytes, error })
            }
            Err(_) => FileContent::Other,
        };
        Self { stamp, content }
    }

    const fn is_agent(&self) -> bool {
        matches!(self.content, FileContent::Agent)
    }
}

impl AgentList {
    /// Lists the agents of the folder, and reuses unchanged files. Returns `None` if nothing changed.
    pub(crate) fn find(folder: &Path, before: &Self) -> Option<Self> {
        let paths = files(folder).into_iter().filter_map(|entry| match entry {
            FolderEntry::File(path) => Some(path),
            FolderEntry::Closed(..) => None,
        });
        let mut has_changed = false;
        let listed = paths.map(|path| {
            let stamp = stamp(&path);
            let known = before.files.get(&path).filter(|known| known.stamp == stamp).cloned();
            has_changed |= known.is_none();
            let file = known.unwrap_or_else(|| {
                let mut file = ListedFile::read(&path, stamp, folder);
                let was_agent = before.files.get(&path).is_some_and(|before| before.is_agent());
                if was_agent && !file.is_agent() {
                    // It may not be completely written yet. The compiled agent stays in use.
                    file.content = FileContent::Agent;
                }
                file.into()
            });
            (path, file)
        });
        let files: BTreeMap<PathBuf, Arc<ListedFile>> = listed.collect();
        if !has_changed && files.len() == before.files.len() {
            return None;
        }
        let agents = name_agents(&files, folder);
        Some(Self { agents, files })
    }

    /// Returns the files that may be agents, but cannot be read.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &UnreadFile> {
        self.files.values().filter_map(|file| match &file.content {
            FileContent::Unread(unread) => Some(unread),
            FileContent::Agent | FileContent::Other => None,
        })
    }
}

/// Names the agents by their files. Agents with the same file name are distinguished by their folders.
fn name_agents(files: &BTreeMap<PathBuf, Arc<ListedFile>>, folder: &Path) -> BTreeMap<String, PathBuf> {
    let agents = || {
        let agents = files.iter().filter(|(_, file)| file.is_agent());
        agents.map(|(path, _)| path)
    };
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut stems = BTreeMap::<String, usize>::new();
    for path in agents() {
        *stems.entry(stem(path)).or_default() += 1;
    }
    let name = |path: &PathBuf| {
        let below = path.strip_prefix(folder).unwrap_or(path).with_extension("");
        let below = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        if stems.get(&stem(path)) == Some(&1) { stem(path) } else { below }
    };
    agents().map(|path| (name(path), path.clone())).collect()
}

/// Reads a file. Returns no bytes if it is too large or cannot be read.
fn read(path: &Path) -> Vec<u8> {
    let read = ctx_chat::files::read_regular(path, MAX_BYTES).unwrap_or_default();
    if read.len() as u64 <= MAX_BYTES { read } else { Vec::new() }
}

/// Returns the modification time and size of a file.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

fn has_ending_of_agent(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| ["json", "yaml", "yml"].contains(&&*ending))
}
