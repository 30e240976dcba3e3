//! How the messages of a conversation are fitted into a number of tokens.

use ctx_compress::request::{self, Protection, STRATEGIES, Strategy};
use ctx_types::internal::{Argument, Divider, closest};
use ctx_types::{Message, phrase};

use crate::error::{ProjectError, Result};

/// Finds the strategy of a name.
pub fn strategy(name: &str) -> Result<Box<dyn Strategy>> {
    request::strategy(name).ok_or_else(|| {
        ProjectError::Usage(match closest(name, STRATEGIES) {
            Some(near) => phrase!("unknown strategy `{name}`; did you mean `{near}`?", name, near),
            None => phrase!(
                "unknown strategy `{name}`; use one of {known}",
                name,
                known = Argument::names(STRATEGIES, Divider::Comma)
            ),
        })
    })
}

/// Returns what of messages stays: from the index where a tool loop began, else the last user message.
pub fn protection(loop_start: Option<usize>, messages: &[Message]) -> Result<Protection> {
    match loop_start {
        Some(start) if start > messages.len() => Err(ProjectError::Usage(match messages.len() {
            1 => phrase!("`--loop-start {start}` is past the end of the context (1 message)", start),
            count => {
                phrase!(
                    "`--loop-start {start}` is past the end of the context ({count} messages)",
                    start,
                    count
                )
            }
        })),
        Some(start) => Ok(Protection::CurrentLoop(start)),
        None => Ok(Protection::LastUserMessage),
    }
}
