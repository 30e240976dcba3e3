//! Compares two previews by messages and words.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ctx_engine::inspect::{Comparison, DifferenceKind, SavedContext};
use ctx_language::Language;
use ctx_types::{Message, Source};
use similar::DiffOp;

use super::difference::operations;
use super::names::Names;
use super::{KeptPreview, Shown};
use crate::access::lock;
use crate::api_preview::{ChangeKind, Compared, ComparedRow, DifferenceView, Row, WordChange};
use crate::call::Refusal;

/// The longest text of which words are compared.
const MAX_TEXT: usize = 64 << 10;

/// How many bytes of texts are compared by words, in all.
const MAX_BYTES: usize = 2 << 20;

/// Compares two previews.
pub(crate) fn compared(a: &KeptPreview, b: &KeptPreview, language: Language) -> Result<Compared, Refusal> {
    let (first, second) =
        (SavedContext::from_context(a.context()?), SavedContext::from_context(b.context()?));
    let comparison = Comparison::new(&first, &second);
    let difference = comparison.difference.map(|difference| {
        let (at, excerpts) = match difference.kind {
            DifferenceKind::Text { at, excerpts } => (Some(at), Some(excerpts)),
            DifferenceKind::Added | DifferenceKind::Removed | DifferenceKind::Field { .. } => (None, None),
        };
        let message = difference.message;
        let [first, second] = difference.owners;
        let owners = [(a, first), (b, second)];
        let owners = owners.map(|(side, owner)| Some(owner_name(side, message, &owner?, language)));
        DifferenceView { message, at, owners, excerpts }
    });
    Ok(Compared {
        shared_messages: comparison.shared_messages,
        shared_tokens: comparison.shared_tokens,
        messages: comparison.messages,
        tokens: comparison.tokens,
        again: comparison.again,
        difference,
        rows: rows(a, b),
    })
}

/// A message of a preview.
struct SentMessage<'a> {
    message: &'a Message,
    row: &'a Row,
    /// Hash of its source and of all that a comparison shows.
    content: u64,
}

/// Lists the messages of a preview.
fn sent(preview: &KeptPreview) -> Vec<SentMessage<'_>> {
    let messages = preview.context.as_ref().map(|context| context.messages.as_slice()).unwrap_or_default();
    let sent = preview.lists.rows.iter().filter_map(|kept| {
        let Shown::Message(n) = kept.shows else { return None };
        let (message, row) = (messages.get(n)?, &kept.row);
        Some(SentMessage { message, row, content: content(message, &row.code) })
    });
    sent.collect()
}

fn content(message: &Message, code: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (code, message.role.as_str(), &*message.text()).hash(&mut hasher);
    for call in &message.tool_calls {
        (&*call.name, &*call.arguments.to_string()).hash(&mut hasher);
    }
    for file in &message.attachments {
        file.id.hash(&mut hasher);
    }
    hasher.finish()
}

