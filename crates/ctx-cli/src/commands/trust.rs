//! `ctx trust`: trusts the `ctx.toml` of a folder.

use ctx_language::Language;
use ctx_types::phrase;
use std::path::Path;

use ctx_gateway::KeyFile;
use serde_json::json;

use crate::args::TrustArguments;
use crate::exit::Exit;
use crate::lang;
use crate::{project, show};
use ctx_project::Sources;
use ctx_project::config::{MAX_ITEMS, TrustState, Trusted, count_outside, found_in, is_link_out, is_there};
use ctx_project::error::{ProjectError, Result};
use ctx_project::files;
use ctx_project::unusable;

pub(crate) fn run(language: Language, arguments: &TrustArguments) -> Result<Exit> {
    let Some(folder) = arguments.folder.as_deref().filter(|_| !arguments.list) else {
        return list(language, arguments.json);
    };
    if arguments.remove { remove(language, folder, arguments.json) } else { add(language, folder, arguments) }
}

fn list(language: Language, is_json: bool) -> Result<Exit> {
    let trusted = Trusted::read()?;
    let folders: Vec<&str> = trusted.folders().collect();
    let states: Vec<(&str, bool)> =
        folders.iter().map(|folder| (*folder, has_changed(&trusted, folder))).collect();
    if is_json {
        let changed = states.iter().filter(|(_, has_changed)| *has_changed).map(|(folder, _)| *folder);
        show::json(&json!({ "folders": folders, "changed": changed.collect::<Vec<_>>() }))?;
    } else if folders.is_empty() {
        show::remark(language, &phrase!("no trusted folders"));
    } else {
        let line = |(folder, has_changed): &(&str, bool)| {
            if *has_changed {
                lang::say(language, &phrase!("{folder} (changed; trust it again)", folder = *folder)) + "\n"
            } else {
                format!("{folder}\n")
            }
        };
        show::result(&states.iter().map(line).collect::<String>())?;
    }
    Ok(Exit::Success)
}

/// Returns whether a `ctx.toml` is no longer trusted because it changed.
fn has_changed(trusted: &Trusted, folder: &str) -> bool {
    let folder = Path::new(folder);
    let found = || found_in(folder, &mut Sources::default());
    is_there(folder) && !found().is_ok_and(|found| trusted.state(&found) == TrustState::Trusted)
}

fn add(language: Language, folder: &Path, arguments: &TrustArguments) -> Result<Exit> {
    let keys = folder.join(KeyFile::NAME);
    let keys = Some(keys).filter(|keys| keys.symlink_metadata().is_ok());
    if !is_there(folder) {
        let Some(keys) = keys else {
            folder.read_dir().map_err(|error| ProjectError::Unusable(files::not_opened(folder, &error)))?;
            let folder = files::name(folder);
            return Err(unusable!("no `ctx.toml` in `{folder}`", folder));
        };
        let name = add_keys(&keys)?;
        if arguments.json {
            show::json(&json!({ "trusted": files::name(folder), "keys": [] }))?;
        } else {
            let text = lang::say(language, &phrase!("`{name}` is trusted until it changes", name));
            show::result(&format!("{text}\n"))?;
        }
        return Ok(Exit::Success);
    }
    if is_link_out(folder) {
        let name = files::name(&folder.join("ctx.toml"));
        return Err(unusable!("`{name}` is a link to a path outside its folder", name));
    }
    let found = found_in(folder, &mut show::sources(language))?;
    let withheld = found.withheld();
    let count = count_outside(&withheld);
    if count > MAX_ITEMS && !arguments.many {
        return Err(ProjectError::Usage(phrase!(
            "`{name}` reaches outside its folder in {count} places; read the file, then add `--many`",
            name = &found.name,
            count
        )));
    }
    project::tell_withheld(language, &found.name, &withheld);
    Trusted::add(&found)?;
    if let Some(keys) = keys {
        let name = add_keys(&keys)?;
        show::remark(
            language,
            &phrase!("also trusted `{name}`: its client keys give access to `ctx serve`", name),
        );
    }
    if arguments.json {
        let keys: Vec<String> = withheld.iter().map(ctx_project::config::Withheld::key).collect();
        show::json(&json!({ "trusted": files::name(folder), "keys": keys }))?;
        return Ok(Exit::Success);
    }
    let name = &found.name;
    let text = if withheld.is_empty() {
        phrase!("`{name}` is trusted; it reaches nothing outside its folder", name)
    } else {
        phrase!("`{name}` is trusted until it changes", name)
    };
    show::result(&format!("{}\n", lang::say(language, &text)))?;
    Ok(Exit::Success)
}

/// Trusts a key file of `ctx serve`. Returns its name.
fn add_keys(path: &Path) -> Result<String> {
    Trusted::add_file(path, &files::read(path)?)?;
    Ok(files::name(path))
}

fn remove(language: Language, folder: &Path, is_json: bool) -> Result<Exit> {
    let name = files::name(folder);
    if !Trusted::remove(folder)? {
        return Err(ProjectError::Usage(phrase!(
            "`{name}` is not trusted; list the trusted folders with `ctx trust --list`",
            name
        )));
    }
    let text = lang::say(language, &phrase!("`{name}` is no longer trusted", name));
    show::output(is_json, || json!({ "removed": name }), || text + "\n")
}
