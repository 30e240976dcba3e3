//! Why a document cannot be read at all.

use ctx_types::{Code, Diagnostic};

use crate::codes;
use crate::document::Syntax;

/// Why a document cannot be read at all.
///
/// Lines and columns count from 1, columns in characters; offsets are in bytes of the document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The document is larger than its limit in [`crate::Limits`].
    #[error("the document has {bytes} bytes, more than the {limit} that are read as {syntax}")]
    TooLarge {
        /// The size of the document.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// What it would have been read as.
        syntax: Syntax,
    },
    /// The bytes are neither UTF-8 nor UTF-16 with a byte order mark, or hold NUL.
    #[error("the document is not text: the byte at {offset} belongs to no character")]
    NotText {
        /// The place of the first such byte.
        offset: usize,
    },
    /// The document is not valid JSON.
    #[error("invalid JSON at line {line} column {column}: {message}")]
    Json {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong there.
        message: String,
        /// What to do about it, if that is known.
        help: Option<&'static str>,
    },
    /// The document is not valid YAML.
    #[error("invalid YAML at line {line} column {column}: {message}")]
    Yaml {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// What is wrong there.
        message: String,
        /// What to do about it, if that is known.
        help: Option<&'static str>,
    },
    /// Lists and objects are nested more deeply than the limit in [`crate::Limits`].
    #[error("lists and objects are nested more than {limit} deep at line {line} column {column}")]
    TooDeep {
        /// The limit.
        limit: usize,
        /// The line at which it is passed.
        line: usize,
        /// The column.
        column: usize,
    },
    /// The document has more values than its limit in [`crate::Limits`], each alias counted in full.
    #[error("the document has more than {limit} values")]
    TooManyNodes {
        /// The limit.
        limit: usize,
    },
    /// What a file holds would take too much memory once it is imported.
    #[error("the file has more than {limit} values, of which each object counts for ten")]
    TooHeavy {
        /// The limit.
        limit: usize,
    },
    /// The names of fields are so long, and hold so many others, that the places of all take too much memory.
    #[error("the names of fields are too long: the places of all together have more than {limit} bytes")]
    LongNames {
        /// The limit.
        limit: usize,
    },
    /// The document holds nothing but white space.
    #[error("the document is empty")]
    Empty,
    /// An archive or a picture cannot be unpacked, or asks for too much.
    #[error("cannot unpack the file: {message}")]
    Container {
        /// What is wrong with it.
        message: String,
    },
    /// The document is readable, but not what was asked for.
    #[error("expected {expected}, found {found}")]
    UnknownShape {
        /// What was asked for, and how it is recognized.
        expected: &'static str,
        /// What the document is.
        found: String,
        /// What to do about it, if that is known.
        help: Option<&'static str>,
    },
}

impl ImportError {
    /// Returns the stable code of this kind of error.
    pub const fn code(&self) -> Code {
        match self {
            Self::TooLarge { .. } => codes::TOO_LARGE,
            Self::NotText { .. } => codes::NOT_TEXT,
            Self::Json { .. } => codes::JSON_SYNTAX,
            Self::Yaml { .. } => codes::YAML_SYNTAX,
            Self::TooDeep { .. } => codes::TOO_DEEP,
            Self::TooManyNodes { .. } | Self::TooHeavy { .. } | Self::LongNames { .. } => {
                codes::TOO_MANY_NODES
            }
            Self::Empty => codes::EMPTY,
            Self::Container { .. } => codes::CONTAINER,
            Self::UnknownShape { .. } => codes::UNKNOWN_SHAPE,
        }
    }

    /// Returns what to do about the error, if that is known.
    pub const fn help(&self) -> Option<&'static str> {
        match self {
            Self::Json { help, .. } | Self::Yaml { help, .. } | Self::UnknownShape { help, .. } => *help,
            Self::NotText { .. } => Some("save the file as UTF-8"),
            Self::TooDeep { .. } => Some("a document nested so deeply is a mistake or an attack"),
            Self::TooLarge { syntax: Syntax::Yaml, .. } => Some("save the file as JSON, or raise the limit"),
            Self::TooHeavy { .. } => Some("split the file, or import the files of an archive by themselves"),
            Self::TooLarge { .. }
            | Self::TooManyNodes { .. }
            | Self::LongNames { .. }
            | Self::Empty
            | Self::Container { .. } => None,
        }
    }

    /// Returns the error as a finding, for reports that list both.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code(), self.to_string());
        match self.help() {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}
