use ctx_types::DepthPoints;
use ctx_types::internal::Rank;
use ctx_types::{Injection, Order, Placement, Role, Segment, Side, Text};
use ctx_worldbook::{Member, internal::Destination};

use super::macro_expander::entry_source;

/// Returns `None` for an entry of an outlet.
pub(crate) fn injection(member: &Member, text: Text, written: Vec<Segment>) -> Option<Injection> {
    let entry = &member.entry;
    let placement = placement(&entry.destination, entry.order)?;
    let role = entry.role.unwrap_or(Role::System);
    let injection = Injection::plugin(text, placement, entry_source(member));
    Some(Injection { rank: Rank::Worldbook, role, written, ..injection })
}

fn placement(destination: &Destination, order: Order) -> Option<Placement> {
    let at = |target: &str, side| Placement::Anchor { target: target.into(), side, order };
    Some(match destination {
        Destination::BeforeCharacter => at("world_info_before", Side::After),
        Destination::AfterCharacter => at("world_info_after", Side::After),
        Destination::NoteTop => at("author_note", Side::Before),
        Destination::NoteBottom => at("author_note", Side::After),
        Destination::ExamplesTop => at("dialogue_examples", Side::Before),
        Destination::ExamplesBottom => at("dialogue_examples", Side::After),
        Destination::Personality => at("char_personality", Side::After),
        Destination::Scenario => at("scenario", Side::After),
        Destination::Depth(depth) => Placement::Depth { points: DepthPoints::single(*depth), order },
        Destination::FromStart(index) => {
            Placement::Index { at: i64::try_from(*index).unwrap_or(i64::MAX), order }
        }
        Destination::Outlet(_) => return None,
    })
}
