//! Arguments of `ctx chat`: agent, endpoint, conversation.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use ctx_chat::Mode;
use ctx_engine::Dialect;
use ctx_types::{PrefixMode, phrase};

use crate::args::turn::{self, ConfigArguments, PREFIXES, SwitchArguments, TurnArguments};
use crate::args::{RARE, choice};
use crate::lang::Told;

/// Chat with a model and store the conversation
///
/// Starts a new conversation unless `--conversation` or `--resume` selects one. With `--once`, a new conversation is
/// not stored. Type `/help` for the chat commands.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:\n  \
    ctx chat agent.yaml --model gpt-5-mini\n  \
    ctx chat agent.yaml --base-url http://localhost:8080 --conversation notes\n  \
    ctx chat agent.yaml --once \"Summarize README.md\" --tools-dir .\n  \
    ctx chat agent.yaml --once \"Hello\" --dry-run    print the request without sending it\n\n\
    Set the endpoint, the API key and the store in `ctx.toml`; see docs/chat.md.\n\n\
    Exit codes: 0 success, 1 the turn failed, 2 usage error, 3 a file or the store cannot be read,\n\
    4 provider error, 5 no context fits the budget, 130 stopped.")]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
    /// Conversation id to continue, created if missing
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) conversation: Option<String>,
    /// Continue the most recently changed conversation
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) resume: bool,
    /// Message to send once; prints the reply and exits
    #[arg(long, value_name = "TEXT", value_parser = words)]
    pub(crate) once: Option<String>,
    /// Print the request body; send and store nothing
    #[arg(long, requires = "once")]
    pub(crate) dry_run: bool,
    /// Print the result of `--once` as JSON
    #[arg(long, requires = "once", conflicts_with = "dry_run")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// Folder that the model may read with tools
    #[arg(long, value_name = "DIR")]
    pub(crate) tools_dir: Option<PathBuf>,
    /// Ask before each tool call
    #[arg(long)]
    pub(crate) ask: bool,
    /// Chat mode [default: chat]
    #[arg(long, value_parser = choice(MODES), value_name = "MODE")]
    pub(crate) mode: Option<Mode>,
    /// Greeting number for a new conversation; 0 for no greeting
    #[arg(long, value_name = "N", conflicts_with = "once")]
    pub(crate) greeting: Option<usize>,
    /// File to send with the first message, cut to 64 KiB, repeatable
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Expand macros in user messages before storing them
    #[arg(long, display_order = RARE)]
    pub(crate) expand_input: bool,
    /// Maximum model calls per turn
    #[arg(long, value_name = "N", default_value_t = 20, display_order = RARE)]
    pub(crate) max_rounds: usize,
    /// Disable streaming
    #[arg(long, display_order = RARE)]
    pub(crate) no_stream: bool,
}

/// Accepts a message that is not blank.
fn words(text: &str) -> Result<String, Told> {
    if text.trim().is_empty() {
        Err(Told(phrase!("the message is empty; enter some text")))
    } else {
        Ok(text.to_owned())
    }
}

/// Agent of a chat, with its files and settings.
#[derive(Clone, Debug, Args)]
pub(crate) struct SetupArguments {
    /// Agent or preset file [default: from ctx.toml]
    pub(crate) agent: Option<PathBuf>,
    /// Model name [default: from ctx.toml or the agent]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// User profile (JSON, YAML or plain text) [default: from ctx.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Worldbook file, repeatable [default: from ctx.toml]
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) models: Option<PathBuf>,
    /// Processor settings of the model, in the format of an agent's `parameters`
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) model_settings: Option<PathBuf>,
    /// Token limit of the context; 0 uses the model's context window [default: from ctx.toml or the agent]
    #[arg(long, value_name = "N", value_parser = turn::context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    /// Tokens reserved for the response [default: from ctx.toml, the agent or model]
    #[arg(long, value_name = "N", value_parser = turn::tokens, allow_negative_numbers = true)]
    #[arg(display_order = RARE)]
    pub(crate) reserve: Option<u32>,
    /// Prefix mode: whether text of earlier requests may change [default: from the agent]
    #[arg(long, value_parser = choice(PREFIXES), value_name = "MODE", display_order = RARE)]
    pub(crate) prefix: Option<PrefixMode>,
    /// Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "RFC 3339", display_order = RARE)]
    pub(crate) at: Option<String>,
    /// Time zone, such as Asia/Shanghai [default: from ctx.toml, or UTC]
    #[arg(long, value_name = "ZONE", display_order = RARE)]
    pub(crate) tz: Option<String>,
    /// Seed for random values
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = turn::seed, allow_negative_numbers = true)]
    #[arg(display_order = RARE)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) switches: SwitchArguments,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl SetupArguments {
    /// Returns the arguments of a turn without a message.
    pub(crate) fn turn(&self) -> TurnArguments {
        TurnArguments {
            agent: self.agent.clone(),
            profile: self.profile.clone(),
            worldbooks: self.worldbooks.clone(),
            model: self.model.clone(),
            models: self.models.clone(),
            model_settings: self.model_settings.clone(),
            context_tokens: self.context_tokens,
            reserve: self.reserve,
            prefix: self.prefix,
            at: self.at.clone(),
            tz: self.tz.clone(),
            seed: self.seed,
            switches: self.switches.clone(),
            ..TurnArguments::of(&self.config)
        }
    }
}

/// Endpoint of a model.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EndpointArguments {
    /// Base URL of the API [default: from ctx.toml, or the provider's]
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// API dialect [default: from ctx.toml, or openai]
    #[arg(long, value_parser = choice(DIALECTS), value_name = "NAME")]
    pub(crate) dialect: Option<Dialect>,
    /// Environment variable with the API key, such as `OPENAI_API_KEY`
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    pub(crate) key_env: Option<String>,
    /// File with the API key
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// API dialects.
const DIALECTS: &[(&str, &str, Dialect)] = &[
    ("openai", "OpenAI Chat Completions, supported by most servers", Dialect::OpenaiChat),
    ("openai-responses", "OpenAI Responses", Dialect::OpenaiResponses),
    ("anthropic", "Anthropic Messages", Dialect::Anthropic),
    ("gemini", "Gemini generateContent", Dialect::Gemini),
    ("completion", "Text completions", Dialect::Completion),
];

/// Chat modes.
const MODES: &[(&str, &str, Mode)] = &[
    ("chat", "A plain chat", Mode::Chat),
    ("agent", "The model works as the agent's persona", Mode::Agent),
    ("run", "The model follows the steps of a workflow", Mode::Run),
];

/// Store of conversations.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArguments {
    /// Conversation store [default: from ctx.toml, or your own store]
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}
