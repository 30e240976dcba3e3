//! What a file is taken for, which decides how it is checked.

use ctx_engine::Format;
use ctx_operations::check::DocumentKind;

/// What a file is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something that is read.
    Format(Format),
    /// The body of a request, which is looked at as its provider does.
    RequestBody,
    /// `case.yaml`: the turn of a case of `ctx test`.
    Case,
    /// `ctx.toml`: defaults for the command line.
    Config,
}

impl From<DocumentKind> for Kind {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Format(format) => Self::Format(format),
            DocumentKind::RequestBody => Self::RequestBody,
        }
    }
}

impl Kind {
    /// Returns the name for programs.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Format(format) => format.id(),
            Self::RequestBody => "request_body",
            Self::Case => "case",
            Self::Config => "config",
        }
    }

    /// Returns the words for people, such as `a request body`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Format(format) => format.as_str(),
            Self::RequestBody => "a request body",
            Self::Case => "a case of `ctx test`",
            Self::Config => "defaults for the command line",
        }
    }
}
