//! The strategy of the design 7-4: whole messages by role, marker and age.

use std::cmp::Reverse;
use std::ops::Range;

use ctx_types::{Message, Role};

use crate::request::strategy::{Fate, Material, Selection, Strategy};

/// Keeps the messages of the highest priority that fit, whole groups only.
///
/// The priority of a message is that of its kind (a user message 100, one with `ARTIFACT_SAVED` 90, with
/// `NODE_COMPLETE` 85, with tool calls 80, a tool result 79, an answer 50, anything else 0, such as a note of an earlier
/// pass, whoever speaks it), a thousand more for the newest messages, and a hundredth for each message before it. A
/// group ranks as its best member. What does not fit is skipped, and the next is tried.
///
/// It scores no content and is here as the design has it; [`Coverage`](crate::request::Coverage) keeps more of what matters.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyMessage;

impl Strategy for KeyMessage {
    fn name(&self) -> &'static str {
        "key-message"
    }

    fn choose(&self, material: &Material<'_>) -> Selection {
        let newest = material.messages.len().saturating_sub(material.config.min_recent_messages);
        let mut ranked: Vec<(usize, u64)> =
            material.groups.iter().map(|group| group_priority(material, group, newest)).enumerate().collect();
        // Stable, so that of equal ones the older is tried first.
        ranked.sort_by_key(|(_, priority)| Reverse(*priority));
        let mut fates = vec![Fate::Drop("no room left at its priority".into()); material.groups.len()];
        let mut room = material.room_for_messages;
        for (at, priority) in ranked {
            let tokens = material.groups.get(at).map_or(0, |group| material.tokens(group));
            if let Some(fate) = fates.get_mut(at).filter(|_| tokens <= room) {
                let recent =
                    if priority >= RECENT { "one of the newest messages" } else { "priority of its kind" };
                *fate = Fate::Keep(recent.into());
                room -= tokens;
            }
        }
        Selection { fates, notes: Vec::new() }
    }
}

/// Priorities are counted in hundredths.
const HUNDREDTHS: u64 = 100;

/// What the newest messages have more.
const RECENT: u64 = 1_000 * HUNDREDTHS;

fn group_priority(material: &Material<'_>, group: &Range<usize>, newest: usize) -> u64 {
    let own = material.own(group);
    let members = own.clone().zip(material.members(&own));
    let priority = |(index, message): (usize, &Message)| {
        let recency = if index >= newest { RECENT } else { 0 };
        base(message) * HUNDREDTHS + recency + index as u64
    };
    members.map(priority).max().unwrap_or(0)
}

/// The priority of a message's kind; the first rule that fits counts.
fn base(message: &Message) -> u64 {
    let text = message.text();
    let is_note = message.note.is_some();
    match message.role {
        Role::User if !is_note => 100,
        _ if text.contains("ARTIFACT_SAVED") => 90,
        _ if text.contains("NODE_COMPLETE") => 85,
        Role::Assistant if !message.tool_calls.is_empty() => 80,
        Role::Tool => 79,
        Role::Assistant if !is_note => 50,
        Role::System | Role::Developer | Role::User | Role::Assistant => 0,
    }
}
