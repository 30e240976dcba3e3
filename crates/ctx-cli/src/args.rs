//! The command line.

mod chat;
mod compress;
mod diff;
mod foreign;
mod import;
mod macros;
mod mcp;
mod recall;
mod schema;
mod serve;
mod session;
mod studio;
mod tap;
mod trust;
mod turn;
mod worldbook;

use std::path::PathBuf;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use ctx_engine::Dialect;
use ctx_language::Language;
use ctx_types::CachePolicy;

pub(crate) use chat::{ChatArguments, EndpointArguments, StoreArguments};
pub(crate) use compress::{
    BudgetArguments, CompressArguments, CompressCommand, Counting, CountingArguments, EditArguments,
    MaskArguments, MaskSettingArguments, OutputArguments, PassArguments, RegenerateArguments,
    ReportArguments, RunArguments, SummarizerArguments, SummaryArguments, SwitchSummaryArguments,
};
pub(crate) use diff::DiffArguments;
pub(crate) use import::{AgentExportArguments, AgentImportArguments, ExportForm, MigrateArguments};
pub(crate) use macros::{MacrosArguments, MacrosCommand, MacrosExpandArguments, MacrosListArguments};
pub(crate) use mcp::{HookArguments, McpArguments};
pub(crate) use recall::RecallArguments;
pub(crate) use schema::SchemaArguments;
pub(crate) use serve::{
    KeyAddArguments, KeyCommand, KeyFileArguments, KeyRevokeArguments, ServeArguments, ServeCommand,
};
pub(crate) use session::{
    DeleteArguments, ExportArguments, ImportArguments, KeptArguments, SessionArguments, SessionCommand,
    SessionFileArguments, StepArguments,
};
pub(crate) use studio::StudioArguments;
pub(crate) use tap::TapArguments;
pub(crate) use trust::TrustArguments;
pub(crate) use turn::{ConfigArguments, SwitchArguments, TurnArguments};
pub(crate) use worldbook::{
    WorldbookArguments, WorldbookCheckArguments, WorldbookCommand, WorldbookScanArguments,
};

/// Show the exact messages that an LLM receives, and explain each one.
#[derive(Debug, Parser)]
#[command(
    name = "ctx",
    bin_name = "ctx",
    version,
    after_help = "Start with an example project:\n  \
                  ctx init demo\n  \
                  cd demo\n  \
                  ctx assemble\n\n\
                  Results go to standard output, everything else to standard error. `-` means standard input.\n\
                  Exit codes: 0 success, 1 errors found, 2 usage error, 3 a file cannot be read, parsed or written,\n\
                  4 provider error, 5 no context fits the budget."
)]
pub(crate) struct Arguments {
    /// Language of the output, also set by `CTX_LANG` [default: en]
    // `lang::asked` reads it before parsing, so that usage errors are translated too.
    #[arg(long = "lang", global = true, value_enum, value_name = "LANG", display_order = LAST)]
    _lang: Option<LanguageName>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Languages of the output.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LanguageName {
    /// English
    En,
    /// Chinese
    Zh,
}

impl From<LanguageName> for Language {
    fn from(name: LanguageName) -> Self {
        match name {
            LanguageName::En => Self::En,
            LanguageName::Zh => Self::Zh,
        }
    }
}

/// Output of `ctx` without arguments.
pub(crate) const START: &str = "\
ctx shows the exact messages that an LLM receives, and explains each one.

Start with an example project:
  ctx init demo
  cd demo
  ctx assemble

Or import a SillyTavern character card:
  ctx import card.png --out ada

Run `ctx --help` to list all commands, and `ctx COMMAND --help` for the options of one.
";

/// Display order of rarely used options. They follow the common options, sorted by name.
pub(crate) const RARE: usize = 200;

/// Display order of `--lang`, the last option before `--help`, whose display order is 999.
const LAST: usize = 998;

/// Verbs, grouped by purpose.
const VERBS: [(&str, &[&str]); 5] = [
    (
        "Inspect",
        &["assemble", "explain", "diff", "check", "count", "recall", "worldbook", "tap", "mcp", "hook"],
    ),
    ("Edit", &["init", "studio", "compress", "trust"]),
    ("Chat", &["chat", "serve", "session"]),
    ("Convert", &["import", "export", "migrate"]),
    ("Develop", &["test", "anchors", "processors", "macros", "schema", "completions"]),
];

/// Returns the command line. The help lists the verbs by purpose.
pub(crate) fn command() -> clap::Command {
    let command = foreign::with_foreign_options(Arguments::command());
    let (header, literal) = (command.get_styles().get_header(), command.get_styles().get_literal());
    let verb = |verb: &&str| {
        let about = command.find_subcommand(verb).and_then(clap::Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        format!("  {literal}{verb:<11}{literal:#}  {about}\n")
    };
    let group = |(purpose, verbs): &(&str, &[&str])| {
        let verbs: Vec<String> = verbs.iter().map(verb).collect();
        format!("{header}{purpose}:{header:#}\n{}\n", verbs.concat())
    };
    let listed = VERBS.iter().map(group).collect::<Vec<_>>().concat();
    let options = format!("{header}Options:{header:#}");
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{listed}{options}\n{{options}}{{after-help}}"
    ))
}

