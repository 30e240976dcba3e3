//! The history with its gaps: index and depth placements find theirs here.

use std::ops::Range;

use ctx_types::{
    Argument, Content, ContentPart, Decision, DepthPoints, Divider, MAX_POINTS, Message, Outcome, Phrase,
    Place, Source, Window, count_of, each_group, phrase,
};

use crate::slots::Ranked;

/// How many points all placements with several points may have together in one assembly.
const MAX_REPEATS: usize = 100_000;

/// How many bytes all of these may add to a request, or hold in memory for their segments.
const MAX_REPEATED_BYTES: usize = 64 << 20;

/// About what one segment holds in memory.
const SEGMENT_BYTES: usize = 200;

/// How many depths a reason lists.
const MAX_LISTED: usize = 8;

/// The history of one assembly, and what is placed between its messages.
///
/// Gap `g` is before message `g` of the whole conversation; the last gap is after all of it.
#[derive(Debug)]
pub(crate) struct Gaps {
    window: Window,
    /// Those of several messages; nothing can stand inside the others.
    groups: Vec<Range<usize>>,
    settled: usize,
    placed: Vec<(usize, Ranked)>,
    at_front: Vec<AtFront>,
    repeats: usize,
    repeated_bytes: usize,
}

/// Something with one place in the history that stands at the front of the window because its place lies
/// before all that is loaded, or beyond the whole conversation. A decision says so.
#[derive(Clone, Debug, PartialEq)]
pub struct AtFront {
    /// Where it came from.
    pub source: Source,
    /// The gap that is its place: before message `gap` of the whole conversation, leading instructions not
    /// counted; 0 for a place beyond it.
    pub gap: usize,
}

impl Gaps {
    /// Finds the groups of a window. O(messages of the window).
    pub(crate) fn new(window: Window) -> Self {
        let groups = each_group(&window.messages).filter(|group| group.len() > 1).collect();
        let settled = window.settled_len();
        Self {
            window,
            groups,
            settled,
            placed: Vec::new(),
            at_front: Vec::new(),
            repeats: 0,
            repeated_bytes: 0,
        }
    }

    /// Places a message at an index of the settled history, clamped to it.
    pub(crate) fn place_at_index(&mut self, at: i64, ranked: Ranked, decisions: &mut Vec<Decision>) {
        let settled = i64::try_from(self.settled).unwrap_or(i64::MAX);
        let gap = match at {
            0.. => at.min(settled),
            // −1 is after all of the settled history, −2 one message earlier.
            _ => settled.saturating_add(at).saturating_add(1).max(0),
        };
        let gap = usize::try_from(gap).unwrap_or(self.settled);
        self.place_single(gap, ranked, decisions);
    }

    /// Places a message at one or several depths, counted from the end of the whole conversation.
    pub(crate) fn place_at_depths(
        &mut self,
        points: &DepthPoints,
        ranked: Ranked,
        decisions: &mut Vec<Decision>,
    ) {
        let total = self.window.total_len();
        let is_placed = |depth: &u64| !points.is_list() || *depth <= total as u64;
        let Some(depth) = points.as_single().filter(is_placed) else {
            self.place_at_points(points, &ranked, decisions);
            return;
        };
        let within = usize::try_from(depth).ok().filter(|depth| *depth <= total);
        let Some(within) = within else {
            let all = count_of!(total, "message");
            let reason = phrase!("depth {depth} exceeds {all}; placed before the oldest", depth, all);
            return self.place_at_front(0, reason.clone(), ranked, decisions);
        };
        self.place_single(total - within, ranked, decisions);
    }

    /// Writes the history out: pinned messages, then the messages with what is placed between them.
    ///
    /// The continuation prefix is not in it; see [`Gaps::take_prefix`]. O(messages + placed · log placed).
    pub(crate) fn fill(mut self) -> Vec<Message> {
        self.placed.sort_by_key(|(gap, ranked)| (*gap, ranked.key()));
        let mut placed = self.placed.into_iter().peekable();
        let mut messages =
            Vec::with_capacity(self.window.pinned.len() + self.window.messages.len() + placed.len());
        messages.extend(self.window.pinned.into_iter().map(pinned));
        for (index, message) in self.window.messages.into_iter().enumerate() {
            let gap = self.window.skipped + index;
            while let Some((_, ranked)) = placed.next_if(|(at, _)| *at <= gap) {
                messages.push(ranked.message);
            }
            messages.push(message);
        }
        messages.extend(placed.map(|(_, ranked)| ranked.message));
        messages
    }

    /// Takes out what stands at the front because its own place is not there.
    pub(crate) fn take_at_front(&mut self) -> Vec<AtFront> {
        std::mem::take(&mut self.at_front)
    }

