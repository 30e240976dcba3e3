//! What becomes of each field of conversations: where it is in the session that was made of them.
//!
//! What a message became depends on the messages around it, so whatever the rules say is looked up in the session.

use ctx_types::{
    Node, NodeMetadata, Persist as _, Session, SessionHeader, StoredToolCall, pointer_key, pointer_step,
};
use serde_json::Value;

use super::settle::{nearest, steps};
use crate::conversation::{Placed, is_call};
use crate::format::Format;
use crate::formats::aio_hub::{SHOWN, attachment, list, noun, placed};
use crate::formats::sillytavern::chat;
use crate::kept::IMPORTED;
use crate::loose::Object;
use crate::record::Record;
use crate::report::{Change, Extent, FieldReport, FieldReports, FieldStatus, NOT_READ, NOWHERE};
use crate::source::Source;

const BOTH: &str = "the detail says the same";
const CALLS: &str = "in our own form there";
const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// Fields of a conversation that are read though none of its header's, its tree among them.
const OF_SESSION: [&str; 5] = ["rootNodeId", "activeLeafId", "authorNote", "chat_metadata", "worldbookIds"];
const SESSION_SHOWN: [&str; 6] =
    ["displayAgentId", "messageCount", "createdAt", "updatedAt", "isFavorite", "favoriteFolderId"];

/// A conversation, and the session that was made of it.
pub(super) struct Made<'v> {
    pub(super) format: Format,
    pub(super) document: &'v Value,
    pub(super) session: &'v Session,
    pub(super) placed: &'v Placed,
    /// Where the session is among all that is made.
    pub(super) place: &'v str,
}

/// Returns what became of each leaf of a conversation. O(leaves).
pub(super) fn rows(made: &Made<'_>, extent: Extent) -> FieldReports {
    let record = Record::with_room(extent);
    let file = placed(Source::new(made.document, &record), made.place);
    match made.format {
        Format::Session => session(file),
        Format::SessionHalves => halves(file, made.place),
        Format::SillyTavernChat => lines(file, made),
        _ => messages(file, made),
    }
    let mut rows = record.rows(made.document, "", extent);
    let mut written = Written::of(made);
    let mut unread = Unread::default();
    rows.change(|row| match unread.place(made.document, row) {
        Some(place) => {
            let row = FieldReport { status: FieldStatus::Kept, to: Some(&place), note: None, ..row };
            let change = settle(made, &mut written, row);
            Some(change.unwrap_or(Change { status: row.status, to: Some(place), note: None }))
        }
        None => settle(made, &mut written, row),
    });
    rows
}

fn session(session: Source<'_>) {
    session.any().stay();
    session.fields().for_each(|(key, field)| session_field(key, field));
}

fn session_field(key: &str, field: Source<'_>) {
    match key {
        "nodes" => list(field, node),
        key if SessionHeader::KEYS.contains(&key) || OF_SESSION.contains(&key) => field.stay(),
        key if SESSION_SHOWN.contains(&key) => field.nearly_stay(SHOWN),
        _ => {}
    }
}

fn node(node: Source<'_>) {
    noun(node, Node::KEYS);
    node.stay_each(&["pinned", "swipes", "swipe_id", "function"]);
    list(node.at("attachments"), attachment);
    list(node.at("toolCalls"), |call| noun(call, StoredToolCall::KEYS));
    let metadata = node.at("metadata");
    noun(metadata, NodeMetadata::KEYS);
    metadata.stay_each(&["toolCalls", "sessionVariableSnapshot", "compressionDetails", "partType"]);
}

/// Takes two halves of a session, of which the one with the messages counts.
fn halves(file: Source<'_>, place: &str) {
    session(placed(file.at("detail"), place));
    let index = placed(file.at("index"), place);
    if index.object().is_some() {
        index.any().stay();
    }
    for (key, field) in index.fields() {
        match file.at("detail").field(key).value() {
            Some(same) if field.value() == Some(same) => field.nearly_stay(BOTH),
            Some(_) => drop(field.keep_at(format!("{place}/imported/index/{}", pointer_step(key)))),
            None => session_field(key, field),
        }
    }
}

/// Takes the lines of a chat, one of which may be its header.
fn lines(file: Source<'_>, made: &Made<'_>) {
    let Some(index) = made.placed.header else { return listed(file, made, chat::take_line) };
    if file.object().is_some() {
        return chat::take_header(file);
    }
    listed(file, made, chat::take_line);
    chat::take_header(placed(file.item(index), made.place));
}

