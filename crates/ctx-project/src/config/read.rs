//! Reads the keys of a `ctx.toml` value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ctx_types::{Diagnostic, phrase};
use serde_json::{Map, Value};

use crate::codes::{BAD_VALUE, UNKNOWN_KEY};
use crate::endpoint::{EndpointConfig, EndpointKeys};
use crate::files;
use crate::keyed::{Parsed, Shaped, Tokens};
use crate::keys::Keys;

use super::guard::Guard;
use super::key_table::table_of;
use super::{
    Config, ConfigFile, DefaultFile, KeyRule, Origin, ServeConfig, ServeKeys, ToolKeys, ToolNames,
    ToolRuleKeys, ZoneName, rule_of,
};

impl Config {
    /// Reads the keys of a file. Paths are relative to `folder`.
    pub(super) fn of(value: &Value, folder: &Path) -> Self {
        let is_secret = |key: &str| rule_of(key).is_some_and(KeyRule::hides_unknown);
        let mut keys = match Keys::with_secrets(value, is_secret) {
            Ok(keys) => keys,
            Err(fault) => return Self { found: vec![*fault], ..Self::default() },
        };
        let file = ConfigFile::read(&mut keys);
        let place = |path: &str| files::below(folder, path);
        let named = [
            ("agent", &file.agent),
            ("session", &file.session),
            ("profile", &file.profile),
            ("models", &file.models),
        ];
        let origin = Rc::new(Origin::default());
        let named = named.into_iter().filter_map(|(key, path)| {
            Some(DefaultFile { key, path: place(path.as_deref()?), origin: origin.clone() })
        });
        let files = named.collect();
        let (endpoint, in_endpoint) = endpoint_of(file.endpoint.as_ref(), "endpoint", &place);
        let (fallbacks, in_fallbacks) = endpoints_of(file.fallbacks.as_ref(), "fallbacks", &place);
        let (agent_endpoints, in_endpoints) = endpoints_of(file.endpoints.as_ref(), "endpoints", &place);
        let (transcription, in_transcription) =
            endpoint_of(file.transcription.as_ref(), "transcription", &place);
        let (serve, in_serve) = serve_of(file.serve.as_ref());
        let (tools_folder, tool_names, in_tools) = tools_of(file.tools.as_ref(), &place);
        let parameters = |list: Value| Value::Object(Map::from_iter([("processors".to_owned(), list)]));
        Self {
            name: None,
            guard: Guard::default(),
            trusted: None,
            worldbooks_of: origin,
            user_parameters: file.processors.map(|list| parameters(list.value)),
            folder: folder.to_owned(),
            files,
            worldbooks: file.worldbooks.iter().map(|path| place(path)).collect(),
            endpoint,
            fallbacks,
            agent_endpoints,
            serve,
            transcription,
            conversation_names: file.conversation_names,
            store: file.store.as_deref().map(place),
            assets: file.assets.as_deref().map(place),
            tools: file.tools.map(|shaped| shaped.value),
            tool_names,
            tools_folder,
            compression: file.compression.map(|shaped| shaped.value),
            model: file.model,
            context_tokens: file.context_tokens.map(|Tokens(tokens)| tokens),
            reserve: file.reserve.map(|Tokens(tokens)| tokens),
            tz: file.tz.map(|Parsed(ZoneName(zone))| zone),
            on_loss: file.on_loss.map(|Parsed(on_loss)| on_loss),
            found: [
                keys.finish().into_iter().map(led_into_table).collect(),
                in_endpoint,
                in_fallbacks,
                in_endpoints,
                in_transcription,
                in_serve,
                in_tools,
            ]
            .concat(),
        }
    }
}

