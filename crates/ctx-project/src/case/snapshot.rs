//! Snapshots of contexts, taken apart again: who wrote which text of which message.
//!
//! The form is that of `Context::to_snapshot`, which texts of messages can imitate; then a difference is told of
//! another message, and never missed.

use std::borrow::Cow;
use std::ops::Range;

use crate::locate::quoted_length;

/// A run of texts of one message that belong to one owner: an entry, a message of the conversation, and what macros and
/// rules wrote in it.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// The entry or message, as snapshots spell sources: `preset:identity`.
    pub(super) owner: &'a str,
    pub(super) role: &'a str,
    /// Where the message stands; none if it was joined of several, which has the place of the first only.
    pub(super) place: Option<&'a str>,
    /// The message, counted from 0.
    pub(super) message: usize,
    /// What was written, with the writer and by way of what: `macro:char via preset:identity`.
    pub(super) parts: Vec<(&'a str, &'a str)>,
}

/// The source of the text between joined texts.
const SEPARATOR: &str = "separator";

/// Takes a snapshot apart; what follows the messages is left out. O(size).
pub(super) fn blocks(text: &str) -> Vec<Block<'_>> {
    sections(text).iter().flat_map(Section::blocks).collect()
}

/// Returns the lines behind the messages: figures, decisions, findings and the body.
pub(super) fn report(text: &str) -> impl Iterator<Item = &str> {
    text.get(messages_end(text, last_head(&heads(text)))..).unwrap_or_default().lines()
}

/// One message of a snapshot.
struct Section<'a> {
    index: usize,
    /// The head without number and tokens.
    head: &'a str,
    /// All lines below the head.
    body: &'a str,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let heads = heads(text);
    let end = messages_end(text, last_head(&heads));
    let ends: Vec<usize> = heads.iter().skip(1).map(|(lines, _)| lines.start).chain([end]).collect();
    let section = |(index, ((lines, head), end)): (usize, ((Range<usize>, _), usize))| Section {
        index,
        head,
        body: text.get(lines.end..end).unwrap_or_default(),
    };
    heads.into_iter().zip(ends).enumerate().map(section).collect()
}

/// Finds the heads of messages: where each line is, and what it says.
fn heads(text: &str) -> Vec<(Range<usize>, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(head) = head(line.trim_end_matches('\n'), found.len()) {
            found.push((at..at + line.len(), head));
        }
        at += line.len();
    }
    found
}

/// Returns where the last message begins.
fn last_head(heads: &[(Range<usize>, &str)]) -> usize {
    heads.last().map_or(0, |(lines, _)| lines.start)
}

/// Returns what a head says beside its number, which is the one that is due, and its tokens.
fn head(line: &str, due: usize) -> Option<&str> {
    let rest = line.strip_prefix("--- ")?.strip_prefix(due.to_string().as_str())?.strip_prefix(' ')?;
    let (head, tokens) = rest.rsplit_once(" · ")?;
    tokens.ends_with(" tokens").then_some(head)
}

/// Finds where the messages end, of which the last one begins at a place. A text may hold such a line too, so that of
/// each title the last one counts.
fn messages_end(text: &str, last: usize) -> usize {
    const TITLES: [&str; 5] =
        ["=== usage", "=== decisions", "=== diagnostics", "=== openai", "=== no context"];
    let mut found = [None; TITLES.len()];
    let mut at = last;
    let mut lines = text.get(last..).unwrap_or_default().split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let title = TITLES.iter().position(|title| line.trim_end() == *title);
        let mut is_figure = || lines.peek().is_some_and(|line| line.contains(" tokens, "));
        if let Some(title) = title.filter(|title| *title > 0 || is_figure()) {
            found[title] = Some(at);
        }
        at += line.len();
    }
    found.into_iter().flatten().min().unwrap_or(text.len())
}

