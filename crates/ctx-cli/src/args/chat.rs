//! What describes a chat: the agent, the endpoint, the conversation.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use ctx_types::phrase;

use crate::args::turn::{self, ConfigArguments, SwitchArguments, TurnArguments};
use crate::lang::Told;

/// Talk with a model, and keep the conversation
///
/// Without `--conversation` a new one begins; with `--once` and without it nothing is kept. Lines that begin with
/// `/` are commands; `/help` lists them.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:\n  \
    ctx chat agent.yaml --model gpt-5-mini\n  \
    ctx chat agent.yaml --base-url http://localhost:8080 --conversation notes\n  \
    ctx chat agent.yaml --once \"Summarise README.md\" --tools-dir .\n  \
    ctx chat agent.yaml --once \"Hello\" --dry-run    prints the request, and sends nothing\n\n\
    The endpoint, its key and the store can be set in `ctx.toml`; see docs/chat.md.\n\
    Exit codes: 0 the model answered, 1 the turn failed, 2 usage, 3 a file or the store cannot be read,\n\
    4 the provider failed, 5 no context fits, 130 the turn was stopped.")]
pub(crate) struct ChatArguments {
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
    #[command(flatten)]
    pub(crate) endpoint: EndpointArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
    /// The conversation to go on with, by its id; it is made if there is none
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) conversation: Option<String>,
    /// Go on with the conversation that was changed last
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) resume: bool,
    /// Say this, print the answer and end
    #[arg(long, value_name = "TEXT", value_parser = words)]
    pub(crate) once: Option<String>,
    /// Print the exact body of the request, and neither send nor store anything
    #[arg(long, requires = "once")]
    pub(crate) dry_run: bool,
    /// The number of the greeting with which a new conversation begins; 0 for none
    #[arg(long, value_name = "N")]
    pub(crate) greeting: Option<usize>,
    /// Let the model read the files of this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) tools_dir: Option<PathBuf>,
    /// Ask before each call of a tool
    #[arg(long)]
    pub(crate) ask: bool,
    /// How the conversation is led; an agent with a persona is told it in the modes `agent` and `run`
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,
    /// Send the beginning of a file with the first message
    #[arg(long, value_name = "FILE")]
    pub(crate) data: Vec<PathBuf>,
    /// Expand macros in what the user says, once, before it is stored; the typed text is kept too. An agent
    /// whose file says `expandInput: true` wants it too
    #[arg(long)]
    pub(crate) expand_input: bool,
    /// How often the model is asked in one turn
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max_rounds: usize,
    /// Ask for answers in one piece
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Print the result of `--once` as JSON
    #[arg(long, requires = "once", conflicts_with = "dry_run")]
    pub(crate) json: bool,
}

/// Takes a text that says something: what is blank would ask the model for nothing.
fn words(text: &str) -> Result<String, Told> {
    match text.trim().is_empty() {
        true => Err(Told(phrase!("the message is empty; enter some text"))),
        false => Ok(text.to_owned()),
    }
}

/// The agent, and what its contexts are made with.
#[derive(Clone, Debug, Args)]
pub(crate) struct SetupArguments {
    /// The agent or preset (JSON or YAML); that of `ctx.toml` if absent
    pub(crate) agent: Option<PathBuf>,
    /// The user profile (JSON, YAML, or a plain text that is the persona)
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// A worldbook (SillyTavern, AIO Hub, character card); may be given several times
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// The model that is asked
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// The model's own settings of processors: an object like an agent's `parameters`
    #[arg(long, value_name = "FILE")]
    pub(crate) model_settings: Option<PathBuf>,
    /// How many tokens the context may have in place of the model's window; 0 means the window
    #[arg(long, value_name = "N", value_parser = turn::context_tokens, allow_negative_numbers = true)]
    pub(crate) context_tokens: Option<u32>,
    /// How many tokens are kept free for the answer; by default what the agent or the model needs
    #[arg(long, value_name = "N", value_parser = turn::tokens, allow_negative_numbers = true)]
    pub(crate) reserve: Option<u32>,
    /// The time of the turn, such as 2026-01-31T12:00:00Z; now if absent
    #[arg(long, value_name = "RFC 3339")]
    pub(crate) at: Option<String>,
    /// The time zone, such as Asia/Shanghai; UTC if absent
    #[arg(long, value_name = "ZONE")]
    pub(crate) tz: Option<String>,
    /// The seed of random draws
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = turn::seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) switches: SwitchArguments,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

impl SetupArguments {
    /// The same as the arguments of a turn in which nothing is said yet.
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
            at: self.at.clone(),
            tz: self.tz.clone(),
            seed: self.seed,
            switches: self.switches.clone(),
            ..TurnArguments::of(&self.config)
        }
    }
}

/// Where a model is reached.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EndpointArguments {
    /// The address of the API; by default that of the provider whose dialect it is
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// How the API speaks
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) dialect: Option<DialectName>,
    /// The variable of the environment that holds the key
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    pub(crate) key_env: Option<String>,
    /// The file that holds the key and nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
}

/// A dialect on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectName {
    /// Chat completions, which most servers understand
    Openai,
    /// OpenAI's responses
    OpenaiResponses,
    /// Anthropic's messages
    Anthropic,
    /// Gemini's generateContent
    Gemini,
    /// Text completions
    Completion,
}

/// A mode on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// The user and the model talk
    Chat,
    /// The model works as the agent
    Agent,
    /// The model works off the steps of a workflow
    Run,
}

/// Where conversations are kept.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreArguments {
    /// The file that keeps conversations; by default one of the user's own
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
}