/// Reads the `serve` table and its diagnostics.
fn serve_of(table: Option<&Shaped<ServeKeys>>) -> (Option<ServeConfig>, Vec<Diagnostic>) {
    let Some(table) = table else { return (None, Vec::new()) };
    let mut keys = match Keys::of(&table.value) {
        Ok(keys) => keys,
        Err(fault) => return (None, below_pointer("/serve", vec![*fault])),
    };
    let ServeKeys { aliases, origins, passthrough, cache_marks } = ServeKeys::read(&mut keys);
    let mut found = below_pointer("/serve", keys.finish());
    let name = |(alias, agent): (&String, &Value)| Some((alias.clone(), agent.as_str()?.to_owned()));
    let aliases: Option<BTreeMap<String, String>> = aliases.unwrap_or_default().0.iter().map(name).collect();
    if aliases.is_none() {
        let wrong = phrase!("`aliases` must be a table whose values are strings");
        let help = phrase!("write each alias as `name = \"agent\"`");
        found.push(Diagnostic::error(BAD_VALUE, wrong).at_pointer("/serve/aliases").with_help(help));
    }
    let cache_marks = cache_marks.map(|Parsed(policy)| policy);
    (Some(ServeConfig { aliases: aliases.unwrap_or_default(), origins, passthrough, cache_marks }), found)
}

/// Reads the `tools` table: its folder, the tools in it, and its diagnostics.
fn tools_of(
    table: Option<&Shaped<ToolKeys>>,
    place: &dyn Fn(&str) -> PathBuf,
) -> (Option<PathBuf>, Vec<ToolNames>, Vec<Diagnostic>) {
    let Some(table) = table else { return (None, Vec::new(), Vec::new()) };
    let mut keys = match Keys::of(&table.value) {
        Ok(keys) => keys,
        Err(fault) => return (None, Vec::new(), below_pointer("/tools", vec![*fault])),
    };
    let file = ToolKeys::read(&mut keys);
    let mut found = below_pointer("/tools", keys.finish());
    let mut named = Vec::new();
    for (rules, pointer) in [(&file.allow, "/tools/allow"), (&file.deny, "/tools/deny")] {
        let Some(rules) = rules else { continue };
        match Keys::of(&rules.value) {
            Ok(mut keys) => {
                let ToolRuleKeys { categories, tools } = ToolRuleKeys::read(&mut keys);
                named.push(ToolNames { pointer: pointer.to_owned(), categories, tools });
                found.extend(below_pointer(pointer, keys.finish()));
            }
            Err(fault) => found.extend(below_pointer(pointer, vec![*fault])),
        }
    }
    (file.folder.as_deref().map(place), named, found)
}

/// Prepends a pointer to the pointers of diagnostics.
fn below_pointer(pointer: &str, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for finding in &mut found {
        let below = finding.location.pointer.as_deref().unwrap_or_default();
        finding.location.pointer = Some(format!("{pointer}{below}"));
    }
    found
}

/// Reads a list of endpoint tables.
fn endpoints_of(
    list: Option<&Shaped<Vec<EndpointKeys>>>,
    key: &str,
    place: &dyn Fn(&str) -> PathBuf,
) -> (Vec<EndpointConfig>, Vec<Diagnostic>) {
    let list = list.and_then(|list| list.value.as_array()).map(Vec::as_slice).unwrap_or_default();
    let read = list.iter().enumerate().map(|(index, table)| {
        let (endpoint, found) = EndpointConfig::read(table, place);
        (endpoint, below_pointer(&format!("/{key}/{index}"), found))
    });
    let (endpoints, found): (Vec<_>, Vec<_>) = read.unzip();
    (endpoints, found.concat())
}

/// Reads an endpoint table.
fn endpoint_of(
    table: Option<&Shaped<EndpointKeys>>,
    key: &'static str,
    place: &dyn Fn(&str) -> PathBuf,
) -> (EndpointConfig, Vec<Diagnostic>) {
    let read = table.map(|table| EndpointConfig::read(&table.value, place));
    let (endpoint, found) = read.unwrap_or_default();
    (endpoint, below_pointer(&format!("/{key}"), found))
}

/// Names the table to which an unknown top-level key belongs.
fn led_into_table(mut found: Diagnostic) -> Diagnostic {
    let key = found.location.pointer.as_deref().and_then(|pointer| pointer.strip_prefix('/'));
    if found.code == UNKNOWN_KEY
        && let Some(table) = key.and_then(table_of)
    {
        found.help = Some(phrase!("move it below `[{table}]`", table));
        found.fix = None;
    }
    found
}
