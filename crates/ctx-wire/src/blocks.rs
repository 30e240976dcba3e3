//! The blocks of a message: their order, and fields that one provider has.

use std::collections::BTreeSet;

use ctx_types::{BlockKind, Diagnostic, Message, Role, excerpt, phrase};
use serde_json::{Map, Value};

use crate::codes;
use crate::dialect::Dialect;
use crate::json::{self, Field, Object};

/// Puts the blocks of a message in the order in which the model wrote them. `None` keeps the place of a block that is
/// not sent.
pub(crate) fn arrange<T>(
    message: &Message,
    reasoning: Vec<Option<T>>,
    content: Vec<Option<T>>,
    calls: Vec<Option<T>>,
) -> Vec<T> {
    let blocks = match &message.block_order {
        Some(order) => order.arrange(reasoning, content, calls),
        None => reasoning.into_iter().chain(content).chain(calls).collect(),
    };
    blocks.into_iter().flatten().collect()
}

/// Returns whether a dialect has the fields that messages have under a name. The dialects of `OpenAI` share some.
fn is_own(dialect: Dialect, name: &str) -> bool {
    let is_shared = dialect == Dialect::OpenaiResponses && name == Dialect::OpenaiChat.name();
    is_shared || name == dialect.name()
}

fn own_fields(given: &Value, dialect: Dialect) -> impl Iterator<Item = Field<'_>> {
    let own = given.as_object().into_iter().flatten().filter(move |(name, _)| is_own(dialect, name));
    own.filter_map(|(_, fields)| fields.as_object()).flat_map(json::fields)
}

/// Returns the fields of a block that a dialect has.
pub(crate) fn fields(
    message: &Message,
    kind: BlockKind,
    index: usize,
    dialect: Dialect,
) -> impl Iterator<Item = Field<'_>> {
    let found = message.block_fields.binary_search_by_key(&(kind, index), |given| (given.kind, given.index));
    let given = found.ok().and_then(|place| message.block_fields.get(place));
    given.into_iter().flat_map(move |given| own_fields(&given.fields, dialect))
}

/// Returns the fields of a tool result that a dialect has.
pub(crate) fn result_fields(message: &Message, dialect: Dialect) -> impl Iterator<Item = Field<'_>> {
    message.provider_fields.iter().flat_map(move |given| own_fields(given, dialect))
}

/// Adds fields to a block, unless it has fields of these names already.
pub(crate) fn put_fields<'a>(block: &mut Object<'a>, fields: impl IntoIterator<Item = Field<'a>>) {
    let written = block.len();
    for (key, value) in fields {
        if !block.has_within(written, &key) {
            block.push(key, value);
        }
    }
}

/// Reports fields of a message's blocks that only other dialects have.
pub(crate) fn lost_fields(message: &Message, dialect: Dialect) -> Option<Diagnostic> {
    let of_result = message.provider_fields.as_deref().filter(|_| message.role == Role::Tool);
    let given = message.block_fields.iter().map(|given| &*given.fields).chain(of_result);
    let of_others = |fields: &'_ Map<String, Value>| {
        let others = fields.iter().filter(|(name, _)| !is_own(dialect, name));
        others.filter_map(|(_, fields)| fields.as_object()).flat_map(Map::keys).cloned().collect::<Vec<_>>()
    };
    let lost: BTreeSet<String> = given.filter_map(Value::as_object).flat_map(of_others).collect();
    if lost.is_empty() {
        return None;
    }
    let names = lost.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let text = phrase!(
        "fields of its blocks are not sent: this API dialect does not support {names}",
        names = excerpt(&names)
    );
    Some(Diagnostic::info(codes::BLOCK_FIELDS, text))
}

/// Counts the cache marks of Anthropic's that the blocks of a message have.
pub(crate) fn count_cache_marks(message: &Message) -> usize {
    let of_result = message.provider_fields.as_deref().filter(|_| message.role == Role::Tool);
    let given = message.block_fields.iter().map(|given| &*given.fields).chain(of_result);
    given.filter(|fields| fields.pointer("/anthropic/cache_control").is_some()).count()
}
