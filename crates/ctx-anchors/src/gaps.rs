//! The history with its gaps: index and depth placements find theirs here.

use std::ops::Range;

use ctx_types::{Decision, DepthPoints, Message, Outcome, Place, Window, groups};

use crate::slots::Ranked;

/// The history of one assembly, and what is placed between its messages.
///
/// Gap `g` is before message `g` of the whole conversation; the last gap is after all of it.
#[derive(Debug)]
pub(crate) struct Gaps {
    window: Window,
    groups: Vec<Range<usize>>,
    settled: usize,
    placed: Vec<(usize, Ranked)>,
}

impl Gaps {
    /// Finds the groups of a window. O(messages of the window).
    pub(crate) fn new(window: Window) -> Self {
        let groups = groups(&window.messages);
        let settled = window.settled_len();
        Self { window, groups, settled, placed: Vec::new() }
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
        let length = total as u64;
        let beyond = points.beyond(length);
        let mut gaps =
            points.within(length).into_iter().map(|depth| total - usize::try_from(depth).unwrap_or(total));
        if !points.is_multiple() {
            if let [depth] = beyond.as_slice() {
                let reason =
                    format!("depth {depth} is beyond the {total} messages; it stands before the oldest");
                decisions.push(Decision::new(Outcome::Moved, ranked.message.source.clone(), reason));
            }
            if let Some(gap) = gaps.next_back() {
                self.place_single(gap, ranked, decisions);
            }
            return;
        }
        if !beyond.is_empty() {
            let list: Vec<String> = beyond.iter().map(u64::to_string).collect();
            let reason = format!("no point at depth {}: there are {total} messages", list.join(", "));
            let mut decision = Decision::new(Outcome::NotActivated, ranked.message.source.clone(), reason);
            decision.count = beyond.len();
            decisions.push(decision);
        }
        let (loaded, unloaded): (Vec<usize>, Vec<usize>) = gaps.partition(|gap| *gap >= self.window.skipped);
        if !unloaded.is_empty() {
            let reason = "its points lie in history that is not loaded";
            let mut decision = Decision::new(Outcome::NotLoaded, ranked.message.source.clone(), reason);
            decision.count = unloaded.len();
            decisions.push(decision);
        }
        self.place_multiple(loaded, &ranked, decisions);
    }

    /// Writes the history out: pinned messages, then the messages with what is placed between them.
    ///
    /// The continuation prefix is not in it; see [`Gaps::take_prefix`]. O(messages + placed · log placed).
    pub(crate) fn fill(mut self) -> Vec<Message> {
        self.placed.sort_by_key(|(gap, ranked)| (*gap, ranked.key()));
        let mut placed = self.placed.into_iter().peekable();
        let mut messages =
            Vec::with_capacity(self.window.pinned.len() + self.window.messages.len() + placed.len());
        messages.extend(
            self.window.pinned.into_iter().map(|message| Message { place: Place::Pinned, ..message }),
        );
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

    /// Takes out the unfinished answer, which is sent last of all.
    pub(crate) fn take_prefix(&mut self) -> Option<Message> {
        self.window.prefix.take()
    }

    /// Gives the history up, for a preset that sends none.
    pub(crate) fn into_window(self) -> Window {
        self.window
    }

    fn place_single(&mut self, gap: usize, ranked: Ranked, decisions: &mut Vec<Decision>) {
        let front = self.window.skipped;
        if gap < front {
            let reason = "its place lies in history that is not loaded; it stands at the front of what is";
            decisions.push(Decision::new(Outcome::Moved, ranked.message.source.clone(), reason));
        }
        self.insert(gap.max(front), false, ranked, decisions);
    }

    /// Several points that give way to the same group become one.
    fn place_multiple(&mut self, gaps: Vec<usize>, ranked: &Ranked, decisions: &mut Vec<Decision>) {
        let mut taken: Vec<usize> = Vec::with_capacity(gaps.len());
        for gap in gaps {
            let open = self.out_of_group(gap);
            if taken.contains(&open) {
                let reason = "another of its points stands at the same place";
                decisions.push(Decision::new(Outcome::Dropped, ranked.message.source.clone(), reason));
                continue;
            }
            taken.push(open);
            self.insert(gap, true, ranked.clone(), decisions);
        }
    }

    fn insert(&mut self, gap: usize, multiple: bool, mut ranked: Ranked, decisions: &mut Vec<Decision>) {
        let open = self.out_of_group(gap);
        if open != gap {
            let reason = "a tool call and its results are not separated; it stands before them";
            decisions.push(Decision::new(Outcome::Moved, ranked.message.source.clone(), reason));
        }
        ranked.message.place = Place::Gap { multiple };
        self.placed.push((open, ranked));
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
