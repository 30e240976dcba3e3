//! Conversations of the store: listed beside the files of the folder, under ids of their own.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Mutex;

use ctx_chat::{Conversation, ConversationEntry, ConversationStore as _, SpillFolder, SqliteStore};
use ctx_project::chat::{new_id, now};
use ctx_project::error::Result as ProjectResult;
use ctx_project::files;
use ctx_project::session_file::SessionFile;
use ctx_project::store;
use ctx_types::session::{Node, Session};
use ctx_types::{Content, Phrase, Role, phrase};

use super::{attached, greetings};
use crate::access::lock;
use crate::api::NoticeKind;
use crate::api_files::{FileKind, ProjectFile};
use crate::api_talk::{DeleteConversation, MadeSession, NewConversation, RenameConversation};
use crate::call::{Call, Refusal};
use crate::folder::id_of;
use crate::notices::Notices;
use crate::server::Server;

/// How many conversations are listed: those that were changed last.
const MAX_LISTED: usize = 1_000;

/// How many that windows show are listed beside them.
const MAX_OPENED: usize = 100;

/// How long the name of a conversation may be, in characters.
const MAX_NAME: usize = 200;

/// Maximum length of a title from the user's first message, in characters.
const MAX_TITLE: usize = 60;

/// The store, and what it has.
#[derive(Debug)]
pub(crate) struct StoredTalks {
    /// Its file, which need not be there yet.
    path: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    store: Option<(SqliteStore, SpillFolder)>,
    /// Why it cannot be opened.
    failure: Option<Phrase>,
    listed: Vec<Listed>,
    /// The names of those that windows have asked for, the latest last: they stay in the list.
    opened: VecDeque<String>,
    is_cut: bool,
    /// Up to where its journal was read.
    place: u64,
}

/// A line of the list.
#[derive(Debug)]
struct Listed {
    id: String,
    entry: ConversationEntry,
}

impl StoredTalks {
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self { path, state: Mutex::default() }
    }

    /// Looks at the store again, and tells what has changed.
    pub(crate) fn look(&self, notices: &Notices) {
        let mut state = lock(&self.state);
        let failed = state.look(self.path.as_ref(), notices).err();
        state.failure = failed.map(|error| error.phrase());
    }

    /// Returns why the store cannot be read.
    pub(crate) fn failure(&self) -> Option<Phrase> {
        lock(&self.state).failure.clone()
    }

    /// Lists what the store has, the latest changed first, and whether there is more.
    pub(crate) fn list(&self, is_read_only: bool) -> (Vec<ProjectFile>, bool) {
        let state = lock(&self.state);
        let files = state.listed.iter().map(|Listed { id, entry }| ProjectFile {
            id: id.clone(),
            path: entry.name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| entry.id.clone()),
            kind: FileKind::Conversation,
            is_stored: true,
            bytes: 0,
            is_dirty: false,
            is_read_only,
        });
        (files.collect(), state.is_cut)
    }

    /// Returns what the store calls a conversation, which stays in the list from now on; none that is not of it.
    pub(crate) fn name(&self, id: &str) -> Option<String> {
        let mut state = lock(&self.state);
        let name = state.listed.iter().find(|listed| listed.id == id)?.entry.id.clone();
        state.opened.retain(|opened| *opened != name);
        state.opened.push_back(name.clone());
        if state.opened.len() > MAX_OPENED {
            state.opened.pop_front();
        }
        Some(name)
    }

    /// Lists a conversation that a window shows, which may be older than all that are listed. Why a store cannot be read is
    /// known from the last look.
    pub(crate) fn keep(&self, id: &str) {
        let mut state = lock(&self.state);
        let Some((store, _)) = state.store.clone().filter(|_| state.is_cut) else { return };
        if state.listed.iter().all(|listed| listed.id != id) {
            let entries = pollster::block_on(store.list()).unwrap_or_default();
            state.listed.extend(entries.into_iter().map(Listed::of).find(|entry| entry.id == id));
        }
        drop(state);
        self.name(id);
    }

    /// Returns how many steps a conversation has.
    pub(crate) fn revision(&self, name: &str) -> ProjectResult<Option<u64>> {
        let Some(store) = self.store() else { return Ok(None) };
        Ok(Some(pollster::block_on(store.revision(name))?))
    }

    /// Loads a conversation.
    pub(crate) fn open(&self, name: &str) -> Result<SessionFile, Refusal> {
        let store = self.store().ok_or_else(|| Refusal::not_found(phrase!("no such file")))?;
        Ok(SessionFile::stored(&store, name)?)
    }

    pub(crate) fn store(&self) -> Option<SqliteStore> {
        lock(&self.state).store.clone().map(|(store, _)| store)
    }

    /// Returns the listed conversations, most recently changed first: their ids on the page and in the store.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        let state = lock(&self.state);
        state.listed.iter().map(|listed| (listed.id.clone(), listed.entry.id.clone())).collect()
    }

    /// Sets a missing title to the first words of the user. `said` is the next message.
    pub(crate) fn add_title(&self, id: &str, session: &Session, said: &str) -> Result<(), Refusal> {
        let Some(name) = self.name(id) else { return Ok(()) };
        let (has_title, store) = {
            let state = lock(&self.state);
            let listed = state.listed.iter().find(|listed| listed.id == id);
            let title = listed.and_then(|listed| listed.entry.name.as_ref());
            (title.is_some_and(|title| !title.trim().is_empty()), state.store.clone())
        };
        let first = session.path().into_iter().find(|node| is_of_user(node));
        let first = first.and_then(|node| node.content.as_ref()).map(Content::text);
        let title = first_words(first.as_deref().unwrap_or(said));
        if let Some((store, _)) = store.filter(|_| !has_title && !title.is_empty()) {
            pollster::block_on(store.rename(&name, Some(title))).map_err(ctx_project::ProjectError::from)?;
        }
        Ok(())
    }

    /// Returns the store, which is made if there is none.
    fn made(&self) -> Result<SqliteStore, Refusal> {
        let mut state = lock(&self.state);
        if let Some((store, _)) = &state.store {
            return Ok(store.clone());
        }
        let opened = store::open(self.path.as_deref(), &ctx_project::Config::default())?;
        Ok(state.store.insert(opened).0.clone())
    }
}

