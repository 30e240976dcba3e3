//! The command line.

mod chat;
mod compress;
mod diff;
mod import;
mod macros;
mod recall;
mod schema;
mod serve;
mod session;
mod studio;
mod trust;
mod turn;
mod worldbook;

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use ctx_engine::Dialect;
use ctx_language::Language;
use ctx_types::CachePolicy;

pub(crate) use chat::{ChatArguments, DialectName, EndpointArguments, ModeName, StoreArguments};
pub(crate) use compress::{
    BudgetArguments, CompressArguments, CompressCommand, Counting, CountingArguments, EditArguments,
    MaskArguments, MaskSettingArguments, OutputArguments, PassArguments, RegenerateArguments,
    ReportArguments, RunArguments, SummarizerArguments, SummaryArguments, SwitchSummaryArguments,
};
pub(crate) use diff::DiffArguments;
pub(crate) use import::{AgentExportArguments, AgentImportArguments, ExportForm, MigrateArguments};
pub(crate) use macros::{MacrosArguments, MacrosCommand, MacrosExpandArguments, MacrosListArguments};
pub(crate) use recall::RecallArguments;
pub(crate) use schema::SchemaArguments;
pub(crate) use serve::{
    KeyAddArguments, KeyCommand, KeyFileArguments, KeyRevokeArguments, LogLevel, ServeArguments, ServeCommand,
};
pub(crate) use session::{
    DeleteArguments, ExportArguments, ImportArguments, KeptArguments, SessionArguments, SessionCommand,
    SessionFileArguments, StepArguments,
};
pub(crate) use studio::StudioArguments;
pub(crate) use trust::TrustArguments;
pub(crate) use turn::{ConfigArguments, Kind, SwitchArguments, TurnArguments};
pub(crate) use worldbook::{
    WorldbookArguments, WorldbookCheckArguments, WorldbookCommand, WorldbookScanArguments,
};

/// Turn a preset with named anchors and a conversation into exactly the messages that a model receives, and explain
/// every one of them.
#[derive(Debug, Parser)]
#[command(
    name = "ctx",
    bin_name = "ctx",
    version,
    after_help = "Begin with a small project, and look at what its model would receive:\n  \
                  ctx init demo\n  \
                  cd demo\n  \
                  ctx assemble\n\n\
                  Results go to standard output, all else to standard error. `-` is standard input.\n\
                  Exit codes: 0 ok (warnings too), 1 findings, 2 usage, 3 unreadable input, 4 no answer of a\n\
                  provider, 5 no context fits."
)]
pub(crate) struct Arguments {
    /// The language in which the command speaks to people; also `CTX_LANG`
    // Looked for before anything is parsed, so that errors are told in it too.
    #[arg(long = "lang", global = true, value_enum, value_name = "LANG")]
    _lang: Option<LanguageName>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The languages in which people are spoken to.
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

/// The verbs by what they are for.
const VERBS: [(&str, &[&str]); 5] = [
    ("Look", &["assemble", "explain", "diff", "check", "count", "recall", "worldbook"]),
    ("Change", &["studio", "init", "compress", "trust"]),
    ("Converse", &["chat", "serve", "session"]),
    ("Convert", &["import", "export", "migrate"]),
    ("Develop", &["test", "anchors", "processors", "macros", "schema", "completions"]),
];

/// Returns the command line, whose help lists the verbs by what they are for.
pub(crate) fn command() -> clap::Command {
    let command = Arguments::command();
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
    Schema(SchemaArguments),
    Completions(CompletionsArguments),
}

/// Show the messages a model receives, and why
///
/// Each message is shown with its source; below it is listed what was moved or left out, and why.
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
    /// What is printed
    #[arg(long, value_enum, default_value_t = Format::Table, value_name = "FORMAT")]
    pub(crate) format: Format,
    /// Print JSON: short for `--format json`
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Show each message of the conversation in the table; else of a long run the first and the last
    #[arg(long)]
    pub(crate) all: bool,
    /// How a text completion writes turns: the name of a template, or a file with one (JSON or YAML);
    /// by default what suits the model's name
    #[arg(long, value_name = "NAME|FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) template: Option<String>,
    /// Where marks ask the provider to keep the beginning of the request
    #[arg(long, value_enum, default_value_t = CacheMarks::Off, value_name = "POLICY")]
    pub(crate) cache_marks: CacheMarks,
    /// Write the report (JSON) to a file too
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Where marks ask the provider to keep the beginning of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheMarks {
    /// Nowhere; servers that find repetitions by themselves need none
    Off,
    /// Behind what the next turn will send again, and behind the instructions at its head
    Stable,
}

impl From<CacheMarks> for CachePolicy {
    fn from(marks: CacheMarks) -> Self {
        match marks {
            CacheMarks::Off => Self::Off,
            CacheMarks::Stable => Self::Stable,
        }
    }
}

/// What `ctx assemble` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table to read: role, tokens, source, first line; then what was moved, merged or left out
    Table,
    /// Messages, report and effects
    Json,
    /// The whole messages
    Text,
    /// A stable text to compare: messages, sources, decisions, diagnostics
    Snapshot,
    /// The request body of OpenAI's chat completions
    Openai,
    /// The request body of OpenAI's responses
    OpenaiResponses,
    /// The request body of Anthropic's messages
    Anthropic,
    /// The request body of Gemini's generateContent
    Gemini,
    /// The request body of a text completion, with turns written by a template
    Completion,
}

