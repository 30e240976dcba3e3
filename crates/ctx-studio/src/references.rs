//! References between the files of the folder: `ctx.toml` and test cases name files, agents and user profiles name
//! worldbooks.

use std::path::{Component, Path, PathBuf, is_separator};

use ctx_project::books;
use ctx_project::drafts::{Draft, Edit};
use ctx_project::files::MARK;
use ctx_project::inputs::InputFile;
use ctx_types::internal::{Argument, Divider};
use ctx_types::phrase;
use serde_json::Value;

use crate::api_files::{FileKind, ProjectFile};
use crate::call::Refusal;
use crate::folder::Folder;
use crate::server::Server;

/// Keys of `ctx.toml` and of test cases whose value is a path, relative to their folder.
const PATHS: &[&str] = &["agent", "session", "profile", "models", "tools"];

/// Keys of the same files whose value is a list of paths.
const LISTS: &[&str] = &["worldbooks"];

/// Folder of worldbooks next to an agent.
const BESIDE: &str = "worldbooks";

/// The references of one file to another.
struct Referrer {
    path: String,
    bytes: Vec<u8>,
    draft: Draft,
    pointers: Vec<String>,
    /// Whether it names worldbooks by their ids, and not files by their paths.
    is_by_id: bool,
    /// Whether it has unsaved edits.
    is_dirty: bool,
}

/// A file whose references change to the new path.
pub(crate) struct ChangedReferrer {
    pub(crate) path: String,
    pub(crate) before: Vec<u8>,
    pub(crate) bytes: Vec<u8>,
}

/// Rejects to delete a file that other files name.
pub(crate) fn refuse_used(server: &Server, path: &str) -> Result<(), Refusal> {
    let by_name = book_name(&server.desk.folder, path);
    let used = referrers(server, path, |id| id == stem(path) || Some(id) == by_name.as_deref());
    if used.is_empty() {
        return Ok(());
    }
    let files = Argument::names(used.iter().map(|referrer| referrer.path.as_str()), Divider::Comma);
    let help = phrase!("remove the reference first, or rename the file: that changes the reference too");
    Err(Refusal::unusable(phrase!("`{path}` is used by {files}", path, files)).with_help(help))
}

/// Returns the files that name a file, changed to its new path in the same folder.
pub(crate) fn redirected(server: &Server, path: &str, to: &str) -> Result<Vec<ChangedReferrer>, Refusal> {
    let by_name = book_name(&server.desk.folder, path);
    let is_named = |id: &str| id == stem(path) && Some(id) != by_name.as_deref();
    let referrers = referrers(server, path, is_named).into_iter();
    referrers.map(|referrer| redirect(referrer, path, to)).collect()
}

fn redirect(mut referrer: Referrer, path: &str, to: &str) -> Result<ChangedReferrer, Refusal> {
    let file = Argument::names([referrer.path.as_str()], Divider::Comma);
    if referrer.is_dirty {
        let message = phrase!("cannot rename `{path}`: {file} names it and has unsaved edits", path, file);
        return Err(Refusal::unusable(message).with_help(phrase!("save or discard the edits first")));
    }
    let value = referrer.draft.value().unwrap_or(&Value::Null);
    let edit = |pointer: &String| {
        let named = value.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let target = if referrer.is_by_id { stem(to).to_owned() } else { with_name_of(named, to) };
        Edit::Set { pointer: pointer.clone(), value: Value::from(target) }
    };
    let edits: Vec<Edit> = referrer.pointers.iter().map(edit).collect();
    referrer.draft.edit_all(&edits).map_err(|_| {
        let message =
            phrase!("cannot rename `{path}`: {file} names it, and the page cannot change that", path, file);
        Refusal::unusable(message)
    })?;
    let mark = if referrer.bytes.starts_with(MARK) { MARK } else { &[] };
    let bytes = [mark, referrer.draft.text().as_bytes()].concat();
    Ok(ChangedReferrer { path: referrer.path, before: referrer.bytes, bytes })
}

