//! Index and depth placements in the history.

use std::ops::Range;

use ctx_types::DepthPoints;
use ctx_types::internal::{Argument, Divider, each_group};
use ctx_types::report::{Decision, Outcome};
use ctx_types::session::Window;
use ctx_types::{Content, ContentPart, MAX_POINTS, Message, Phrase, Place, Source, count_of, phrase};

/// Total points of all placements with several points.
const MAX_REPEATS: usize = 100_000;

/// Includes segments in memory.
const MAX_REPEATED_BYTES: usize = 64 << 20;

/// Approximate memory per segment.
const SEGMENT_BYTES: usize = 200;

/// Depths listed in a reason.
const MAX_LISTED: usize = 8;

/// Gap `g` is before message `g` of the whole conversation; the last gap is after all messages.
#[derive(Debug)]
pub(crate) struct Gaps {
    window: Window,
    /// Groups of several messages.
    groups: Vec<Range<usize>>,
    settled: usize,
    placed: Vec<(usize, Message)>,
    repeats: usize,
    repeated_bytes: usize,
}

impl Gaps {
    /// O(messages).
    pub(crate) fn new(window: Window) -> Self {
        let groups = each_group(&window.messages).filter(|group| group.len() > 1).collect();
        let settled = window.settled_len();
        Self { window, groups, settled, placed: Vec::new(), repeats: 0, repeated_bytes: 0 }
    }

    /// Clamps the index to the history before the turn.
    pub(crate) fn place_at_index(&mut self, at: i64, message: Message, decisions: &mut Vec<Decision>) {
        let settled = i64::try_from(self.settled).unwrap_or(i64::MAX);
        let gap = match at {
            0.. => at.min(settled),
            // −1 is after this history, −2 one message earlier.
            _ => settled.saturating_add(at).saturating_add(1).max(0),
        };
        let gap = usize::try_from(gap).unwrap_or(self.settled);
        self.place_single(gap, message, decisions);
    }

    /// Depths count from the end of the whole conversation.
    pub(crate) fn place_at_depths(
        &mut self,
        points: &DepthPoints,
        message: Message,
        decisions: &mut Vec<Decision>,
    ) {
        let total = self.window.total_len();
        let is_placed = |depth: &u64| !points.is_list() || *depth <= total as u64;
        let Some(depth) = points.as_single().filter(is_placed) else {
            self.place_at_points(points, &message, decisions);
            return;
        };
        let within = usize::try_from(depth).ok().filter(|depth| *depth <= total);
        let Some(within) = within else {
            let all = count_of!(total, "message");
            let reason = phrase!("depth {depth} exceeds {all}; placed before the oldest", depth, all);
            return self.place_at_front(0, reason.clone(), message, decisions);
        };
        self.place_single(total - within, message, decisions);
    }

    /// Excludes the continuation prefix. O(messages + placed · log placed).
    pub(crate) fn fill(mut self) -> Vec<Message> {
        self.placed.sort_by_key(|(gap, message)| (*gap, message.slot_key()));
        let mut placed = self.placed.into_iter().peekable();
        let mut messages =
            Vec::with_capacity(self.window.pinned.len() + self.window.messages.len() + placed.len());
        messages.extend(self.window.pinned.into_iter().map(pin_message));
        for (index, message) in self.window.messages.into_iter().enumerate() {
            let gap = self.window.skipped + index;
            while let Some((_, placed)) = placed.next_if(|(at, _)| *at <= gap) {
                messages.push(placed);
            }
            messages.push(message);
        }
        messages.extend(placed.map(|(_, message)| message));
        messages
    }

    pub(crate) fn take_prefix(&mut self) -> Option<Message> {
        self.window.prefix.take()
    }

    pub(crate) fn into_window(self) -> Window {
        self.window
    }

    fn place_single(&mut self, gap: usize, message: Message, decisions: &mut Vec<Decision>) {
        if gap < self.window.skipped {
            let reason = if self.window.is_sent {
                phrase!("its position is in messages that were already sent; placed below them")
            } else {
                phrase!("its position is in history that is not loaded; placed before the loaded messages")
            };
            return self.place_at_front(gap, reason, message, decisions);
        }
        let open = self.out_of_group(gap);
        decisions.extend(group_decision(&message, usize::from(open != gap)));
        self.insert(open, false, message);
    }

    fn place_at_front(
        &mut self,
        gap: usize,
        reason: Phrase,
        mut message: Message,
        decisions: &mut Vec<Decision>,
    ) {
        decisions.push(Decision::new(Outcome::Moved, message.source.clone(), reason));
        if let Some(rank) = &mut message.slot_rank {
            rank.front = Some(gap);
        }
        // No group starts before the loaded messages.
        self.insert(self.window.skipped, false, message);
    }

