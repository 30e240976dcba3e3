//! What `ctx.toml` names beside its own values: whether each file is what its key asks for, whether addresses are
//! some, and whether there are such tools.

use ctx_chat::FolderTools;
use ctx_engine::Engine;
use ctx_types::{Diagnostic, nearest};
use serde_json::Value;

use crate::codes;
use crate::commands::named::{Wanted, fault};
use crate::config::Config;
use crate::files;

/// How many names of tools are looked at in one list.
const MAX_NAMES: usize = 1_000;

/// Finds what is named and is not what its key asks for.
pub(super) fn faults(config: &Config, engine: &Engine) -> Vec<Diagnostic> {
    let kind = |key: &str| match key {
        "agent" => Wanted::Agent,
        "session" => Wanted::Session,
        "profile" => Wanted::Profile,
        _ => Wanted::Models,
    };
    let named = config.files.iter().map(|(key, path)| (format!("/{key}"), kind(key), path));
    let books = config.worldbooks.iter().enumerate();
    let books = books.map(|(index, path)| (format!("/worldbooks/{index}"), Wanted::Worldbook, path));
    let of_files = named.chain(books).filter_map(|(pointer, wanted, path)| {
        Some(fault(wanted, path, &files::name(path), engine)?.at_pointer(pointer))
    });
    let endpoints = [("endpoint", &config.endpoint), ("transcription", &config.transcription)];
    let of_addresses = endpoints.into_iter().filter_map(|(table, endpoint)| {
        Some(endpoint.address_fault()?.at_pointer(format!("/{table}/base-url")))
    });
    of_files.chain(of_addresses).chain(tools(config.tools.as_ref())).collect()
}

/// Finds names of tools and of categories that there are not.
fn tools(table: Option<&Value>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for rules in ["allow", "deny"] {
        for (key, what, known) in [
            ("categories", "category of tools", &[FolderTools::CATEGORY][..]),
            ("tools", "tool", &FolderTools::NAMES[..]),
        ] {
            let names = table.and_then(|table| table.get(rules)?.get(key)?.as_array());
            let names = names.into_iter().flatten().enumerate().take(MAX_NAMES);
            let names = names.filter_map(|(index, name)| Some((index, name.as_str()?)));
            found.extend(names.filter(|(_, name)| !known.contains(name)).map(|(index, name)| {
                unknown(what, name, known).at_pointer(format!("/tools/{rules}/{key}/{index}"))
            }));
        }
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
