//! What a message says: one text, or parts in order.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::text::Text;

/// The content of a message: one text, or parts in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// One text.
    Text(Text),
    /// Several parts, as multimodal requests have them.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns the text of all text parts in order, joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => match parts.as_slice() {
                [ContentPart::Text(text)] => Cow::Borrowed(text),
                parts => Cow::Owned(parts.iter().filter_map(ContentPart::as_text).collect()),
            },
        }
    }

    /// Returns what can be sent: without parts that are no objects, and text parts that have no text.
    ///
    /// Texts are shared. Such parts are reported when their file is read, and stay in it.
    #[must_use]
    pub fn sound(&self) -> Self {
        match self {
            Self::Text(text) => Self::Text(text.clone()),
            Self::Parts(parts) => Self::Parts(parts.iter().filter(|part| part.is_sound()).cloned().collect()),
        }
    }

    /// Returns the number of bytes of text.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parts(parts) => parts.iter().filter_map(ContentPart::as_text).map(str::len).sum(),
        }
    }

    /// Returns whether there is no byte of text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Parts(parts) => {
                parts.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()))
            }
        }
    }
}

/// One part of a message's content.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentPart {
    /// A text.
    Text(Text),
    /// A part of another kind, kept as its file had it (for example an `image_url` part of an OpenAI array).
    Other(Arc<Value>),
}

impl ContentPart {
    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// Returns whether the part is one at all: an object, and no text part without a text.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Other(part) => part.is_object() && part.get("type").and_then(Value::as_str) != Some("text"),
        }
    }
}
