//! World info of `SillyTavern`, which is our own form of worldbooks too: its fields stay where they are.

use ctx_types::worldbook::{Worldbook, WorldbookEntry};
use serde_json::Value;

use super::card::CARD;
use super::fields::Kind;
use crate::source::Source;

/// Takes the fields of a book that goes to a place.
pub(super) fn take(book: Source<'_>, place: &str) {
    let book = book.lead_to(place).keep_at(place);
    book.at("originalData").keep("source of the conversion; not used");
    book.at("extensions").keep("for other applications");
    Worldbook::KEYS.iter().filter(|key| **key != "entries").for_each(|key| book.at(key).stay());
    book.refuse_unread::<Worldbook>(|key| key != "entries");
    book.at("entries").list().into("/entries");
    take_entries(book.at("entries"), place);
}

/// Takes the entries of a book that goes to a place.
pub(super) fn take_entries(entries: Source<'_>, place: &str) {
    let place = format!("{place}/entries/*");
    for entry in entries.with_names().children().filter(|entry| entry.object().is_some()) {
        take_entry(entry.lead_to(&*place).keep_at(&*place));
    }
}

/// Takes the fields of an entry, which may say them in the form of cards too.
pub(super) fn take_entry(entry: Source<'_>) {
    entry.stay_each(WorldbookEntry::KEYS);
    entry.refuse_unread::<WorldbookEntry>(|_| true);
    take_mirrored(entry);
    for shown in ["addMemo", "displayIndex"] {
        Kind::Shown.take(entry.at(shown), shown);
    }
    Kind::QuickReply.take(entry.at("automationId"), "automationId");
}

/// Takes the fields in the form of cards that say the same as those in ours.
fn take_mirrored(entry: Source<'_>) {
    if entry.at("extensions").object().is_none()
        && entry.at("keys").or(entry.at("insertion_order")).value().is_none()
    {
        return;
    }
    let fields = CARD.iter().map(|known| (known.theirs, known.ours)).filter(|(theirs, ours)| theirs != ours);
    for (theirs, ours) in fields.chain([("extensions/position", "position")]) {
        let field = entry.at(theirs);
        // Its meaning is the opposite.
        let is_same = match (theirs, field.value(), entry.at(ours).value()) {
            ("enabled", Some(Value::Bool(is_on)), Some(Value::Bool(is_off))) => is_on != is_off,
            ("enabled", ..) => false,
            (_, theirs, ours) => theirs.is_some() && theirs == ours,
        };
        if is_same {
            field.approximate_all("the entry has the same in this project's format", ours);
        }
    }
}
