use crate::words;

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
    #[derive(Default)]
    #[non_exhaustive]
    pub enum OutputLimit: [as_str, parse, WORDS] {
        /// Unchanged.
        #[default]
        Either = "either",
        /// `max_tokens` only.
        MaxTokens = "max_tokens",
        /// `max_completion_tokens` only.
        MaxCompletionTokens = "max_completion_tokens",
    }
}

words! {
    /// Accepted sampling parameters.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum SamplerRule: [as_str, parse, WORDS] {
        /// Unknown; all are sent.
        #[default]
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
    #[derive(Default)]
    #[non_exhaustive]
    pub enum TopKRule: [as_str, parse, WORDS] {
        /// Sent unless it is 0. SillyTavern's presets write 0 for no limit; most providers reject it.
        #[default]
        Positive = "positive",
        /// Sent; 0 means no limit.
        Sent = "sent",
        /// Not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// Handling of stop sequences.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum StopRule: [as_str, parse, WORDS] {
        /// Sent.
        #[default]
        Sent = "sent",
        /// Not accepted.
        Rejected = "rejected",
    }
}

words! {
    /// Anthropic thinking settings.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum ThinkingRule: [as_str, parse, WORDS] {
        /// Unknown.
        #[default]
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
    #[derive(Default)]
    #[non_exhaustive]
    pub enum ReasoningState: [as_str, parse, WORDS] {
        /// Unknown; the API dialect decides.
        #[default]
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
    #[derive(Default)]
    #[non_exhaustive]
    pub enum CallIdRule: [as_str, parse, WORDS] {
        /// All.
        #[default]
        Any = "any",
        /// Exactly 9 ASCII letters and digits.
        NineAlphanumeric = "nine_alphanumeric",
    }
}
