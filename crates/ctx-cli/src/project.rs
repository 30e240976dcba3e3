//! Connects commands to the project library: converts arguments to options, and reports to and asks the user.

use ctx_language::Language;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use ctx_engine::{Context, Engine, Switches};
use ctx_project::config::{AddedFiles, Answer, Ask, Config, Untrusted, Withheld, by_reach};
use ctx_project::error::Result;
use ctx_project::inputs::{self, InputFile};
use ctx_project::options::{
    ConfigOptions, CountingOptions, EndpointOptions, SummarizerOptions, SummaryOptions, TurnOptions,
};
use ctx_project::session_file::Target;
use ctx_project::sources::Sources;
use ctx_project::turn::{Turn, TurnFiles};
use ctx_tokens::ModelTable;
use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};
use unicode_width::UnicodeWidthStr as _;

use crate::args::{
    ConfigArguments, Counting, CountingArguments, EndpointArguments, MaskSettingArguments, OutputArguments,
    SummarizerArguments, SwitchArguments, TurnArguments,
};
use crate::{lang, show};

/// Opens the turn of a command line on top of the defaults in `ctx.toml`.
pub(crate) fn turn(language: Language, arguments: &TurnArguments, sources: &mut Sources) -> Result<Turn> {
    let config = config(language, &arguments.setup.config, sources)?;
    turn_on(language, (Engine::new(), config), &arguments.options(), |_| {}, sources)
}

/// Like [`turn`], with the given engine and defaults. `change` can change the files before they are read.
pub(crate) fn turn_on(
    language: Language,
    (engine, config): (Engine, Config),
    options: &TurnOptions,
    change: impl FnOnce(&mut TurnFiles),
    sources: &mut Sources,
) -> Result<Turn> {
    let (turn, added_files) = Turn::open_on(engine, options, config, change, sources)?;
    report_added_files(language, added_files.as_ref());
    Ok(turn)
}

/// Assembles a turn. If that fails, prints the diagnostics of the settings, which may be the cause.
pub(crate) fn assemble(language: Language, turn: &Turn, sources: &Sources, timings: bool) -> Result<Context> {
    Ok(turn.assemble(timings).inspect_err(|_| show::findings(language, sources, &turn.settings().1))?)
}

/// Reads the defaults in `ctx.toml`.
pub(crate) fn config(
    language: Language,
    arguments: &ConfigArguments,
    sources: &mut Sources,
) -> Result<Config> {
    Config::read(&config_options(language, arguments), sources)
}

/// Reads the table of models: the built-in models, `--models`, and `ctx.toml`.
pub(crate) fn model_table(
    language: Language,
    (config, models): (&ConfigArguments, &Option<PathBuf>),
    sources: &mut Sources,
) -> Result<ModelTable> {
    let config = self::config(language, config, sources)?;
    let mut table = Arc::new(ModelTable::builtin());
    if let Some(file) = config.file("models", models.clone(), sources)? {
        let found = inputs::add_models(&mut table, &InputFile::from(file), sources)?;
        show::findings(language, sources, &found);
    }
    Ok(Arc::unwrap_or_clone(table))
}

/// Lists the files that `ctx.toml` adds to the files of the command line.
pub(crate) fn report_added_files(language: Language, added_files: Option<&AddedFiles>) {
    let Some(AddedFiles { config, files }) = added_files else { return };
    let named = files.iter().map(|(key, name)| phrase!("{key} `{name}`", key = Phrase::from(*key), name));
    let files = Argument::list(named, Divider::Comma);
    show::remark(
        language,
        &phrase!("from `{config}`: {files}; use `--no-config` to ignore these", config, files),
    );
}

/// Maximum lines about items that do not reach outside the folder.
const MAX_OTHER_LINES: usize = 10;

/// Describes the withheld keys of an untrusted file, one line for each item. The items that reach outside the folder
/// are complete and come last: others cannot move them off the screen.
pub(crate) fn tell_withheld(language: Language, name: &str, withheld: &[Withheld]) {
    for line in withheld_lines(name, withheld) {
        show::remark(language, &line);
    }
}

