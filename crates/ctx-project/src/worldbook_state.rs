//! Timed effects: read before a scan, and written back behind it.

use std::path::{Path, PathBuf};

use ctx_processors::internal::keep_worldbook_state;
use ctx_types::session::HistoryError;
use ctx_types::{Diagnostic, phrase};
use ctx_worldbook::TimedState;
use serde_json::Value;

use crate::Sources;
use crate::error::{ProjectError, Result, unusable};
use crate::files::{self, Existing, FilesRead};
use crate::inputs::{self, InputFile};
use crate::session_file::{SessionFile, Target, with_way_out};
use crate::turn::Turn;

/// What the step is called in the log of a conversation.
const STEP: &str = "save timed effects of worldbooks";

/// Where the timed effects that a scan leaves are kept.
#[derive(Debug)]
pub enum StateFile {
    /// Nowhere: they are only told.
    None,
    /// In a file of their own: what it holds, if it exists.
    Own(PathBuf, Option<Vec<u8>>),
    /// Beside the newest message of a conversation.
    Session(Box<SessionFile>),
}

impl StateFile {
    /// Reads the effects that a scan begins with, and finds out where those that it leaves are written.
    pub fn open(
        given: Option<&Path>,
        session: Option<&Path>,
        is_written: bool,
        sources: &mut Sources,
    ) -> Result<(Self, Option<TimedState>, Vec<Diagnostic>)> {
        let Some(path) = given else {
            return Ok((Self::of_session(session, is_written, sources)?, None, Vec::new()));
        };
        if is_written {
            files::refuse_stdin(path)?;
        }
        if is_written && !path.exists() {
            return Ok((Self::Own(path.to_owned(), None), Some(TimedState::default()), Vec::new()));
        }
        let name = files::name(path);
        // Not noted as read: only what else this run reads must not be written over.
        let bytes = files::read(path)?;
        let file = InputFile { bytes: Some(bytes.clone()), ..InputFile::from(path) };
        let (value, mut found) = inputs::document(&file, sources)?;
        if !value.is_object() {
            return Err(unusable!(
                "no timed effects in `{name}`: expected an object with `sticky` and `cooldown`",
                name
            ));
        }
        if is_written && !files::is_editable(&bytes) {
            let message = phrase!("cannot change `{name}`: it is not plain JSON", name);
            return Err(ProjectError::Usage(message));
        }
        if is_written && !TimedState::is_state(&value) {
            let message = phrase!("cannot write `{name}`: it contains other data than timed effects", name);
            return Err(ProjectError::Usage(message));
        }
        found.extend(of_other_shape(&value).map(|odd| odd.in_document(name.as_str())));
        let (state, odd) = TimedState::read(&value);
        found.extend(odd.into_iter().map(|odd| odd.in_document(name.as_str())));
        let to = if is_written { Self::Own(path.to_owned(), Some(bytes)) } else { Self::None };
        Ok((to, Some(state), found))
    }

    fn of_session(session: Option<&Path>, is_written: bool, sources: &mut Sources) -> Result<Self> {
        match (is_written, session) {
            (false, _) => Ok(Self::None),
            (true, Some(path)) => {
                let way_out = phrase!("use `--state FILE` to save timed effects in a separate file");
                let file =
                    SessionFile::open(path, &Target::InPlace, sources).map_err(with_way_out(way_out))?;
                Ok(Self::Session(Box::new(file)))
            }
            (true, None) => {
                let help = phrase!("`--write` requires `--state FILE` or `--session FILE`");
                Err(ProjectError::Usage(help))
            }
        }
    }

    /// Writes the effects that a scan leaves; returns the name of the file, if that changed anything.
    ///
    /// A file of its own is not written if it is one of those that the run has read.
    pub fn write(self, state: &TimedState, at_millis: i64, read: &FilesRead) -> Result<Option<String>> {
        match self {
            Self::None => Ok(None),
            Self::Own(path, before) => write_own(&path, before.as_deref(), state, read),
            Self::Session(mut file) => {
                let Some(op) = keep_worldbook_state(&file.session, state) else { return Ok(None) };
                file.apply(STEP, at_millis, &op)?;
                file.save(&Target::InPlace, &FilesRead::default())?;
                Ok(Some(file.name))
            }
        }
    }
}