/// Finds the files that name a file. `is_named` returns whether a worldbook id means it.
///
/// An id in an agent or a user profile means a worldbook in the folder next to it, or the only one of the folder with
/// this id: `ctx.toml` can load it from anywhere.
fn referrers(server: &Server, path: &str, is_named: impl Fn(&str) -> bool) -> Vec<Referrer> {
    let folder = &server.desk.folder;
    let (listed, _) = server.desk.list();
    let is_book = |file: &&ProjectFile| file.kind == FileKind::Worldbook && stem(&file.path) == stem(path);
    let mut books = listed.iter().filter(is_book);
    let is_only_book = books.next().is_some_and(|book| book.path == path) && books.next().is_none();
    let kind = |file: &ProjectFile| {
        let is_beside = book_folder(&file.path) == Path::new(path).parent().unwrap_or(Path::new(""));
        let is_case = ctx_project::case::is_case(Path::new(&file.path));
        match file.kind {
            FileKind::Agent | FileKind::Profile if is_beside || is_only_book => Some(true),
            FileKind::Config => Some(false),
            _ if is_case => Some(false),
            _ => None,
        }
    };
    let pointers = |file: &ProjectFile, value: &Value, is_by_id: bool| -> Vec<String> {
        if is_by_id {
            let is_id = |item: &Value| item.as_str().is_some_and(&is_named);
            items(value, "worldbookIds", is_id)
        } else {
            let (full, named_file) = (folder.full(&file.path), folder.full(path));
            let base = full.parent().unwrap_or(&folder.path);
            let is_path = |item: &Value| item.as_str().is_some_and(|named| is_same(base, named, &named_file));
            let single = PATHS.iter().filter(|key| value.get(**key).is_some_and(is_path));
            let lists = LISTS.iter().flat_map(|key| items(value, key, is_path));
            single.map(|key| format!("/{key}")).chain(lists).collect()
        }
    };
    let found = listed.iter().filter_map(|file| {
        let is_by_id = kind(file)?;
        let bytes = folder.read(&file.path).ok().flatten()?;
        let draft = Draft::open(&file.path, &bytes).ok()?;
        let pointers_in = |value: &Value| pointers(file, value, is_by_id);
        let saved = draft.value().map(pointers_in).unwrap_or_default();
        let unsaved = file.is_dirty.then(|| server.desk.value(&file.id)).flatten();
        let is_user = !saved.is_empty() || unsaved.is_some_and(|value| !pointers_in(&value).is_empty());
        let (path, is_dirty) = (file.path.clone(), file.is_dirty);
        is_user.then_some(Referrer { path, bytes, draft, pointers: saved, is_by_id, is_dirty })
    });
    found.collect()
}

/// Returns the pointers of the items of a list that match.
fn items(value: &Value, key: &str, is_match: impl Fn(&Value) -> bool) -> Vec<String> {
    let list = value.get(key).and_then(Value::as_array).into_iter().flatten();
    let matching = list.enumerate().filter(|(_, item)| is_match(item));
    matching.map(|(index, _)| format!("/{key}/{index}")).collect()
}

/// Returns whether a path in a file of a folder means a file.
fn is_same(base: &Path, named: &str, file: &Path) -> bool {
    let mut plain = PathBuf::new();
    for part in base.join(named).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain == file
}

/// Returns a path with the file name of another one.
fn with_name_of(named: &str, to: &str) -> String {
    let start = named.rfind(is_separator).map_or(0, |separator| separator + 1);
    format!("{}{}", &named[..start], to.rsplit('/').next().unwrap_or(to))
}

/// Returns the folder with the worldbooks of an agent or a user profile.
fn book_folder(file: &str) -> PathBuf {
    Path::new(file).parent().unwrap_or(Path::new("")).join(BESIDE)
}

fn stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or(path)
}

/// Returns the name in a worldbook. Agents can name the worldbook by it.
fn book_name(folder: &Folder, path: &str) -> Option<String> {
    let file = InputFile { bytes: Some(folder.read(path).ok()??), ..InputFile::from(path) };
    let (books, _) = books::read(&[file], &mut ctx_project::Sources::default()).ok()?;
    books.loaded().first()?.book.name.as_deref().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_and_changes_paths_of_same_file() {
        let file = Path::new("/garden/books/moss.json");
        for (named, expected) in [
            ("moss.json", Some("fern.json")),
            ("./moss.json", Some("./fern.json")),
            ("../books/moss.json", Some("../books/fern.json")),
            ("x/../moss.json", Some("x/../fern.json")),
            ("/garden/books/moss.json", Some("/garden/books/fern.json")),
            ("../moss.json", None),
            ("moss.yaml", None),
        ] {
            let is_named = is_same(Path::new("/garden/books"), named, file);
            assert_eq!(
                is_named.then(|| with_name_of(named, "books/fern.json")).as_deref(),
                expected,
                "{named}"
            );
        }
    }
}
