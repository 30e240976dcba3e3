//! Checks the names in a `ctx.toml`: files, URLs, and tools.

use std::path::Path;

use ctx_chat::FolderTools;
use ctx_engine::Engine;
use ctx_types::internal::{Argument, Divider, excerpt, nearest};
use ctx_types::{Diagnostic, Phrase, phrase};

use crate::codes;
use crate::config::{Config, ToolNames};
use crate::endpoint::EndpointConfig;
use crate::files::{self, Once};
use crate::named::{self, Named, Wanted};

/// Reports missing files, files of the wrong type, invalid URLs, and unknown tools. Does not look outside the folder
/// of a guarded file.
pub(super) fn faults(config: &Config, engine: &Engine, is_guarded: bool, checked: &Once) -> Vec<Diagnostic> {
    let mut outside = Vec::new();
    let mut is_open = |pointer: &str, path: &Path| {
        let leads_out =
            path.strip_prefix(&config.folder).map_or(true, |path| files::leads_out(path, &config.folder));
        let is_open = !is_guarded || !leads_out;
        outside.extend((!is_open).then(|| not_looked_at(pointer, path)));
        is_open
    };
    let (books, more) = named::first(&config.worldbooks, "/worldbooks");
    let named = |pointer, wanted, path: &Path| Named {
        pointer,
        wanted,
        path: path.to_owned(),
        name: files::name(path),
    };
    let files = config.files.iter().map(|file| named(format!("/{}", file.key), wanted(file.key), &file.path));
    let books = books.iter().enumerate();
    let books = books.map(|(index, path)| named(format!("/worldbooks/{index}"), Wanted::Worldbook, path));
    let files: Vec<Named> = files.chain(books).filter(|named| is_open(&named.pointer, &named.path)).collect();
    let of_files = named::faults(files, &config.folder, engine, checked);
    let single = [("endpoint", &config.endpoint), ("transcription", &config.transcription)];
    let single = single.into_iter().map(|(table, of)| (table.to_owned(), of));
    let lists = [("fallbacks", &config.fallbacks), ("endpoints", &config.agent_endpoints)];
    let listed = lists.into_iter().flat_map(|(table, list)| {
        list.iter().enumerate().map(move |(index, of)| (format!("{table}/{index}"), of))
    });
    let mut found: Vec<Diagnostic> = of_files.into_iter().chain(more).collect();
    for (table, of) in single.chain(listed) {
        found.extend(address(&table, of));
        found.extend(key_file(&table, of, &config.folder, &mut is_open));
    }
    found.extend(folders(config, &mut is_open));
    found.extend(config.tool_names.iter().flat_map(tools));
    found.extend(outside);
    found
}

fn not_looked_at(pointer: &str, path: &Path) -> Diagnostic {
    let message = phrase!(
        "cannot check `{path}`: it is outside the folder of an untrusted `ctx.toml`",
        path = files::name(path)
    );
    let outside = Diagnostic::info(codes::UNREADABLE_FILE, message).at_pointer(pointer);
    outside.with_help(phrase!("trust the file with `ctx trust DIR`"))
}

fn wanted(key: &str) -> Wanted {
    match key {
        "agent" => Wanted::Agent,
        "session" => Wanted::Session,
        "profile" => Wanted::Profile,
        _ => Wanted::Models,
    }
}

/// Reports an invalid base URL.
fn address(table: &str, endpoint: &EndpointConfig) -> Option<Diagnostic> {
    endpoint.address_fault().map(|fault| fault.at_pointer(format!("/{table}/base-url")))
}

/// Reports a missing key file. Does not read keys.
fn key_file(
    table: &str,
    endpoint: &EndpointConfig,
    folder: &Path,
    is_open: &mut dyn FnMut(&str, &Path) -> bool,
) -> Option<Diagnostic> {
    let pointer = format!("/{table}/key-file");
    let path = endpoint.key_file().filter(|path| is_open(&pointer, path))?;
    named::missing(path, folder, &pointer)
}

/// Reports missing folders.
fn folders(
    config: &Config,
    is_open: &mut dyn FnMut(&str, &Path) -> bool,
) -> impl Iterator<Item = Diagnostic> {
    let folders = [("/assets", &config.assets), ("/tools/folder", &config.tools_folder)];
    let folders = folders.into_iter().filter_map(|(pointer, path)| Some((pointer, path.as_ref()?)));
    let folders = folders.filter(|(pointer, path)| is_open(pointer, path));
    folders.filter(|(_, path)| !path.is_dir()).map(|(pointer, path)| {
        let message = phrase!("no folder `{path}`", path = files::name(path));
        Diagnostic::error(codes::UNREADABLE_FILE, message).at_pointer(pointer)
    })
}

/// Reports unknown names of tools and categories.
fn tools(named: &ToolNames) -> Vec<Diagnostic> {
    type Write = fn(&str) -> Phrase;
    let mut found = Vec::new();
    let no_category = |name: &str| phrase!("unknown tool category `{name}`", name = excerpt(name));
    let no_tool = |name: &str| phrase!("unknown tool `{name}`", name = excerpt(name));
    let lists = [
        ("categories", no_category as Write, &named.categories, &[FolderTools::CATEGORY][..]),
        ("tools", no_tool as Write, &named.tools, &FolderTools::NAMES[..]),
    ];
    for (key, missing, names, known) in lists {
        let list = format!("{}/{key}", named.pointer);
        let (names, more) = named::first(names, &list);
        let names = names.iter().enumerate().filter(|(_, name)| !known.contains(&name.as_str()));
        found.extend(
            names.map(|(index, name)| {
                unknown(missing(name), name, known).at_pointer(format!("{list}/{index}"))
            }),
        );
        found.extend(more);
    }
    found
}

fn unknown(message: Phrase, name: &str, known: &[&str]) -> Diagnostic {
    let unknown = Diagnostic::warning(codes::BAD_VALUE, message);
    match nearest(name, known.iter().copied()) {
        Some(near) => unknown.with_suggestion(near.name),
        None => {
            unknown.with_help(phrase!("use one of {known}", known = Argument::names(known, Divider::Comma)))
        }
    }
}
