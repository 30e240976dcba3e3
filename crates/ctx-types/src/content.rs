use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::text::Text;

/// The content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(Text),
    /// Content parts, as in multimodal requests.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Concatenates all text parts without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => match parts.as_slice() {
                [ContentPart::Text(text)] => Cow::Borrowed(text),
                parts => Cow::Owned(parts.iter().filter_map(ContentPart::as_text).collect()),
            },
        }
    }

    /// Returns the text, or the texts of the parts.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        let (text, parts) = match self {
            Self::Text(text) => (Some(text), &[][..]),
            Self::Parts(parts) => (None, parts.as_slice()),
        };
        text.into_iter().chain(parts.iter().filter_map(|part| match part {
            ContentPart::Text(text) => Some(text),
            ContentPart::Other(_) => None,
        }))
    }

    /// Returns the content with other texts.
    #[must_use]
    pub fn map_texts(&self, mut change: impl FnMut(&Text) -> Text) -> Self {
        match self {
            Self::Text(text) => Self::Text(change(text)),
            Self::Parts(parts) => {
                let parts = parts.iter().map(|part| match part {
                    ContentPart::Text(text) => ContentPart::Text(change(text)),
                    ContentPart::Other(_) => part.clone(),
                });
                Self::Parts(parts.collect())
            }
        }
    }

    /// Returns the content without parts that are not objects, and without text parts that have no text.
    ///
    /// The file keeps these parts, and its reader reports them.
    #[must_use]
    pub fn sound(&self) -> Self {
        match self {
            Self::Text(text) => Self::Text(text.clone()),
            Self::Parts(parts) => Self::Parts(parts.iter().filter(|part| part.is_sound()).cloned().collect()),
        }
    }

    /// Returns the length of the text in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Parts(parts) => parts.iter().filter_map(ContentPart::as_text).map(str::len).sum(),
        }
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the content is white space without other parts.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Text(text) => text.trim().is_empty(),
            Self::Parts(parts) => {
                parts.iter().all(|part| part.as_text().is_some_and(|text| text.trim().is_empty()))
            }
        }
    }
}

/// A content part.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentPart {
    /// A text part.
    Text(Text),
    /// Any other part, such as an OpenAI `image_url` part.
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

    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Other(part) => part.is_object() && part.get("type").and_then(Value::as_str) != Some("text"),
        }
    }
}
