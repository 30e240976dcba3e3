//! Arguments of `ctx chat`: agent, endpoint, conversation.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use ctx_chat::Mode;
use ctx_engine::Dialect;
use ctx_project::error::Result;
use ctx_project::unusable;

use crate::args::turn::SetupArguments;
use crate::args::{RARE, choice};

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
fn words(text: &str) -> Result<String> {
    if text.trim().is_empty() {
        Err(unusable!("the message is empty; enter some text"))
    } else {
        Ok(text.to_owned())
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
