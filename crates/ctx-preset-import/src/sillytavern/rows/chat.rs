//! What becomes of each field of a chat's lines.

use serde_json::Value;

use crate::loose::{Object, object, whole};
use crate::report::Expect::{Among, Any, Flag, Named, Text, Whole};
use crate::report::{Rule, RuleSet, SAME, approximated, kept, mapped};
use crate::sillytavern::note;

const VERSIONS: &str = "macros count the versions; the one in use is the message, the others are no branches";

/// The fields of a message.
pub(crate) const LINE: [Rule; 9] = [
    approximated("/swipes/*", SAME, VERSIONS).of(Text),
    approximated("/swipe_id", SAME, VERSIONS).of(Whole(0)),
    mapped("/mes", Text, "/content"),
    mapped("/name", Text, "/name"),
    mapped("/is_user", Flag, "/role"),
    mapped("/is_system", Flag, "/isEnabled"),
    mapped("/send_date", Text, "/timestamp"),
    mapped("/extra/reasoning", Text, "/metadata/reasoningContent"),
    mapped("/extra/type", Named(&["narrator"]), "/role"),
];

const OWN_NOTE: &str = "the line has a note in our own form, which counts";
const NO_DEPTH: &str = "the note stands at no depth";

const NOTE: [Rule; 5] = [
    mapped("/chat_metadata/note_prompt", Text, "/authorNote/content"),
    mapped("/chat_metadata/note_interval", Whole(0), "/authorNote/interval"),
    mapped("/chat_metadata/note_position", Among(&[0, 1, 2]), "/authorNote/injectionStrategy"),
    mapped("/chat_metadata/note_depth", Whole(0), "/authorNote/injectionStrategy/depth"),
    mapped("/chat_metadata/note_role", Among(&[0, 1, 2]), "/authorNote/role"),
];

const HEADER: [Rule; 3] = [
    mapped("/chat_metadata/world_info", Text, SAME),
    mapped("/chat_metadata/variables/**", Any, SAME),
    mapped("/user_name", Text, SAME),
];

/// Returns the rules for a header line.
pub(crate) fn of_header(line: &Value) -> RuleSet {
    let mut rules = RuleSet::default();
    let none = Object::new();
    let line = line.as_object().unwrap_or(&none);
    if line.contains_key(note::KEY) {
        rules.same("", &[note::KEY]);
        rules.add([kept("/chat_metadata/note_prompt", OWN_NOTE)]);
    } else {
        let place = object(line, "chat_metadata").and_then(|metadata| whole(metadata, "note_position"));
        if matches!(place, Some(0 | 2)) {
            rules.add([kept("/chat_metadata/note_depth", NO_DEPTH)]);
        }
        rules.add(NOTE);
    }
    rules.add(HEADER);
    rules
}
