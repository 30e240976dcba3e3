use std::collections::BTreeMap;

use ctx_types::internal::Fingerprint;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::inspect::saved_context::{SavedContext, SavedMessage, WrittenText};

/// Common prefix of a context and the next one.
///
/// Providers cache by prefix, byte for byte: everything below the first difference is billed again. Tool
/// definitions are not compared, but a change of them breaks the whole prefix.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Number of equal messages at the start.
    pub shared_messages: usize,
    /// Tokens of the common prefix, with a share by bytes of the first different text. `None` if a message
    /// has no token count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_tokens: Option<u64>,
    /// Number of messages in the first and in the second context.
    pub messages: [usize; 2],
    /// Tokens of the first and of the second context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<[u64; 2]>,
    /// First difference; `None` if the contexts are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// Why the second context does not repeat the whole first one; `None` if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_break: Option<PrefixBreak>,
    /// Reason of the planned break that the second context reports, in English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_break: Option<String>,
    /// Tokens of the second context below the common prefix, which are billed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// Billed tokens in unchanged messages: those that the first context also has below the prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again_unchanged: Option<u64>,
}

/// First difference of two contexts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Index of the message, from 0.
    pub message: usize,
    /// Kind of difference.
    #[serde(flatten)]
    pub kind: DifferenceKind,
    /// Source of the different text in each context, and the source it replaced.
    pub owners: [Option<String>; 2],
}

/// The text that ends the common prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PrefixBreak {
    /// Source of the text.
    pub owner: String,
    /// Change of the text.
    pub change: TextChange,
}

/// Change of a text between two contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TextChange {
    /// The second context has the text at a later place.
    Moved,
    /// The second context has another text of the same source.
    Changed,
    /// The second context has no text of the source.
    Removed,
    /// The first context has no text of the source.
    Inserted,
}

/// Kind of difference between two messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum DifferenceKind {
    /// The second context only adds messages.
    Added,
    /// The second context only lacks messages at the end.
    Removed,
    /// A field other than the text differs, such as the role or the tool calls.
    Field {
        /// Name of the field.
        name: String,
    },
    /// The text differs.
    Text {
        /// Offset of the first different byte.
        at: usize,
        /// Text from there on in both contexts, up to 60 characters.
        excerpts: [String; 2],
    },
}

const EXCERPT: usize = 60;

impl Comparison {
    /// Compares a context with the context of the next turn. O(bytes · log messages).
    ///
    /// ```
    /// use ctx_engine::inspect::{Comparison, DifferenceKind, SavedContext};
    /// use serde_json::json;
    ///
    /// let at = |time: &str| {
    ///     let text = format!("It is {time}.");
    ///     let segment = json!({ "span": { "start": 6, "end": 6 + time.len() }, "source": { "kind": "macro", "id": "time" } });
    ///     let message = json!({ "role": "system", "content": text, "tokens": 8, "segments": [segment] });
    ///     SavedContext::read(&json!({ "messages": [message] })).unwrap()
    /// };
    /// let difference = Comparison::new(&at("10:59"), &at("11:00")).difference.unwrap();
    /// assert_eq!(difference.owners[1].as_deref(), Some("macro:time"));
    /// assert!(matches!(difference.kind, DifferenceKind::Text { at: 7, .. }));
    /// ```
    pub fn new(first: &SavedContext, second: &SavedContext) -> Self {
        let pairs = first.messages.iter().zip(&second.messages);
        let shared = pairs.take_while(|(a, b)| a.sent == b.sent).count();
        let difference = difference(first.messages.get(shared), second.messages.get(shared), shared);
        let tokens = total(&first.messages).zip(total(&second.messages));
        let in_part =
            second.messages.get(shared).map_or(0, |message| shared_share(message, difference.as_ref()));
        let shared_tokens =
            tokens.and_then(|_| total(&second.messages[..shared])).map(|whole| whole + in_part);
        let again = shared_tokens.zip(tokens).map(|(shared, (_, all))| all.saturating_sub(shared));
        Self {
            shared_messages: shared,
            shared_tokens,
            messages: [first.len(), second.len()],
            tokens: tokens.map(|(first, second)| [first, second]),
            prefix_break: prefix_break(first, second, difference.as_ref()),
            planned_break: second.planned_break.clone(),
            difference,
            again,
            again_unchanged: tokens.map(|_| unchanged(&first.messages[shared..], &second.messages[shared..])),
        }
    }
}

