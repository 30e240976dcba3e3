//! Finds the keys of a `ctx.toml` that reach outside its folder.
//!
//! The user may not have read this file: it can come from an archive that they unpacked.

use std::path::{Path, PathBuf};

use ctx_chat::{redact_text, redact_url};
use ctx_types::{Phrase, phrase};
use serde_json::Value;

use super::key_table::{ConfigFile, KeyRow, KeyRule, Reach, Secrecy, ValueType, find, rule_of};
use crate::files;
use crate::secrets::redact_value;

/// A key without effect until the user trusts the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// JSON pointer of the key.
    pub pointer: String,
    /// Values of the key: one item for each element of a list or table.
    pub items: Vec<WithheldItem>,
    /// Command-line option that replaces the key.
    pub(super) option: Option<&'static str>,
    /// Whether most runs do not need the key.
    is_optional: bool,
}

/// One value of a withheld key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WithheldItem {
    /// Key of the item, such as `fallbacks.0.key-env`.
    pub key: String,
    /// Redacted value. Complete if it reaches outside the folder.
    pub shown: String,
    /// Target of a path, if it differs from the path.
    pub target: Option<String>,
    reach: Reach,
}

/// Maximum number of items outside the folder in a question to the user.
pub const MAX_ITEMS: usize = 40;

impl WithheldItem {
    /// Describes the effect of the key.
    pub fn about(&self) -> Phrase {
        match self.reach {
            Reach::Sends => phrase!("controls the destination or contents of requests"),
            Reach::Secret => phrase!("sends a secret"),
            Reach::Asks => phrase!("controls the model, retries, or time limits of requests"),
            Reach::Tools => phrase!("lets the model read files"),
            Reach::Store => phrase!("writes conversations to a file"),
            Reach::Files => phrase!("reads a path outside the folder"),
            Reach::Nothing => phrase!("controls the use of tools"),
        }
    }

    /// Returns whether the key names a host, folder, file, or variable outside the file.
    pub const fn reaches_outside(&self) -> bool {
        !matches!(self.reach, Reach::Nothing | Reach::Asks)
    }
}

impl Withheld {
    /// Returns whether a run can ignore the key: the user's own file replaces it, or most runs do not need it.
    pub(super) fn is_optional(&self, own: &Value) -> bool {
        self.is_optional
            || match self.pointer.split_once("/endpoint/") {
                Some(_) => names_endpoint(own),
                None => own.pointer(&self.pointer).is_some(),
            }
    }

    /// Returns the dotted key, such as `endpoint.base-url`.
    pub fn key(&self) -> String {
        dotted(&self.pointer)
    }
}

/// Returns all items, those that can do most harm last: the end of a long list stays on the screen.
pub fn by_reach(withheld: &[Withheld]) -> Vec<&WithheldItem> {
    let mut items: Vec<&WithheldItem> = withheld.iter().flat_map(|withheld| &withheld.items).collect();
    items.sort_by_key(|item| match item.reach {
        Reach::Nothing | Reach::Asks => 0,
        Reach::Files | Reach::Store | Reach::Tools => 1,
        Reach::Sends | Reach::Secret => 2,
    });
    items
}

/// Counts the items that reach outside the folder.
pub fn count_outside(withheld: &[Withheld]) -> usize {
    withheld.iter().flat_map(|withheld| &withheld.items).filter(|item| item.reaches_outside()).count()
}

/// Returns the keys of a file that have no effect until the user trusts it, in the order of the key table.
pub(super) fn withheld(file: &Value, folder: &Path) -> Vec<Withheld> {
    let mut found = Vec::new();
    for KeyRow { key, rule } in ConfigFile::ROWS {
        let Some(value) = file.get(*key) else { continue };
        let pointer = format!("/{key}");
        let collect = |items, pointer: String, option, is_optional| {
            let is_empty = |items: &Vec<WithheldItem>| items.is_empty();
            let items = Some(items).filter(|items| !is_empty(items));
            items.map(|items| Withheld { pointer, items, option, is_optional })
        };
        match rule.value_type {
            ValueType::Endpoint(rows) => found.extend(rows.iter().filter_map(|row| {
                let (pointer, value) = (format!("{pointer}/{}", row.key), value.get(row.key)?);
                let is_optional = rule.is_optional || row.rule.is_optional;
                collect(items(row.rule, &pointer, value, folder), pointer, row.rule.option, is_optional)
            })),
            ValueType::Endpoints(rows) => {
                let tables = value.as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate();
                let items = tables
                    .flat_map(|(index, table)| fallback(rows, &format!("{pointer}/{index}"), table, folder));
                found.extend(collect(items.collect(), pointer.clone(), rule.option, rule.is_optional));
            }
            ValueType::Table(rows) => {
                let items = rows.iter().filter_map(|row| {
                    Some(items(row.rule, &format!("{pointer}/{}", row.key), value.get(row.key)?, folder))
                });
                let items: Vec<_> = items.flatten().collect();
                // A table without known keys still enables tools.
                let items =
                    if items.is_empty() { vec![item(rule.reach, &pointer, "{}".to_owned())] } else { items };
                found.extend(collect(items, pointer, rule.option, rule.is_optional));
            }
            ValueType::Value | ValueType::Path if rule.reach == Reach::Nothing => {}
            ValueType::Value | ValueType::Path => {
                let items = items(*rule, &pointer, value, folder);
                found.extend(collect(items, pointer, rule.option, rule.is_optional));
            }
        }
    }
    found
}