fn withheld_lines(name: &str, withheld: &[Withheld]) -> Vec<Phrase> {
    let (outside, mut others): (Vec<_>, Vec<_>) =
        by_reach(withheld).into_iter().partition(|item| item.reaches_outside());
    let count = others.len().saturating_sub(MAX_OTHER_LINES);
    others.truncate(MAX_OTHER_LINES);
    let more = (count > 0)
        .then(|| phrase!("`{name}` has {count} more keys that stay inside its folder", name, count));
    let lines = others.into_iter().chain(outside).map(|item| {
        let (key, value, about) = (&item.key, &item.shown, item.about());
        match &item.target {
            Some(target) => {
                phrase!(
                    "`{name}` sets `{key}` to `{value}` (`{target}`): {about}",
                    name,
                    key,
                    value,
                    target,
                    about
                )
            }
            None => phrase!("`{name}` sets `{key}` to `{value}`: {about}", name, key, value, about),
        }
    });
    more.into_iter().chain(lines).collect()
}

/// Maximum rows of 80 columns before a question. They fit on a screen with 24 rows.
const MAX_ROWS: usize = 20;

/// Returns the rows that lines take on a terminal with 80 columns.
fn rows(language: Language, lines: &[Phrase]) -> usize {
    lines.iter().map(|line| lang::say(language, line).width().div_ceil(80).max(1)).sum()
}

/// Asks the user whether to trust a file, if there is a terminal.
fn ask(language: Language, untrusted: &Untrusted<'_>) -> Answer {
    let name = untrusted.name;
    if let Some(notice) = untrusted.notice {
        show::remark(language, notice);
        return Answer::NotAsked;
    }
    let lines = withheld_lines(name, untrusted.withheld);
    if untrusted.too_many().is_some() || rows(language, &lines) > MAX_ROWS {
        let line = phrase!("`{name}` needs more trust than fits in a question; read the file", name);
        show::remark(language, &line);
        return Answer::NotAsked;
    }
    for line in lines {
        show::remark(language, &line);
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Answer::NotAsked;
    }
    let question = phrase!("`{name}` {state}; trust it? [y/N]", name, state = untrusted.state.phrase());
    show::prompt(&format!("{} ", lang::say(language, &question)));
    let mut answer = String::new();
    // If the reply cannot be read, the user has not agreed.
    std::io::stdin().lock().read_line(&mut answer).unwrap_or_default();
    let is_agreed = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if is_agreed { Answer::Yes } else { Answer::No }
}

/// Converts arguments to options for reading `ctx.toml`. Questions to the user are in the language of the run.
pub(crate) fn config_options(language: Language, arguments: &ConfigArguments) -> ConfigOptions {
    let ask = Ask::by(move |untrusted| ask(language, untrusted));
    ConfigOptions { is_ignored: arguments.no_config, ask: Some(ask) }
}

impl From<SwitchArguments> for Switches {
    fn from(SwitchArguments { enable, disable }: SwitchArguments) -> Self {
        Self { enable, disable }
    }
}

impl From<&EndpointArguments> for EndpointOptions {
    fn from(arguments: &EndpointArguments) -> Self {
        let EndpointArguments { base_url, dialect, key_env, key_file } = arguments.clone();
        Self { base_url, dialect, key_env, key_file }
    }
}

impl From<&CountingArguments> for CountingOptions {
    fn from(arguments: &CountingArguments) -> Self {
        let CountingArguments { counter, model, models } = arguments.clone();
        Self { is_of_model: counter == Counting::Model, model, models }
    }
}

impl From<&MaskSettingArguments> for SummaryOptions {
    fn from(arguments: &MaskSettingArguments) -> Self {
        let MaskSettingArguments { settings, agent, set } = arguments.clone();
        Self { settings, agent, set }
    }
}

impl From<&SummarizerArguments> for SummarizerOptions {
    fn from(arguments: &SummarizerArguments) -> Self {
        Self {
            by: arguments.summarizer.clone(),
            model: arguments.summarizer_model.clone(),
            endpoint: (&arguments.endpoint()).into(),
            timeout: arguments.summarizer_timeout,
            window: arguments.summarizer_window,
        }
    }
}

impl From<&OutputArguments> for Target {
    fn from(output: &OutputArguments) -> Self {
        match &output.out {
            Some(path) => Self::Other(path.clone()),
            None if output.write => Self::InPlace,
            None => Self::Nowhere,
        }
    }
}
