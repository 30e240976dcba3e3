//! What becomes of each field of conversations: where it is in the session that was made of them.
//!
//! The reader of conversations tells what it put elsewhere; all else stays where it is.

use ctx_types::session::{Node, NodeId, NodeMetadata, Session, SessionHeader, StoredToolCall};
use serde_json::Value;

use crate::conversation::{Placed, ReadFields};
use crate::format::Format;
use crate::formats::aio_hub::{SHOWN, attachment, list, noun, placed};
use crate::formats::sillytavern::chat;
use crate::report::{NOT_READ, NOWHERE};
use crate::source::Source;

/// Fields of a conversation that are read though none of its header's, its tree among them.
const OF_SESSION: [&str; 5] = ["rootNodeId", "activeLeafId", "authorNote", "chat_metadata", "worldbookIds"];
const SESSION_SHOWN: [&str; 6] =
    ["displayAgentId", "messageCount", "createdAt", "updatedAt", "isFavorite", "favoriteFolderId"];

/// Takes the fields of a conversation, which goes to a place.
pub(super) fn take(file: Source<'_>, format: Format, made: &Session, read: &Placed, place: &str) {
    match format {
        Format::Session => session(placed(file, place)),
        Format::SessionHalves => halves(placed(file, place), place),
        format => messages(file, format, made, read, place),
    }
    keep(file, place, &read.kept);
}

fn session(session: Source<'_>) {
    session.any().stay();
    session.fields().for_each(|(key, field)| session_field(key, field));
    header(session);
}

/// Records for fields of a session's header that their noun does not read that they are no more than kept.
fn header(session: Source<'_>) {
    session.refuse_unread::<SessionHeader>(|key| SessionHeader::KEYS.contains(&key));
}

fn session_field(key: &str, field: Source<'_>) {
    match key {
        "nodes" => list(field, node),
        key if SessionHeader::KEYS.contains(&key) || OF_SESSION.contains(&key) => field.stay(),
        key if SESSION_SHOWN.contains(&key) => field.stay_approximated(SHOWN),
        _ => {}
    }
}

fn node(node: Source<'_>) {
    // What is no message is kept and never sent.
    if node.object().is_none() {
        return;
    }
    noun(node, Node::KEYS);
    node.stay_each(&["pinned", "swipes", "swipe_id", "function"]);
    list(node.at("attachments"), attachment);
    list(node.at("toolCalls"), |call| noun(call, StoredToolCall::KEYS));
    let metadata = node.at("metadata");
    noun(metadata, NodeMetadata::KEYS);
    metadata.stay_each(&["toolCalls", "sessionVariableSnapshot", "compressionDetails", "partType"]);
    node.refuse_unread::<Node>(|_| true);
}

/// Takes two halves of a session, of which the one with the messages counts.
fn halves(file: Source<'_>, place: &str) {
    let detail = file.at("detail");
    if detail.object().is_some() {
        session(placed(detail, place));
    }
    let index = file.at("index");
    if index.object().is_some() {
        placed(index, place).any().stay();
        header(index);
    }
    for (key, field) in index.fields() {
        match detail.field(key).value() {
            Some(same) if field.value() == Some(same) => field.stay_approximated("same as in the detail"),
            _ => session_field(key, field),
        }
    }
}

/// Takes messages as a list or under `messages`, or a single one, with what stands around them.
fn messages(file: Source<'_>, format: Format, made: &Session, read: &Placed, place: &str) {
    let list = if file.object().is_some() { file.at("messages") } else { file };
    let is_list = list.value().is_some_and(Value::is_array);
    let item = |index| if is_list { list.item(index) } else { file };
    if is_list {
        list.any().into(format!("{place}/nodes"));
        // Lines that hold null are no messages.
        list.items().filter(|(_, item)| is_null(*item)).for_each(|(_, item)| item.reject(NOWHERE));
    }
    match read.header {
        Some(index) => around(placed(item(index), place), chat::take_header),
        None if is_list => around(placed(file, place), |file| {
            noun(file, SessionHeader::KEYS);
            file.stay_each(&["authorNote", "chat_metadata", "worldbookIds"]);
            header(file);
        }),
        None => {}
    }
    let mut fields = read.fields.iter().peekable();
    let nodes = made.node_ids().filter(|id| *id != made.root_id());
    for (index, id) in read.messages.iter().zip(nodes) {
        let place = format!("{place}/nodes/*");
        let message = placed(item(*index), &place);
        match format {
            _ if message.object().is_none() => message.keep(NOT_READ),
            Format::SillyTavernChat => chat::take_line(message),
            _ => chat_message(message, id),
        }
        if let Some((_, ReadFields { moved, kept })) = fields.next_if(|(number, _)| number == index) {
            for (from, to) in moved {
                take_moved(message.at(from), from, to);
            }
            keep(message, &place, kept);
        }
    }
}

/// Takes what stands around messages, if that is an object.
fn around<'v>(file: Source<'v>, take: impl FnOnce(Source<'v>)) {
    if file.object().is_some() {
        take(file);
    }
    // A conversation without an id is named after its file.
    if is_null(file.at("id")) {
        file.at("id").reject(NOWHERE);
    }
}

fn chat_message(message: Source<'_>, id: &NodeId) {
    node(message);
    // An id that comes again is another one in the session.
    if message.at("id").as_str().is_some_and(|given| given != &**id) {
        message.at("id").reject(NOWHERE);
    }
}

fn take_moved(field: Source<'_>, from: &str, to: &'static str) {
    match from {
        "tool_calls" | "function_call" => field.approximate_all("uses this project's format", to),
        _ => drop(field.any().into(to)),
    }
}

/// Records for what stands at places that it is kept at others, below the one of what was made.
fn keep(source: Source<'_>, place: &str, kept: &[(String, String)]) {
    let is_number = |step: &str| !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    for (from, to) in kept {
        let to: Vec<&str> = to.split('/').map(|step| if is_number(step) { "*" } else { step }).collect();
        source.at_pointer(from).keep_at(format!("{place}{}", to.join("/"))).keep(NOT_READ);
    }
}

fn is_null(source: Source<'_>) -> bool {
    source.value().is_some_and(Value::is_null)
}
