//! Order of reasoning, content, and tool calls in a reply.

use std::sync::Arc;

use serde_json::Value;

use crate::words;

words! {
    /// Kind of a block in a reply.
    #[non_exhaustive]
    pub enum BlockKind: [as_str, parse] {
        /// A separate reasoning artifact.
        Reasoning = "reasoning",
        /// A content part.
        Content = "content",
        /// A tool call.
        Call = "call",
    }
}

/// The order of a reply's blocks, unless it is the default: reasoning, content, calls.
///
/// Providers that tie reasoning to the next block require the model's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockOrder(Vec<BlockKind>);

impl BlockOrder {
    /// The key in a node's metadata.
    pub const KEY: &'static str = "blockOrder";

    /// Creates an order; `None` for the default order.
    pub fn new(kinds: impl IntoIterator<Item = BlockKind>) -> Option<Self> {
        let kinds: Vec<BlockKind> = kinds.into_iter().collect();
        (!kinds.is_sorted()).then_some(Self(kinds))
    }

    /// Reads the order from metadata; `None` if it is the default or invalid.
    pub fn from_value(value: &Value) -> Option<Self> {
        let kinds = value.as_array()?.iter().map(|kind| BlockKind::parse(kind.as_str()?));
        Self::new(kinds.collect::<Option<Vec<_>>>()?)
    }

    /// Returns the order as JSON for a node's metadata.
    pub fn to_value(&self) -> Value {
        self.0.iter().map(|kind| kind.as_str()).collect()
    }

    /// Arranges blocks. Additional blocks come last; missing blocks are skipped.
    pub fn arrange<T>(&self, reasoning: Vec<T>, content: Vec<T>, calls: Vec<T>) -> Vec<T> {
        let mut arranged = Vec::with_capacity(reasoning.len() + content.len() + calls.len());
        let (mut reasoning, mut content, mut calls) =
            (reasoning.into_iter(), content.into_iter(), calls.into_iter());
        arranged.extend(self.0.iter().filter_map(|kind| match kind {
            BlockKind::Reasoning => reasoning.next(),
            BlockKind::Content => content.next(),
            BlockKind::Call => calls.next(),
        }));
        arranged.extend(reasoning.chain(content).chain(calls));
        arranged
    }
}

/// Fields of a block that only one provider supports.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockFields {
    /// The kind of the block.
    pub kind: BlockKind,
    /// The position among blocks of the same kind, from 0.
    pub index: usize,
    /// The fields by API dialect: `{"anthropic": {"cache_control": {"type": "ephemeral"}}}`.
    pub fields: Arc<Value>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arranges_blocks_and_keeps_all() {
        let order = BlockOrder::from_value(&json!(["reasoning", "call", "reasoning", "content"])).unwrap();
        let arrange = |reasoning: &[char], content: &[char], calls: &[char]| -> String {
            order.arrange(reasoning.to_vec(), content.to_vec(), calls.to_vec()).into_iter().collect()
        };
        assert_eq!(arrange(&['a', 'b'], &['x'], &['p']), "apbx");
        assert_eq!(arrange(&['a'], &['x', 'y'], &['p', 'q']), "apxyq");
        assert_eq!(arrange(&[], &['x'], &['p']), "px");
    }

    #[test]
    fn ignores_invalid_orders() {
        for value in
            [json!("call"), json!(["call", "word"]), json!([1]), json!([]), json!(["content", "call"])]
        {
            assert_eq!(BlockOrder::from_value(&value), None, "{value}");
        }
    }
}
