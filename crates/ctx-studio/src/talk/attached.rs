//! Files that are sent with messages: kept where attached files of the conversation are looked for.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Mutex;

use ctx_chat::StoreError;
use ctx_chat::assets::FolderAssets;
use ctx_project::ProjectError;
use ctx_project::files::{self, hash};
use ctx_types::session::{Change, NodeEdit, Session, SessionOp};
use ctx_types::{StoredAttachment, phrase};

use super::path;
use crate::access::lock;
use crate::api_turn::{AttachedFile, DiscardAttached};
use crate::call::{Call, Refusal};
use crate::codes;
use crate::server::Server;

/// The largest file.
const MAX_BYTES: usize = 20 << 20;

/// How many files a message has.
const MAX_FILES: usize = 16;

/// How many files wait to be sent; the oldest is given up for another.
const MAX_WAITING: usize = 256;

/// How many characters of a name are kept in that of the file.
const MAX_NAME: usize = 80;

/// Where files stand beside a conversation, unless `assets` names another folder.
pub(crate) const ATTACHMENTS: &str = "attachments/";

/// What was attached in this run and is in no message yet, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Attached(Mutex<VecDeque<Waiting>>);

/// A file that waits to be sent.
#[derive(Debug)]
struct Waiting {
    /// Its path below the folder that is served.
    path: String,
    /// Who attached it: the same file is kept once.
    windows: BTreeSet<Option<String>>,
}

/// Keeps a file, under a name that its bytes are part of: nothing is overwritten, and the same file is kept once.
pub(crate) fn attach(server: &Server, call: &Call) -> Result<AttachedFile, Refusal> {
    server.refuse_read_only()?;
    let name = call.query.get("name").map(String::as_str).unwrap_or_default();
    if name.is_empty() || name.len() > 255 || name.chars().any(char::is_control) {
        return Err(Refusal::malformed(phrase!("`name` must be a string of up to 255 bytes")));
    }
    if call.body.is_empty() {
        return Err(Refusal::unusable(phrase!("`{name}` is empty", name)));
    }
    if call.body.len() > MAX_BYTES {
        let message = phrase!("`{name}` is larger than {limit} MiB", name, limit = MAX_BYTES >> 20);
        return Err(Refusal::new(413, codes::TOO_LARGE, message));
    }
    let place = Place::of(server, call.part("f"))?;
    let digest: String = hash(&call.body).chars().take(12).collect();
    let path = format!("{}{digest}-{}", place.inner, file_name(name));
    let below = place.below(&path);
    let mut waiting = lock(&server.attached.0);
    let is_there = server.desk.folder.has(&below);
    match waiting.iter_mut().find(|file| file.path == below) {
        Some(file) if is_there => drop(file.windows.insert(call.window.clone())),
        _ if is_there => (),
        _ => {
            waiting.retain(|file| file.path != below);
            if waiting.len() >= MAX_WAITING
                && let Some(oldest) = waiting.pop_front()
            {
                server.desk.folder.remove(&oldest.path)?;
            }
            server.desk.folder.write(&below, &call.body)?;
            waiting.push_back(Waiting { path: below, windows: [call.window.clone()].into() });
        }
    }
    Ok(AttachedFile { name: name.to_owned(), path, bytes: call.body.len() })
}

/// Deletes a file that was attached in this run, is in no message yet and that no other window means to send; any other
/// stays.
pub(crate) fn discard(server: &Server, call: &Call) -> Result<(), Refusal> {
    server.refuse_read_only()?;
    let DiscardAttached { path } = call.json()?;
    let below = Place::of(server, call.part("f"))?.below(&path);
    let mut waiting = lock(&server.attached.0);
    let Some(at) = waiting.iter().position(|file| file.path == below) else { return Ok(()) };
    let is_wanted = waiting.get_mut(at).is_some_and(|file| {
        file.windows.remove(&call.window);
        !file.windows.is_empty()
    });
    if is_wanted {
        return Ok(());
    }
    waiting.remove(at);
    server.desk.folder.remove(&below)
}

/// Makes what a message says of its files, all of which must be there.
pub(super) fn stored(
    server: &Server,
    id: &str,
    attached: &[AttachedFile],
) -> Result<Vec<StoredAttachment>, Refusal> {
    if attached.len() > MAX_FILES {
        let message = phrase!("attach at most {limit} files to a message", limit = MAX_FILES);
        return Err(Refusal::new(413, codes::TOO_LARGE, message));
    }
    let place = Place::of(server, id)?;
    let stored = |AttachedFile { name, path, .. }: &AttachedFile| {
        let below = place.below(path);
        if !server.desk.folder.has(&below) {
            let message = phrase!("`{name}` no longer exists; attach it again", name = name.as_str());
            return Err(Refusal::unusable(message));
        }
        let id = hash(below.as_bytes()).chars().take(12).collect::<String>();
        Ok(StoredAttachment {
            id: Some(id.into()),
            name: Some(name.as_str().into()),
            path: Some(path.as_str().into()),
            ..StoredAttachment::default()
        })
    };
    attached.iter().map(stored).collect()
}

