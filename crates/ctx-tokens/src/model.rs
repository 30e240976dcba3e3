//! What is known of a model.

use std::sync::Arc;

use ctx_types::RequestRules;

use crate::encoding::Encoding;
use crate::media::MediaFamily;

/// The facts about one model that counting, budgets and requests need.
///
/// [`ModelTable::lookup`](crate::ModelTable::lookup) finds them by name. All figures are in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFacts {
    /// The name that was looked up.
    pub model: Arc<str>,
    /// The name of the model or family in the table; `None` for a model that no row matches.
    pub name: Option<Arc<str>>,
    /// The encoding that its tokens are counted in.
    pub encoding: Encoding,
    /// Whether the model itself uses that encoding; otherwise counts are estimates.
    pub is_exact: bool,
    /// How much a request and its answer may have together; `None` if unknown, and then nothing is limited.
    pub context_window: Option<u32>,
    /// How much an answer may have; `None` if unknown.
    pub max_output: Option<u32>,
    /// What it accepts.
    pub capabilities: Capabilities,
    /// What a provider adds to a request.
    pub overheads: Overheads,
    /// How pictures and recordings are charged.
    pub media: MediaFamily,
    /// Accepted parameters, reasoning state, and ids of a request.
    pub request: RequestRules,
}

impl ModelFacts {
    /// Creates the facts of a model that nothing is known of.
    ///
    /// It has no limits, counts in `o200k_base` as an estimate, adds per message what OpenAI adds, and is
    /// trusted to accept what most do: pictures, tools, instructions anywhere, an answer to continue.
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
            },
            overheads: Overheads { per_message: 3, per_name: 1, per_reply: 3, per_tool: 8, with_tools: 0 },
            media: MediaFamily::Unknown,
            request: RequestRules::default(),
        }
    }
}

/// What a model accepts in a request.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, looked up by name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Pictures.
    pub vision: bool,
    /// Recordings of sound.
    pub audio: bool,
    /// Films.
    pub video: bool,
    /// Documents in their own format, PDF at least.
    pub documents: bool,
    /// Definitions of tools.
    pub tools: bool,
    /// A last message of the assistant that the model continues.
    pub prefill: bool,
    /// System messages after the first user message.
    pub mid_system: bool,
}

/// The tokens that a provider adds to what is written. Estimates, save for OpenAI's published 3, 1 and 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overheads {
    /// For each message: its role and its borders.
    pub per_message: u32,
    /// For each name beside a role, in addition to the name itself.
    pub per_name: u32,
    /// Once a request: the start of the answer.
    pub per_reply: u32,
    /// For each definition of a tool, in addition to its JSON.
    pub per_tool: u32,
    /// Once a request that defines tools: the provider's own instructions about them.
    pub with_tools: u32,
}