/// Parses one of these names. The help shows the text of each name.
fn choice<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let shown = names.iter().map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(shown).map(move |given| {
        let named = names.iter().find(|(name, ..)| *name == given);
        named.map(|(.., value)| *value).expect("the parser accepts only these names")
    })
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Assemble(Box<AssembleArguments>),
    Explain(Box<ExplainArguments>),
    Diff(DiffArguments),
    Check(CheckArguments),
    Test(TestArguments),
    Anchors(AnchorsArguments),
    Processors(ProcessorsArguments),
    Macros(MacrosArguments),
    Worldbook(Box<WorldbookArguments>),
    Chat(Box<ChatArguments>),
    Count(CountArguments),
    Recall(RecallArguments),
    Compress(Box<CompressArguments>),
    Session(SessionArguments),
    Import(AgentImportArguments),
    Export(AgentExportArguments),
    Migrate(MigrateArguments),
    Init(InitArguments),
    Trust(TrustArguments),
    Studio(StudioArguments),
    Serve(Box<ServeArguments>),
    Tap(TapArguments),
    Mcp(McpArguments),
    Hook(HookArguments),
    Schema(SchemaArguments),
    Completions(CompletionsArguments),
}

/// Show the messages that the model receives
///
/// The table shows the role, tokens and source of each message. The decisions follow: each message that was moved,
/// merged, cut or dropped, and the reason.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx assemble agent.yaml --session chat.json --profile me.yaml\n  \
    ctx assemble agent.yaml --input \"Hello\" --format openai\n  \
    ctx assemble agent.yaml --session chat.json --model claude-opus-5 --format anthropic\n  \
    ctx assemble --session chat.jsonl --context-tokens 8000 --format openai\n  \
    ctx assemble --session chat.jsonl --at 2026-01-31T12:00:00Z --format snapshot")]
pub(crate) struct AssembleArguments {
    #[command(flatten)]
    pub(crate) turn: TurnArguments,
    /// Output format
    #[arg(long, value_parser = choice(FORMATS), default_value = "table", value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Print JSON, same as `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show all messages in the table, even in long conversations
    #[arg(long)]
    pub(crate) all: bool,
    /// Turn template of text completions, by name or file [default: from the model name]
    #[arg(long, value_name = "NAME|FILE", value_parser = NonEmptyStringValueParser::new())]
    #[arg(display_order = RARE)]
    pub(crate) template: Option<String>,
    /// Prompt cache marks in the request body
    #[arg(long, value_parser = choice(CACHE_MARKS), default_value = "off", value_name = "POLICY")]
    #[arg(display_order = RARE)]
    pub(crate) cache_marks: CachePolicy,
    /// File for the JSON report
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) report: Option<PathBuf>,
}

/// Prompt cache marks in a request body.
const CACHE_MARKS: &[(&str, &str, CachePolicy)] = &[
    ("off", "None, for providers that cache automatically", CachePolicy::Off),
    (
        "stable",
        "After the leading system messages, and after the prefix that the next turn sends again",
        CachePolicy::Stable,
    ),
];

