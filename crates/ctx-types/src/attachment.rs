use std::sync::Arc;

use serde_json::Value;

use crate::ports::Asset;
use crate::words;

/// A reference to a file that belongs to a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// The id in placeholders and reports.
    pub id: Arc<str>,
    /// File name for users and models.
    pub name: Arc<str>,
    /// Media type, for example `image/png`.
    pub mime_type: Option<Arc<str>>,
    /// Location of the bytes, in a format of the host.
    pub path: Option<Arc<str>>,
    /// The original JSON reference, with unknown keys.
    pub kept: Arc<Value>,
    /// The bytes, once loaded.
    pub loaded: Option<Asset>,
}

impl Attachment {
    /// Reads AIO Hub's format. A missing id or name is empty.
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

    /// Returns the name, or else the id.
    pub fn label(&self) -> &str {
        if self.name.is_empty() { &self.id } else { &self.name }
    }

    /// Returns the media kind. Default: a document.
    pub fn kind(&self) -> MediaKind {
        MediaKind::from_mime(self.mime_type.as_deref().unwrap_or_default())
    }

    /// Returns the web URL: `url`, or the path.
    ///
    /// Only a provider may fetch it.
    pub fn url(&self) -> Option<&str> {
        let is_web = |text: &&str| text.starts_with("https://") || text.starts_with("http://");
        let said = self.kept.get("url").and_then(Value::as_str);
        said.into_iter().chain(self.path.as_deref()).find(is_web)
    }
}

words! {
    /// Media kind of a file.
    pub enum MediaKind: [as_str, ALL] {
        /// An image.
        Image = "image",
        /// An audio recording.
        Audio = "audio",
        /// A video.
        Video = "video",
        /// Any other file: PDF, office file, text, or unknown bytes.
        Document = "document",
    }
}

impl MediaKind {
    /// Returns the kind of a media type.
    ///
    /// ```
    /// use ctx_types::MediaKind;
    ///
    /// assert_eq!(MediaKind::from_mime("image/png"), MediaKind::Image);
    /// assert_eq!(MediaKind::from_mime("application/pdf"), MediaKind::Document);
    /// ```
    pub fn from_mime(mime_type: &str) -> Self {
        match mime_type.split('/').next() {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::Document,
        }
    }
}
