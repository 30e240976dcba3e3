//! What changed in a context: the entries, macros and messages behind the lines that differ.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::Hash;
use std::time::Instant;

use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::show::TIMEOUT;

/// How many changes are told before the rest is counted.
const MAX_CHANGES: usize = 20;

/// Finds what wrote the messages that differ between two snapshots of a context.
///
/// Messages with the same source and place belong together. Within one that was written by several sources only
/// those are named whose part differs. O(size of the snapshots), but for the search of the shortest difference, which
/// is given up after [`TIMEOUT`] for a longer one.
pub(super) fn changes(expected: &str, result: &str) -> Vec<Change> {
    let (old, new) = (sections(expected), sections(result));
    let mut found = Vec::new();
    for op in difference(&keys(&old), &keys(&new)) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                let pairs = old.iter().skip(old_index).zip(new.iter().skip(new_index)).take(len);
                found.extend(pairs.flat_map(|(old, new)| within(old, new)));
            }
            op => {
                let gone = old.get(op.old_range()).unwrap_or_default();
                let come = new.get(op.new_range()).unwrap_or_default();
                found.extend(gone.iter().map(|section| section.change(ChangeKind::Gone)));
                found.extend(come.iter().map(|section| section.change(ChangeKind::Added)));
            }
        }
    }
    let mut found = joined(found);
    found.dedup();
    found
}

fn difference<T: Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Patience, old, new, Instant::now().checked_add(TIMEOUT))
}

fn keys<'a>(sections: &[Section<'a>]) -> Vec<(&'a str, &'a str)> {
    sections.iter().map(Section::key).collect()
}

/// Writes changes for people, a line each.
pub(super) fn to_text(changes: &[Change]) -> String {
    let mut lines: Vec<String> = changes.iter().take(MAX_CHANGES).map(Change::to_string).collect();
    match changes.len().checked_sub(MAX_CHANGES) {
        Some(more @ 1..) => lines.push(format!("and {more} more")),
        _ if changes.is_empty() => {
            lines.push("the messages are the same; figures, decisions or findings differ".to_owned());
        }
        _ => {}
    }
    lines.iter().flat_map(|line| ["  ", line, "\n"]).collect()
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    kind: ChangeKind,
    /// What wrote it, and by way of what, as snapshots spell sources: `macro:time`, `preset:identity`.
    sources: Vec<String>,
    /// The message, counted from 0 in the result; in what was expected, if it is gone.
    message: usize,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeKind {
    /// It writes something else.
    Changed,
    /// It is sent and was not.
    Added,
    /// It is not sent any more.
    Gone,
    /// It stands elsewhere.
    Moved,
}

impl Change {
    pub(super) fn to_json(&self) -> Value {
        let kind = match self.kind {
            ChangeKind::Changed => "changed",
            ChangeKind::Added => "added",
            ChangeKind::Gone => "gone",
            ChangeKind::Moved => "moved",
        };
        let (source, via) = self.sources.split_first().map_or(("", &[][..]), |(first, via)| (first, via));
        json!({ "change": kind, "source": source, "via": via, "message": self.message })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.sources.iter().map(|source| noun(source)).collect();
        let (what, message) = (named.join(" of "), self.message);
        match self.kind {
            ChangeKind::Changed => write!(f, "{what} changed (message {message})"),
            ChangeKind::Added => write!(f, "{what} is new (message {message})"),
            ChangeKind::Gone => write!(f, "{what} is not sent any more (it was message {message})"),
            ChangeKind::Moved => write!(f, "{what} stands elsewhere (message {message})"),
        }
    }
}

/// Says what a source is, in words.
fn noun(source: &str) -> String {
    let Some((kind, id)) = source.split_once([':', '#']) else { return format!("`{source}`") };
    let kind = match kind {
        "preset" => "preset entry",
        "worldbook" => "worldbook entry",
        "history" | "summary" => "message",
        "rule" => "regex rule",
        "variable" => "session variable",
        "file" => "file",
        "macro" => "macro",
        _ => return format!("`{source}`"),
    };
    format!("{kind} `{id}`")
}

/// One message of a snapshot.
struct Section<'a> {
    index: usize,
    /// The head without number and tokens.
    head: &'a str,
    /// All lines below the head.
    body: &'a str,
}

