//! Cache marks of a request body, as the provider accepts them.

use std::fmt::Write as _;

use ctx_types::{CacheMark, Diagnostic, Message, Role, phrase};

use crate::codes;
use crate::json::{Json, Object};

/// Maximum number of marks in a request of Anthropic and OpenAI.
const MAX_MARKS: usize = 4;

/// The cache mark of a block at Anthropic.
pub(crate) const CACHE_CONTROL: &str = "cache_control";

/// Removes the marks that the provider rejects: those of thinking, and all but four. The last mark of the messages
/// stays, then those of tools and system, then newer messages. A long-lived mark after a short-lived one becomes
/// short-lived. O(blocks).
pub(crate) fn remove_rejected(body: &mut Object<'_>, key: &'static str, found: &mut Vec<Diagnostic>) {
    let is_automatic = body.get(key).is_some_and(Json::is_object);
    let limit = MAX_MARKS - usize::from(is_automatic);
    let (mut marks, mut message_marks) = (0_usize, 0_usize);
    each_marked(body, key, &mut |place, block| {
        if matches!(block.get("type").and_then(Json::as_str), Some("thinking" | "redacted_thinking")) {
            block.remove(key);
            let text = phrase!("the cache mark of a thinking block is not sent: the API rejects it");
            found.push(Diagnostic::info(codes::CACHE_MARK, text).at_pointer(place));
        } else {
            marks += 1;
            message_marks += usize::from(is_in_message(place));
        }
    });
    let surplus = marks.saturating_sub(limit);
    if surplus > 0 {
        let text = phrase!("{marks} blocks have cache marks; only {limit} are sent", marks, limit);
        found.push(Diagnostic::warning(codes::CACHE_MARK, text));
    }
    let mut surplus_of_messages = surplus.min(message_marks.saturating_sub(1));
    let mut surplus_of_front = surplus - surplus_of_messages;
    let mut is_short = false;
    each_marked(body, key, &mut |place, block| {
        let surplus = if is_in_message(place) { &mut surplus_of_messages } else { &mut surplus_of_front };
        if *surplus > 0 {
            *surplus -= 1;
            block.remove(key);
            return;
        }
        let Some(Json::Object(mark)) = block.get_mut(key) else { return };
        let is_long = mark.get("ttl").and_then(Json::as_str) == Some("1h");
        if is_long && is_short {
            mark.remove("ttl");
            let text =
                phrase!("a long-lived cache mark cannot follow a short-lived one; it is sent as short-lived");
            found.push(Diagnostic::warning(codes::CACHE_MARK, text).at_pointer(place));
        }
        is_short |= !is_long;
    });
}

fn is_in_message(place: &str) -> bool {
    place.starts_with("/messages") || place.starts_with("/input")
}

/// Visits the blocks with a mark in the order in which the provider reads them, each with its place.
fn each_marked(body: &mut Object<'_>, key: &str, visit: &mut dyn FnMut(&str, &mut Object<'_>)) {
    for list in ["tools", "system", "messages", "input"] {
        if let Some(value) = body.get_mut(list) {
            walk(value, key, &mut format!("/{list}"), visit);
        }
    }
}

fn walk(value: &mut Json<'_>, key: &str, place: &mut String, visit: &mut dyn FnMut(&str, &mut Object<'_>)) {
    let length = place.len();
    match value {
        Json::List(list) => {
            for (index, item) in list.iter_mut().enumerate().filter(|(_, item)| item.is_object()) {
                // Writing to memory never fails.
                write!(place, "/{index}").unwrap_or_default();
                walk(item, key, place, visit);
                place.truncate(length);
            }
        }
        Json::Object(block) => {
            for inner in ["source", "content", "output"] {
                if let Some(value) = block.get_mut(inner) {
                    place.push('/');
                    place.push_str(inner);
                    walk(value, key, place, visit);
                    place.truncate(length);
                }
            }
            if block.get(key).is_some_and(Json::is_object) {
                visit(place, block);
            }
        }
        _ => {}
    }
}

/// Returns the mark of each message. Marks of trailing system messages move to the message before them: the next turn
/// does not repeat the trailing system messages.
pub(crate) fn before_trailing_instructions(messages: &[Message]) -> Vec<Option<CacheMark>> {
    let mut marks: Vec<Option<CacheMark>> = messages.iter().map(|message| message.cache_mark).collect();
    let trailing = messages.iter().rev().take_while(|message| message.role.is_instruction()).count();
    let border = messages.len() - trailing;
    let has_conversation = messages.iter().take(border).any(|message| message.role != Role::System);
    let Some(before) = border.checked_sub(1).filter(|_| has_conversation && trailing > 0) else {
        return marks;
    };
    let moved = marks.iter_mut().skip(border).filter_map(Option::take).max();
    if let Some(mark) = marks.get_mut(before) {
        *mark = (*mark).max(moved);
    }
    marks
}
