//! Facts that a summary lost, added to it word for word, and kept beside it as data.

use ctx_types::{Kept, Node, NodeId, Text};
use serde_json::{Value, json};

use crate::mask::language::Language;

/// The key of a node's metadata under which the facts stand.
const KEY: &str = "compressionAppendix";

/// A fact that a summary lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedFact {
    /// Its words.
    pub text: String,
    /// The message that it stands in.
    pub from: NodeId,
}

/// Writes facts as they stand at the end of a summary; nothing for none.
pub(super) fn render(facts: &[AppendedFact], language: Language) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let head = match language {
        Language::English => "Also said, word for word:",
        Language::Chinese => "另有原话：",
    };
    let lines = facts.iter().map(|fact| format!("\n- {}", fact.text));
    format!("\n\n{head}{}", lines.collect::<String>())
}

/// Notes facts in a summary's metadata, in place of others.
pub(super) fn write(facts: &[AppendedFact], kept: &mut Kept) {
    let fact = |fact: &AppendedFact| json!({ "text": fact.text, "from": &*fact.from });
    if !facts.is_empty() || kept.get(KEY).is_some() {
        kept.set(KEY, facts.iter().map(fact).collect());
    }
}

/// Reads the facts that were added to a summary.
pub(super) fn read(node: &Node) -> Vec<AppendedFact> {
    let metadata = node.metadata.as_ref().filter(|_| node.is_summary());
    let facts = metadata.and_then(|metadata| metadata.kept.get(KEY)).and_then(Value::as_array);
    let fact = |fact: &Value| {
        let text = |key: &str| fact.get(key).and_then(Value::as_str);
        Some(AppendedFact { text: text("text")?.to_owned(), from: text("from")?.into() })
    };
    facts.into_iter().flatten().filter_map(fact).collect()
}

/// Returns a summary's text without the facts that were added to it.
///
/// If somebody has edited these, they are words like all others.
pub(super) fn body_of(node: &Node) -> Text {
    let Some(content) = &node.content else { return Text::default() };
    let (text, facts) = (content.text(), read(node));
    let endings = [Language::English, Language::Chinese].map(|language| render(&facts, language));
    let body =
        endings.iter().filter(|ending| !ending.is_empty()).find_map(|ending| text.strip_suffix(&**ending));
    match (body, content) {
        (Some(body), _) => body.into(),
        (None, ctx_types::Content::Text(text)) => text.clone(),
        (None, ctx_types::Content::Parts(_)) => Text::from(&*text),
    }
}
