//! Cases of the kinds `regex_*`: a `SillyTavern` script on a text.

use anyhow::{Context, Result, bail};
use ctx_macros::{Dialect, Registry, Template};
use ctx_preset_import::read_regex_scripts;
use ctx_processors::regex_rules::{RuleLimits, RuleRun, RuleSet, RuleSource, Stage, Subject, Target};
use ctx_project::macro_env::EnvFile;
use ctx_types::{RegexConfig, Role, Source, Text, Trust};
use serde_json::{Value, json};

/// Runs one script on the text of an answer, whatever its placement, as far as it is switched on.
pub(crate) fn run(input: &Value) -> Result<Value> {
    let mut script = input.get("script").context("a case of this kind needs a `script`")?.clone();
    // Which texts the script is for is not looked at here: it runs on any.
    script["placement"] = json!([AI_OUTPUT]);
    script["markdownOnly"] = json!(false);
    script["promptOnly"] = json!(false);
    apply(script, input, Stage::Store, None)
}

/// Runs a script with some flags on a text that is stored, shown or sent.
pub(crate) fn gate(input: &Value) -> Result<Value> {
    let stage = match input.get("mode").and_then(Value::as_str) {
        Some("store") => Stage::Store,
        Some("display") => Stage::Render,
        Some("prompt") => Stage::Request,
        mode => bail!("no mode {mode:?}"),
    };
    apply(a_to_b(input, &["markdownOnly", "promptOnly"]), input, stage, None)
}

/// Runs a script with bounds on a text at a depth.
pub(crate) fn depth(input: &Value) -> Result<Value> {
    let depth = input.get("depth").and_then(Value::as_u64).context("a case of this kind needs a `depth`")?;
    let script = a_to_b(input, &["minDepth", "maxDepth"]);
    apply(script, input, Stage::Store, Some(usize::try_from(depth)?))
}

/// The placement of the model's answers.
const AI_OUTPUT: u64 = 2;

/// The script that the cases of gates and depths have, with some fields of theirs.
fn a_to_b(input: &Value, keys: &[&str]) -> Value {
    let mut script =
        json!({ "id": "x", "findRegex": "/a/g", "replaceString": "b", "placement": [AI_OUTPUT] });
    for key in keys {
        script[*key] = input.get(*key).cloned().unwrap_or_default();
    }
    script
}

fn apply(script: Value, input: &Value, stage: Stage, depth: Option<usize>) -> Result<Value> {
    let (preset, _) = read_regex_scripts(script);
    let config = RegexConfig { presets: vec![preset], ..RegexConfig::default() };
    let source = RuleSource { config: &config, place: "", document: None, trust: Trust::Import };
    let (rules, _) = RuleSet::compile(&[source], Dialect::SillyTavern, &Registry::builtin());
    let EnvFile { env, mut state, .. } = EnvFile::read(input);
    let mut expand = |template: &Template, source: &Source| template.expand(&env, &mut state, source);
    let text = input.get("text").and_then(Value::as_str).context("a case of this kind needs a `text`")?;
    let mut run = RuleRun::new(&rules, RuleLimits::default(), &mut expand);
    let subject = Subject { stage, target: Target::Message(Role::Assistant), depth };
    Ok(json!(run.apply(&Text::from(text), subject).text))
}