impl State {
    fn look(&mut self, path: Option<&PathBuf>, notices: &Notices) -> ProjectResult<()> {
        let store = match (&self.store, path) {
            (Some((store, _)), _) => store.clone(),
            (None, Some(path)) if path.exists() => {
                let config = ctx_project::Config::default();
                let Some(opened) = store::open_existing(Some(path), &config)? else { return Ok(()) };
                self.store.insert(opened).0.clone()
            }
            (None, _) => return Ok(()),
        };
        let (changed, place) = pollster::block_on(store.changes(self.place))?;
        if changed.is_empty() {
            return Ok(());
        }
        let entries = pollster::block_on(store.list())?;
        self.is_cut = entries.len() > MAX_LISTED;
        let before = std::mem::take(&mut self.listed);
        let is_listed =
            |(at, entry): &(usize, ConversationEntry)| *at < MAX_LISTED || self.opened.contains(&entry.id);
        let listed = entries.into_iter().enumerate().filter(is_listed);
        self.listed = listed.map(|(_, entry)| Listed::of(entry)).collect();
        self.place = place;
        let before: BTreeMap<&str, &ConversationEntry> =
            before.iter().map(|listed| (listed.id.as_str(), &listed.entry)).collect();
        for Listed { id, entry } in &self.listed {
            if before.get(id.as_str()).is_some_and(|before| before.revision != entry.revision) {
                notices.tell(NoticeKind::File, Some(id), Some(entry.revision), None);
            }
        }
        let is_same = |listed: &Listed| {
            before.get(listed.id.as_str()).is_some_and(|before| before.name == listed.entry.name)
        };
        if self.listed.len() != before.len() || !self.listed.iter().all(is_same) {
            notices.tell(NoticeKind::Project, None, None, None);
        }
        Ok(())
    }
}

impl Listed {
    fn of(entry: ConversationEntry) -> Self {
        // No path has this character: no file has the id of a conversation.
        Self { id: id_of(&format!("\0{}", entry.id)), entry }
    }
}