/// Output formats of `ctx assemble`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Table,
    Json,
    Text,
    Snapshot,
    /// A request body.
    Body(Dialect),
}

const FORMATS: &[(&str, &str, Format)] = &[
    ("table", "A table of the messages and decisions", Format::Table),
    ("json", "Messages, report and effects", Format::Json),
    ("text", "The full text of the messages", Format::Text),
    ("snapshot", "A stable text for comparison: messages, sources, decisions, diagnostics", Format::Snapshot),
    ("openai", "A request body for OpenAI Chat Completions", Format::Body(Dialect::OpenaiChat)),
    ("openai-responses", "A request body for OpenAI Responses", Format::Body(Dialect::OpenaiResponses)),
    ("anthropic", "A request body for Anthropic Messages", Format::Body(Dialect::Anthropic)),
    ("gemini", "A request body for Gemini generateContent", Format::Body(Dialect::Gemini)),
    (
        "completion",
        "A request body for text completions, formatted by a turn template",
        Format::Body(Dialect::Completion),
    ),
];

/// Explain how the context is built, or trace one message
///
/// For each processor, shows the number of messages before and after, the changes, and the log. The token budget and
/// the decisions with their reasons follow. With MSG, traces one message: the sources of its text, the changes by each
/// processor, its tokens, and whether the next turn can reuse it from the prompt cache. If the message is not sent,
/// shows the reason.
///
/// AGENT can also be a request body of OpenAI, Anthropic or Gemini: lists its tools, system prompt and messages with their
/// tokens. In a log of requests, MSG is the number of a request.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx explain agent.yaml --session chat.json --context-tokens 8000\n  \
    ctx explain agent.yaml --session chat.json 0\n  \
    ctx explain agent.yaml --session chat.json history:n3\n  \
    ctx explain --session chat.json --message 2\n  \
    ctx explain agent.yaml --session chat.json --html context.html\n  \
    ctx explain agent.yaml --session chat.json --timings\n  \
    ctx explain request.json\n  \
    ctx explain requests.jsonl 12\n  \
    ctx explain agent.yaml --session chat.json --json")]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) turn: TurnArguments,
    /// Message to trace: its number, or its source as printed in tables
    #[arg(value_name = "MSG", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) message_behind: Option<String>,
    /// Same as MSG, for use without AGENT
    #[arg(long, value_name = "MSG", conflicts_with = "message_behind", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) message: Option<String>,
    /// File for a self-contained HTML report
    #[arg(long, value_name = "FILE", conflicts_with_all = ["message_behind", "message"])]
    pub(crate) html: Option<PathBuf>,
    /// Print the report or message trace as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check files for errors, and apply safe fixes
///
/// Finds unknown anchors and macros, undeclared targets, wrong types, broken references and other mistakes. In a
/// request body, finds fields that the provider would reject.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:\n  \
    ctx check presets/ chat.json\n  \
    ctx check presets/ --deny-warnings --json\n  \
    ctx check agent.yaml --worldbook sky.json\n  \
    ctx check agent.yaml --fix\n  \
    ctx check --explain CTX0200\n\n\
    Exit codes: 0 no errors, 1 errors found, 2 usage error, 3 a file cannot be read, parsed or written.")]
pub(crate) struct CheckArguments {
    /// Files, or folders with JSON, JSON Lines, YAML and `ctx.toml` files [default: the current folder]
    pub(crate) paths: Vec<PathBuf>,
    /// Apply safe fixes and show the changes
    #[arg(long)]
    pub(crate) fix: bool,
    /// With `--fix`, show the changes without writing them
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Explain a diagnostic code, such as CTX0200
    #[arg(long, value_name = "CODE", conflicts_with_all = ["paths", "worldbooks", "fix", "deny_warnings"])]
    pub(crate) explain: Option<String>,
    /// Worldbook file for the agents, repeatable
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// Format of the files, and of unknown files in folders, or API dialect of request bodies
    #[arg(long = "as", value_name = "FORMAT", value_parser = [
        "agent", "session", "lorebook", "profile",
        "openai", "openai-responses", "anthropic", "gemini", "completion",
    ])]
    pub(crate) format: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run snapshot tests of contexts
