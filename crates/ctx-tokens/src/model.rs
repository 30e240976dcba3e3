use std::sync::Arc;

use ctx_types::internal::RequestRules;

use crate::encoding::Encoding;
use crate::media::MediaFamily;
use crate::prices::Prices;

/// Facts about a model. All numbers are tokens. [`ModelTable::lookup`](crate::ModelTable::lookup) finds them
/// by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// Requested name.
    pub model: Arc<str>,
    /// Name in the table; `None` for an unknown model.
    pub name: Option<Arc<str>>,
    /// Encoding for counting.
    pub encoding: Encoding,
    /// Whether the model uses that encoding; otherwise counts are estimates.
    pub is_exact: bool,
    /// Limit for request and response; `None` means unknown and unlimited.
    pub context_window: Option<u32>,
    /// Response limit; `None` if unknown.
    pub max_output: Option<u32>,
    /// Accepted content.
    pub capabilities: Capabilities,
    /// Tokens that the provider adds.
    pub overheads: Overheads,
    /// Media pricing.
    pub media: MediaFamily,
    /// Rules for requests.
    pub request: RequestRules,
    /// Prices of the provider's own API.
    pub prices: Prices,
}

impl ModelFacts {
    /// Creates the facts of an unknown model: no limits, estimates with `o200k_base` and OpenAI's overheads,
    /// accepts images, tools, late system messages, and prefill.
    pub fn unknown(model: &str) -> Self {
        Self {
            model: model.into(),
            name: None,
            encoding: Encoding::O200kBase,
            is_exact: false,
            context_window: None,
            max_output: None,
            capabilities: Capabilities {
                vision: true,
                audio: false,
                video: false,
                documents: false,
                tools: true,
                prefill: true,
                mid_system: true,
                prefix_cache: false,
                prefix_bound_reasoning: false,
            },
            overheads: Overheads { per_message: 3, per_name: 1, per_reply: 3, per_tool: 8, with_tools: 0 },
            media: MediaFamily::Unknown,
            request: RequestRules::default(),
            prices: Prices::default(),
        }
    }
}

/// Content that a model accepts.
#[expect(clippy::struct_excessive_bools, reason = "independent capabilities")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Images.
    pub vision: bool,
    /// Audio.
    pub audio: bool,
    /// Video.
    pub video: bool,
    /// Documents; at least PDF.
    pub documents: bool,
    /// Tool definitions.
    pub tools: bool,
    /// Final assistant message to continue.
    pub prefill: bool,
    /// System messages after the first user message.
    pub mid_system: bool,
    /// Whether the provider charges less than a third for a repeated prefix, or binds reasoning to it.
    pub prefix_cache: bool,
    /// Whether the provider refuses or drops the reasoning of a reply if anything before the reply changed.
    pub prefix_bound_reasoning: bool,
}

/// Tokens that a provider adds: estimates, except OpenAI's published 3 (message), 1 (name), and 3 (reply).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// Per message, for its role and delimiters.
    pub per_message: u32,
    /// Per name, besides the name.
    pub per_name: u32,
    /// Per request, for the response start.
    pub per_reply: u32,
    /// Per tool, besides its JSON.
    pub per_tool: u32,
    /// Per request with tools, for the provider's instructions.
    pub with_tools: u32,
}
