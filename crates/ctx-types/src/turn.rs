//! The inputs of one turn: everything that may differ between two assemblies of the same agent.

use std::fmt;
use std::sync::Arc;

use crate::cache_mark::CachePolicy;
use crate::message::Message;
use crate::ports::ToolDefinition;
use crate::text::Text;

/// Everything that may differ between two turns.
///
/// Equal turn inputs, sessions and port answers give equal bytes.
///
/// ```
/// use ctx_types::TurnInput;
///
/// let turn = TurnInput::new("Hello").with(|turn| turn.model = Some("gpt-5".into()));
/// assert_eq!((turn.input.as_deref(), turn.seed), (Some("Hello"), 0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TurnInput {
    /// The time of the turn, in milliseconds since 1970-01-01T00:00:00Z; without it time macros are off.
    pub at_millis: Option<i64>,
    /// The time zone, as an IANA name such as `Asia/Shanghai`; `UTC` if absent.
    pub zone: Option<Arc<str>>,
    /// The seed of every random draw.
    pub seed: u64,
    /// What the user is about to send; it is not in the session yet.
    pub input: Option<Text>,
    /// What is sent after the input and never stored, such as a file's text that comes with it; part of the
    /// turn that is being answered.
    pub further: Vec<Message>,
    /// What is to be generated.
    pub kind: GenerationKind,
    /// The model that the request goes to.
    pub model: Option<Arc<str>>,
    /// The name of the dialect in which the request is written, such as `openai` or `anthropic`, if it is known.
    ///
    /// It decides with the model in what form attachments are sent.
    pub dialect: Option<Arc<str>>,
    /// The name of the model that people see, where it differs; only macros show it.
    pub model_name: Option<Arc<str>>,
    /// Who runs the model; only macros show it.
    pub provider: Option<Arc<str>>,
    /// The name of the connection profile that the request goes through.
    pub profile: Option<Arc<str>>,
    /// The id of that profile; only macros show it.
    pub profile_id: Option<Arc<str>>,
    /// How many tokens the context may have in place of the model's window; 0 means the window. A negative number
    /// and one above a billion are refused.
    pub context_tokens: Option<i64>,
    /// How many tokens are kept free for the answer; by default what the agent asks for, or the model needs.
    pub reserve: Option<u32>,
    /// The tools that the model may call; their definitions are part of the budget.
    pub tools: Vec<ToolDefinition>,
    /// Where marks ask the provider to keep the beginning of the request.
    pub cache_marks: CachePolicy,
    /// Whether this is only looked at: effects are dropped and ports answer from their caches.
    pub preview: bool,
}

impl TurnInput {
    /// Creates the turn in which the user says this, with defaults for all else.
    pub fn new(input: impl Into<Text>) -> Self {
        Self { input: Some(input.into()), ..Self::default() }
    }

    /// Returns the turn with fields that `set` has set.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

/// What is to be generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GenerationKind {
    /// An answer.
    #[default]
    Normal,
    /// The rest of an unfinished answer.
    Continue,
    /// What the user might say.
    Impersonate,
    /// Something that the user does not see.
    Quiet,
}

impl GenerationKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Continue, Self::Impersonate, Self::Quiet];

    /// The spellings used in files and on the command line.
    pub const WORDS: [&'static str; 4] =
        [Self::Normal.as_str(), Self::Continue.as_str(), Self::Impersonate.as_str(), Self::Quiet.as_str()];

    /// Returns the spelling used in files and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Continue => "continue",
            Self::Impersonate => "impersonate",
            Self::Quiet => "quiet",
        }
    }
}

impl fmt::Display for GenerationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
