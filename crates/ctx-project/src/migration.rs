//! Old spellings in files of AIO Hub become today's, and what each file was is kept beside it.

pub(crate) mod comments;

use std::path::{Path, PathBuf};

use ctx_engine::{Engine, Format};
use ctx_operations::migration::MigratedText;
use ctx_preset_import::{ImportError, decode};
use ctx_types::{Diagnostic, Phrase, phrase};

use crate::codes;
use crate::error::{Result, unusable};
use crate::files::{self, Existing, FilesRead};
use crate::schemas;

/// A file that changes.
#[derive(Debug)]
pub struct Migration {
    /// The file.
    pub path: PathBuf,
    /// What it is.
    pub format: Format,
    /// Its bytes.
    pub before: Vec<u8>,
    /// The bytes that it is to have.
    pub after: Vec<u8>,
    /// What changes, and what is lost by it.
    pub changes: Vec<Diagnostic>,
}

/// Migrates the bytes of a file; none for one in which nothing is old, and why if it cannot be.
pub fn migrate(path: &Path, before: Vec<u8>, engine: &Engine) -> Result<Option<Migration>, Box<Diagnostic>> {
    let name = files::name(path);
    let refused = |error: ImportError| Box::new(error.to_diagnostic());
    let migration = ctx_operations::migration::migrate(&before, &name, &engine.anchors).map_err(refused)?;
    let migrated = migration.migrated;
    // Whatever changes is told.
    if migrated.value == migration.old || migrated.changes.is_empty() {
        return Ok(None);
    }
    let (after, lost) = match migration.text {
        MigratedText::Json => {
            (files::edited(&before, &migrated.value).map_err(|reason| no_edit(&reason))?, Vec::new())
        }
        MigratedText::InPlace(text) => (text.into_bytes(), Vec::new()),
        MigratedText::Anew(new) => {
            let text = decode(&before).map_err(refused)?;
            let lost = [comments::lost(&text), comments::lost_digits(&text)];
            let new = schemas::with_line_of(&before, &new);
            (new.into_bytes(), lost.into_iter().flatten().collect())
        }
    };
    // What is lost comes first: of very many findings only the first are shown.
    let changes = lost.into_iter().chain(migrated.changes);
    let changes = changes.map(|change| change.in_document(name.as_str())).collect();
    Ok(Some(Migration { path: path.to_owned(), format: migrated.format, before, after, changes }))
}

fn no_edit(reason: &Phrase) -> Box<Diagnostic> {
    let found = Diagnostic::error(
        codes::NO_EDIT,
        phrase!("cannot rewrite the file without losses: {reason}", reason = reason.clone()),
    );
    Box::new(found.with_help(phrase!(
        "save it as plain UTF-8 JSON or write long numbers as strings, then migrate again"
    )))
}

/// Writes what each file was beside it, with the ending `.bak`, then the files; nothing if one of those is there already.
pub fn write(changed: &[Migration]) -> Result<()> {
    let backups: Vec<PathBuf> = changed.iter().map(backup).collect();
    if let Some(taken) = backups.iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(unusable!(
            "nothing changed: `{path}` exists; move it away, then migrate again",
            path = files::name(taken)
        ));
    }
    for file in changed {
        files::refuse_changed(&file.path, &file.before)?;
    }
    let all = backups.iter().zip(changed).map(|(path, file)| (path.clone(), file.before.as_slice()));
    files::write(&all.collect::<Vec<_>>(), Existing::Keep, &FilesRead::default())?;
    let all = changed.iter().map(|file| (file.path.clone(), file.after.as_slice()));
    let done = files::write(&all.collect::<Vec<_>>(), Existing::Named, &FilesRead::default());
    if done.is_err() {
        backups.iter().zip(changed).for_each(|(path, file)| take_back(path, file));
    }
    done
}

/// Returns where what a file was is kept.
fn backup(file: &Migration) -> PathBuf {
    let mut name = file.path.clone().into_os_string();
    name.push(".bak");
    PathBuf::from(name)
}

/// Takes away the backup of a file that is as it was.
fn take_back(backup: &Path, file: &Migration) {
    if files::read(&file.path).is_ok_and(|bytes| bytes == file.before) {
        // A backup that stays harms nobody, and the next run names it.
        std::fs::remove_file(backup).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"presetMessages": [{"type": "user_profile", "content": "User Profile"}]}"#;

    #[track_caller]
    fn check_refused(bytes: &[u8], code: &str, reason: &str) {
        let refused = migrate(Path::new("a.json"), bytes.to_vec(), &Engine::new()).unwrap_err();
        assert_eq!(refused.code.to_string(), code);
        assert!(refused.message.to_string().contains(reason), "{refused}");
    }

    #[test]
    fn rejects_files_that_it_cannot_rewrite() {
        check_refused(OLD.replace("]}", "],}").as_bytes(), "CTX0911", "");
        let wide = std::iter::once(0xFEFF).chain(OLD.encode_utf16()).flat_map(u16::to_le_bytes);
        check_refused(&wide.collect::<Vec<u8>>(), "CTX0911", "it is not plain JSON");
    }

    fn migrated(text: &str) -> Migration {
        migrate(Path::new("a.yaml"), text.into(), &Engine::new()).unwrap().unwrap()
    }

    #[test]
    fn keeps_bytes_around_many_changed_texts() {
        let entry = |number: usize| format!("- {{type: user_profile, content: User Profile}} # {number}\n");
        let agent = format!("presetMessages:\n{}", (0..3_000).map(entry).collect::<String>());
        let after = String::from_utf8(migrated(&agent).after).unwrap();
        for (number, entry) in after.split(", content: ").skip(1).enumerate() {
            assert!(entry.contains("{{persona}}") && entry.contains(&format!("}} # {number}\n")), "{entry}");
        }
        assert_eq!(after.lines().count(), agent.lines().count());
    }

    #[test]
    fn reports_what_a_rewritten_file_loses() {
        let entry =
            |number: usize| format!("- {{content: Hi, injectionStrategy: {{depth: 2}}}} # {number}\n");
        let agent = format!("presetMessages:\n{}", (0..3_000).map(entry).collect::<String>());
        let lost = &migrated(&agent).changes[0];
        let message = "rewriting the file removes this comment and 2999 more comments";
        assert_eq!((lost.code.to_string().as_str(), lost.message.to_string().as_str()), ("CTX0909", message));
        let number = "score: 123456789012345678901\npresetMessages:\n- &who {type: user_profile, content: User Profile}\n- *who\n";
        let lost = &migrated(number).changes[0];
        assert_eq!(lost.code.to_string(), "CTX0910");
        assert!(
            lost.message.to_string().contains("truncates the digits of `123456789012345678901`"),
            "{lost}"
        );
    }
}
