//! Two previews side by side: what they share, and which rows and words differ.

use ctx_engine::inspect::{Comparison, DifferenceKind, SavedContext};
use similar::DiffOp;

use super::difference::operations;
use super::{KeptPreview, KeptRow, Shown};
use crate::api_preview::{ChangeKind, Compared, ComparedRow, DifferenceView, WordChange};
use crate::call::Refusal;

/// The longest text of which words are compared.
const MAX_TEXT: usize = 64 << 10;

/// How many bytes of texts are compared by words, in all.
const MAX_BYTES: usize = 2 << 20;

/// Compares two previews.
pub(crate) fn compared(a: &KeptPreview, b: &KeptPreview) -> Result<Compared, Refusal> {
    let (first, second) =
        (SavedContext::from_context(a.context()?), SavedContext::from_context(b.context()?));
    let comparison = Comparison::new(&first, &second);
    let difference = comparison.difference.map(|difference| {
        let (at, excerpts) = match difference.kind {
            DifferenceKind::Text { at, excerpts } => (Some(at), Some(excerpts)),
            DifferenceKind::Added | DifferenceKind::Removed | DifferenceKind::Field { .. } => (None, None),
        };
        DifferenceView { message: difference.message, at, owners: difference.owners, excerpts }
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

/// Pairs the rows of two previews.
fn rows(a: &KeptPreview, b: &KeptPreview) -> Vec<ComparedRow> {
    let keys = |rows: &[KeptRow]| rows.iter().map(|kept| kept.row.key.clone()).collect::<Vec<_>>();
    let mut room = MAX_BYTES;
    let mut compared = Vec::new();
    for op in operations(&keys(&a.lists.rows), &keys(&b.lists.rows)) {
        let (old, new) = (op.old_range(), op.new_range());
        let is_same = matches!(op, DiffOp::Equal { .. });
        for offset in 0..old.len().max(new.len()) {
            let old = old.clone().nth(offset);
            let new = new.clone().nth(offset);
            compared.push(match (old, new) {
                (Some(old), Some(new)) if is_same => row(ChangeKind::Same, Some(old), Some(new)),
                (Some(old), Some(new)) => {
                    let words = words(text(a, old), text(b, new), &mut room);
                    ComparedRow { words, ..row(ChangeKind::Changed, Some(old), Some(new)) }
                }
                (old, None) => row(ChangeKind::Removed, old, None),
                (None, new) => row(ChangeKind::Added, None, new),
            });
        }
    }
    compared
}

const fn row(kind: ChangeKind, a: Option<usize>, b: Option<usize>) -> ComparedRow {
    ComparedRow { kind, a, b, words: Vec::new() }
}

fn text(preview: &KeptPreview, number: usize) -> Option<String> {
    let Shown::Message(n) = preview.lists.rows.get(number)?.shows else { return None };
    Some(preview.context.as_ref()?.messages.get(n)?.text().into_owned())
}

/// Finds the words that differ; none where the texts are too long.
fn words(old: Option<String>, new: Option<String>, room: &mut usize) -> Vec<WordChange> {
    let (Some(old), Some(new)) = (old, new) else { return Vec::new() };
    let size = old.len() + new.len();
    if old.len() > MAX_TEXT || new.len() > MAX_TEXT || size > *room {
        return Vec::new();
    }
    *room -= size;
    let (old, new) = (split(&old), split(&new));
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
