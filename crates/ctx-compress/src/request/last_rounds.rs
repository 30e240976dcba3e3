//! The strategy `last-rounds`: previews, gists, and the latest turns.

use std::collections::HashMap;
use std::ops::Range;

use ctx_types::{Message, Role, phrase};

use crate::request::layout::{is_said, is_user};
use crate::request::preview::{gist, preview};
use crate::request::strategy::{Fate, Material, Selection, Strategy};

/// Shortens long messages, then keeps only the latest turns.
///
/// Tool results become previews, then long texts become gists. If that is not enough, only the latest turns that fit stay.
/// Notes and summaries are not shortened, and do not start a turn.
#[derive(Clone, Copy, Debug)]
pub struct LastRounds {
    /// Limit of the turns, with the current one. Default: 4.
    pub rounds: usize,
}

impl Default for LastRounds {
    fn default() -> Self {
        Self { rounds: 4 }
    }
}

/// Length of a preview in characters.
const PREVIEW: usize = 400;

/// Length of a gist in characters.
const GIST: usize = 600;

impl Strategy for LastRounds {
    fn name(&self) -> &'static str {
        "last-rounds"
    }

    fn choose(&self, material: &Material<'_>) -> Selection {
        let groups: Vec<&Range<usize>> = material.groups.iter().collect();
        let mut fates: Vec<Fate> = groups.iter().map(|_| Fate::Keep(phrase!("fits"))).collect();
        let levels = [
            (Level::Whole, phrase!("fits")),
            (Level::Previews, phrase!("long tool results")),
            (Level::Gists, phrase!("long texts")),
        ];
        for (level, reason) in levels {
            for (fate, group) in fates.iter_mut().zip(&groups) {
                if let Some(short) = shortened(material.members(group), level) {
                    *fate = Fate::Shorten(short, reason.clone());
                }
            }
            if (Selection { fates: fates.clone(), notes: Vec::new() }).tokens(material)
                <= material.room_for_messages
            {
                return Selection { fates, notes: Vec::new() };
            }
        }
        self.keep_rounds(material, fates)
    }
}

impl LastRounds {
    /// Drops everything before the latest turns that fit.
    fn keep_rounds(self, material: &Material<'_>, mut fates: Vec<Fate>) -> Selection {
        let users = material.messages.iter().enumerate().filter(|(_, message)| is_user(message));
        let (open, fixed): (Vec<usize>, Vec<usize>) =
            users.map(|(index, _)| index).partition(|index| material.may_change(*index));
        let most = self.rounds.saturating_sub(fixed.len());
        let mut begin = material.messages.len();
        let mut used = 0;
        let mut at = material.groups.len();
        for start in open.into_iter().rev().take(most) {
            let first = material.groups.partition_point(|group| group.end <= start);
            let round = material
                .groups
                .get(first..at)
                .unwrap_or_default()
                .iter()
                .zip(fates.get(first..at).unwrap_or_default());
            used += round.map(|(group, fate)| tokens(material, group, fate)).sum::<u64>();
            if used > material.room_for_messages {
                break;
            }
            (begin, at) = (start, first);
        }
        for (fate, group) in fates.iter_mut().zip(material.groups) {
            if group.end <= begin {
                *fate = Fate::Drop(phrase!("before the latest turns"));
            }
        }
        Selection { fates, notes: Vec::new() }
    }
}

fn tokens(material: &Material<'_>, group: &Range<usize>, fate: &Fate) -> u64 {
    match fate {
        Fate::Shorten(messages, _) => material.meter.messages(messages),
        _ => material.tokens(group),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Whole,
    Previews,
    Gists,
}

/// Shortens the messages of a group; `None` if none is long.
fn shortened(members: &[Message], level: Level) -> Option<Vec<Message>> {
    let tools = tool_names(members);
    let short = |message: &Message| match message.role {
        _ if !is_said(message) => None,
        Role::Tool if level != Level::Whole => preview(message, tool_of(message, &tools), PREVIEW),
        Role::User | Role::Assistant if level == Level::Gists => gist(message, GIST),
        _ => None,
    };
    let short: Vec<Option<Message>> = members.iter().map(short).collect();
    if short.iter().all(Option::is_none) {
        return None;
    }
    Some(
        short.into_iter().zip(members).map(|(short, whole)| short.unwrap_or_else(|| whole.clone())).collect(),
    )
}

/// Returns the tools of calls by call id.
pub(crate) fn tool_names(members: &[Message]) -> HashMap<&str, &str> {
    members.iter().flat_map(|message| &message.tool_calls).map(|call| (&*call.id, &*call.name)).collect()
}

/// Returns the tool of a result.
pub(crate) fn tool_of<'a>(result: &'a Message, names: &HashMap<&str, &'a str>) -> &'a str {
    let called = result.tool_call_id.as_deref().and_then(|id| names.get(id).copied());
    called.or(result.name.as_deref()).unwrap_or_default()
}
