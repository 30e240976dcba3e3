//! `ctx processors`: the processors that make a context, how they are set, and who set them.

use ctx_engine::{Compile, Engine};
use ctx_language::Language;
use ctx_pipeline::internal::{EffectiveSetting, SourcedValue};
use ctx_pipeline::{Descriptor, SettingOrigin};
use ctx_types::{Phrase, TurnInput, phrase};
use serde_json::{Value, json};

use crate::args::{ProcessorsArguments, ProcessorsCommand, ProcessorsListArguments};
use crate::exit::Exit;
use crate::lang;
use crate::project;
use crate::show;
use ctx_project::Sources;
use ctx_project::error::Result;
use ctx_project::inputs::{self, InputFile};
use ctx_project::turn::{Turn, TurnFiles};

/// Lists processors.
pub(crate) fn run(language: Language, arguments: &ProcessorsArguments) -> Result<Exit> {
    let ProcessorsCommand::List(arguments) = &arguments.command;
    let mut sources = show::sources(language);
    let turn = turn(language, arguments, &mut sources)?;
    let (settings, found) = turn.settings();
    show::findings(language, &sources, &found);
    let registry = Engine::new().processors();
    let mut rows: Vec<(&Descriptor, &EffectiveSetting)> = registry.descriptors().zip(settings).collect();
    // Stable: of two with one priority the one that was registered earlier runs earlier.
    rows.sort_by_key(|(_, setting)| setting.priority.value);
    let json = || rows.iter().copied().map(to_json).collect::<Value>();
    show::output(arguments.json, json, || table(language, &rows))
}

fn table(language: Language, rows: &[(&Descriptor, &EffectiveSetting)]) -> String {
    let table = show::listing(language, HEADER, rows.iter().copied().map(|row| to_cells(language, row)))
        + &lang::lines(language, LEGEND);
    if rows.iter().any(|(_, setting)| !setting.overrules.is_empty()) {
        table + &lang::lines(language, LAYERS)
    } else {
        table
    }
}

const HEADER: [&str; 4] = ["priority", "processor", "state", "settings"];

/// What stands below the table.
const LEGEND: &str =
    "\nvalues without an origin in brackets are defaults; use `--json` for names, descriptions, and fields\n";

/// What stands below it where layers of settings meet.
const LAYERS: &str = "`agent over user`: the agent's settings of a processor replace all of the user's\n";

fn turn(language: Language, arguments: &ProcessorsListArguments, sources: &mut Sources) -> Result<Turn> {
    let ProcessorsListArguments { agent, model_settings, .. } = arguments;
    inputs::check_stdin([agent, model_settings].into_iter().flatten())?;
    let config = project::config(language, &arguments.config, sources)?;
    let agent = config.file("agent", agent.clone(), sources)?.map(InputFile::from);
    let model_settings = model_settings.as_ref().map(InputFile::from);
    let files = TurnFiles { agent, model_settings, ..TurnFiles::default() };
    let with = Compile::default().with(|compile| compile.switches = arguments.switches.clone().into());
    Turn::read_with((Engine::new(), with), config, &files, TurnInput::default(), sources)
}

fn to_cells(language: Language, (descriptor, setting): (&Descriptor, &EffectiveSetting)) -> [String; 4] {
    let state = SourcedValue {
        value: lang::word(language, if setting.enabled.value { "on" } else { "off" }),
        origin: setting.enabled.origin,
    };
    let values = setting.config.values().iter();
    let marked_value = |setting| marked(language, setting);
    let values = values.map(|value| format!("{} = {}", value.key, marked_value(&value.setting)));
    let core = descriptor
        .is_core
        .then(|| lang::say(language, &phrase!(" ({counter})", counter = Phrase::from("core"))));
    let priority = match marked(language, &setting.priority) {
        moved if setting.priority.value != descriptor.priority => {
            let built_in = phrase!("default: {priority}", priority = descriptor.priority.to_string());
            format!("{moved}\n{}", lang::say(language, &built_in))
        }
        priority => priority,
    };
    let deciding = setting.decided_by.iter().chain(&setting.overrules).map(|origin| origin.as_str());
    let deciding: Vec<&str> = deciding.collect();
    let state = match deciding.as_slice() {
        [] | [_] => marked(language, &state),
        _ => format!(
            "{}\n{}",
            marked(language, &state),
            deciding.join(&format!(" {} ", lang::word(language, "over")))
        ),
    };
    [
        priority,
        format!("{}{}", setting.id, core.unwrap_or_default()),
        state,
        values.collect::<Vec<_>>().join("\n"),
    ]
}

/// Writes a value, with who set it unless that is the processor itself.
fn marked<T: std::fmt::Display>(language: Language, value: &SourcedValue<T>) -> String {
    match value.origin {
        SettingOrigin::BuiltIn => value.value.to_string(),
        origin => {
            let origin = lang::word(language, origin.as_str());
            format!("{}{}", value.value, lang::say(language, &phrase!(" ({counter})", counter = &*origin)))
        }
    }
}

fn to_json((descriptor, setting): (&Descriptor, &EffectiveSetting)) -> Value {
    json!({
        "id": setting.id,
        "name": descriptor.name,
        "description": descriptor.description,
        "isCore": descriptor.is_core,
        "perMessage": descriptor.per_message,
        "decidedBy": setting.decided_by,
        "overrules": setting.overrules,
        "enabled": setting.enabled,
        "defaultEnabled": descriptor.default_enabled,
        "priority": setting.priority,
        "defaultPriority": descriptor.priority,
        "config": setting.config,
        "configFields": descriptor.config_fields,
    })
}