fn difference(a: Option<&SavedMessage>, b: Option<&SavedMessage>, message: usize) -> Option<Difference> {
    let whole = |side: Option<&SavedMessage>| side.and_then(|side| side.source.clone());
    let (kind, owners) = match (a, b) {
        (None, None) => return None,
        (None, b) => (DifferenceKind::Added, [None, whole(b)]),
        (a, None) => (DifferenceKind::Removed, [whole(a), None]),
        (Some(a), Some(b)) => match field(&a.sent, &b.sent) {
            Some(name) => (DifferenceKind::Field { name }, [whole(Some(a)), whole(Some(b))]),
            None => text_difference(a, b),
        },
    };
    Some(Difference { message, kind, owners })
}

fn field(a: &Map<String, Value>, b: &Map<String, Value>) -> Option<String> {
    let is_text = |map: &Map<String, Value>| map.get("content").is_some_and(Value::is_string);
    let is_same_text = |key: &str| key == "content" && is_text(a) && is_text(b);
    let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
    let mut differing = keys.filter(|key| !is_same_text(key) && a.get(*key) != b.get(*key));
    differing.next().cloned()
}

fn text_difference(a: &SavedMessage, b: &SavedMessage) -> (DifferenceKind, [Option<String>; 2]) {
    let mut pairs = a.text.char_indices().zip(b.text.chars());
    let differing = pairs.find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    let at = differing.unwrap_or(a.text.len().min(b.text.len()));
    let excerpt = |text: &str| text.get(at..).unwrap_or_default().chars().take(EXCERPT).collect();
    let owner = |side: &SavedMessage| side.writer_at(at).map(str::to_owned);
    (DifferenceKind::Text { at, excerpts: [excerpt(&a.text), excerpt(&b.text)] }, [owner(a), owner(b)])
}

/// Finds the text that ends the prefix. O(bytes).
fn prefix_break(
    first: &SavedContext,
    second: &SavedContext,
    difference: Option<&Difference>,
) -> Option<PrefixBreak> {
    let difference = difference.filter(|difference| difference.kind != DifferenceKind::Added)?;
    let from = match &difference.kind {
        DifferenceKind::Text { at, .. } => *at,
        _ => 0,
    };
    let [old, new] = [first, second].map(|context| {
        let texts = context.messages.get(difference.message).map(SavedMessage::texts);
        texts.into_iter().flatten().find(|text| text.end > from)
    });
    let [sent, again] = [first, second].map(texts_by_writer);
    let is_history =
        |text: &WrittenText<'_>| ["history:", "input"].iter().any(|kind| text.writer.starts_with(kind));
    let is_new = |new: &WrittenText<'_>| !sent.contains_key(new.writer);
    let (text, change) = match (old, new) {
        (Some(old), Some(new)) if old.writer == new.writer => (old, TextChange::Changed),
        (None, Some(new)) => (new, TextChange::Inserted),
        (Some(old), Some(new)) if is_new(&new) && (is_history(&old) || !is_history(&new)) => {
            (new, TextChange::Inserted)
        }
        (Some(old), _) => match again.get(old.writer) {
            None => (old, TextChange::Removed),
            Some(text) if sent.get(old.writer) == Some(text) => (old, TextChange::Moved),
            Some(_) => (old, TextChange::Changed),
        },
        (None, None) => return None,
    };
    Some(PrefixBreak { owner: text.writer.to_owned(), change })
}

fn texts_by_writer(context: &SavedContext) -> BTreeMap<&str, String> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for text in context.messages.iter().flat_map(SavedMessage::texts) {
        texts.entry(text.writer).or_default().push_str(text.text);
    }
    texts
}

fn total(messages: &[SavedMessage]) -> Option<u64> {
    messages.iter().map(|message| message.tokens).sum()
}

fn shared_share(message: &SavedMessage, difference: Option<&Difference>) -> u64 {
    let Some(DifferenceKind::Text { at, .. }) = difference.map(|difference| &difference.kind) else {
        return 0;
    };
    let (tokens, bytes) = (message.tokens.unwrap_or_default(), message.text.len().max(1) as u64);
    tokens * (*at as u64).min(bytes) / bytes
}

/// Returns the tokens of messages in both lists, as multisets.
fn unchanged(first: &[SavedMessage], second: &[SavedMessage]) -> u64 {
    let key = |message: &SavedMessage| {
        Fingerprint::default().text(&Value::Object(message.sent.clone()).to_string())
    };
    let mut left: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    for message in first {
        *left.entry(key(message)).or_default() += 1;
    }
    let mut take = |message: &SavedMessage| {
        let count = left.get_mut(&key(message)).filter(|count| **count > 0);
        count.map(|count| *count -= 1).is_some()
    };
    second.iter().filter(|message| take(message)).filter_map(|message| message.tokens).sum()
}
