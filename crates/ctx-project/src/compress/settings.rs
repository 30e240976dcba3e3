//! The settings of summaries, from their layers.

use ctx_compress::mask::{MaskConfig, MaskLayer, MaskLevel, MaskSettings};
use ctx_engine::Engine;
use ctx_types::Persist as _;
use ctx_types::{Agent, Phrase, phrase};
use serde_json::{Map, Value};

use crate::config::Config;
use crate::error::{ProjectError, Result, unusable};
use crate::inputs::{self, InputFile};
use crate::options::{SummarizerOptions, SummaryOptions};
use crate::sources::Sources;

/// The key under which applications keep these settings.
const KEY: &str = "contextCompression";

/// Reads and merges all layers; what is odd about them is among the result's diagnostics.
pub fn settings(
    options: &SummaryOptions,
    summarizer: Option<&SummarizerOptions>,
    config: &Config,
    sources: &mut Sources,
) -> Result<MaskSettings> {
    let mut layers = Vec::new();
    let mut found = Vec::new();
    let mut names = Vec::new();
    if let Some(path) = &options.settings {
        let file = InputFile::from(path);
        let (value, odd) = inputs::document(&file, sources)?;
        found.extend(odd);
        if !value.is_object() {
            return Err(unusable!("`{file}` is not an object of compression settings", file = file.name));
        }
        let (value, pointer) = below(&value, &[KEY]).unwrap_or((value, String::new()));
        layers.push(MaskLayer { level: MaskLevel::Global, value, pointer });
        names.push((MaskLevel::Global, file.name));
    }
    if let Some(path) = config.file("agent", options.agent.clone(), sources)? {
        let file = InputFile::from(path);
        let name = file.name.clone();
        let agent = inputs::agent(file, &Engine::new(), sources)?;
        found.extend(agent.found.iter().cloned());
        if let Some((value, pointer)) = below(&agent.agent.write(), &["parameters", KEY]) {
            layers.push(MaskLayer { level: MaskLevel::Agent, value, pointer });
            names.push((MaskLevel::Agent, name));
        }
    }
    layers.push(MaskLayer::new(MaskLevel::Call, call(&options.set, summarizer)?));
    // One by one, so that each finding is known to be about its own file.
    for layer in &layers {
        let name = names.iter().find(|(level, _)| *level == layer.level).map(|(_, name)| name.as_str());
        let odd = MaskConfig::resolve(std::slice::from_ref(layer)).diagnostics;
        match (name, odd.first()) {
            (Some(name), _) => found.extend(odd.into_iter().map(|odd| odd.in_document(name))),
            (None, Some(odd)) => {
                return Err(ProjectError::Usage(with_help(odd)));
            }
            (None, None) => {}
        }
    }
    Ok(MaskSettings { diagnostics: found, ..MaskConfig::resolve(&layers) })
}

/// Merges what holds for a chat: `compression` of `ctx.toml`, and over it the agent's own `contextCompression`.
pub fn settings_of(of_config: Option<&Value>, agent: &Agent) -> MaskSettings {
    let layer = |level, value, pointer: &str| MaskLayer { level, value, pointer: pointer.to_owned() };
    let global = of_config.cloned().map(|value| layer(MaskLevel::Global, value, "/compression"));
    let of_agent = agent.parameters.as_ref().and_then(|value| value.get(KEY)).cloned();
    let of_agent = of_agent.map(|value| MaskLayer::new(MaskLevel::Agent, value));
    MaskConfig::resolve(&global.into_iter().chain(of_agent).collect::<Vec<_>>())
}

fn with_help(found: &ctx_types::Diagnostic) -> Phrase {
    let message = &found.message;
    if let Some(help) = &found.help {
        phrase!("`--set`: {message}; {help}", message, help)
    } else {
        phrase!("`--set`: {message}", message)
    }
}

/// Returns what stands below some keys, and its pointer.
fn below(value: &Value, keys: &[&str]) -> Option<(Value, String)> {
    let inner = keys.iter().try_fold(value, |value, key| value.get(key))?;
    Some((inner.clone(), format!("/{}", keys.join("/"))))
}

/// Makes an object of `key=value` pairs; a value that is no JSON is a text.
fn call(pairs: &[String], summarizer: Option<&SummarizerOptions>) -> Result<Value, ProjectError> {
    let mut map = Map::new();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=') else {
            return Err(ProjectError::Usage(phrase!(
                "`--set {pair}` has no `=`; use the form `--set protectRecentCount=4`",
                pair
            )));
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        map.insert(key.trim().to_owned(), value);
    }
    let timeout = summarizer.and_then(|summarizer| summarizer.timeout);
    map.extend(timeout.map(|seconds| ("summaryTimeout".to_owned(), Value::from(seconds))));
    let model = summarizer.and_then(|summarizer| summarizer.model.as_deref());
    map.extend(model.map(|model| ("summaryModel".to_owned(), Value::from(model))));
    Ok(Value::Object(map))
}
