//! `ctx init`: a small project to begin with.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::args::InitArguments;
use crate::exit::{Exit, UsageError};
use crate::files;
use crate::show;

/// The files of the project.
const FILES: [(&str, &str); 3] = [
    ("agent.yaml", include_str!("../../templates/agent.yaml")),
    ("profile.yaml", include_str!("../../templates/profile.yaml")),
    ("conversation.json", include_str!("../../templates/conversation.json")),
];

/// Writes the project; nothing is written if any of its files exists.
pub(crate) fn run(arguments: &InitArguments) -> Result<Exit> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let existing = FILES.iter().map(|(name, _)| folder.join(name)).find(|path| path.exists());
    if let Some(path) = existing.filter(|_| !arguments.force) {
        let message = format!("`{}` exists; name another folder or say `--force`", path.display());
        return Err(UsageError(message).into());
    }
    for (name, text) in FILES {
        files::write(&folder.join(name), text.as_bytes())?;
    }
    let path = |name: &str| folder.join(name).display().to_string();
    if arguments.json {
        let written: Vec<String> = FILES.iter().map(|(name, _)| path(name)).collect();
        show::json(&json!({ "written": written }))?;
    } else {
        let [agent, profile, conversation] = FILES.map(|(name, _)| path(name));
        show::result(&format!(
            "wrote {agent}\nwrote {profile}\nwrote {conversation}\n\n\
             see what a model would receive:\n  \
             ctx assemble {agent} --session {conversation} --profile {profile}\n"
        ))?;
    }
    Ok(Exit::Success)
}
