//! The texts of messages, and in which form each is written.

use std::borrow::Cow;
use std::sync::Arc;

use ctx_types::{Message, Role};

use crate::quality::fact::Place;
use crate::quality::lex::Form;

/// A text of a message.
#[derive(Clone, Debug)]
pub(super) struct Passage<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) form: Form,
    pub(super) message: usize,
    pub(super) id: Option<Arc<str>>,
    pub(super) call: Option<usize>,
    pub(super) role: Role,
    /// Whether a compressor put it together from what messages say, in which sentences run into each other.
    pub(super) is_note: bool,
}

impl Passage<'_> {
    /// Returns the place of some of its bytes.
    pub(super) fn place(&self, bytes: &std::ops::Range<usize>) -> Place {
        Place {
            message: self.message,
            id: self.id.clone(),
            call: self.call,
            start: bytes.start,
            end: bytes.end,
        }
    }
}

/// Returns the texts of a message: what it says, then the arguments of its calls.
pub(super) fn passages(index: usize, message: &Message) -> Vec<Passage<'_>> {
    let passage = |text, form, call| Passage {
        text,
        form,
        message: index,
        id: message.source.id.clone(),
        call,
        role: message.role,
        is_note: message.note.is_some(),
    };
    let said = match &message.content {
        ctx_types::Content::Text(text) => Cow::Borrowed(text.as_str()),
        ctx_types::Content::Parts(_) => Cow::Owned(message.text().into_owned()),
    };
    let said_form = form(&said, message.role);
    let calls = message.tool_calls.iter().enumerate();
    let calls = calls.map(|(at, call)| passage(Cow::Borrowed(call.arguments.as_str()), Form::Json, Some(at)));
    std::iter::once(passage(said, said_form, None))
        .chain(calls)
        .filter(|passage| !passage.text.is_empty())
        .collect()
}

/// Returns words that a message has beside its texts: names of tools and speakers. They are no facts, but who
/// speaks of them makes nothing up.
pub(super) fn names_beside(message: &Message) -> impl Iterator<Item = &str> {
    let calls = message.tool_calls.iter().map(|call| &*call.name);
    let files = message.attachments.iter().map(|file| &*file.name);
    calls.chain(message.name.as_deref()).chain(files)
}

fn form(text: &str, role: Role) -> Form {
    let trimmed = text.trim();
    let is_enclosed = (trimmed.starts_with('{') && trimmed.ends_with('}'))
        || (trimmed.starts_with('[') && trimmed.ends_with(']'));
    let inner = trimmed.trim_start_matches(['[', '{']).trim_start();
    // `[8 May 2023]` is prose.
    let is_json = is_enclosed
        && (inner.starts_with(['"', ']', '}']) || trimmed.starts_with("[{") || trimmed.starts_with("[["));
    match role {
        _ if is_json => Form::Json,
        Role::Tool => Form::Output,
        _ => Form::Prose,
    }
}
