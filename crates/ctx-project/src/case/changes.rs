//! What changed in a context: the entries, macros and messages behind the lines that differ.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::Hash;
use std::time::{Duration, Instant};

use ctx_types::{Phrase, phrase};
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::case::snapshot::{Block, blocks, plain, report, sources};

/// How many changes are told before the rest is counted.
const MAX_CHANGES: usize = 20;

/// How long the shortest difference is searched; then a longer one is taken.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Finds what wrote the texts that differ between two snapshots of a context.
///
/// Texts are compared by who wrote them, not by messages: what was joined with others is told for itself. O(size of
/// the snapshots), but for the search of the shortest difference, which is given up after a second for a longer one.
pub fn compare(expected: &str, result: &str) -> Vec<Change> {
    let (old, new) = (blocks(expected), blocks(result));
    let mut found = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for (old_end, new_end) in conversation(&old, &new).into_iter().chain([(old.len(), new.len())]) {
        let between = (old.get(old_at..old_end), new.get(new_at..new_end));
        found.extend(between.0.zip(between.1).map(|(old, new)| aligned(old, new)).unwrap_or_default());
        found.extend(
            old.get(old_end).zip(new.get(new_end)).map(|(old, new)| within(old, new)).unwrap_or_default(),
        );
        (old_at, new_at) = (old_end + 1, new_end + 1);
    }
    let mut found = moved(found, &old, &new);
    found.dedup();
    found
}

/// Pairs the messages of the conversation, which stand still: what changes places with them is what moved.
fn conversation(old: &[Block<'_>], new: &[Block<'_>]) -> Vec<(usize, usize)> {
    let spoken = |blocks: &[Block<'_>]| -> (Vec<usize>, Vec<String>) {
        let blocks = blocks.iter().enumerate();
        let spoken = blocks.filter(|(_, block)| block.owner.starts_with("history") || block.owner == "input");
        spoken.map(|(index, block)| (index, block.owner.to_owned())).unzip()
    };
    let ((old, old_owners), (new, new_owners)) = (spoken(old), spoken(new));
    let equal = difference(&old_owners, &new_owners).into_iter().filter_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } => {
            Some(old.iter().skip(old_index).zip(new.iter().skip(new_index)).take(len))
        }
        _ => None,
    });
    equal.flatten().map(|(old, new)| (*old, *new)).collect()
}

/// Finds what came, went and changed between two messages of the conversation.
fn aligned(old: &[Block<'_>], new: &[Block<'_>]) -> Vec<Change> {
    let owners = |blocks: &[Block<'_>]| blocks.iter().map(|block| block.owner.to_owned()).collect::<Vec<_>>();
    let mut found = Vec::new();
    for op in difference(&owners(old), &owners(new)) {
        let gone = old.get(op.old_range()).unwrap_or_default();
        let come = new.get(op.new_range()).unwrap_or_default();
        if let DiffOp::Equal { .. } = op {
            found.extend(gone.iter().zip(come).flat_map(|(old, new)| within(old, new)));
            continue;
        }
        found.extend(gone.iter().map(|block| Change::of(ChangeKind::Gone, block)));
        found.extend(come.iter().map(|block| Change::of(ChangeKind::Added, block)));
    }
    found
}

fn difference<T: Hash + Ord>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Patience, old, new, Instant::now().checked_add(TIMEOUT))
}

/// Describes changes for people, a line each; without any, the lines of the report that differ.
pub fn described(changes: &[Change], expected: &str, result: &str) -> Vec<Phrase> {
    let mut lines: Vec<Phrase> = match changes {
        [] => report_changes(expected, result),
        changes => changes.iter().map(Change::phrase).collect(),
    };
    if let Some(more @ 1..) = lines.len().checked_sub(MAX_CHANGES) {
        lines.truncate(MAX_CHANGES);
        lines.push(phrase!("and {more} more", more));
    }
    lines
}

/// Describes what differs where each text is the same: how texts are joined, or what is said of them.
fn report_changes(expected: &str, result: &str) -> Vec<Phrase> {
    let (old, new): (Vec<&str>, Vec<&str>) = (report(expected).collect(), report(result).collect());
    let mut lines = vec![phrase!("all texts are equal, but their order, merging, or report differs:")];
    for op in difference(&old, &new).into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let gone = old.get(op.old_range()).unwrap_or_default().iter();
        let come = new.get(op.new_range()).unwrap_or_default().iter();
        lines.extend(gone.map(|line| phrase!("removed: {line}", line)));
        lines.extend(come.map(|line| phrase!("added: {line}", line)));
    }
    lines
}