    fn place_at_points(&mut self, points: &DepthPoints, message: &Message, decisions: &mut Vec<Decision>) {
        let total = self.window.total_len();
        let source = &message.source;
        if points.is_empty() {
            decisions.push(Decision::new(Outcome::Dropped, source.clone(), phrase!("no depth is set")));
        }
        decisions.extend(beyond_decision(points, total, source));
        let bytes = weight(message);
        let room = MAX_POINTS
            .min(MAX_REPEATS - self.repeats)
            .min(MAX_REPEATED_BYTES.saturating_sub(self.repeated_bytes) / bytes.max(1));
        let mut depths = points.nearest(total as u64, room + 1);
        if depths.len() > room {
            depths.truncate(room);
            decisions.push(limit_decision(source, room));
        }
        self.repeats += depths.len();
        self.repeated_bytes += bytes * depths.len();
        let gaps = depths.into_iter().map(|depth| total - usize::try_from(depth).unwrap_or(total));
        let (loaded, unloaded): (Vec<usize>, Vec<usize>) = gaps.partition(|gap| *gap >= self.window.skipped);
        if self.window.is_sent && loaded.is_empty() {
            if let Some(gap) = unloaded.last() {
                self.place_single(*gap, message.clone(), decisions);
            }
            return;
        }
        let reason = phrase!("its depths are in history that is not loaded");
        decisions.extend(counted_decision(Outcome::NotLoaded, source, reason, unloaded.len()));
        self.insert_at(&loaded, message, decisions);
    }

    /// Gaps that move before the same group become one.
    fn insert_at(&mut self, gaps: &[usize], message: &Message, decisions: &mut Vec<Decision>) {
        let (mut moved, mut doubled, mut last) = (0, 0, None);
        for gap in gaps {
            let open = self.out_of_group(*gap);
            if last == Some(open) {
                doubled += 1;
                continue;
            }
            last = Some(open);
            moved += usize::from(open != *gap);
            self.insert(open, true, message.clone());
        }
        decisions.extend(group_decision(message, moved));
        let reason = phrase!("another of its depths has the same position");
        decisions.extend(counted_decision(Outcome::Dropped, &message.source, reason, doubled));
    }

    fn insert(&mut self, gap: usize, multiple: bool, mut message: Message) {
        message.place = Place::Gap { multiple };
        self.placed.push((gap, message));
    }

    /// Returns the gap before the group, if `gap` is inside one. O(log groups).
    fn out_of_group(&self, gap: usize) -> usize {
        let inside = gap.saturating_sub(self.window.skipped);
        let index = self.groups.partition_point(|group| group.end <= inside);
        match self.groups.get(index) {
            Some(group) if group.start < inside => self.window.skipped + group.start,
            _ => gap,
        }
    }
}

fn pin_message(mut message: Message) -> Message {
    // Avoids a copy; the loader usually marked the message already.
    if message.place != Place::Pinned {
        message.place = Place::Pinned;
    }
    message
}

fn group_decision(message: &Message, count: usize) -> Option<Decision> {
    let reason = phrase!("placed before a tool call, which stays with its results");
    counted_decision(Outcome::Moved, &message.source, reason, count)
}

/// Approximate bytes per point.
fn weight(message: &Message) -> usize {
    let parts = match &message.content {
        Content::Text(text) => text.len(),
        Content::Parts(parts) => parts.iter().map(part_weight).sum(),
    };
    parts + SEGMENT_BYTES * message.written.len()
}

fn part_weight(part: &ContentPart) -> usize {
    match part {
        ContentPart::Text(text) => text.len(),
        ContentPart::Other(value) => value.to_string().len(),
    }
}

fn limit_decision(source: &Source, room: usize) -> Decision {
    if room == 0 {
        let reason = phrase!("the limit for entries with several depths is reached");
        return Decision::new(Outcome::Dropped, source.clone(), reason);
    }
    let reason = if room == 1 {
        phrase!("the limit allows 1 depth; only the nearest is used")
    } else {
        phrase!("the limit allows {room} depths; only the nearest are used", room)
    };
    Decision::new(Outcome::Cut, source.clone(), reason)
}

fn beyond_decision(points: &DepthPoints, total: usize, source: &Source) -> Option<Decision> {
    let beyond = points.beyond(total as u64);
    let mut list: Vec<String> = beyond.iter().take(MAX_LISTED).map(u64::to_string).collect();
    if beyond.len() > MAX_LISTED {
        list.push("…".to_owned());
    }
    let depths = Argument::list(list, Divider::Comma);
    let reason = if total == 1 {
        phrase!("depth {depths} is beyond the conversation (1 message)", depths)
    } else {
        phrase!("depth {depths} is beyond the conversation ({total} messages)", depths, total)
    };
    counted_decision(Outcome::NotActivated, source, reason, beyond.len())
}

fn counted_decision(outcome: Outcome, source: &Source, reason: Phrase, count: usize) -> Option<Decision> {
    (count > 0).then(|| Decision { count, ..Decision::new(outcome, source.clone(), reason) })
}
