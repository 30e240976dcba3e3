//! Files that travel with messages, as references until something loads their bytes.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::ports::Asset;

/// A reference to a file that belongs to a message.
///
/// The fields are what every stage may need; all else that the file said about it stays in `kept`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// The id by which placeholders and reports name it.
    pub id: Arc<str>,
    /// The file name shown to people and models.
    pub name: Arc<str>,
    /// The media type, if known, for example `image/png`.
    pub mime_type: Option<Arc<str>>,
    /// Where the bytes are, in the host's own terms.
    pub path: Option<Arc<str>>,
    /// The reference as its file had it.
    pub kept: Arc<Value>,
    /// The bytes, once something has loaded them.
    pub loaded: Option<Asset>,
}

impl Attachment {
    /// Reads an attachment as AIO Hub stores it; missing names are empty.
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Arc::from);
        Self {
            id: text("id").or_else(|| text("assetId")).unwrap_or_default(),
            name: text("name").or_else(|| text("filename")).unwrap_or_default(),
            mime_type: text("mimeType"),
            path: text("path"),
            kept: Arc::new(value.clone()),
            loaded: None,
        }
    }

    /// Returns what to call it: the name, else the id.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }

    /// Returns what kind of medium it is, from its media type; a document where nothing is known.
    pub fn kind(&self) -> MediaKind {
        MediaKind::of_mime(self.mime_type.as_deref().unwrap_or_default())
    }

    /// Returns the address on the web that stands for its bytes, if it has one: `url`, or its path.
    ///
    /// Nothing here ever fetches it; a provider may.
    pub fn url(&self) -> Option<&str> {
        let is_web = |text: &&str| text.starts_with("https://") || text.starts_with("http://");
        let said = self.kept.get("url").and_then(Value::as_str);
        said.into_iter().chain(self.path.as_deref()).find(is_web)
    }
}

/// What a file is to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A recording of sound.
    Audio,
    /// A film.
    Video,
    /// Everything else: PDF, office files, text, unknown bytes.
    Document,
}

impl MediaKind {
    /// Every kind, in the order in which settings list them.
    pub const ALL: [Self; 4] = [Self::Image, Self::Audio, Self::Video, Self::Document];

    /// Reports the kind of a media type.
    ///
    /// ```
    /// use ctx_types::MediaKind;
    ///
    /// assert_eq!(MediaKind::of_mime("image/png"), MediaKind::Image);
    /// assert_eq!(MediaKind::of_mime("application/pdf"), MediaKind::Document);
    /// ```
    pub fn of_mime(mime_type: &str) -> Self {
        match mime_type.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::Document,
        }
    }

    /// Returns the word for it in settings and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Document => "document",
        }
    }
}

impl fmt::Display for MediaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