impl Format {
    /// Returns the dialect of a request body; none for what is no request body.
    pub(crate) const fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Table | Self::Json | Self::Text | Self::Snapshot => None,
            Self::Openai => Some(Dialect::OpenaiChat),
            Self::OpenaiResponses => Some(Dialect::OpenaiResponses),
            Self::Anthropic => Some(Dialect::Anthropic),
            Self::Gemini => Some(Dialect::Gemini),
            Self::Completion => Some(Dialect::Completion),
        }
    }
}

/// Show how a context was made: stages, budget, decisions
///
/// For each stage: how many messages it was given and left, what it added, removed and changed, and what it
/// says about it. Then how the budget came about, and each decision with its reason; a run of dropped messages
/// is one line.
/// With MSG the life of one message: where each byte of it came from, what each stage made of it, what it costs, and
/// whether the next turn finds it in the cache; of one that is not sent, why not.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx explain agent.yaml --session chat.json --context-tokens 8000\n  \
    ctx explain agent.yaml --session chat.json 0\n  \
    ctx explain agent.yaml --session chat.json history:n3\n  \
    ctx explain --session chat.json --message 2\n  \
    ctx explain agent.yaml --session chat.json --html context.html\n  \
    ctx explain agent.yaml --session chat.json --timings\n  \
    ctx explain agent.yaml --session chat.json --json")]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) turn: TurnArguments,
    /// The message to follow through all stages: its number in the context, or its source as tables print it
    #[arg(value_name = "MSG", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) message_behind: Option<String>,
    /// The same as MSG, when no agent is given
    #[arg(long, value_name = "MSG", conflicts_with = "message_behind", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) message: Option<String>,
    /// Write the whole explanation as a web page that needs no network and no scripts
    #[arg(long, value_name = "FILE", conflicts_with_all = ["message_behind", "message"])]
    pub(crate) html: Option<PathBuf>,
    /// Print the report, or the life of the message, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Find what is wrong with files, and fix what is certain
///
/// Unknown anchors and macros, targets that no entry declares, values of wrong types, broken links, and
/// whatever else is not what its author meant. Of a request body: what its provider would refuse.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(after_help = "Examples:\n  \
    ctx check presets/ chat.json\n  \
    ctx check presets/ --deny-warnings --json\n  \
    ctx check agent.yaml --worldbook sky.json\n  \
    ctx check agent.yaml --fix\n  \
    ctx check --explain CTX0200\n\n\
    Exit codes: 0 nothing is wrong (warnings pass unless denied), 1 findings, 2 usage, 3 a file cannot be read.")]
