//! The fields of a chat's lines, as they are in the session that was made of them.

use super::note;
use crate::source::Source;

const VERSIONS: &str = "only the active swipe becomes a message; the others are only counted by macros";

/// Takes the fields of a message.
pub(crate) fn take_line(line: Source<'_>) {
    line.any().into("");
    for (_, version) in line.at("swipes").items() {
        version.text().approximated(VERSIONS).stay();
    }
    line.at("swipes").refuse_fields();
    line.at("swipe_id").whole(0).approximated(VERSIONS).stay();
    line.at("mes").filled().text().into("/content");
    line.at("name").text().into("/name");
    line.at("is_user").flag().into("/role");
    let hidden = line.at("is_system");
    hidden.flag().into(if hidden.as_bool() == Some(true) { "/isEnabled" } else { "" });
    line.at("send_date").filled().text().into("/timestamp");
    line.at("extra/type").named(&["narrator"]).into("/role");
}

pub(crate) fn take_header(line: Source<'_>) {
    let metadata = line.at("chat_metadata");
    let own = line.at(note::KEY);
    if own.value().is_some() {
        own.stay();
        metadata.at("note_prompt").keep("the author's note in this project's format is used instead");
    } else {
        note::take(metadata);
    }
    metadata.at("world_info").text().stay();
    metadata.at("variables").stay();
    line.at("user_name").text().stay();
}
