//! What `ctx.toml` names beside its own values: whether each file is what its key asks for, whether addresses are
//! some, and whether there are such tools.

use std::path::Path;

use ctx_chat::FolderTools;
use ctx_engine::Engine;
use ctx_types::{Diagnostic, nearest};

use crate::codes;
use crate::commands::endpoint::EndpointConfig;
use crate::commands::named::{self, Named, Wanted};
use crate::config::{Config, ToolNames};
use crate::files;

/// Finds what is named and is not there, or is not what its key asks for.
pub(super) fn faults(config: &Config, engine: &Engine) -> Vec<Diagnostic> {
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
    let of_files = named::faults(files.chain(books), &config.folder, engine);
    let endpoints = [("endpoint", &config.endpoint), ("transcription", &config.transcription)];
    let of_endpoints = endpoints.into_iter().flat_map(|(table, of)| endpoint(table, of, &config.folder));
    let of_tools = config.tool_names.iter().flat_map(tools);
    of_files.into_iter().chain(more).chain(of_endpoints).chain(folders(config)).chain(of_tools).collect()
}

fn wanted(key: &str) -> Wanted {
    match key {
        "agent" => Wanted::Agent,
        "session" => Wanted::Session,
        "profile" => Wanted::Profile,
        _ => Wanted::Models,
    }
}

/// Finds that the address of an endpoint is none, or that the file of its key is not there. Keys are not read.
fn endpoint(table: &str, endpoint: &EndpointConfig, folder: &Path) -> Vec<Diagnostic> {
    let address = endpoint.address_fault().map(|fault| fault.at_pointer(format!("/{table}/base-url")));
    let pointer = format!("/{table}/key-file");
    let key = endpoint.key_file().and_then(|path| named::missing(path, folder, &pointer));
    address.into_iter().chain(key).collect()
}

/// Finds the folders that are not there.
fn folders(config: &Config) -> impl Iterator<Item = Diagnostic> {
    let folders = [("/assets", &config.assets), ("/tools/folder", &config.tools_folder)];
    let folders = folders.into_iter().filter_map(|(pointer, path)| Some((pointer, path.as_ref()?)));
    folders.filter(|(_, path)| !path.is_dir()).map(|(pointer, path)| {
        let message = format!("there is no folder `{}`", files::name(path));
        Diagnostic::error(codes::UNREADABLE_FILE, message).at_pointer(pointer)
    })
}

/// Finds names of tools and of categories that there are not.
fn tools(named: &ToolNames) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (key, what, names, known) in [
        ("categories", "category of tools", &named.categories, &[FolderTools::CATEGORY][..]),
        ("tools", "tool", &named.tools, &FolderTools::NAMES[..]),
    ] {
        let list = format!("{}/{key}", named.pointer);
        let (names, more) = named::first(names, &list);
        let names = names.iter().enumerate().filter(|(_, name)| !known.contains(&name.as_str()));
        found.extend(
            names.map(|(index, name)| unknown(what, name, known).at_pointer(format!("{list}/{index}"))),
        );
        found.extend(more);
    }
    found
}

fn unknown(what: &str, name: &str, known: &[&str]) -> Diagnostic {
    let message = format!("there is no {what} `{}`", ctx_types::excerpt(name));
    let unknown = Diagnostic::warning(codes::BAD_VALUE, message);
    match nearest(name, known.iter().copied()) {
        Some(near) => unknown.with_help(format!("did you mean `{}`?", near.name)),
        None => unknown.with_help(format!("known are `{}`", known.join("`, `"))),
    }
}
