//! What a model accepts in a request.

/// Defines an enum whose values have names in model tables.
macro_rules! words {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $(#[$first_meta:meta])* $first:ident = $first_word:literal,
            $($(#[$inner:meta])* $variant:ident = $word:literal,)*
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(#[$first_meta])*
            #[default]
            $first,
            $($(#[$inner])* $variant,)*
        }

        impl $name {
            /// The names in model tables.
            pub const WORDS: &'static [&'static str] = &[$first_word, $($word,)*];

            /// Reads the name of model tables; any other text is `None`.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $first_word => Some(Self::$first),
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

/// What a model accepts in a request beyond its API dialect, as a model table says.
///
/// The default is a model without known rules: everything is sent as given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestRules {
    /// Name of the output limit in chat completions.
    pub output_limit: OutputLimit,
    /// Accepted sampling parameters.
    pub samplers: SamplerRule,
    /// Treatment of `top_k`.
    pub top_k: TopKRule,
    /// Treatment of stop sequences.
    pub stop: StopRule,
    /// Settings of Anthropic's thinking.
    pub thinking: ThinkingRule,
    /// Reasoning of earlier replies that goes back.
    pub reasoning_state: ReasoningState,
    /// Accepted tool call ids, beyond the limits of the API dialect.
    pub call_ids: CallIdRule,
    /// Most tokens of a response, if they are known.
    pub max_output: Option<u32>,
    /// Whether the model accepts system messages in the conversation; `None` if the model is unknown.
    pub late_system: Option<bool>,
}

words! {
    /// Name of the output limit in chat completions.
    pub enum OutputLimit {
        /// As given.
        Either = "either",
        /// `max_tokens` only.
        MaxTokens = "max_tokens",
        /// `max_completion_tokens` only.
        MaxCompletionTokens = "max_completion_tokens",
    }
}

words! {
    /// Accepted sampling parameters.
    pub enum SamplerRule {
        /// Not known; all are sent.
        Unknown = "unknown",
        /// All.
        All = "all",
        /// Either `temperature` or `top_p`.
        TemperatureOrTopP = "temperature_or_top_p",
        /// All, while the model does not reason; by default it does not.
        WithoutReasoning = "without_reasoning",
        /// All, if the request disables reasoning, which is on by default.
        IfReasoningDisabled = "if_reasoning_disabled",
        /// None.
        None = "none",
    }
}

words! {
    /// Treatment of `top_k`.
    pub enum TopKRule {
        /// Sent unless it is 0. SillyTavern's presets write 0 for no limit; most providers reject it.
        Positive = "positive",
        /// Sent as given; 0 means no limit.
        Sent = "sent",
        /// Not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// Treatment of stop sequences.
    pub enum StopRule {
        /// Sent as given.
        Sent = "sent",
        /// Not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// Settings of Anthropic's thinking.
    pub enum ThinkingRule {
        /// Not known.
        Unknown = "unknown",
        /// The model does not think.
        Unsupported = "unsupported",
        /// `enabled` with a budget.
        Budget = "budget",
        /// `adaptive`, or `enabled` with a budget.
        BudgetOrAdaptive = "budget_or_adaptive",
        /// `adaptive` or `disabled`.
        Adaptive = "adaptive",
        /// `adaptive`; cannot be disabled.
        Always = "always",
    }
}

words! {
    /// Reasoning of earlier replies that goes back to the model.
    pub enum ReasoningState {
        /// Not known; the API dialect decides.
        Unknown = "unknown",
        /// Nothing.
        None = "none",
        /// Signed `thinking` blocks of Anthropic.
        Thinking = "thinking",
        /// Items of OpenAI's responses.
        Items = "items",
        /// Gemini's thought signatures, if there are any.
        Signature = "signature",
        /// Gemini's thought signatures; the first call of each step of the running turn must have one.
        SignatureRequired = "signature_required",
        /// `reasoning_content` of messages with tool calls, if there is any.
        Content = "reasoning_content",
        /// `reasoning_content` of every message with tool calls.
        ContentRequired = "reasoning_content_required",
    }
}

impl ReasoningState {
    /// Returns whether `reasoning_content` goes back with tool calls.
    pub const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::ContentRequired)
    }

    /// Returns whether thought signatures of Gemini go back.
    pub const fn is_signature(self) -> bool {
        matches!(self, Self::Signature | Self::SignatureRequired)
    }
}

words! {
    /// Accepted tool call ids, beyond the limits of the API dialect.
    pub enum CallIdRule {
        /// All.
        Any = "any",
        /// Exactly 9 ASCII letters and digits.
        NineAlphanumeric = "nine_alphanumeric",
    }
}
