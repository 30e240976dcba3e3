//! The order of a message's blocks.

use ctx_types::Message;

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
