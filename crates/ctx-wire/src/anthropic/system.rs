//! The field `system`, and system messages inside the conversation.

use ctx_types::internal::BlockKind;
use ctx_types::{CacheMark, Content, ContentPart, Message, Role};

use super::block::with_fields;
use super::turns::put_mark;
use super::whole;
use crate::blocks::{fields, is_from};
use crate::dialect::Dialect;
use crate::json::Json;

/// Writes the field: one text as a string, several as blocks, which stay separate.
pub(super) fn field<'a>(
    messages: impl Iterator<Item = (&'a Message, Option<CacheMark>)>,
) -> Option<Json<'a>> {
    let mut blocks: Vec<Json<'_>> = Vec::new();
    for (message, mark) in messages {
        blocks.extend(texts(message));
        if let Some(mark) = mark {
            put_mark(&mut blocks, mark);
        }
    }
    match blocks.as_mut_slice() {
        [] => None,
        [text @ Json::Text(_)] => Some(text.take()),
        _ => Some(blocks.into_iter().map(whole).collect()),
    }
}

/// Writes the texts of a system message, and other blocks from a client of this dialect.
pub(super) fn texts(message: &Message) -> Vec<Json<'_>> {
    let is_own = is_from(message, Dialect::Anthropic);
    let text = message.text();
    match &message.content {
        Content::Parts(parts) => {
            let blocks = parts.iter().enumerate().filter_map(|(position, part)| match part {
                ContentPart::Text(text) if !text.trim().is_empty() => {
                    let fields = fields(message, BlockKind::Content, position, Dialect::Anthropic);
                    let block = Json::from(text.as_str());
                    Some(with_fields(if is_own { whole(block) } else { block }, fields))
                }
                ContentPart::Other(part) if is_own => Some(Json::from(&**part)),
                _ => None,
            });
            blocks.collect()
        }
        Content::Text(_) if !text.trim().is_empty() => vec![text.into()],
        Content::Text(_) => Vec::new(),
    }
}

/// Returns whether the provider accepts a system message here: after the user, and before the assistant or at the end.
///
/// `before` is the role of the previous turn. Adjacent system messages become one, at the place of the first.
pub(super) fn may_stand(before: Option<&str>, after: &[Message]) -> bool {
    let next = after.iter().find(|message| !message.role.is_instruction());
    before == Some("user") && next.is_none_or(|message| message.role == Role::Assistant)
}
