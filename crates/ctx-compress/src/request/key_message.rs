//! The strategy `key-message`: whole messages by role, marker and age.

use std::cmp::Reverse;
use std::ops::Range;

use ctx_types::{Message, Role, phrase};

use crate::request::strategy::{Fate, Material, Selection, Strategy};

/// Keeps the groups of the highest priority that fit.
///
/// The priority of a message depends on its type: user message 100, with `ARTIFACT_SAVED` 90, with `NODE_COMPLETE` 85, with
/// tool calls 80, tool result 79, response 50, others and notes 0. The newest messages get 1,000 more, and each message
/// 0.01 per earlier message. A group has the priority of its best message.
///
/// It does not score content; [`Coverage`](crate::request::Coverage) keeps more facts.
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
        // A stable sort: of equal groups, the older is tried first.
        ranked.sort_by_key(|(_, priority)| Reverse(*priority));
        let mut fates = vec![Fate::Drop(phrase!("no tokens left for its priority")); material.groups.len()];
        let mut room = material.room_for_messages;
        for (at, priority) in ranked {
            let tokens = material.groups.get(at).map_or(0, |group| material.tokens(group));
            if let Some(fate) = fates.get_mut(at).filter(|_| tokens <= room) {
                *fate = Fate::Keep(if priority >= RECENT {
                    phrase!("one of the newest messages")
                } else {
                    phrase!("priority by type")
                });
                room -= tokens;
            }
        }
        Selection { fates, notes: Vec::new() }
    }
}

const HUNDREDTHS: u64 = 100;

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

/// Returns the priority of a message's type.
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
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ctx_types::{Content, Note, Place};

    use super::*;
    use crate::request::config::RequestConfig;
    use crate::request::meter::Meter;
    use crate::request::testing::messages;

    /// A message of a role, with a text and a call or not, as it is and as a note.
    #[track_caller]
    fn check_base(word: &str, text: &str, expected: u64, of_note: u64) {
        let message = messages(word).remove(0).with(|message| message.content = Content::Text(text.into()));
        assert_eq!(base(&message), expected, "{word} {text}");
        let note = message.with(|message| message.note = Some(Arc::new(Note::default())));
        assert_eq!(base(&note), of_note, "{word} {text} as a note");
    }

    #[test]
    fn the_first_rule_that_fits_counts() {
        check_base("u", "hello", 100, 0);
        check_base("u", "ARTIFACT_SAVED", 100, 90);
        for role in ["s", "a", "a:x", "t:x"] {
            check_base(role, "it is ARTIFACT_SAVED, NODE_COMPLETE", 90, 90);
            check_base(role, "it is NODE_COMPLETE", 85, 85);
        }
        check_base("a:x", "hello", 80, 80);
        check_base("t:x", "hello", 79, 79);
        check_base("a", "hello", 50, 0);
        check_base("s", "hello", 0, 0);
    }

    /// Gives room for one message more at a time, and names in which order they come, those that are new enough with `!`.
    #[track_caller]
    fn check_order(words: &str, newest: usize, expected: &str) {
        let all = messages(words);
        let meter = Meter::estimate();
        let groups: Vec<Range<usize>> =
            (0..all.len()).filter(|at| all[*at].place == Place::History).map(|at| at..at + 1).collect();
        let config = RequestConfig { min_recent_messages: newest, ..RequestConfig::default() };
        let mut order: Vec<String> = Vec::new();
        for room in 0..=meter.messages(&all) {
            let material = Material {
                messages: &all,
                groups: &groups,
                room: 10_000,
                room_for_messages: room,
                target: 10_000,
                config: &config,
                meter: &meter,
            };
            let selection = KeyMessage.choose(&material);
            assert!(selection.kept_tokens(&material) <= room);
            // All of these cost the same, so that there is always as much kept as fits.
            assert_eq!(selection.kept_tokens(&material) / 11, room / 11);
            for (at, fate) in selection.fates.iter().enumerate() {
                let name = match fate {
                    Fate::Keep(reason) if *reason == "one of the newest messages" => format!("{at}!"),
                    Fate::Keep(reason) if *reason == "priority by type" => at.to_string(),
                    _ => continue,
                };
                if !order.contains(&name) {
                    order.push(name);
                }
            }
        }
        assert_eq!(order.join(" "), expected);
    }

    #[test]
    fn the_newest_come_first_then_kinds_and_of_a_kind_the_newer() {
        check_order("u a u a s", 0, "2 0 3 1 4");
        check_order("u a u a s", 2, "3! 4! 2 0 1");
        check_order("u a u a s", 9, "2! 0! 3! 1! 4!");
    }

    #[test]
    fn a_group_ranks_as_its_best_member_and_age_counts_less_than_kind() {
        let all = messages("a:x t:x a u");
        let meter = Meter::estimate();
        let config = RequestConfig { min_recent_messages: 1, ..RequestConfig::default() };
        let groups = [0..2, 2..3, 3..4];
        let material = Material {
            messages: &all,
            groups: &groups,
            room: 0,
            room_for_messages: 0,
            target: 0,
            config: &config,
            meter: &meter,
        };
        let ranks = groups.each_ref().map(|group| group_priority(&material, group, 3));
        assert_eq!(ranks, [8_000, 5_002, 110_003]);
    }
}
