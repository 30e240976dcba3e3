//! Why a document cannot be read at all.

use ctx_types::{Code, Diagnostic, Phrase, phrase};

use crate::codes;
use crate::document::Syntax;

/// Why a document cannot be read at all.
///
/// Lines and columns count from 1, columns in characters; offsets are in bytes of the document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.phrase())]
#[non_exhaustive]
pub enum ImportError {
    /// The document is larger than its limit in [`crate::Limits`].
    TooLarge {
        /// The size of the document.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// What it would have been read as.
        syntax: Syntax,
    },
    /// The bytes are neither UTF-8 nor UTF-16 with a byte order mark, or hold NUL.
    NotText {
        /// The place of the first such byte.
        offset: usize,
    },
    /// The file has a binary format.
    Binary {
        /// The name of the format, such as `a PNG image`.
        format: &'static str,
        /// What to do about it.
        help: Phrase,
    },
    /// The document is not valid JSON.
    Json {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong there.
        message: String,
        /// What to do about it, if that is known.
        help: Option<Phrase>,
    },
    /// The document is not valid YAML.
    Yaml {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong there.
        message: String,
        /// What to do about it, if that is known.
        help: Option<Phrase>,
    },
    /// Lists and objects are nested more deeply than the limit in [`crate::Limits`].
    TooDeep {
        /// The limit.
        limit: usize,
        /// The line at which it is passed.
        line: usize,
        /// The column.
        column: usize,
    },
    /// The document has more values than its limit in [`crate::Limits`], each alias counted in full.
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// What a file holds would take too much memory once it is imported.
    TooHeavy {
        /// The limit.
        limit: usize,
    },
    /// The document holds nothing but white space.
    Empty,
    /// An archive or a picture cannot be unpacked, or asks for too much.
    Container {
        /// What is wrong with it.
        message: Phrase,
    },
    /// The document is readable, but not what was asked for.
    UnknownShape {
        /// What was asked for, and how it is recognized.
        expected: &'static str,
        /// What the document is.
        found: Phrase,
        /// What to do about it, if that is known.
        help: Option<Phrase>,
    },
}

impl ImportError {
    /// Writes it in one phrase.
    pub fn phrase(&self) -> Phrase {
        match self {
            Self::TooLarge { bytes, limit, syntax, .. } => phrase!(
                "the document has {bytes} bytes; the limit for {syntax} is {limit}",
                bytes,
                limit,
                syntax = syntax.to_string()
            ),
            Self::NotText { offset, .. } => {
                phrase!("the document is not text: invalid byte at {offset}", offset)
            }
            Self::Binary { format, .. } => {
                phrase!("the file is {format}, not a text file", format = Phrase::from(*format))
            }
            Self::Json { line, column, message, .. } => {
                phrase!(
                    "invalid JSON at line {line} column {column}: {message}",
                    line,
                    column,
                    message = Phrase::original(message)
                )
            }
            Self::Yaml { line, column, message, .. } => {
                phrase!(
                    "invalid YAML at line {line} column {column}: {message}",
                    line,
                    column,
                    message = Phrase::original(message)
                )
            }
            Self::TooDeep { limit, line, column, .. } => phrase!(
                "nested deeper than {limit} levels at line {line} column {column}",
                limit,
                line,
                column
            ),
            Self::TooManyNodes { limit, .. } => phrase!("the document has more than {limit} values", limit),
            Self::TooHeavy { limit, .. } => {
                phrase!("the file has more than {limit} values (objects count as ten)", limit)
            }
            Self::Empty => phrase!("the document is empty"),
            Self::Container { message, .. } => {
                phrase!("cannot unpack the file: {message}", message)
            }
            Self::UnknownShape { expected, found, .. } => {
                phrase!("expected {expected}, found {found}", expected = Phrase::from(*expected), found)
            }
        }
    }
}

impl ImportError {
    /// Replaces the error of an unknown file type by the syntax error that probably causes it.
    pub(crate) fn or_invalid_json(self, json_error: Option<Self>) -> Self {
        match (self, json_error) {
            (Self::UnknownShape { .. }, Some(json_error)) => json_error,
            (error, _) => error,
        }
    }

    /// Returns the stable code of this kind of error.
    pub const fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => codes::TOO_LARGE,
            Self::NotText { .. } | Self::Binary { .. } => codes::NOT_TEXT,
            Self::Json { .. } => codes::JSON_SYNTAX,
            Self::Yaml { .. } => codes::YAML_SYNTAX,
            Self::TooDeep { .. } => codes::TOO_DEEP,
            Self::TooManyNodes { .. } | Self::TooHeavy { .. } => codes::TOO_MANY_NODES,
            Self::Empty => codes::EMPTY,
            Self::Container { .. } => codes::CONTAINER,
            Self::UnknownShape { .. } => codes::UNKNOWN_SHAPE,
        }
    }

    /// Returns what to do about the error, if that is known.
    pub fn help(&self) -> Option<Phrase> {
        match self {
            Self::Json { help, .. } | Self::Yaml { help, .. } | Self::UnknownShape { help, .. } => {
                help.clone()
            }
            Self::NotText { .. } => Some(phrase!("save the file as UTF-8")),
            Self::Binary { help, .. } => Some(help.clone()),
            Self::TooDeep { .. } => {
                Some(phrase!("reduce the nesting; so many levels are probably a mistake"))
            }
            Self::TooLarge { syntax: Syntax::Yaml, .. } => {
                Some(phrase!("save the file as JSON, or raise the limit"))
            }
            Self::TooHeavy { .. } => {
                Some(phrase!("split the file, or import the files of an archive separately"))
            }
            Self::TooLarge { .. } | Self::TooManyNodes { .. } | Self::Empty | Self::Container { .. } => None,
        }
    }

    /// Returns the error as a finding, for reports that list both.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code(), self.phrase());
        match self.help() {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}