    /// Takes out the unfinished answer, which is sent last of all.
    pub(crate) fn take_prefix(&mut self) -> Option<Message> {
        self.window.prefix.take()
    }

    /// Gives the history up, for a preset that sends none.
    pub(crate) fn into_window(self) -> Window {
        self.window
    }

    fn place_single(&mut self, gap: usize, ranked: Ranked, decisions: &mut Vec<Decision>) {
        if gap < self.window.skipped {
            let reason =
                phrase!("its position is in history that is not loaded; placed before the loaded messages");
            return self.place_at_front(gap, reason, ranked, decisions);
        }
        let open = self.out_of_group(gap);
        decisions.extend(moved_out(&ranked, usize::from(open != gap)));
        self.insert(open, false, ranked);
    }

    fn place_at_front(&mut self, gap: usize, reason: Phrase, ranked: Ranked, decisions: &mut Vec<Decision>) {
        let source = ranked.message.source.clone();
        decisions.push(Decision::new(Outcome::Moved, source.clone(), reason));
        self.at_front.push(AtFront { source, gap });
        // No group begins before the window.
        self.insert(self.window.skipped, false, ranked);
    }

    fn place_at_points(&mut self, points: &DepthPoints, ranked: &Ranked, decisions: &mut Vec<Decision>) {
        let total = self.window.total_len();
        let source = &ranked.message.source;
        if points.is_empty() {
            decisions.push(Decision::new(Outcome::Dropped, source.clone(), phrase!("no depth is set")));
        }
        decisions.extend(beyond(points, total, source));
        let bytes = weight(&ranked.message);
        let room = MAX_POINTS
            .min(MAX_REPEATS - self.repeats)
            .min(MAX_REPEATED_BYTES.saturating_sub(self.repeated_bytes) / bytes.max(1));
        let mut depths = points.nearest(total as u64, room + 1);
        if depths.len() > room {
            depths.truncate(room);
            decisions.push(no_room(source, room));
        }
        self.repeats += depths.len();
        self.repeated_bytes += bytes * depths.len();
        let gaps = depths.into_iter().map(|depth| total - usize::try_from(depth).unwrap_or(total));
        let (loaded, unloaded): (Vec<usize>, Vec<usize>) = gaps.partition(|gap| *gap >= self.window.skipped);
        let reason = phrase!("its depths are in history that is not loaded");
        decisions.extend(counted(Outcome::NotLoaded, source, reason, unloaded.len()));
        self.insert_at(&loaded, ranked, decisions);
    }

    /// Inserts a message at several gaps, the last one first; those that give way to one group become one.
    fn insert_at(&mut self, gaps: &[usize], ranked: &Ranked, decisions: &mut Vec<Decision>) {
        let (mut moved, mut doubled, mut last) = (0, 0, None);
        for gap in gaps {
            let open = self.out_of_group(*gap);
            if last == Some(open) {
                doubled += 1;
                continue;
            }
            last = Some(open);
            moved += usize::from(open != *gap);
            self.insert(open, true, ranked.clone());
        }
        decisions.extend(moved_out(ranked, moved));
        let reason = phrase!("another of its depths has the same position");
        decisions.extend(counted(Outcome::Dropped, &ranked.message.source, reason, doubled));
    }

    fn insert(&mut self, gap: usize, multiple: bool, mut ranked: Ranked) {
        ranked.message.place = Place::Gap { multiple };
        self.placed.push((gap, ranked));
    }

    /// Returns the gap itself, or the one just before the group that it lies in. O(log groups).
    fn out_of_group(&self, gap: usize) -> usize {
        let inside = gap.saturating_sub(self.window.skipped);
        let index = self.groups.partition_point(|group| group.end <= inside);
        match self.groups.get(index) {
            Some(group) if group.start < inside => self.window.skipped + group.start,
            _ => gap,
        }
    }
}

fn pinned(mut message: Message) -> Message {
    // Nearly always the loader has said so, and shares the message with the draft of its stage.
    if message.place != Place::Pinned {
        message.place = Place::Pinned;
    }
    message
}

fn moved_out(ranked: &Ranked, count: usize) -> Option<Decision> {
    let reason = phrase!("placed before a tool call, which stays with its results");
    counted(Outcome::Moved, &ranked.message.source, reason, count)
}

/// Returns about how many bytes one more point of a message costs, in the request or in memory.
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

fn no_room(source: &Source, room: usize) -> Decision {
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

fn beyond(points: &DepthPoints, total: usize, source: &Source) -> Option<Decision> {
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
    counted(Outcome::NotActivated, source, reason, beyond.len())
}

/// One decision about several points; none if there are none.
fn counted(outcome: Outcome, source: &Source, reason: Phrase, count: usize) -> Option<Decision> {
    (count > 0).then(|| Decision { count, ..Decision::new(outcome, source.clone(), reason) })
}
