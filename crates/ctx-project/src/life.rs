//! What stages did to a message, for people.

use ctx_engine::internal::{Event, EventKind};
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, Source, phrase};

/// How many sources of a joined message are named.
const MAX_NAMED: usize = 8;

/// Describes a change by a processor in one phrase. `name` names the sources of a merged message.
pub fn event(event: &Event, name: impl Fn(&Source) -> String) -> Phrase {
    let to = event.to.map_or_else(|| phrase!(""), |number| phrase!("message {number}", number));
    let from = numbers(&event.from);
    let told = match event.kind {
        EventKind::Made if event.source.kind.is_history() => phrase!("loaded as {to}", to),
        EventKind::Made => phrase!("created as {to}", to),
        EventKind::HandedOver => phrase!("passed on for placement"),
        EventKind::Placed => phrase!("placed as {to}", to),
        EventKind::Joined => {
            let names = some_of(event.joined.iter().map(name));
            phrase!("merged {from} into {to}: {names}", from, to, names)
        }
        EventKind::Changed => {
            let changes =
                Argument::list(event.changes.iter().map(|change| Phrase::from(*change)), Divider::Comma);
            let told = phrase!("changed {changes}: {to}", changes, to);
            if event.is_moved { phrase!("{told}, moved from {from}", told, from) } else { told }
        }
        EventKind::Moved => phrase!("moved from {from} to {to}", from, to),
        EventKind::Gone => phrase!("dropped {from}", from),
    };
    let is_placed = match event.kind {
        EventKind::Made => !event.source.kind.is_history(),
        kind => matches!(kind, EventKind::HandedOver | EventKind::Placed),
    };
    placed(told, event.placement.as_ref().filter(|_| is_placed))
}

/// Adds how something was placed.
pub fn placed(what: Phrase, placement: Option<&Phrase>) -> Phrase {
    match placement {
        Some(placement) => phrase!("{what}, {placement}", what, placement),
        None => what,
    }
}

fn numbers(numbers: &[usize]) -> Phrase {
    match numbers {
        [number] => phrase!("message {number}", number),
        several => phrase!("messages {numbers}", numbers = some_of(several.iter().map(ToString::to_string))),
    }
}

/// Lists the first names, and how many others there are.
fn some_of(names: impl ExactSizeIterator<Item = String>) -> Argument {
    let more = names.len().checked_sub(MAX_NAMED).filter(|more| *more > 0);
    let shown = names.take(MAX_NAMED).map(Phrase::verbatim);
    Argument::list(shown.chain(more.map(|more| phrase!("{more} more", more))), Divider::Comma)
}