/// Lets the conversation of a turn have other effects than those that it keeps.
pub fn begin_with(state: &TimedState, turn: &mut Turn) -> Result<()> {
    let session = turn.session_mut();
    if let Some(op) = keep_worldbook_state(session, state) {
        session.apply(&op).map_err(HistoryError::from)?;
    }
    Ok(())
}

/// Reports a file that keeps timed effects elsewhere than they are read from.
fn of_other_shape(value: &Value) -> Option<Diagnostic> {
    if TimedState::is_state(value) || ["sticky", "cooldown"].iter().any(|kind| value.get(kind).is_some()) {
        return None;
    }
    let found =
        Diagnostic::warning(ctx_worldbook::codes::BAD_STATE, phrase!("missing `sticky` and `cooldown`"));
    Some(found.with_help(phrase!("from SillyTavern's metadata, use the object in `timedWorldInfo`")))
}

fn write_own(
    path: &Path,
    before: Option<&[u8]>,
    state: &TimedState,
    read: &FilesRead,
) -> Result<Option<String>> {
    let value = before.and_then(|bytes| serde_json::from_slice::<Value>(files::without_mark(bytes)).ok());
    let written = value.as_ref().map_or_else(|| state.write(), |before| state.write_over(before));
    let name = files::name(path);
    if value.as_ref() == Some(&written) {
        return Ok(None);
    }
    if let Some(before) = before {
        let bytes = files::edited(before, &written)
            .map_err(|reason| unusable!("cannot edit `{name}`: {reason}", name, reason))?;
        files::replace(path, before, &bytes, read)?;
    } else {
        let bytes = files::pretty_json(&written);
        files::write(&[(path.to_owned(), &bytes)], Existing::Named, read)?;
    }
    Ok(Some(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A file with timed effects in a folder.
    fn file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    /// Saves an effect of `Sky.7` into a file; returns the file and the diagnostics.
    fn save(text: &str) -> (Value, Vec<Diagnostic>) {
        let (_folder, path) = file("timed.json", text);
        let (to, state, found) = StateFile::open(Some(&path), None, true, &mut Sources::default()).unwrap();
        let mut effects = state.unwrap().write();
        effects["sticky"]["Sky.7"] = json!({ "hash": 5, "start": 3, "end": 6, "protected": false });
        let (state, _) = TimedState::read(&effects);
        assert!(to.write(&state, 0, &FilesRead::default()).unwrap().is_some());
        (serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(), found)
    }

    #[test]
    fn keeps_other_content_of_file() {
        let other = json!({ "hash": 12, "start": 1, "end": 50, "protected": false });
        let state = json!({ "note": "mine", "sticky": { "Other.1": other }, "cooldown": {} });
        let (written, found) = save(&state.to_string());
        assert_eq!((&written["note"], &written["sticky"]["Other.1"]), (&json!("mine"), &other));
        assert_eq!(written["sticky"]["Sky.7"]["start"], 3, "{found:?}");
        let (written, found) = save(r#"{"sticky":{"a":1},"cooldown":{}}"#);
        assert_eq!((&written["sticky"]["a"], &written["sticky"]["Sky.7"]["end"]), (&json!(1), &json!(6)));
        let message = "the timed effect of `a` has no `start` and `end`";
        assert!(found.iter().any(|found| found.message == message), "{found:?}");
    }

    #[track_caller]
    fn check_refused(name: &str, text: &str, message: &str) {
        let (_folder, path) = file(name, text);
        let error = StateFile::open(Some(&path), None, true, &mut Sources::default()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }

    #[test]
    fn rejects_files_that_it_cannot_write() {
        check_refused("timed.yaml", "sticky: {}\n", "it is not plain JSON");
        check_refused("broken.json", "[", "the document ends too early");
        check_refused("chat.json", "[]", "expected an object with `sticky` and `cooldown`");
        for other in [r#"{"foo":1}"#, r#"{"sticky":[1,2],"cooldown":"x"}"#, r#"{"name":"Sky","entries":{}}"#]
        {
            check_refused("other.json", other, "it contains other data than timed effects");
        }
        let (_folder, chat) = file("chat.json", r#"[{"role":"user","content":"Hi"}]"#);
        for (session, message) in [
            (Some(chat.as_path()), "use `--state FILE` to save timed effects in a separate file"),
            (None, "`--write` requires `--state FILE` or `--session FILE`"),
        ] {
            let error = StateFile::open(None, session, true, &mut Sources::default()).unwrap_err();
            assert!(error.to_string().ends_with(message), "{error}");
        }
    }
}