/// Splits a snapshot into its messages; what follows them is left out.
fn sections<'a>(text: &'a str) -> Vec<Section<'a>> {
    // Where each message begins, where its lines do, and its head.
    let mut starts: Vec<(usize, usize, &'a str)> = Vec::new();
    let (mut at, mut end) = (0, text.len());
    for line in text.split_inclusive('\n') {
        if let Some(head) = head(line.trim_end_matches('\n'), starts.len()) {
            starts.push((at, at + line.len(), head));
        } else if matches!(line.trim_end(), "=== usage" | "=== decisions" | "=== diagnostics") {
            end = at;
            break;
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, ..)| *start).chain([end]);
    let section = |(index, ((_, begin, head), end)): (usize, (&(usize, usize, &'a str), usize))| Section {
        index,
        head,
        body: text.get(*begin..end).unwrap_or_default(),
    };
    starts.iter().zip(ends).enumerate().map(section).collect()
}

/// Returns what a head says beside its number, which is the one that is due, and its tokens.
fn head(line: &str, due: usize) -> Option<&str> {
    let rest = line.strip_prefix("--- ")?.strip_prefix(due.to_string().as_str())?.strip_prefix(' ')?;
    let (head, tokens) = rest.rsplit_once(" · ")?;
    tokens.ends_with(" tokens").then_some(head)
}

impl<'a> Section<'a> {
    /// Source and place: what tells which message of the other snapshot is the same one.
    ///
    /// Of what was joined, the first part counts: it stays the same message when another one joins.
    fn key(&self) -> (&'a str, &'a str) {
        let (_, rest) = self.head.split_once(" · ").unwrap_or_default();
        let (source, place) = rest.split_once(" · ").unwrap_or_default();
        match source.starts_with("merged:") {
            true => (source.split('+').next().unwrap_or_default(), place),
            false => (source, place),
        }
    }

    fn source(&self) -> &'a str {
        self.head.split(" · ").nth(1).unwrap_or_default()
    }

    fn change(&self, kind: ChangeKind) -> Change {
        Change { kind, sources: vec![self.source().to_owned()], message: self.index }
    }

    /// Returns who wrote which part; the message's own source where one wrote all of it.
    fn parts(&self) -> Vec<(&'a str, &'a str)> {
        let is_part = |line: &&str| part(line).is_some();
        let lines: Vec<&str> = self.body.lines().rev().take_while(is_part).collect();
        let parts = lines.into_iter().rev().filter_map(part);
        let named: Vec<_> = parts.map(|(from, to, who)| (who, self.body.get(from..to))).collect();
        let whole: Option<Vec<_>> = named.into_iter().map(|(who, text)| Some((who, text?))).collect();
        whole.filter(|parts| !parts.is_empty()).unwrap_or_else(|| vec![(self.source(), self.body)])
    }
}

/// Reads a line such as `  8..13 macro:char via preset:identity`.
fn part(line: &str) -> Option<(usize, usize, &str)> {
    let (span, who) = line.strip_prefix("  ")?.split_once(' ')?;
    let (from, to) = span.split_once("..")?;
    Some((from.parse().ok()?, to.parse().ok()?, who))
}

/// Finds which parts of a message differ.
fn within(old: &Section<'_>, new: &Section<'_>) -> Vec<Change> {
    if (old.head, old.body) == (new.head, new.body) {
        return Vec::new();
    }
    let (before, after) = (old.parts(), new.parts());
    let mut who = BTreeSet::new();
    for op in difference(&before, &after) {
        if !matches!(op, DiffOp::Equal { .. }) {
            let gone = before.get(op.old_range()).unwrap_or_default();
            let come = after.get(op.new_range()).unwrap_or_default();
            who.extend(gone.iter().chain(come).map(|(who, _)| *who));
        }
    }
    if who.is_empty() {
        who.insert(new.source());
    }
    let change = |who: &str| {
        let sources = who.split(" via ").map(str::to_owned).collect();
        Change { kind: ChangeKind::Changed, sources, message: new.index }
    };
    who.into_iter().map(change).collect()
}

/// Joins what is gone here and new there to what stands elsewhere.
fn joined(found: Vec<Change>) -> Vec<Change> {
    let of = |kind| {
        let is_it = move |change: &&Change| change.kind == kind;
        found.iter().filter(is_it).map(|change| change.sources.clone()).collect::<BTreeSet<_>>()
    };
    let (gone, added) = (of(ChangeKind::Gone), of(ChangeKind::Added));
    let joined = found.into_iter().filter_map(|change| match change.kind {
        ChangeKind::Gone if added.contains(&change.sources) => None,
        ChangeKind::Added if gone.contains(&change.sources) => {
            Some(Change { kind: ChangeKind::Moved, ..change })
        }
        _ => Some(change),
    });
    joined.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "--- 0 system · preset:identity · skeleton · 15 tokens\n\
        You are Robin; it is noon.\n  0..8 preset:identity\n  8..13 macro:char via preset:identity\n  \
        13..21 preset:identity\n  21..25 macro:time via preset:identity\n  25..26 preset:identity\n\
        --- 1 user · history:n1 · history · 4 tokens\nHello\n\
        --- 2 system · worldbook:7 · depth 1 · 4 tokens\nIt rains.\n\
        === usage\n23 of 100 tokens, exact as o200k_base\n";

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(to_text(&changes(old, new)), expected);
    }

    #[test]
    fn what_wrote_the_part_that_differs_is_named() {
        let new = OLD.replace("is noon.", "is late.");
        check(OLD, &new, "  macro `time` of preset entry `identity` changed (message 0)\n");
        check(OLD, &OLD.replace("It rains.", "It snows."), "  worldbook entry `7` changed (message 2)\n");
        check(OLD, &OLD.replace("Hello", "Hi"), "  message `n1` changed (message 1)\n");
    }

    #[test]
    fn what_came_went_and_moved_is_told() {
        let end = "--- 2 system · worldbook:7 · depth 1 · 4 tokens\nIt rains.\n";
        check(OLD, &OLD.replace(end, ""), "  worldbook entry `7` is not sent any more (it was message 2)\n");
        check(&OLD.replace(end, ""), OLD, "  worldbook entry `7` is new (message 2)\n");
        let moved = OLD.replace("worldbook:7 · depth 1", "worldbook:7 · depth 0");
        check(OLD, &moved, "  worldbook entry `7` stands elsewhere (message 2)\n");
    }

    #[test]
    fn other_differences_are_no_changes_of_messages() {
        let expected = "  the messages are the same; figures, decisions or findings differ\n";
        check(OLD, &OLD.replace("of 100", "of 90"), expected);
    }

    #[test]
    fn texts_that_look_like_heads_do_not_confuse_it() {
        let odd = |text: &str| {
            format!(
                "--- 0 user · history:a · history · 4 tokens\n{text}\n--- 1 user · history:b · history · 4 tokens\nx\n"
            )
        };
        let expected = "  message `a` changed (message 0)\n";
        check(&odd("--- 0 user · history:z · 1 tokens"), &odd("--- 7 user · history:z · 1 tokens"), expected);
    }

    #[test]
    fn many_changes_are_counted() {
        let many = |text: &str| {
            let section = |at: usize| format!("--- {at} user · history:n{at} · history · 4 tokens\n{text}\n");
            (0..25).map(section).collect::<String>()
        };
        let told = to_text(&changes(&many("a"), &many("b")));
        assert_eq!((told.lines().count(), told.lines().last()), (21, Some("  and 5 more")));
    }
}