/// Takes a list of messages, or one under `messages`, or a single one.
fn messages(file: Source<'_>, made: &Made<'_>) {
    listed(file, made, |message| {
        node(message);
        message.at("role").named(&ROLES).stay();
        message.at("createdAt").text().into("/timestamp");
        message.at("reasoning_content").text().into("/metadata/reasoningContent");
        message.at("tool_call_id").text().into("/toolCallId");
        match message.value().filter(|message| is_calling(message)) {
            Some(_) if message.at("tool_calls").value().is_some_and(Value::is_array) => {
                message.at("tool_calls").all_together(CALLS, "/toolCalls");
            }
            Some(_) => message.at("function_call").all_together(CALLS, "/toolCalls"),
            None => {}
        }
    });
}

/// Takes messages as a list or under `messages`, or a single one, each of which became a node.
fn listed(file: Source<'_>, made: &Made<'_>, take: impl Fn(Source<'_>)) {
    let list = match made.document {
        Value::Object(_) => file.at("messages"),
        _ => file,
    };
    let mut nodes = nodes(made);
    if !list.value().is_some_and(Value::is_array) {
        return take(placed(file, &nodes.next().unwrap_or_default()));
    }
    list.any().into("/nodes");
    for (index, place) in made.placed.messages.iter().zip(nodes) {
        take(placed(list.item(*index), &place));
    }
    if file.object().is_some() {
        noun(file, SessionHeader::KEYS);
        file.stay_each(&["authorNote", "chat_metadata", "worldbookIds"]);
    }
}

/// Returns the places of the nodes below the root, in their order.
fn nodes<'v>(made: &Made<'v>) -> impl Iterator<Item = String> + use<'v> {
    let (place, session) = (made.place, made.session);
    let nodes = session.nodes().map(|(id, _)| id).filter(move |id| *id != session.root_id());
    nodes.map(move |id| format!("{place}/nodes/{}", pointer_step(id)))
}

/// Returns whether the calls of a message are read.
fn is_calling(item: &Value) -> bool {
    let has = |key: &str| item.get(key).is_some_and(|value| !value.is_null());
    let is_given = item.get("tool_calls").is_some_and(Value::is_array)
        || !has("tool_calls") && item.get("function_call").is_some_and(is_call);
    let is_assistant = item.get("role").and_then(Value::as_str) == Some("assistant");
    is_given && is_assistant && !has("toolCalls")
}

/// Where the calls of messages are kept that cannot be read, one behind another; rows come in their order.
#[derive(Default)]
struct Unread<'v> {
    /// The pointer to the message of the last row of a call, and the calls of that.
    message: Option<String>,
    calls: &'v [Value],
    /// How many of its calls were looked at, and how many of these cannot be read.
    seen: usize,
    count: usize,
}

impl<'v> Unread<'v> {
    /// Returns where the field of a call is kept; none for one that was read, and for all other fields.
    fn place(&mut self, document: &'v Value, row: FieldReport<'_>) -> Option<String> {
        let to = row.to?.strip_suffix("/toolCalls").filter(|_| row.note == Some(CALLS))?;
        let (message, below) = row.pointer.split_once("/tool_calls/")?;
        let (index, rest) = below.find('/').map_or((below, ""), |at| below.split_at(at));
        let index = index.parse::<usize>().ok()?;
        if self.message.as_deref() != Some(message) {
            let calls = steps(document, message).and_then(|message| message.get("tool_calls"));
            let calls = calls.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            *self = Self { message: Some(message.to_owned()), calls, ..Self::default() };
        }
        let call = self.calls.get(index).filter(|call| !is_call(call));
        let passed = self.calls.get(self.seen..index).unwrap_or_default();
        self.count += passed.iter().filter(|call| !is_call(call)).count();
        self.seen = index;
        call.map(|_| format!("{to}/imported/tool_calls/{}{rest}", self.count))
    }
}

/// A session as it is written: of a list of messages one node at a time, since there may be very many.
struct Written<'v> {
    session: &'v Session,
    place: &'v str,
    /// All of it, but for the nodes of a list.
    outline: Value,
    is_list: bool,
    /// The node that was looked into last, with its name in pointers.
    node: Option<(String, Value)>,
}