/// One thing that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    kind: ChangeKind,
    /// What wrote it, and by way of what, as snapshots spell sources: `macro:time`, `preset:identity`.
    sources: Vec<String>,
    /// The message, counted from 0 in the result; in what was expected, if it is gone.
    message: usize,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ChangeKind {
    /// It writes something else.
    Changed,
    /// It is sent and was not.
    Added,
    /// It is not sent any more.
    Gone,
    /// It stands elsewhere.
    Moved,
    /// Another one says it.
    Role { old: String, new: String },
}

impl Change {
    fn of(kind: ChangeKind, block: &Block<'_>) -> Self {
        Self { kind, sources: vec![block.owner.to_owned()], message: block.message }
    }

    /// Writes it for programs: `change`, `source`, `via` and `message`, counted from 0.
    pub fn to_json(&self) -> Value {
        let kind = match self.kind {
            ChangeKind::Changed => "changed",
            ChangeKind::Added => "added",
            ChangeKind::Gone => "gone",
            ChangeKind::Moved => "moved",
            ChangeKind::Role { .. } => "role",
        };
        let mut sources = self.sources.iter().map(|source| plain(source));
        let source = sources.next().unwrap_or_default();
        json!({ "change": kind, "source": source, "via": sources.collect::<Vec<_>>(), "message": self.message })
    }
}

impl Change {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        // Ids are read back from their quotes here, so that they may hold anything.
        let named = self.sources.iter().rev().map(|source| noun(&plain(source)));
        let what =
            named.reduce(|of, what| phrase!("{what} in {of}", what, of)).unwrap_or_else(|| phrase!(""));
        let message = self.message;
        match &self.kind {
            ChangeKind::Changed => phrase!("{what} changed (message {message})", what, message),
            ChangeKind::Added => phrase!("{what} is new (message {message})", what, message),
            ChangeKind::Gone => {
                phrase!("{what} is no longer sent (was in message {message})", what, message)
            }
            ChangeKind::Moved => phrase!("{what} moved (message {message})", what, message),
            ChangeKind::Role { old, new } => {
                phrase!("{what} has role `{new}`, was `{old}` (message {message})", what, new, old, message)
            }
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.phrase().fmt(f)
    }
}

/// Describes what a source is.
fn noun(source: &str) -> Phrase {
    let (is_numbered, named) = match (source.split_once(':'), source.split_once('#')) {
        (Some((kind, id)), Some((other, _))) if kind.len() < other.len() => (false, Some((kind, id))),
        (Some((kind, id)), None) => (false, Some((kind, id))),
        (_, numbered) => (true, numbered),
    };
    let Some((kind, id)) = named else { return phrase!("`{source}`", source) };
    let kind = match kind {
        "preset" => phrase!("preset entry"),
        "worldbook" => phrase!("worldbook entry"),
        "history" | "summary" => phrase!("message"),
        "rule" => phrase!("regex rule"),
        "variable" => phrase!("session variable"),
        "file" => phrase!("file"),
        "macro" => phrase!("macro"),
        _ => return phrase!("`{source}`", source),
    };
    if !is_numbered {
        return phrase!("{kind} `{id}`", kind, id);
    }
    // People count from 1.
    let number = id.parse::<usize>().map_or(0, |index| index.saturating_add(1));
    phrase!("{kind} {number}", kind, number)
}

/// Finds what differs between two texts of one owner.
fn within(old: &Block<'_>, new: &Block<'_>) -> Vec<Change> {
    let change = |kind, who: &str| Change {
        kind,
        sources: sources(who).into_iter().map(str::to_owned).collect(),
        message: new.message,
    };
    let mut who = BTreeSet::new();
    for op in difference(&old.parts, &new.parts) {
        if !matches!(op, DiffOp::Equal { .. }) {
            let gone = old.parts.get(op.old_range()).unwrap_or_default();
            let come = new.parts.get(op.new_range()).unwrap_or_default();
            who.extend(gone.iter().chain(come).map(|(who, _)| *who));
        }
    }
    let mut found: Vec<Change> = who.into_iter().map(|who| change(ChangeKind::Changed, who)).collect();
    if old.role != new.role {
        let role = ChangeKind::Role { old: old.role.to_owned(), new: new.role.to_owned() };
        found.push(change(role, new.owner));
    }
    if old.place.zip(new.place).is_some_and(|(old, new)| old != new) {
        found.push(change(ChangeKind::Moved, new.owner));
    }
    found
}

