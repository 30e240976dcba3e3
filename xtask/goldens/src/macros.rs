//! Cases of the kind `macro`: one text, expanded by SillyTavern.

use anyhow::{Context, Result, ensure};
use ctx_macros::{Dialect, Registry, Scope, Template};
use ctx_project::macro_env::EnvFile;
use ctx_types::{Source, SourceKind, Text, Trust};
use serde_json::{Map, Value, json};

/// What the host of the observations had and no case writes down.
fn host() -> Map<String, Value> {
    let host = json!({
        "tz": "UTC",
        "locale": "en-US",
        "contextTokens": 8000,
        "responseTokens": 300,
        "model": "gpt-4-turbo",
        "texts": { "chatStart": "***", "exampleSeparator": "***" },
    });
    host.as_object().cloned().unwrap_or_default()
}

/// Expands the text of a case.
pub(crate) fn run(input: &Value) -> Result<Value> {
    let text = input.get("text").and_then(Value::as_str).context("a case of this kind needs a `text`")?;
    let env = environment(input)?;
    let (engine2, variables) = expand(text, &env);
    Ok(json!({ "engine2": engine2, "localVarsAfterEngine2": variables }))
}

fn expand(text: &str, env: &Value) -> (String, Map<String, Value>) {
    let EnvFile { env, mut state, .. } = EnvFile::read(env);
    let template = Template::parse(&Text::from(text), Dialect::SillyTavern, &Registry::builtin());
    let origin = Source::new(SourceKind::Preset, Trust::Preset);
    let expansion = template.expand(&env, &mut state, &origin);
    (expansion.text.to_string(), state.variables_json(Scope::Local))
}

/// Makes an environment of an input: what the host had, and over it what the case has.
fn environment(input: &Value) -> Result<Value> {
    let mut env = host();
    for (key, value) in input.as_object().context("the input is no object")? {
        match key.as_str() {
            "text" => {}
            "chat" => {
                env.insert("messages".to_owned(), messages(value)?);
            }
            _ => {
                env.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(Value::Object(env))
}

/// Reads a chat: a list of messages, or a text such as `m0(char 13:00) m1(user 13:30) 2026-01-01`, in which each
/// message is its own name and the date comes last.
fn messages(chat: &Value) -> Result<Value> {
    let Some(text) = chat.as_str() else {
        return Ok(chat.clone());
    };
    let (messages, date) = text.rsplit_once(')').context("no message in `chat`")?;
    let messages = messages.split(')').map(|message| {
        let (name, rest) = message.split_once('(').with_context(|| format!("no `(` in `{message}`"))?;
        let (speaker, time) = rest.split_once(' ').with_context(|| format!("no time in `{rest}`"))?;
        ensure!(matches!(speaker, "user" | "char" | "system"), "nobody is called `{speaker}`");
        let at = format!("{} {}", date.trim(), time.trim());
        Ok(json!({ "role": speaker, "content": name.trim(), "at": at }))
    });
    messages.collect()
}
