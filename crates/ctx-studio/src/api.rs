//! JSON types of all routes: diagnostics, errors, login, and notices.

use ctx_language::Language;
use ctx_project::sources::Mark;
use ctx_types::{Diagnostic, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use crate::api_files::{FileView, RewriteView};

/// A diagnostic of a file: an error, a warning, or an info.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    /// File name, as in results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// JSON pointer of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    /// Range in the text of the draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) span: Option<TextSpan>,
    /// From 1, as `ctx check` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// From 1, as `ctx check` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    /// Whether POST `files/{f}/fix` with this `index` can apply the fix.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fixable: bool,
    pub(crate) index: usize,
}

impl Finding {
    /// Translates a diagnostic.
    pub(crate) fn of(language: Language, found: &Diagnostic, index: usize) -> Self {
        Self {
            code: found.code.to_string(),
            severity: found.severity,
            message: language.say(&found.message),
            help: found.help.as_ref().map(|help| language.say(help)),
            file: found.location.document.as_deref().map(str::to_owned),
            pointer: found.location.pointer.clone(),
            span: None,
            line: None,
            column: None,
            fixable: found.fix.is_some(),
            index,
        }
    }

    /// Translates diagnostics.
    pub(crate) fn all(language: Language, found: &[Diagnostic]) -> Vec<Self> {
        found.iter().enumerate().map(|(index, found)| Self::of(language, found, index)).collect()
    }

    /// Sets the location.
    pub(crate) fn at(mut self, mark: Option<&Mark>, position: Option<(usize, usize)>) -> Self {
        self.span = mark.map(|mark| TextSpan::of(&mark.text, mark.range.start, mark.range.end));
        self.line = position.map(|(line, _)| line);
        self.column = position.map(|(_, column)| column);
        self
    }
}

/// A range of a text, in UTF-8 bytes and in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub(crate) struct TextSpan {
    /// First byte.
    pub(crate) start: usize,
    /// End in bytes, exclusive.
    pub(crate) end: usize,
    /// First UTF-16 unit.
    pub(crate) from: usize,
    /// End in UTF-16 units, exclusive.
    pub(crate) to: usize,
}

impl TextSpan {
    /// Converts a byte range. Moves an offset inside a character to the start of the character.
    pub(crate) fn of(text: &str, start: usize, end: usize) -> Self {
        let border = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let (start, end) = (border(start), border(end.max(start)));
        let units = |range: Option<&str>| range.unwrap_or_default().encode_utf16().count();
        let from = units(text.get(..start));
        Self { start, end, from, to: from + units(text.get(start..end)) }
    }
}

/// The body of every error response.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Finding>,
    /// Current file, if it was changed since it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theirs: Option<Box<FileView>>,
    /// Part of the file to rewrite. The rejected edits work if sent again with `rewrite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rewrite: Option<RewriteView>,
}

/// Request of POST `login`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Login {
    pub(crate) code: String,
}

/// Response of POST `login`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedIn {
    pub(crate) token: String,
    pub(crate) run: String,
    pub(crate) build: String,
    pub(crate) project: String,
}

/// A notice that the server sends to all windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Notice {
    pub(crate) run: String,
    pub(crate) seq: u64,
    #[serde(rename = "type")]
    pub(crate) kind: NoticeKind,
    /// Id of the file or conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<u64>,
    /// Window that made the change, from its header `x-ctx-window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

/// The kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NoticeKind {
    /// A draft changed.
    Draft,
    /// A file changed, by another program or by a save.
    File,
    /// A streamed reply changed. Notices can be missing.
    Turn,
    /// The list of files changed.
    Project,
    /// Too many changes: reload everything.
    Resync,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_bytes_and_in_units() {
        let text = "é𝄞x";
        assert_eq!(TextSpan::of(text, 2, 7), TextSpan { start: 2, end: 7, from: 1, to: 4 });
        assert_eq!(TextSpan::of(text, 1, 3), TextSpan { start: 0, end: 2, from: 0, to: 1 });
        assert_eq!(TextSpan::of(text, 90, 3), TextSpan { start: 7, end: 7, from: 4, to: 4 });
    }
}