/// Notes that files are in a message, and stay.
pub(super) fn sent(server: &Server, id: &str, attached: &[AttachedFile]) -> Result<(), Refusal> {
    let place = Place::of(server, id)?;
    let is_sent = |path: &String| attached.iter().any(|file| place.below(&file.path) == *path);
    lock(&server.attached.0).retain(|file| !is_sent(&file.path));
    Ok(())
}

/// Has the messages of a copied conversation name files from the folder that is served, where those of the store are
/// looked for.
pub(super) fn lead_from(server: &Server, id: &str, session: &mut Session) -> Result<(), Refusal> {
    let base = beside(server, id)?;
    if base.is_empty() || server.config(&mut server.sources())?.assets().is_some() {
        return Ok(());
    }
    let led = |file: &StoredAttachment| {
        let path = file.path.as_deref().map(|path| format!("{base}{path}"));
        let path = path.filter(|path| server.desk.folder.has(path)).map(Into::into);
        StoredAttachment { path: path.or_else(|| file.path.clone()), ..file.clone() }
    };
    let with_files = session.nodes().filter(|(_, node)| !node.attachments.is_empty());
    let edits: Vec<SessionOp> = with_files
        .map(|(id, node)| {
            let attachments = Change::Set(node.attachments.iter().map(led).collect());
            let edit = Box::new(NodeEdit { attachments, ..NodeEdit::default() });
            SessionOp::Edit { id: id.clone(), edit }
        })
        .collect();
    for edit in edits {
        session.apply(&edit).map_err(StoreError::from).map_err(ProjectError::from)?;
    }
    Ok(())
}

/// Opens the folder beside the conversation, in which a turn looks for attached files; none where `assets` names one.
pub(super) fn folder(server: &Server, id: &str) -> Result<FolderAssets, Refusal> {
    if server.config(&mut server.sources())?.assets().is_some() {
        return Ok(FolderAssets::default());
    }
    let folder = server.desk.folder.full(&beside(server, id)?);
    // A folder that cannot be opened holds no files.
    Ok(FolderAssets::open([folder]).unwrap_or_default())
}

/// Returns the folder of a conversation, below the one that is served; of the store it is that one itself.
fn beside(server: &Server, id: &str) -> Result<String, Refusal> {
    if server.stored.name(id).is_some() {
        return Ok(String::new());
    }
    path(server, id)?;
    let below = server.desk.path(id)?;
    let folder = below.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
    Ok(folder.unwrap_or_default())
}

/// Where attached files of a conversation are.
struct Place {
    /// The folder that paths of messages begin at, below the folder that is served.
    base: String,
    /// Where new files stand in it.
    inner: &'static str,
}

impl Place {
    fn of(server: &Server, id: &str) -> Result<Self, Refusal> {
        let base = beside(server, id)?;
        let config = server.config(&mut server.sources())?;
        let Some(folder) = config.assets() else {
            return Ok(Self { base, inner: ATTACHMENTS });
        };
        let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        match server.desk.folder.below(&full) {
            Some(below) if below.is_empty() => Ok(Self { base: below, inner: "" }),
            Some(below) => Ok(Self { base: format!("{below}/"), inner: "" }),
            None => {
                let folder = files::name(Path::new(folder));
                let message =
                    phrase!("the attachment folder `{folder}` is outside the folder of this page", folder);
                let help = phrase!("copy the file there yourself, or remove `assets` from `ctx.toml`");
                Err(Refusal::unusable(message).with_help(help))
            }
        }
    }

    fn below(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// Makes a name of letters, digits, dots and dashes, which every system takes.
fn file_name(name: &str) -> String {
    let kept = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
    let letters: Vec<char> = name.chars().map(|letter| if kept(letter) { letter } else { '_' }).collect();
    // The ending says what it is.
    let from = letters.len().saturating_sub(MAX_NAME);
    letters.iter().skip(from).collect::<String>().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_have_nothing_that_leads_elsewhere() {
        let long = format!("{}.png", "a".repeat(300));
        let cases = [
            ("photo.png", "photo.png".to_owned()),
            ("../../etc/passwd", ".._.._etc_passwd".to_owned()),
            ("a\\b:c d.txt", "a_b_c_d.txt".to_owned()),
            ("照片 1.jpg", "照片_1.jpg".to_owned()),
            ("end...", "end".to_owned()),
            (&long, format!("{}.png", "a".repeat(76))),
        ];
        for (given, expected) in cases {
            assert_eq!(file_name(given), expected, "{given}");
        }
    }
}