/// Returns whether a message is from the user.
fn is_of_user(node: &Node) -> bool {
    node.role == Some(Role::User) && !node.is_summary()
}

/// Returns the first words of a text, for a title.
fn first_words(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim_end();
    if line.chars().count() <= MAX_TITLE {
        return line.to_owned();
    }
    let start: String = line.chars().take(MAX_TITLE).collect();
    let words = start.rsplit_once(' ').map_or(start.as_str(), |(words, _)| words);
    format!("{}…", words.trim_end())
}

/// Trims a title. Fails if it is too long.
fn checked(name: &str) -> Result<&str, Refusal> {
    if name.chars().count() > MAX_NAME {
        let message = phrase!("a name can have at most {limit} characters", limit = MAX_NAME);
        return Err(Refusal::malformed(message));
    }
    Ok(name.trim())
}

/// Renames a stored conversation.
pub(crate) fn rename(server: &Server, call: &Call) -> Result<(), Refusal> {
    server.refuse_read_only()?;
    let RenameConversation { name } = call.json()?;
    let name = Some(checked(&name)?).filter(|name| !name.is_empty()).map(str::to_owned);
    let (id, (store, _)) = in_store(server, call.part("f"))?;
    pollster::block_on(store.rename(&id, name)).map_err(ctx_project::ProjectError::from)?;
    server.look();
    Ok(())
}

/// Deletes a stored conversation and its tool results.
pub(crate) fn delete(server: &Server, call: &Call) -> Result<(), Refusal> {
    server.refuse_read_only()?;
    let DeleteConversation {} = call.json()?;
    let _writing = server.talks.begin();
    server.turns.refuse_running(call.part("f"))?;
    let (id, (store, results)) = in_store(server, call.part("f"))?;
    // Deletes the files first: if this fails, the conversation can be deleted again.
    results.delete(&id).map_err(|error| {
        let reason = files::reason(&error);
        Refusal::unusable(phrase!("cannot delete the tool results of the conversation: {reason}", reason))
    })?;
    pollster::block_on(store.delete(&id)).map_err(ctx_project::ProjectError::from)?;
    server.look();
    Ok(())
}

/// Returns the store and the id in it. Fails for a file of the folder.
fn in_store(server: &Server, id: &str) -> Result<(String, (SqliteStore, SpillFolder)), Refusal> {
    let name = server.stored.name(id).zip(lock(&server.stored.state).store.clone());
    name.ok_or_else(|| Refusal::not_found(phrase!("no such conversation in the store")))
}

/// Creates a stored conversation: empty, with greetings, or as a copy.
pub(crate) fn create(server: &Server, call: &Call) -> Result<MadeSession, Refusal> {
    server.refuse_read_only()?;
    let NewConversation { name, from, greets, greeting } = call.json()?;
    let name = name.as_deref().map(checked).transpose()?;
    let id = new_id();
    let mut session = match &from {
        Some(from) => {
            let mut session = Session::clone(&server.talks.read(server, from)?.file.session);
            attached::lead_from(server, from, &mut session)?;
            session
        }
        None => Session::new(&*id),
    };
    if let Some(greets) = greets {
        greetings::begin(server, &greets, greeting, &mut session)?;
    }
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        session.header.name = Some(name.into());
    }
    let store = server.stored.made()?;
    let imported = pollster::block_on(Conversation::import(&store, &id, session, Some(now())));
    imported.map_err(ctx_project::ProjectError::from)?;
    server.look();
    Ok(MadeSession { id: id_of(&format!("\0{id}")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_conversation_by_first_words() {
        let (long, wide) = ("word ".repeat(20), "字".repeat(80));
        let cases = [
            ("  When do I sow basil?\nAnd then? ", "When do I sow basil?".to_owned()),
            ("", String::new()),
            (&long, format!("{}…", "word ".repeat(12).trim_end())),
            (&wide, format!("{}…", "字".repeat(60))),
        ];
        for (text, expected) in cases {
            assert_eq!(first_words(text), expected, "{text}");
        }
    }
}
