//! Folders in which coding agents keep transcripts.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::home;

/// Maximum number of files that are listed in a folder of transcripts.
const MAX_FILES: usize = 10_000;

/// Maximum depth of a folder of transcripts: Codex has a folder for each year, month, and day.
const MAX_DEPTH: usize = 4;

/// Number of transcripts of Codex that are searched for a project.
const MAX_SEARCHED: usize = 100;

/// Returns the folders and the database in which Claude Code, Codex, Gemini CLI, and opencode keep transcripts.
pub fn transcript_folders() -> Vec<PathBuf> {
    let gemini_cli = home::folder().map(|home| home.join(".gemini/tmp"));
    let data = configured("XDG_DATA_HOME", ".local/share");
    // The folder of opencode also has credentials.
    let opencode = ["storage", "opencode.db"].map(|name| Some(data.as_ref()?.join("opencode").join(name)));
    [claude_code(), codex(), gemini_cli].into_iter().chain(opencode).flatten().collect()
}

/// Returns the transcript of the current conversation. This is the session of Claude Code with the given id. If there is no
/// such session, it is the newest transcript of Claude Code or Codex in a project folder.
pub fn current_transcript(project: &Path, session: Option<&str>) -> Option<PathBuf> {
    let mut found = Vec::new();
    if let Some(folder) = claude_code() {
        let all = transcripts(&folder.join(claude_code_name(project)));
        let is_named =
            |path: &Path| session.is_some() && path.file_stem().and_then(|name| name.to_str()) == session;
        let named = all.iter().find(|(_, path)| is_named(path));
        if let Some((_, path)) = named {
            return Some(path.clone());
        }
        found.extend(all.into_iter().next());
    }
    if let Some(folder) = codex() {
        let newest = transcripts(&folder).into_iter().take(MAX_SEARCHED);
        found.extend(newest.into_iter().find(|(_, path)| working_folder(path).as_deref() == Some(project)));
    }
    found.into_iter().max().map(|(_, path)| path)
}

/// Returns the transcripts in a folder and below it, the newest first.
pub fn transcripts(folder: &Path) -> Vec<(SystemTime, PathBuf)> {
    let mut found = Vec::new();
    add_transcripts(folder, MAX_DEPTH, &mut found);
    found.sort_by(|left, right| right.cmp(left));
    found
}

fn add_transcripts(folder: &Path, depth: usize, found: &mut Vec<(SystemTime, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if found.len() >= MAX_FILES {
            return;
        }
        // Ignores links, which can point out of the folder, and sub-agents, which do not talk with the user.
        let name = entry.file_name();
        if kind.is_dir() && depth > 0 && name != "subagents" {
            add_transcripts(&path, depth - 1, found);
        } else if kind.is_file()
            && !name.to_string_lossy().starts_with("agent-")
            && path.extension().is_some_and(|extension| extension == "jsonl")
            && let Ok(time) = entry.metadata().and_then(|metadata| metadata.modified())
        {
            found.push((time, path));
        }
    }
}

fn claude_code() -> Option<PathBuf> {
    Some(configured("CLAUDE_CONFIG_DIR", ".claude")?.join("projects"))
}

fn codex() -> Option<PathBuf> {
    Some(configured("CODEX_HOME", ".codex")?.join("sessions"))
}

/// Returns the folder that a variable names, or a folder in the home folder.
fn configured(variable: &str, name: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(home::folder()?.join(name)))
}

/// Returns the name of Claude Code's folder for a project.
fn claude_code_name(project: &Path) -> String {
    let name = project.to_string_lossy();
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// Returns the folder in which Codex worked, as the first line of a transcript says.
fn working_folder(path: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?).take(1 << 20).read_until(b'\n', &mut line).ok()?;
    let first: Value = serde_json::from_slice(&line).ok()?;
    Some(PathBuf::from(first.pointer("/payload/cwd")?.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_projects_like_claude_code() {
        assert_eq!(claude_code_name(Path::new("/home/ada/my.app_2")), "-home-ada-my-app-2");
    }

    #[test]
    fn lists_transcripts_below_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let day = folder.path().join("2026/11/29");
        let agents = folder.path().join("2026/subagents");
        for folder in [&day, &agents] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("rollout-1.jsonl"), r#"{"payload":{"cwd":"/work"}}"#).unwrap();
            fs::write(folder.join("agent-1.jsonl"), "").unwrap();
        }
        fs::write(day.join("notes.md"), "").unwrap();
        let found = transcripts(folder.path());
        assert_eq!(
            found.iter().map(|(_, path)| path.clone()).collect::<Vec<_>>(),
            [day.join("rollout-1.jsonl")]
        );
        assert_eq!(working_folder(&found[0].1), Some(PathBuf::from("/work")));
    }
}