impl<'v> Written<'v> {
    fn of(made: &Made<'v>) -> Self {
        let session = made.session;
        let is_list = !matches!(made.format, Format::Session | Format::SessionHalves);
        let mut outline = if is_list { session.header.write() } else { session.write() };
        if is_list {
            // Not empty, so that it is nothing that the file may say.
            let root = (session.root_id().to_string(), Value::Null);
            outline["nodes"] = Value::Object(Object::from_iter([root]));
        }
        Self { session, place: made.place, outline, is_list, node: None }
    }

    /// Finds what is at a place.
    fn find(&mut self, to: &str) -> Option<&Value> {
        let below = to.strip_prefix(self.place)?;
        let Some(below) = below.strip_prefix("/nodes/").filter(|_| self.is_list) else {
            return steps(&self.outline, below);
        };
        let (name, below) = below.find('/').map_or((below, ""), |at| below.split_at(at));
        if self.node.as_ref().is_none_or(|(known, _)| known != name) {
            let node = self.session.node(&pointer_key(name))?;
            self.node = Some((name.to_owned(), node.write()));
        }
        steps(&self.node.as_ref()?.1, below)
    }

    /// Finds a value at a place or below `imported` on the way there.
    fn find_kept(&mut self, place: &str, given: &Value) -> Option<String> {
        let below = place.get(self.place.len()..)?;
        let steps = below.char_indices().filter(|(_, letter)| *letter == '/').map(|(at, _)| at);
        let start = self.place;
        let within = steps.map(|at| {
            let (around, rest) = below.split_at(at);
            format!("{start}{around}/{IMPORTED}{rest}")
        });
        std::iter::once(place.to_owned()).chain(within).find(|place| self.find(place) == Some(given))
    }
}

/// Records for a row where its field is after all.
fn settle(made: &Made<'_>, written: &mut Written<'_>, row: FieldReport<'_>) -> Option<Change> {
    let (to, given) = (row.to?, steps(made.document, row.pointer)?);
    let found = written.find(to);
    if row.status != FieldStatus::Kept && !(row.status == FieldStatus::Mapped && made.copies(given)) {
        let is_there = found.is_some();
        let mut to = || Some(nearest(to, |to| written.find(to).is_some()).to_owned());
        return (!is_there).then(|| Change { status: row.status, to: to(), note: row.note });
    }
    if found == Some(given) {
        return None;
    }
    let places = [made.beside(row.pointer, to), to.to_owned()];
    let kept = places.into_iter().find_map(|place| written.find_kept(&place, given));
    Some(match kept {
        Some(place) => {
            let note = row.note.or((row.status != FieldStatus::Kept).then_some(NOT_READ));
            Change { status: FieldStatus::Kept, to: Some(place), note }
        }
        None => Change { status: FieldStatus::Unsupported, to: None, note: Some(NOWHERE) },
    })
}

impl Made<'_> {
    /// Returns whether a value that is mapped is the same there.
    fn copies(&self, given: &Value) -> bool {
        let is_empty = matches!(given, Value::Null | Value::Array(_) | Value::Object(_));
        self.format != Format::SillyTavernChat && !is_empty
    }

    /// Returns where a field would be that stands beside what its message or the conversation became.
    fn beside(&self, pointer: &str, to: &str) -> String {
        let below = |pointer: &str| {
            pointer.get(1..).and_then(|rest| rest.find('/')).map_or(pointer.len(), |at| at + 1)
        };
        let is_list = |document: &Value| document.is_array();
        let rest = match self.format {
            Format::Session => pointer,
            Format::SessionHalves => pointer.get(below(pointer)..).unwrap_or_default(),
            _ if is_list(self.document) => pointer.get(below(pointer)..).unwrap_or_default(),
            _ => match pointer
                .strip_prefix("/messages")
                .filter(|_| self.document.get("messages").is_some_and(is_list))
            {
                Some(item) => item.get(below(item)..).unwrap_or_default(),
                None => pointer,
            },
        };
        let own = to.strip_prefix(self.place).and_then(|own| own.strip_prefix("/nodes/"));
        let base = match own.filter(|_| !matches!(self.format, Format::Session | Format::SessionHalves)) {
            Some(own) => {
                let id = own.split('/').next().unwrap_or_default();
                format!("{}/nodes/{id}", self.place)
            }
            None => self.place.to_owned(),
        };
        base + rest
    }
}
