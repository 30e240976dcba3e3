//! The JSON that every route shares: findings, failures, the login and the notices.

use ctx_language::Language;
use ctx_project::sources::Mark;
use ctx_types::{Diagnostic, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use crate::api_files::{FileView, RewriteView};

/// Something that is wrong in a file, or worth knowing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    /// The file that it is about, as results name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// The JSON pointer of the value that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pointer: Option<String>,
    /// Where in the text of the draft.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) span: Option<TextSpan>,
    /// 1-based, as `ctx check` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// 1-based, as `ctx check` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<usize>,
    /// Whether POST `files/{f}/fix` with the `index` of this finding makes the edit that fixes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) fixable: bool,
    pub(crate) index: usize,
}

impl Finding {
    /// Says a finding in a language.
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

    /// Says findings, whose files are below a folder.
    pub(crate) fn all(language: Language, found: &[Diagnostic]) -> Vec<Self> {
        found.iter().enumerate().map(|(index, found)| Self::of(language, found, index)).collect()
    }

    /// Says where it is.
    pub(crate) fn at(mut self, mark: Option<&Mark>, position: Option<(usize, usize)>) -> Self {
        self.span = mark.map(|mark| TextSpan::of(&mark.text, mark.range.start, mark.range.end));
        self.line = position.map(|(line, _)| line);
        self.column = position.map(|(_, column)| column);
        self
    }
}

/// A range of a text: in bytes of UTF-8, and in units of UTF-16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub(crate) struct TextSpan {
    /// The first byte.
    pub(crate) start: usize,
    /// The byte behind the last.
    pub(crate) end: usize,
    /// The first unit of UTF-16.
    pub(crate) from: usize,
    /// The unit behind the last.
    pub(crate) to: usize,
}

impl TextSpan {
    /// Finds a range of bytes in a text; what is no border of characters is led to the one before.
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

/// Every failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) help: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) findings: Vec<Finding>,
    /// The file as it is, where it was changed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) theirs: Option<Box<FileView>>,
    /// Edits that were refused can be made so, if they are sent again with `rewrite`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rewrite: Option<RewriteView>,
}

/// POST `login`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Login {
    pub(crate) code: String,
}

/// The answer to it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct LoggedIn {
    pub(crate) token: String,
    pub(crate) run: String,
    pub(crate) build: String,
    pub(crate) project: String,
}

/// What windows are told of by themselves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Notice {
    pub(crate) run: String,
    pub(crate) seq: u64,
    #[serde(rename = "type")]
    pub(crate) kind: NoticeKind,
    /// The id of the file, or of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<u64>,
    /// The window that did it, by its header `x-ctx-window`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
}

/// What has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum NoticeKind {
    /// A draft.
    Draft,
    /// A file, by another program or by a save.
    File,
    /// An answer that is being written; there may be gaps in what is told of it.
    Turn,
    /// Which files there are.
    Project,
    /// More than can be told: all is to be read again.
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
