use std::sync::Arc;

use crate::agent::PrefixMode;
use crate::cache_mark::CachePolicy;
use crate::message::Message;
use crate::ports::ToolDefinition;
use crate::text::Text;
use crate::words;

/// The inputs of a turn.
///
/// Equal inputs, sessions, and port results give equal bytes.
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
    /// The time in milliseconds since 1970-01-01T00:00:00Z. Without it, time macros are disabled.
    pub at_millis: Option<i64>,
    /// IANA time zone, such as `Asia/Shanghai`. Default: `UTC`.
    pub zone: Option<Arc<str>>,
    /// The seed of all random values.
    pub seed: u64,
    /// The new user message, not yet in the session.
    pub input: Option<Text>,
    /// Messages after the input that are never stored, such as a file's text. Part of the pending turn.
    pub further: Vec<Message>,
    /// The kind of generation.
    pub kind: GenerationKind,
    /// The model.
    pub model: Option<Arc<str>>,
    /// The API dialect, such as `openai` or `anthropic`.
    ///
    /// It and the model decide the format of attachments.
    pub dialect: Option<Arc<str>>,
    /// The model's display name, only for macros.
    pub model_name: Option<Arc<str>>,
    /// The provider, only for macros.
    pub provider: Option<Arc<str>>,
    /// The name of the connection profile.
    pub profile: Option<Arc<str>>,
    /// The id of the profile, only for macros.
    pub profile_id: Option<Arc<str>>,
    /// Maximum context tokens; 0 is the model's context window. Valid from 0 to a billion.
    pub context_tokens: Option<i64>,
    /// Response reserve in tokens. Default: the agent's or model's.
    pub reserve: Option<u32>,
    /// The model's tools, whose definitions use the budget.
    pub tools: Vec<ToolDefinition>,
    /// Prefix mode. Default: the agent's.
    pub prefix: Option<PrefixMode>,
    /// Whether no conversation stores the insertions of an append-only request. Text that can change then goes to the
    /// end of the request, and only for this turn.
    pub is_stateless: bool,
    /// The placement of cache marks.
    pub cache_marks: CachePolicy,
    /// Whether this is a preview: no effects, and only cached port results.
    pub preview: bool,
}

impl TurnInput {
    /// Creates a turn with a user message and defaults.
    pub fn new(input: impl Into<Text>) -> Self {
        Self { input: Some(input.into()), ..Self::default() }
    }

    /// Changes fields with `set`.
    #[must_use]
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

words! {
    /// Kind of generation.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum GenerationKind: [as_str, ALL, WORDS] {
        /// A reply.
        #[default]
        Normal = "normal",
        /// The rest of an incomplete reply.
        Continue = "continue",
        /// A message on behalf of the user.
        Impersonate = "impersonate",
        /// Text that the user does not see.
        Quiet = "quiet",
    }
}
