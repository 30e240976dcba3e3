use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::diagnostic::Span;
use crate::message::Role;

/// The source of a message or byte range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Kind of the author.
    pub kind: SourceKind,
    /// Trust in its text as instructions.
    pub trust: Trust,
    /// The id of the entry, node, rule, or macro.
    pub id: Option<Arc<str>>,
    /// Position in a list, such as preset entries or rules.
    pub listed: Option<Arc<ListPosition>>,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// Its position, from 0.
    pub index: usize,
    /// Its display name.
    pub name: Option<Arc<str>>,
}

impl Source {
    /// Creates a source without an id or position.
    pub const fn new(kind: SourceKind, trust: Trust) -> Self {
        Self { kind, trust, id: None, listed: None }
    }

    /// Creates the source of a preset entry.
    pub fn preset(id: Option<Arc<str>>, index: usize, name: Option<Arc<str>>) -> Self {
        let listed = Some(Arc::new(ListPosition { index, name }));
        Self { id, listed, ..Self::new(SourceKind::Preset, Trust::Preset) }
    }

    /// Returns the position in its list, from 0.
    pub fn index(&self) -> Option<usize> {
        self.listed.as_ref().map(|listed| listed.index)
    }

    /// Returns the display name.
    pub fn name(&self) -> Option<&str> {
        self.listed.as_ref()?.name.as_deref()
    }

    /// Creates the source of a conversation message, with the role's trust.
    pub fn history(id: impl Into<Arc<str>>, role: Role) -> Self {
        let trust = match role {
            Role::System | Role::Developer => Trust::Preset,
            Role::User => Trust::User,
            Role::Assistant => Trust::Model,
            Role::Tool => Trust::Tool,
        };
        Self { id: Some(id.into()), ..Self::new(SourceKind::History, trust) }
    }

    /// Sets the id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// Writes a flat object: `kind`, `id`, `index`, `name`, `trust`.
impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind)?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        if let Some(index) = self.index() {
            map.serialize_entry("index", &index)?;
        }
        if let Some(name) = self.name() {
            map.serialize_entry("name", name)?;
        }
        map.serialize_entry("trust", &self.trust)?;
        map.end()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Source {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Source".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        SourceFields::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SourceFields { kind, id, index, name, trust } = SourceFields::deserialize(deserializer)?;
        let listed = index.map(|index| Arc::new(ListPosition { index, name }));
        Ok(Self { kind, trust, id, listed })
    }
}

/// The origin of a message or of a range of its bytes.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SourceFields {
    /// Kind of the source.
    kind: SourceKind,
    /// Id of the source: preset entry, message, worldbook entry, rule, or macro name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    id: Option<Arc<str>>,
    /// Index in its list, from 0.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    index: Option<usize>,
    /// Title in its list.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
    name: Option<Arc<str>>,
    /// Trust level of its text as instructions.
    trust: Trust,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.as_str())?;
        match (&self.id, self.index()) {
            (Some(id), _) => write!(f, ":{id}"),
            (None, Some(index)) => write!(f, "#{index}"),
            (None, None) => Ok(()),
        }
    }
}

/// The kind of source of a message or a byte range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SourceKind {
    /// An entry of the preset.
    Preset,
    /// A message of the conversation.
    History,
    /// A summary of hidden messages.
    Summary,
    /// The user's new message.
    Input,
    /// An entry of a worldbook.
    Worldbook,
    /// An injection of a plugin.
    Plugin,
    /// The value of a macro.
    Macro,
    /// The replacement of a regex rule.
    Rule,
    /// A session variable.
    Variable,
    /// The text of a document or the transcript of a recording.
    File,
    /// Several messages merged by a formatter.
    Merged,
    /// Text that a formatter added between messages or in their place.
    Formatter,
    /// The separator between joined texts.
    Separator,
    /// Provider overhead per message: tokens without text.
    Overhead,
}

impl SourceKind {
    /// Returns the name in reports and snapshots.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Preset => "preset",
            Self::History => "history",
            Self::Summary => "summary",
            Self::Input => "input",
            Self::Worldbook => "worldbook",
            Self::Plugin => "plugin",
            Self::Macro => "macro",
            Self::Rule => "rule",
            Self::Variable => "variable",
            Self::File => "file",
            Self::Merged => "merged",
            Self::Formatter => "formatter",
            Self::Separator => "separator",
            Self::Overhead => "overhead",
        }
    }

    /// Returns whether it is part of the conversation, so may be dropped or compressed.
    pub const fn is_history(self) -> bool {
        matches!(self, Self::History | Self::Summary | Self::Input)
    }
}

/// The author of a text, which decides its trust level as instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// The author of the preset.
    Preset,
    /// The user.
    User,
    /// The model.
    Model,
    /// A tool.
    Tool,
    /// An attachment.
    File,
    /// An imported file: a character card, preset, or worldbook.
    Import,
}

/// A byte range of a message with its own source.
///
/// The output of a macro or a rule is one segment. Its `via` lists the sources of the replaced text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Segment {
    /// Byte range in the message's text.
    pub span: Span,
    /// Source of the text.
    pub source: Source,
    /// Sources of the replaced text, most recent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub via: Vec<Source>,
}

impl Segment {
    /// Creates a segment of a whole text of `len` bytes.
    pub const fn full(len: usize, source: Source) -> Self {
        Self { span: Span::new(0, len), source, via: Vec::new() }
    }
}

/// Returns whether segments cover `len` bytes without gaps, overlaps, or empty segments. O(segments).
pub fn is_partition(segments: &[Segment], len: usize) -> bool {
    let mut end = 0;
    for segment in segments {
        if segment.span.start != end || segment.span.is_empty() {
            return false;
        }
        end = segment.span.end;
    }
    end == len
}
