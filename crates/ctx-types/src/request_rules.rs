/// Defines an enum with the names in model tables.
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

            /// Parses a name of model tables.
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

/// Model-specific request rules from a model table.
///
/// By default, everything is sent unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestRules {
    /// Name of the output limit in chat completions.
    pub output_limit: OutputLimit,
    /// Accepted sampling parameters.
    pub samplers: SamplerRule,
    /// Handling of `top_k`.
    pub top_k: TopKRule,
    /// Handling of stop sequences.
    pub stop: StopRule,
    /// Anthropic thinking settings.
    pub thinking: ThinkingRule,
    /// Reasoning of earlier replies to return.
    pub reasoning_state: ReasoningState,
    /// Accepted tool call ids.
    pub call_ids: CallIdRule,
    /// Maximum output tokens, if known.
    pub max_output: Option<u32>,
    /// Whether system messages may follow other messages; `None` if unknown.
    pub late_system: Option<bool>,
}

words! {
    /// Name of the output limit in chat completions.
    pub enum OutputLimit {
        /// Unchanged.
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
        /// Unknown; all are sent.
        Unknown = "unknown",
        /// All.
        All = "all",
        /// Either `temperature` or `top_p`.
        TemperatureOrTopP = "temperature_or_top_p",
        /// All unless the model reasons; by default it does not.
        WithoutReasoning = "without_reasoning",
        /// All if the request disables reasoning; by default it does not.
        IfReasoningDisabled = "if_reasoning_disabled",
        /// None.
        None = "none",
    }
}

words! {
    /// Handling of `top_k`.
    pub enum TopKRule {
        /// Sent unless it is 0. SillyTavern's presets write 0 for no limit; most providers reject it.
        Positive = "positive",
        /// Sent; 0 means no limit.
        Sent = "sent",
        /// Not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// Handling of stop sequences.
    pub enum StopRule {
        /// Sent.
        Sent = "sent",
        /// Not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// Anthropic thinking settings.
    pub enum ThinkingRule {
        /// Unknown.
        Unknown = "unknown",
        /// No thinking.
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
    /// Reasoning of earlier replies to return to the model.
    pub enum ReasoningState {
        /// Unknown; the API dialect decides.
        Unknown = "unknown",
        /// None.
        None = "none",
        /// Anthropic's signed `thinking` blocks.
        Thinking = "thinking",
        /// Items of OpenAI's Responses API.
        Items = "items",
        /// Gemini's thought signatures, if present.
        Signature = "signature",
        /// Gemini's thought signatures, required for the first call of each step of the current turn.
        SignatureRequired = "signature_required",
        /// `reasoning_content` of messages with tool calls, if present.
        Content = "reasoning_content",
        /// `reasoning_content`, required for messages with tool calls.
        ContentRequired = "reasoning_content_required",
        /// `reasoning_content`, and `encrypted_content` (Qwen 4), of messages with tool calls, if present.
        ContentEncrypted = "reasoning_content_encrypted",
    }
}

impl ReasoningState {
    /// Returns whether `reasoning_content` is returned with tool calls.
    pub const fn is_content(self) -> bool {
        matches!(self, Self::Content | Self::ContentRequired | Self::ContentEncrypted)
    }

    /// Returns whether Gemini's thought signatures are returned.
    pub const fn is_signature(self) -> bool {
        matches!(self, Self::Signature | Self::SignatureRequired)
    }
}

words! {
    /// Accepted tool call ids within the API dialect's limits.
    pub enum CallIdRule {
        /// All.
        Any = "any",
        /// Exactly 9 ASCII letters and digits.
        NineAlphanumeric = "nine_alphanumeric",
    }
}