/// Pairs the messages of two previews: those that stay in order, then the others by their sources.
fn rows(a: &KeptPreview, b: &KeptPreview) -> Vec<ComparedRow> {
    let (old, new) = (sent(a), sent(b));
    let contents = |all: &[SentMessage<'_>]| all.iter().map(|one| one.content).collect::<Vec<u64>>();
    let operations = operations(&contents(&old), &contents(&new));
    let is_change = |op: &&DiffOp| !matches!(op, DiffOp::Equal { .. });
    let mut unpaired: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for at in operations.iter().filter(is_change).flat_map(DiffOp::old_range) {
        unpaired.entry(&old[at].row.code).or_default().push_back(at);
    }
    let mut partners: BTreeMap<usize, usize> = BTreeMap::new();
    for at in operations.iter().filter(is_change).flat_map(DiffOp::new_range) {
        let partner = unpaired.get_mut(&*new[at].row.code).and_then(VecDeque::pop_front);
        partners.extend(partner.map(|partner| (at, partner)));
    }
    let paired: BTreeSet<usize> = partners.values().copied().collect();
    let reasons = b.lists.rows.iter().filter_map(|kept| Some((&*kept.row.code, kept.row.dropped.as_ref()?)));
    let reasons: HashMap<&str, &String> = reasons.collect();
    let mut room = MAX_BYTES;
    let mut pair = |old: &SentMessage<'_>, new: &SentMessage<'_>| {
        let (kind, words) = if old.content == new.content {
            (ChangeKind::Moved, Vec::new())
        } else {
            (ChangeKind::Changed, words(&old.message.text(), &new.message.text(), &mut room))
        };
        ComparedRow { words, ..row(kind, Some(old), Some(new)) }
    };
    let mut compared = Vec::new();
    for op in &operations {
        if let DiffOp::Equal { .. } = op {
            let pairs = op.old_range().zip(op.new_range());
            compared.extend(pairs.map(|(at, to)| row(ChangeKind::Same, Some(&old[at]), Some(&new[to]))));
            continue;
        }
        for gone in op.old_range().filter(|at| !paired.contains(at)).map(|at| &old[at]) {
            let dropped = reasons.get(&*gone.row.code).copied().cloned();
            compared.push(ComparedRow { dropped, ..row(ChangeKind::Removed, Some(gone), None) });
        }
        compared.extend(op.new_range().map(|to| match partners.get(&to) {
            Some(at) => pair(&old[*at], &new[to]),
            None => row(ChangeKind::Added, None, Some(&new[to])),
        }));
    }
    compared
}

fn row(kind: ChangeKind, a: Option<&SentMessage<'_>>, b: Option<&SentMessage<'_>>) -> ComparedRow {
    let number = |side: Option<&SentMessage<'_>>| side.map(|side| side.row.row);
    ComparedRow { kind, a: number(a), b: number(b), dropped: None, words: Vec::new() }
}

/// Names the source of a text that differs, such as `macro:time of preset:sys`.
fn owner_name(preview: &KeptPreview, message: usize, owner: &str, language: Language) -> String {
    let turn = lock(&preview.turn);
    let names = Names { language, turn: &turn };
    let message = preview.context.as_ref().and_then(|context| context.messages.get(message));
    let segments = message.map(|message| message.segments().into_owned()).unwrap_or_default();
    let sources = segments.iter().flat_map(|segment| [&segment.source].into_iter().chain(&segment.via));
    let sources: Vec<&Source> = sources.chain(message.map(|message| &message.source)).collect();
    let name = |code: &str| {
        let known = sources.iter().find(|source| source.to_string() == code);
        known.map_or_else(|| names.code_name(code), |source| names.name_or_kind(source))
    };
    let mut path: Vec<String> = owner.split(" of ").map(name).collect();
    path.reverse();
    path.join(" › ")
}

/// Finds the words that differ; none where the texts are too long.
fn words(old: &str, new: &str, room: &mut usize) -> Vec<WordChange> {
    let size = old.len() + new.len();
    if old.len() > MAX_TEXT || new.len() > MAX_TEXT || size > *room {
        return Vec::new();
    }
    *room -= size;
    let (old, new) = (split(old), split(new));
    let mut changes: Vec<WordChange> = Vec::new();
    let mut add = |kind: ChangeKind, words: &[&str]| match changes.last_mut().filter(|last| last.kind == kind)
    {
        Some(last) => last.text.push_str(&words.concat()),
        None if words.is_empty() => {}
        None => changes.push(WordChange { kind, text: words.concat() }),
    };
    for operation in operations(&old, &new) {
        let before = old.get(operation.old_range()).unwrap_or_default();
        let after = new.get(operation.new_range()).unwrap_or_default();
        if let DiffOp::Equal { .. } = operation {
            add(ChangeKind::Same, before);
        } else {
            add(ChangeKind::Removed, before);
            add(ChangeKind::Added, after);
        }
    }
    changes
}

/// Splits a text into words and what stands between them.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_other = |c: char| c.is_whitespace() != first.is_whitespace();
        let (part, behind) = rest.split_at(rest.find(is_other).unwrap_or(rest.len()));
        parts.push(part);
        rest = behind;
    }
    parts
}