/// Returns whether the user's own file configures an endpoint.
fn names_endpoint(own: &Value) -> bool {
    let rows = rule_of("endpoint").map(KeyRule::rows).unwrap_or_default();
    let endpoint = own.get("endpoint").and_then(Value::as_object);
    let says_where =
        |key: &String| find(rows, key).is_some_and(|rule| matches!(rule.reach, Reach::Sends | Reach::Secret));
    endpoint.is_some_and(|endpoint| endpoint.keys().any(says_where))
}

/// Lists the items of a fallback in the order of its rows. A fallback without a key that reaches outside is one item,
/// because requests go to its provider.
fn fallback(rows: &[KeyRow], pointer: &str, table: &Value, folder: &Path) -> Vec<WithheldItem> {
    let mut found = Vec::new();
    for row in rows {
        let Some(value) = table.get(row.key) else { continue };
        found.extend(items(row.rule, &format!("{pointer}/{}", row.key), value, folder));
    }
    if !found.iter().any(WithheldItem::reaches_outside) {
        found.insert(0, item(Reach::Sends, pointer, "{}".to_owned()));
    }
    found
}

/// Lists the items of a key that need trust.
fn items(rule: KeyRule, pointer: &str, value: &Value, folder: &Path) -> Vec<WithheldItem> {
    let ValueType::Path = rule.value_type else {
        return vec![item(rule.reach, pointer, shown(rule, value))];
    };
    let is_listed = value.is_array();
    let paths = paths(value).map(|(index, path)| {
        let pointer = if is_listed { format!("{pointer}/{index}") } else { pointer.to_owned() };
        let target = target(path, folder);
        // Paths of some keys need trust even inside the folder.
        let is_withheld = rule.reach != Reach::Files || files::leads_out(Path::new(path), folder);
        is_withheld.then(|| WithheldItem {
            target,
            ..item(rule.reach, &pointer, Value::from(redact_text(path)).to_string())
        })
    });
    paths.flatten().collect()
}

fn item(reach: Reach, pointer: &str, shown: String) -> WithheldItem {
    WithheldItem { key: dotted(pointer), shown, target: None, reach }
}

fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".")
}

/// Returns the paths in a file: the key and the target of each path.
pub(super) fn targets(file: &Value, folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for KeyRow { key, rule } in ConfigFile::ROWS {
        if let Some(value) = file.get(*key) {
            collect_targets(*rule, key, value, folder, &mut found);
        }
    }
    found
}

fn collect_targets(
    rule: KeyRule,
    key: &str,
    value: &Value,
    folder: &Path,
    found: &mut Vec<(String, PathBuf)>,
) {
    if let (ValueType::Endpoints(rows), Value::Array(tables)) = (rule.value_type, value) {
        for (index, table) in tables.iter().enumerate() {
            let rule = KeyRule { value_type: ValueType::Endpoint(rows), ..rule };
            collect_targets(rule, &format!("{key}.{index}"), table, folder, found);
        }
        return;
    }
    for row in rule.rows() {
        if let Some(value) = value.get(row.key) {
            collect_targets(row.rule, &format!("{key}.{}", row.key), value, folder, found);
        }
    }
    if let ValueType::Path = rule.value_type {
        let named = paths(value).map(|(index, path)| {
            let key = if value.is_array() { format!("{key}.{index}") } else { key.to_owned() };
            (key, files::target(&folder.join(path)))
        });
        found.extend(named);
    }
}

fn target(path: &str, folder: &Path) -> Option<String> {
    let said = files::plain(&files::target(folder).join(path));
    let target = files::target(&folder.join(path));
    (said != target).then(|| files::name(&target))
}

fn paths(value: &Value) -> impl Iterator<Item = (usize, &str)> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let named = value.as_str().into_iter().chain(list.iter().filter_map(Value::as_str));
    named.enumerate()
}

/// Maximum length of a text that does not reach outside the folder, in characters.
const MAX_OTHER: usize = 200;