/// Joins what is gone here and new there to what stands elsewhere, and says what differs in it beside.
fn moved(found: Vec<Change>, old: &[Block<'_>], new: &[Block<'_>]) -> Vec<Change> {
    let of = |kind: &ChangeKind| -> BTreeSet<String> {
        let is_it = |change: &&Change| change.kind == *kind;
        found.iter().filter(is_it).filter_map(|change| change.sources.first().cloned()).collect()
    };
    let (gone, added) = (of(&ChangeKind::Gone), of(&ChangeKind::Added));
    let is_both = |change: &Change| {
        change.sources.first().is_some_and(|owner| gone.contains(owner) && added.contains(owner))
    };
    let beside = |owner: &str| {
        let named = |blocks: &[Block<'_>]| blocks.iter().position(|block| block.owner == owner);
        let (old, new) = (old.get(named(old)?)?, new.get(named(new)?)?);
        let differs = within(old, new).into_iter().filter(|change| change.kind != ChangeKind::Moved);
        Some(differs.collect::<Vec<_>>())
    };
    let joined = found.into_iter().flat_map(|change| match change.kind {
        ChangeKind::Gone if is_both(&change) => Vec::new(),
        ChangeKind::Added if is_both(&change) => {
            let differs = change.sources.first().and_then(|owner| beside(owner)).unwrap_or_default();
            [Change { kind: ChangeKind::Moved, ..change }].into_iter().chain(differs).collect()
        }
        _ => vec![change],
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

    fn to_text(old: &str, new: &str) -> String {
        let lines = described(&compare(old, new), old, new);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        format!("  {}\n", lines.join("\n  "))
    }

    #[track_caller]
    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(to_text(old, new), expected);
    }

    #[test]
    fn what_wrote_the_part_that_differs_is_named() {
        let new = OLD.replace("is noon.", "is late.");
        check(OLD, &new, "  macro `time` in preset entry `identity` changed (message 0)\n");
        check(OLD, &OLD.replace("It rains.", "It snows."), "  worldbook entry `7` changed (message 2)\n");
        check(OLD, &OLD.replace("Hello", "Hi"), "  message `n1` changed (message 1)\n");
    }

    #[test]
    fn what_came_went_and_moved_is_told() {
        let end = "--- 2 system · worldbook:7 · depth 1 · 4 tokens\nIt rains.\n";
        check(OLD, &OLD.replace(end, ""), "  worldbook entry `7` is no longer sent (was in message 2)\n");
        check(&OLD.replace(end, ""), OLD, "  worldbook entry `7` is new (message 2)\n");
        let moved = OLD.replace("worldbook:7 · depth 1", "worldbook:7 · depth 0");
        check(OLD, &moved, "  worldbook entry `7` moved (message 2)\n");
    }

    /// A message: its role, and texts with who wrote them; several are joined.
    type Said<'a> = (&'a str, Parts<'a>);
    type Parts<'a> = &'a [(&'a str, &'a str)];

    fn snapshot(messages: &[Said<'_>]) -> String {
        let message = |(index, (role, parts)): (usize, &Said<'_>)| {
            let texts: Vec<&str> = parts.iter().map(|(_, text)| *text).collect();
            let owners: Vec<&str> = parts.iter().map(|(who, _)| *who).collect();
            let (source, mut lines, mut at) = match *owners {
                [owner] => (owner.to_owned(), String::new(), 0),
                _ => (format!("merged:{}", owners.join("+")), String::new(), 0),
            };
            for (who, text) in parts.iter().filter(|_| owners.len() > 1) {
                if at > 0 {
                    lines.extend(["  ", &at.to_string(), "..", &(at + 1).to_string(), " separator\n"]);
                    at += 1;
                }
                lines.extend(["  ", &at.to_string(), "..", &(at + text.len()).to_string(), " ", who, "\n"]);
                at += text.len();
            }
            format!("--- {index} {role} · {source} · skeleton · 5 tokens\n{}\n{lines}", texts.join("+"))
        };
        messages.iter().enumerate().map(message).collect()
    }

    #[test]
    fn what_was_joined_is_told_for_itself() {
        let (a, b, c) = (("preset:a", "A."), ("worldbook:8", "B."), ("history:n1", "Hi"));
        let check = |old: &[Said<'_>], new: &[Said<'_>], expected: &str| {
            check(&snapshot(old), &snapshot(new), expected);
        };
        let (joined, hi): (Parts<'_>, Parts<'_>) = (&[a, b], &[c]);
        let old = [("system", joined), ("user", hi)];
        let gone = "  worldbook entry `8` is no longer sent (was in message 0)\n";
        check(&old, &[("system", &[a]), ("user", hi)], gone);
        let gone = "  preset entry `a` is no longer sent (was in message 0)\n";
        check(&old, &[("system", &[b]), ("user", hi)], gone);
        let moved = "  worldbook entry `8` moved (message 2)\n";
        check(&old, &[("system", &[a]), ("user", hi), ("system", &[b])], moved);
        let swapped = "  worldbook entry `8` moved (message 0)\n";
        check(&old, &[("system", &[b, a]), ("user", hi)], swapped);
        let new = "  preset entry `x` is new (message 0)\n";
        check(&old, &[("system", &[a, ("preset:x", "X."), b]), ("user", hi)], new);
        let role = "  preset entry `a` has role `user`, was `system` (message 0)\n";
        check(&old, &[("user", &[a]), ("system", &[b]), ("user", hi)], role);
        let all = "  worldbook entry `8` has role `user`, was `system` (message 0)\n";
        check(&[("system", &[b]), ("user", hi)], &[("user", &[b, c])], all);
        let changed = "  worldbook entry `8` changed (message 0)\n";
        check(&old, &[("system", &[a, ("worldbook:8", "Bee.")]), ("user", hi)], changed);
        let both = "  worldbook entry `8` moved (message 2)\n  worldbook entry `8` changed (message 2)\n";
        check(&old, &[("system", &[a]), ("user", hi), ("system", &[("worldbook:8", "Bee.")])], both);
        let apart = "  all texts are equal, but their order, merging, or report differs:\n";
        check(&old, &[("system", &[a]), ("system", &[b]), ("user", hi)], apart);
    }

    #[test]
    fn ids_that_hold_marks_of_the_form_are_told_from_them() {
        let id = r#"preset:"a · b via preset:c + \"d\"""#;
        let told = r#"preset entry `a · b via preset:c + "d"`"#;
        let old = snapshot(&[("system", &[(id, "A.")])]);
        check(&old, &old.replace("A.", "B."), &format!("  {told} changed (message 0)\n"));
        let via = format!("macro:char via {id}");
        let old = snapshot(&[("system", &[(id, "A."), (&via, "Robin")])]);
        check(
            &old,
            &old.replace("Robin", "Ada.."),
            &format!("  macro `char` in {told} changed (message 0)\n"),
        );
    }

    #[test]
    fn entries_without_an_id_are_counted() {
        let old = snapshot(&[("system", &[("preset#0", "A.")])]);
        check(&old, &old.replace("A.", "B."), "  preset entry 1 changed (message 0)\n");
    }

    #[test]
    fn lines_of_a_text_that_look_like_titles_hide_nothing() {
        let text = |text: &str| {
            let odd = "--- 0 system · preset:a · skeleton · 9 tokens\nA\n=== decisions\n";
            format!(
                "{odd}--- 1 user · history:n · history · 9 tokens\n=== usage\n{text}\n=== decisions\nkept x: y\n"
            )
        };
        check(&text("Hi"), &text("Ho"), "  message `n` changed (message 1)\n");
    }

    #[test]
    fn other_differences_are_no_changes_of_messages() {
        let expected = "  all texts are equal, but their order, merging, or report differs:\n  removed: 23 \
            of 100 tokens, exact as o200k_base\n  added: 23 of 90 tokens, exact as o200k_base\n";
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
        let (old, new) = (many("a"), many("b"));
        let told = to_text(&old, &new);
        assert_eq!((told.lines().count(), told.lines().last()), (21, Some("  and 5 more")));
    }
}
