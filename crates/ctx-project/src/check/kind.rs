//! What a file is taken for, which decides how it is checked.

use ctx_engine::Format;
use ctx_operations::check::DocumentKind;
use ctx_wire::Dialect;

/// What a file is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something that is read.
    Format(Format),
    /// A request body in an API dialect.
    RequestBody(Dialect),
    /// `case.yaml`: the turn of a case of `ctx test`.
    Case,
    /// `ctx.toml`: defaults for the command line.
    Config,
}

impl From<DocumentKind> for Kind {
    fn from(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Format(format) => Self::Format(format),
            DocumentKind::RequestBody(dialect) => Self::RequestBody(dialect),
        }
    }
}

impl Kind {
    /// Returns the name for programs.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Format(format) => format.id(),
            Self::RequestBody(_) => "request_body",
            Self::Case => "case",
            Self::Config => "config",
        }
    }

    /// Returns the words for people, such as `an agent`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Format(format) => format.as_str(),
            Self::RequestBody(Dialect::OpenaiChat) => "an OpenAI Chat Completions request body",
            Self::RequestBody(Dialect::OpenaiResponses) => "an OpenAI Responses request body",
            Self::RequestBody(Dialect::Anthropic) => "an Anthropic Messages request body",
            Self::RequestBody(Dialect::Gemini) => "a Gemini request body",
            Self::RequestBody(Dialect::Completion) => "a text completion request body",
            Self::RequestBody(_) => "a request body",
            Self::Case => "a case of `ctx test`",
            Self::Config => "defaults for the command line",
        }
    }
}