/// Returns a value with secrets redacted: headers and URLs may contain API keys.
fn shown(rule: KeyRule, value: &Value) -> String {
    let value = match value {
        Value::Object(headers) if rule.secrecy == Secrecy::Hidden => {
            let is_token = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            let name = |name: &String| {
                if name.chars().all(is_token) { name.clone() } else { Value::from(name.as_str()).to_string() }
            };
            return format!("{} = …", headers.keys().map(name).collect::<Vec<_>>().join(", "));
        }
        _ if rule.secrecy == Secrecy::Hidden => "…".to_owned(),
        Value::String(text) if rule.secrecy == Secrecy::Url => {
            Value::from(redact_url(text.trim())).to_string()
        }
        Value::String(text) => Value::from(redact_text(text.trim())).to_string(),
        // A table or list in the place of a text may contain secrets.
        Value::Object(_) | Value::Array(_) if rule.reach != Reach::Nothing => "…".to_owned(),
        value => redact_value(value).to_string(),
    };
    let is_complete = !matches!(rule.reach, Reach::Nothing | Reach::Asks) && rule.secrecy != Secrecy::Hidden;
    match value.char_indices().nth(MAX_OTHER).filter(|_| !is_complete) {
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(file: &Value, expected: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("here.yaml"), "").unwrap();
        let keys: Vec<String> = withheld(file, folder.path()).iter().map(Withheld::key).collect();
        assert_eq!(keys, expected);
    }

    #[test]
    fn what_sends_reads_or_writes_elsewhere_is_withheld() {
        check(
            &json!({ "endpoint": { "base-url": "http://x", "model": "m", "key-env": "K" } }),
            &["endpoint.base-url", "endpoint.model", "endpoint.key-env"],
        );
        check(
            &json!({ "endpoint": { "key-file": "k", "headers": { "a": "b" }, "retries": 1 } }),
            &["endpoint.headers", "endpoint.key-file", "endpoint.retries"],
        );
        check(&json!({ "transcription": { "model": "whisper-1" } }), &["transcription.model"]);
        check(&json!({ "endpoint": { "dialect": "gemini" } }), &["endpoint.dialect"]);
        check(&json!({ "tools": { "folder": "." }, "store": "chats.db" }), &["store", "tools"]);
        check(&json!({ "processors": [], "tz": "UTC", "context-tokens": 1 }), &[]);
        check(&json!({ "compression": { "summaryModel": "m" } }), &["compression"]);
        check(&json!({ "model": "m" }), &["model"]);
    }

    #[test]
    fn paths_are_withheld_that_lead_out_of_the_folder() {
        check(&json!({ "agent": "here.yaml", "session": "./here.yaml", "profile": "later.yaml" }), &[]);
        check(
            &json!({ "agent": "/etc/passwd", "session": "../here.yaml", "assets": "a/../../b" }),
            &["agent", "session", "assets"],
        );
        check(
            &json!({ "worldbooks": ["here.yaml", "../b.json"], "models": ".." }),
            &["models", "worldbooks"],
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("out")).unwrap();
        std::os::unix::fs::symlink(".", folder.path().join("in")).unwrap();
        std::fs::create_dir(folder.path().join("etc")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", folder.path().join("dangling")).unwrap();
        let keys = |file: &Value| withheld(file, folder.path()).len();
        assert_eq!(keys(&json!({ "assets": "out/etc" })), 1);
        assert_eq!(keys(&json!({ "assets": "in/etc" })), 0);
        assert_eq!(keys(&json!({ "session": "out/no-such-file" })), 1);
        assert_eq!(keys(&json!({ "session": "dangling" })), 1);
    }

    #[test]
    fn shows_every_header_name_and_quotes_odd_ones() {
        let mut headers: serde_json::Map<String, Value> =
            (0..60).map(|n| (format!("header-{n}"), json!("x"))).collect();
        headers.insert("a\nendpoint.base-url = \"b\"".to_owned(), json!("x"));
        let file = json!({ "endpoint": { "headers": headers } });
        let found = withheld(&file, Path::new("/"));
        let shown = &found[0].items[0].shown;
        assert!(
            shown.contains("header-59, ") && shown.contains(r#""a\nendpoint.base-url = \"b\"""#),
            "{shown}"
        );
    }

    #[test]
    fn an_address_is_shown_with_its_whole_host() {
        let host = format!("https://api.openai.com{}.example.org", ".a".repeat(110));
        let file = json!({ "endpoint": { "base-url": format!("{}{host}", " ".repeat(2_000)) } });
        assert_eq!(withheld(&file, Path::new(""))[0].items[0].shown, format!("{host:?}"));
    }
}