pub(crate) struct CheckArguments {
    /// Files, or folders whose JSON, JSON Lines and YAML files, and `ctx.toml`, are checked
    #[arg(required_unless_present = "explain")]
    pub(crate) paths: Vec<PathBuf>,
    /// A worldbook that is at hand for the agents; may be given several times
    #[arg(long = "worldbook", value_name = "FILE")]
    pub(crate) worldbooks: Vec<PathBuf>,
    /// The format of files whose content does not show it
    #[arg(long = "as", value_name = "FORMAT", value_parser = ["agent", "session", "lorebook", "profile"])]
    pub(crate) format: Option<String>,
    /// Make the fixes that are certain, such as the right name of an anchor, and show what changes
    #[arg(long)]
    pub(crate) fix: bool,
    /// With `--fix`: only show what would change
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,
    /// Fail on warnings too
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Explain the code of a finding, with an example and a way out, in place of checking files
    #[arg(long, value_name = "CODE", conflicts_with_all = ["paths", "worldbooks", "fix", "deny_warnings"])]
    pub(crate) explain: Option<String>,
    /// Print the findings, or what a code means, as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compare contexts with the expected ones
///
/// A case is a folder with an agent, a conversation or both (`agent.yaml`, `session.json`), a profile
/// (`profile.yaml`), a worldbook (`worldbook.json`) and options (`case.yaml`), each as it is needed, and the
/// expected result, `expected.txt`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx test tests\n  \
    ctx test tests --update              writes what differs; look at it before you keep it\n  \
    ctx test tests --watch               runs them again whenever a file changes\n  \
    ctx test tests --junit results.xml   also writes what build servers read\n\n\
    Exit codes: 0 all passed, 1 a context differs or nothing is expected of it yet, 3 a case cannot be read.")]
pub(crate) struct TestArguments {
    /// Folders, or else the current one; each of them, and each below, with an agent, a conversation, options or an
    /// expected result is a case
    #[arg(default_value = ".", hide_default_value = true, value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Expect the results from now on: write them
    #[arg(long)]
    pub(crate) update: bool,
    /// Run the cases again whenever a file below the folders, or one that a case names, changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["update", "json"])]
    pub(crate) watch: bool,
    /// Also write the outcomes as `JUnit` XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the outcome of each case as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// List the anchors of presets, and what goes to each
#[derive(Debug, Args)]
pub(crate) struct AnchorsArguments {
    #[command(subcommand)]
    pub(crate) command: AnchorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorsCommand {
    List(AnchorsListArguments),
}

/// List the built-in anchors; with an agent also those that it declares, and what goes to each
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx anchors list\n  \
    ctx anchors list agent.yaml --json")]
pub(crate) struct AnchorsListArguments {
    /// The agent or preset (JSON or YAML); that of `ctx.toml` if absent
    pub(crate) agent: Option<PathBuf>,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List the processors that make a context, and their settings
#[derive(Debug, Args)]
pub(crate) struct ProcessorsArguments {
    #[command(subcommand)]
    pub(crate) command: ProcessorsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProcessorsCommand {
    List(ProcessorsListArguments),
}

/// List all processors in the order in which they run, with what is set and who set it
///
/// Settings come in layers: built-in, user (`ctx.toml`), model, agent, command line. The highest layer that
/// names a processor decides about it as a whole: what it does not say is built-in again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx processors list\n  \
    ctx processors list agent.yaml --disable token-limiter\n  \
    ctx processors list agent.yaml --json")]
pub(crate) struct ProcessorsListArguments {
    /// The agent or preset (JSON or YAML); that of `ctx.toml` if absent
    pub(crate) agent: Option<PathBuf>,
    /// The model's own settings of processors: an object like an agent's `parameters`
    #[arg(long, value_name = "FILE")]
    pub(crate) model_settings: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) switches: SwitchArguments,
    /// Print the list as JSON, with the fields of each processor
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Count the tokens of a text or a conversation
///
/// It names the encoding used for counting, and whether that is exact for the model or an estimate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx count --model gpt-5 chat.json\n  \
    echo \"Hello\" | ctx count")]
pub(crate) struct CountArguments {
    /// A conversation, or any other text; standard input if absent
    pub(crate) file: Option<PathBuf>,
    /// The model whose tokens are counted
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// A table of models, whose rows are tried before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) models: Option<PathBuf>,
    /// Show each message in the table; else of a long run the first and the last
    #[arg(long)]
    pub(crate) all: bool,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Create a small project to begin with
///
/// `ctx.toml` names the files, so that `ctx assemble` in the new folder needs no names; `ctx test` compares what they
/// give with `expected.txt`. Editors complete and check the files by the schemas in `.ctx`.
/// No key and no network is needed to look at its context.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ctx init demo\n  ctx init demo --long")]
pub(crate) struct InitArguments {
    /// The folder to write to
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Have the agent remember conversations that outgrow the window: compression and recall are on
    #[arg(long)]
    pub(crate) long: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the written files as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ctx completions bash > ~/.local/share/bash-completion/completions/ctx\n  \
    ctx completions fish > ~/.config/fish/completions/ctx.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
    /// Print the script within JSON
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
