use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::diagnostic::Span;
use crate::message::Role;
use crate::words;

/// The origin of a message or of a range of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Kind of the source.
    pub kind: SourceKind,
    /// Id of the source: preset entry, message, worldbook entry, rule, or macro name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Arc<str>>,
    /// Position in a list, such as preset entries or rules.
    #[serde(flatten)]
    pub listed: Option<Arc<ListPosition>>,
    /// Trust level of its text as instructions.
    pub trust: Trust,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListPosition {
    /// Index in its list, from 0.
    pub index: usize,
    /// Title in its list.
    #[serde(skip_serializing_if = "Option::is_none")]
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

words! {
    /// The kind of source of a message or a byte range.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum SourceKind: [as_str] {
        /// An entry of the preset.
        Preset = "preset",
        /// A message of the conversation.
        History = "history",
        /// A summary of hidden messages.
        Summary = "summary",
        /// The user's new message.
        Input = "input",
        /// An entry of a worldbook.
        Worldbook = "worldbook",
        /// An injection of a plugin.
        Plugin = "plugin",
        /// The value of a macro.
        Macro = "macro",
        /// The replacement of a regex rule.
        Rule = "rule",
        /// A session variable.
        Variable = "variable",
        /// The text of a document or the transcript of a recording.
        File = "file",
        /// Several messages merged by a formatter.
        Merged = "merged",
        /// Text that a formatter added between messages or in their place.
        Formatter = "formatter",
        /// The separator between joined texts.
        Separator = "separator",
        /// Provider overhead per message: tokens without text.
        Overhead = "overhead",
    }
}

impl SourceKind {
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