impl<'a> Section<'a> {
    /// Groups what was written by its owners; text between joined texts belongs to nobody.
    fn blocks(&self) -> Vec<Block<'a>> {
        let (role, rest) = self.head.split_once(" · ").unwrap_or_default();
        let (source, rest) = rest.split_at(source_length(rest, " · "));
        let rest = rest.strip_prefix(" · ").unwrap_or_default();
        // Behind the place stand the name, the answered call and the like, which count as what the message says.
        let (place, further) = rest.split_once(" · ").unwrap_or((rest, ""));
        let (mut parts, behind) = self.parts(source);
        parts.extend([(source, behind), (source, further)].into_iter().filter(|(_, text)| !text.is_empty()));
        let is_joined = source.starts_with("merged:");
        let mut blocks: Vec<Block<'a>> = Vec::new();
        for (who, text) in parts.into_iter().filter(|(who, _)| *who != SEPARATOR) {
            let owner = sources(who).last().copied().unwrap_or(who);
            match blocks.last_mut().filter(|block| block.owner == owner || who == source) {
                Some(block) => block.parts.push((who, text)),
                None => blocks.push(Block {
                    owner,
                    role,
                    place: (!is_joined).then_some(place),
                    message: self.index,
                    parts: vec![(who, text)],
                }),
            }
        }
        blocks
    }

    /// Returns who wrote which part, and what stands behind the text; the message's own source where one wrote it all.
    fn parts(&self, source: &'a str) -> (Vec<(&'a str, &'a str)>, &'a str) {
        let count = self.body.lines().rev().take_while(|line| part(line).is_some()).count();
        let lines: Vec<&str> = self.body.lines().collect();
        let (above, below) = lines.split_at(lines.len() - count);
        let named = below.iter().filter_map(|line| part(line));
        let whole: Option<Vec<_>> =
            named.clone().map(|(from, to, who)| Some((who, self.body.get(from..to)?))).collect();
        let end = named.map(|(_, to, _)| to).max().unwrap_or(0);
        let written: usize = above.iter().map(|line| line.len() + 1).sum();
        match whole.filter(|parts| !parts.is_empty()) {
            Some(parts) => (parts, self.body.get(end..written).unwrap_or_default().trim_matches('\n')),
            None => (vec![(source, self.body.trim_end_matches('\n'))], ""),
        }
    }
}

/// Reads a line such as `  8..13 macro:char via preset:identity`.
fn part(line: &str) -> Option<(usize, usize, &str)> {
    let (span, who) = line.strip_prefix("  ")?.split_once(' ')?;
    let (from, to) = span.split_once("..")?;
    Some((from.parse().ok()?, to.parse().ok()?, who))
}

/// Divides the writer of a part from the sources by way of which it wrote: `macro:char via preset:identity`.
pub(super) fn sources(who: &str) -> Vec<&str> {
    let mut sources = Vec::new();
    let mut rest = who;
    loop {
        let (source, behind) = rest.split_at(source_length(rest, " via "));
        sources.push(source);
        match behind.strip_prefix(" via ") {
            Some(behind) => rest = behind,
            None => return sources,
        }
    }
}

/// Returns how long the source is with which a text begins: to a mark behind it, which an id in quotes may hold.
fn source_length(text: &str, mark: &str) -> usize {
    let quoted =
        text.split_once(":\"").filter(|(kind, _)| kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
    let begin = quoted.map(|(kind, _)| kind.len() + 1);
    let begin = begin.and_then(|begin| Some(begin + quoted_length(text.get(begin..)?)?)).unwrap_or(0);
    let behind = text.get(begin..).unwrap_or_default();
    behind.find(mark).map_or(text.len(), |at| begin + at)
}

/// Returns the first entry of a preset that wrote something in a snapshot.
pub(super) fn first_entry(text: &str) -> Option<Cow<'_, str>> {
    let owners = blocks(text).into_iter().map(|block| block.owner);
    owners.into_iter().find(|owner| owner.starts_with("preset")).map(plain)
}

/// Spells a source as it is elsewhere: an id in quotes without them.
pub(super) fn plain(source: &str) -> Cow<'_, str> {
    let id = source.split_once(':').filter(|(_, id)| id.starts_with('"'));
    match id.and_then(|(kind, id)| Some((kind, serde_json::from_str::<String>(id).ok()?))) {
        Some((kind, id)) => Cow::Owned(format!("{kind}:{id}")),
        None => Cow::Borrowed(source),
    }
}
