//! Files that `case.yaml` and `ctx.toml` name: whether each is there, and is what its key asks for.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ctx_engine::{Engine, ImportError, read_conversation, read_profile};
use ctx_preset_import::Document;
use ctx_types::codes::MORE_FINDINGS;
use ctx_types::{Diagnostic, Location, phrase};
use serde_json::Value;

use crate::books::BookFile;
use crate::codes;
use crate::files::{self, Once};
use crate::inputs::{self, AgentFile};
use crate::transcripts;

/// How many names of one list are looked at.
const MAX_NAMES: usize = 200;

/// A file that another one names.
#[derive(Clone, Debug)]
pub struct Named {
    /// Where it is named.
    pub pointer: String,
    /// What it has to be.
    pub wanted: Wanted,
    /// The file.
    pub path: PathBuf,
    /// How findings speak of it.
    pub name: String,
}

/// What a key asks a file to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// An agent or a preset.
    Agent,
    /// A conversation.
    Session,
    /// A user profile.
    Profile,
    /// A table of models.
    Models,
    /// Tool definitions.
    Tools,
    /// A worldbook.
    Worldbook,
}

/// Finds what is wrong with the files that one in a folder names; a file that is named again is looked at once.
///
/// Read errors of `checked` files are left out: they are reported where these files are checked.
pub fn faults(
    named: impl IntoIterator<Item = Named>,
    folder: &Path,
    engine: &Engine,
    checked: &Once,
) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<Wanted, Once> = BTreeMap::new();
    let is_new = |named: &Named| seen.entry(named.wanted).or_default().is_new(&named.path);
    let named = named.into_iter().filter(is_new);
    let fault = |named: Named| {
        let fault = || Some(fault(&named, engine, checked)?.at_pointer(&*named.pointer));
        missing(&named.path, folder, &named.pointer).or_else(fault)
    };
    named.filter_map(fault).collect()
}

/// Reports that a file that is named somewhere cannot be found or is a folder, and which one beside it may be meant: as it
/// is named there, which is as seen from a folder.
pub fn missing(path: &Path, folder: &Path, pointer: &str) -> Option<Diagnostic> {
    let name = files::name(path);
    let message = match path.metadata() {
        Ok(found) if found.is_dir() => phrase!("`{name}` is a folder, not a file", name),
        Ok(_) => return None,
        Err(error) if error.kind() == ErrorKind::NotFound => phrase!("no file `{name}`", name),
        Err(error) => phrase!("cannot read `{name}`: {error}", name, error = files::reason(&error)),
    };
    let missing = Diagnostic::error(codes::UNREADABLE_FILE, message).at_pointer(pointer);
    let near = if path.exists() { None } else { files::near(path) };
    Some(match near.map(|near| path.with_file_name(near)) {
        Some(near) => {
            let near = files::name(near.strip_prefix(folder).unwrap_or(&near));
            missing.with_suggestion(&near)
        }
        None => missing,
    })
}

/// Reports that a file lies outside of the project of the case that names it: a stranger's case is to show nothing else.
pub fn outside(path: &Path, name: &str, project: &Path) -> Option<Diagnostic> {
    let message = || phrase!("`{name}` is outside the project of the case", name);
    let outside = || Diagnostic::error(codes::UNREADABLE_FILE, message());
    let help = phrase!("copy it into the repository, the folder of `ctx.toml`, or the working folder");
    (!files::is_within(path, project)).then(|| outside().with_help(help))
}

/// Returns the names of a list that are looked at, and a finding that counts the others.
pub fn first<'n, T>(names: &'n [T], pointer: &str) -> (&'n [T], Option<Diagnostic>) {
    let (first, rest) = names.split_at(names.len().min(MAX_NAMES));
    let more = (!rest.is_empty()).then(|| {
        let message = match rest.len() {
            1 => phrase!("did not check 1 more name in `{pointer}`", pointer),
            count => phrase!("did not check {count} more names in `{pointer}`", count, pointer),
        };
        Diagnostic::info(MORE_FINDINGS, message).at_pointer(pointer)
    });
    (first, more)
}

/// Reads a file as what its key asks for; returns why that cannot be done, in the words of the verbs that read it.
///
/// What is odd within a file that can be read is told where that file is checked itself; tables of models and tool
/// definitions are not, so that the first oddity of those is told here.
fn fault(named: &Named, engine: &Engine, checked: &Once) -> Option<Diagnostic> {
    let name = &*named.name;
    // A pipe would be waited for, and whoever reads it next would miss what it holds.
    if !named.path.is_file() {
        let message = phrase!("did not check `{name}`: it is not a regular file", name);
        return Some(Diagnostic::info(codes::UNREADABLE_FILE, message));
    }
    let bytes = match files::read(&named.path) {
        Ok(bytes) => bytes,
        Err(_) if checked.has(&named.path) => return None,
        Err(error) => return Some(Diagnostic::error(codes::UNREADABLE_FILE, error.phrase())),
    };
    let found = match named.wanted {
        Wanted::Agent => AgentFile::parse(&bytes, name, engine).map(|_| None),
        Wanted::Session if transcripts::read(&bytes).is_some() => Ok(None),
        Wanted::Session => read_conversation(&bytes, name).map(|_| None),
        Wanted::Profile => read_profile(&bytes, name).map(|_| None),
        Wanted::Worldbook => BookFile::parse(&bytes, name).map(|_| None),
        Wanted::Models => of_models(&bytes, name, engine),
        Wanted::Tools => of_tools(&bytes, name),
    };
    let mut fault = match found {
        Ok(found) => found?,
        Err(error @ ImportError::UnknownShape { .. }) => error.to_diagnostic(),
        Err(_) if checked.has(&named.path) => return None,
        Err(error) => {
            let message = phrase!("cannot read `{name}`: {error}", name, error = error.phrase());
            Diagnostic::error(error.code(), message).with_help(phrase!("fix `{name}`", name))
        }
    };
    // Places and edits are those of the other file.
    fault.location = Location::default();
    fault.fix = None;
    Some(fault)
}

fn of_models(bytes: &[u8], name: &str, engine: &Engine) -> Result<Option<Diagnostic>, ImportError> {
    let document = Document::read(bytes, name)?;
    let (_, odd) = (*engine.models).clone().with_override(&document.value.to_string());
    Ok(odd.into_iter().next())
}

fn of_tools(bytes: &[u8], name: &str) -> Result<Option<Diagnostic>, ImportError> {
    let document = Document::read(bytes, name)?;
    Ok(match document.value {
        Value::Array(tools) => inputs::nameless_tools(&tools),
        _ => Some(Diagnostic::error(codes::BAD_VALUE, inputs::no_tools(name))),
    })
}
