//! Files that the page creates, renames and deletes. A draft keeps its edits under the new name.

use ctx_project::files::Stamp;
use ctx_types::phrase;

use super::known::{KnownFile, State};
use super::{By, Desk};
use crate::access::lock;
use crate::api::NoticeKind;
use crate::call::Refusal;
use crate::codes;
use crate::folder::id_of;
use crate::references::ChangedReferrer;

impl Desk {
    /// Creates a file and returns its id.
    pub(crate) fn create(&self, path: &str, bytes: &[u8], by: By<'_>) -> Result<String, Refusal> {
        {
            let state = lock(&self.state);
            refuse_unsaved(&state, path)?;
            self.folder.create(path, bytes)?;
        }
        self.list_again(by);
        Ok(id_of(path))
    }

    /// Renames a file and returns its new id. Also writes the files that name it: all of them, or none.
    pub(crate) fn rename(
        &self,
        id: &str,
        to: &str,
        referrers: &[ChangedReferrer],
        by: By<'_>,
    ) -> Result<String, Refusal> {
        self.take_out(id, |path| self.rename_with(path, to, referrers), Some(to))?;
        self.list_again(by);
        Ok(id_of(to))
    }

    fn rename_with(&self, path: &str, to: &str, referrers: &[ChangedReferrer]) -> Result<(), Refusal> {
        let mut written = Vec::new();
        let mut done = Ok(());
        for ChangedReferrer { path, before, bytes } in referrers {
            done = self.folder.replace(path, before, bytes);
            if done.is_err() {
                break;
            }
            written.push((path, bytes, before));
        }
        let done = done.and_then(|()| self.folder.rename(path, to));
        if done.is_err() {
            for (path, bytes, before) in written {
                // Another program may have written it since; then it stays.
                drop(self.folder.replace(path, bytes, before));
            }
        }
        done
    }

    /// Deletes a file and its draft.
    pub(crate) fn delete(&self, id: &str, by: By<'_>) -> Result<(), Refusal> {
        self.take_out(id, |path| self.folder.remove(path), None)?;
        self.list_again(by);
        Ok(())
    }

    /// Changes the folder, and then the known files in the same way.
    fn take_out(
        &self,
        id: &str,
        change: impl FnOnce(&str) -> Result<(), Refusal>,
        to: Option<&str>,
    ) -> Result<(), Refusal> {
        // A listing in progress would bring back the old name.
        let _listing = lock(&self.listing);
        let mut state = lock(&self.state);
        let known = state.files.get(id).ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        if known.is_read_only {
            let message = phrase!("`{path}` is write-protected", path = known.path.clone());
            return Err(Refusal::new(403, codes::READ_ONLY, message));
        }
        if let Some(to) = to.filter(|to| id_of(to) != id) {
            refuse_unsaved(&state, to)?;
        }
        change(&known.path)?;
        let known = state.remove(id).expect("the file was found above, under the same lock");
        if let Some(to) = to {
            state.remove(&id_of(to));
            // Without a stamp, the next look reads the file: another program may have written it since the last one.
            let (stamp, revision) = (Stamp::default(), state.first_revision);
            let mut renamed = KnownFile { path: to.to_owned(), stamp, revision, ..known };
            if let Some(open) = &mut renamed.open {
                // The diagnostics name the file.
                open.found = None;
            }
            state.files.insert(id_of(to), renamed);
        }
        Ok(())
    }

    fn list_again(&self, by: By<'_>) {
        self.look();
        self.changed.notify_one();
        self.notices.tell(NoticeKind::Project, None, None, by.window);
    }
}

/// Refuses a path whose file is gone and has unsaved edits: they would go with it.
fn refuse_unsaved(state: &State, path: &str) -> Result<(), Refusal> {
    if state.files.get(&id_of(path)).is_some_and(KnownFile::is_dirty) {
        let message = phrase!("nothing written: `{path}` has unsaved edits", path);
        return Err(Refusal::new(409, codes::STALE_FILE, message));
    }
    Ok(())
}