///
/// A test case is a folder with an agent (`agent.yaml`), a conversation (`session.json`) or both, and the snapshot
/// `expected.txt`. It can also contain `profile.yaml`, `worldbook.json` and options in `case.yaml`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx test tests\n  \
    ctx test tests --update              save the results as snapshots\n  \
    ctx test tests --watch               rerun when a file changes\n  \
    ctx test tests --junit results.xml   write a report for CI\n\n\
    Exit codes: 0 all tests passed, 1 a test failed or has no snapshot, 2 usage error,\n\
    3 a file cannot be read.")]
pub(crate) struct TestArguments {
    /// Folders to search for test cases
    #[arg(default_value = ".", value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Write the results as the new snapshots
    #[arg(long)]
    pub(crate) update: bool,
    /// Rerun the tests when a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["update", "json"])]
    pub(crate) watch: bool,
    #[arg(long, value_name = "FILE", help = "File for a JUnit XML report")]
    pub(crate) junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// List anchors and the entries placed at them
#[derive(Debug, Args)]
pub(crate) struct AnchorsArguments {
    #[command(subcommand)]
    pub(crate) command: AnchorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorsCommand {
    List(AnchorsListArguments),
}

/// List built-in anchors, and the anchors and entries of an agent
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx anchors list\n  \
    ctx anchors list agent.yaml --json")]
pub(crate) struct AnchorsListArguments {
    /// Agent or preset file [default: from ctx.toml]
    pub(crate) agent: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List the processors of the pipeline
#[derive(Debug, Args)]
pub(crate) struct ProcessorsArguments {
    #[command(subcommand)]
    pub(crate) command: ProcessorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProcessorsCommand {
    List(ProcessorsListArguments),
}

/// List the processors in run order, with their settings
///
/// Settings have five layers, from lowest to highest: built-in, user (`ctx.toml`), model, agent, command line. For each
/// processor, the highest layer that names it replaces all lower layers except the built-in defaults.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx processors list\n  \
    ctx processors list agent.yaml --disable token-limiter\n  \
    ctx processors list agent.yaml --json")]
pub(crate) struct ProcessorsListArguments {
    /// Agent or preset file [default: from ctx.toml]
    pub(crate) agent: Option<PathBuf>,
    /// Processor settings of the model, in the format of an agent's `parameters`
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) model_settings: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) switches: SwitchArguments,
    /// Print JSON, including the fields of each processor
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Count the tokens of a text, conversation or request
///
/// Shows the encoding, and whether the count is exact for the model or an estimate. Includes the tools of a
/// request body. Adds all requests of a log.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx count --model gpt-5 chat.json\n  \
    ctx count request.json\n  \
    echo \"Hello\" | ctx count")]
pub(crate) struct CountArguments {
    /// Text, conversation, request body, or log [default: standard input]
    pub(crate) file: Option<PathBuf>,
    /// Model to count tokens for [default: from ctx.toml or the request]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Custom model table, searched before the built-in table
    #[arg(long, value_name = "FILE", display_order = RARE)]
    pub(crate) models: Option<PathBuf>,
    /// Show all messages in the table, even in long conversations
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Create an example project
///
/// Writes an agent, a user profile, a conversation, a test, and a `ctx.toml` that names them. Editors use the JSON
/// Schemas in `.ctx` for completion and checks. With `--lang zh`, the files are Chinese.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctx init demo\n  ctx init demo --long")]
pub(crate) struct InitArguments {
    /// Output folder
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Enable compression and recall for long conversations
    #[arg(long)]
    pub(crate) long: bool,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx completions bash > ~/.local/share/bash-completion/completions/ctx\n  \
    ctx completions fish > ~/.config/fish/completions/ctx.fish")]
pub(crate) struct CompletionsArguments {
    /// Shell
    pub(crate) shell: clap_complete::Shell,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_is_listed_once() {
        let mut listed: Vec<&str> = VERBS.iter().flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        let command = Arguments::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        listed.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(listed, verbs);
    }
}
