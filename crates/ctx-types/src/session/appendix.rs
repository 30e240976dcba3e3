use serde_json::{Value, json};

use crate::content::{Content, ContentPart};
use crate::session::{Node, NodeId, NodeMetadata};
use crate::text::Text;

const KEY: &str = "compressionAppendix";

/// Heading of facts without a stored heading.
const HEADING: &str = "Also said, word for word:";

/// Files may contain any number of facts, and each turn reads them.
const MAX_SEARCHED: usize = 256;

/// Facts that a summary omitted, word for word.
///
/// As metadata, they survive editing and joining. [`Node::to_message`] appends those that the summary text
/// does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryAppendix {
    /// The heading.
    pub heading: String,
    /// The facts, in the order of the conversation.
    pub facts: Vec<AppendedFact>,
    /// Whether the facts are sent.
    pub is_sent: bool,
}

/// An omitted fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendedFact {
    /// The text.
    pub text: String,
    /// The id of the original message.
    pub from: NodeId,
}

impl SummaryAppendix {
    /// Reads valid facts; `None` if there are none or the node is not a summary.
    pub fn from_node(node: &Node) -> Option<Self> {
        let metadata = node.metadata.as_ref().filter(|_| node.is_summary())?;
        let value = metadata.kept.get(KEY)?;
        let facts = value.get("facts").unwrap_or(value).as_array()?;
        let fact = |fact: &Value| {
            let text = |key: &str| fact.get(key).and_then(Value::as_str);
            Some(AppendedFact { text: text("text")?.to_owned(), from: text("from")?.into() })
        };
        let facts: Vec<AppendedFact> = facts.iter().filter_map(fact).collect();
        let heading = value.get("heading").and_then(Value::as_str).unwrap_or(HEADING).to_owned();
        let is_sent = value.get("isSent").and_then(Value::as_bool).unwrap_or(true);
        (!facts.is_empty()).then_some(Self { heading, facts, is_sent })
    }

    /// Replaces the facts in a summary's metadata.
    pub fn write(&self, metadata: &mut NodeMetadata) {
        let fact = |fact: &AppendedFact| json!({ "text": fact.text, "from": &*fact.from });
        let facts: Vec<Value> = self.facts.iter().map(fact).collect();
        if !facts.is_empty() || metadata.kept.get(KEY).is_some() {
            let value = json!({ "heading": self.heading, "facts": facts, "isSent": self.is_sent });
            metadata.kept.set(KEY, value);
        }
    }

    /// Returns the heading and the facts that `text` does not contain, or an empty text.
    ///
    /// Searches for the first 256 facts; later ones are always included. O(256 × text + facts).
    pub fn text_below(&self, text: &str) -> String {
        let is_said =
            |(index, fact): &(usize, &AppendedFact)| *index < MAX_SEARCHED && text.contains(&*fact.text);
        let facts = self.facts.iter().enumerate().filter(|fact| self.is_sent && !is_said(fact));
        let lines: Vec<String> = facts.map(|(_, fact)| format!("\n- {}", fact.text)).collect();
        if lines.is_empty() { String::new() } else { format!("\n\n{}{}", self.heading, lines.concat()) }
    }

    pub(super) fn add_to(&self, content: Content) -> Content {
        let below = self.text_below(&content.text());
        match content {
            content if below.is_empty() => content,
            Content::Text(text) => Content::Text(Text::from(format!("{}{below}", text.as_str()))),
            Content::Parts(mut parts) => {
                parts.push(ContentPart::Text(below.into()));
                Content::Parts(parts)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    fn summary(appendix: Value) -> Node {
        let mut metadata = NodeMetadata { is_compression_node: Some(true), ..NodeMetadata::default() };
        metadata.kept.set(KEY, appendix);
        let mut node = Node::new(Role::System, "They speak of keys.");
        node.metadata = Some(Box::new(metadata));
        node
    }

    #[track_caller]
    fn check(appendix: Value, expected: &str) {
        let message = summary(appendix).to_message(&"s".into());
        assert_eq!(message.text().strip_prefix("They speak of keys."), Some(expected));
    }

    #[test]
    fn appends_facts_below_text_when_enabled() {
        let facts = json!([{ "text": "B-17", "from": "n1" }, { "text": "9:00", "from": "n2" }]);
        check(json!({ "heading": "另有原话：", "facts": facts }), "\n\n另有原话：\n- B-17\n- 9:00");
        check(json!({ "heading": "H", "facts": facts, "isSent": false }), "");
    }

    #[test]
    fn skips_facts_already_in_text() {
        check(
            json!([{ "text": "They speak", "from": "n1" }, { "text": "B-17", "from": "n1" }]),
            &format!("\n\n{HEADING}\n- B-17"),
        );
        check(json!([{ "text": "of keys.", "from": "n1" }]), "");
    }

    #[test]
    fn sends_facts_beyond_the_limit_without_searching() {
        let facts: Vec<Value> =
            (0..MAX_SEARCHED + 2).map(|_| json!({ "text": "of keys.", "from": "n1" })).collect();
        check(json!(facts), &format!("\n\n{HEADING}{}", "\n- of keys.".repeat(2)));
    }

    #[test]
    fn ignores_invalid_facts() {
        for odd in [
            json!(null),
            json!(7),
            json!({}),
            json!({ "facts": 3 }),
            json!([{ "text": 4 }, "x", { "from": "n1" }]),
        ] {
            check(odd, "");
        }
    }

    #[test]
    fn returns_none_for_other_nodes() {
        let mut node = summary(json!([{ "text": "B-17", "from": "n1" }]));
        node.metadata.as_mut().unwrap().is_compression_node = None;
        assert_eq!(SummaryAppendix::from_node(&node), None);
    }
}
