//! What the keys of a `ctx.toml` that was found can reach outside of its folder.
//!
//! A file that was found is a stranger's file: whoever unpacks an archive and runs `ctx` in it has not read it.

use std::path::Path;

use serde_json::Value;

use crate::files;

/// What a key can do beyond the folder of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Nothing: it counts wherever it stands.
    Nothing,
    /// It decides where requests go, and what is sent with them.
    Sends,
    /// It reads a secret, which is sent.
    Secret,
    /// It lets the model read files.
    Tools,
    /// It writes a file that outlives the run.
    Store,
    /// It names files: nothing inside of the folder, and what it likes outside.
    Files,
}

/// A key of a file that counts only where the file is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// Where it stands.
    pub pointer: String,
    /// What it holds, as people may see it.
    pub shown: String,
    reach: Reach,
    /// The option that says the same on a command line, if it is one.
    pub(super) option: Option<&'static str>,
}

/// Every key, by its pointer: how far it reaches, and the option that says the same on a command line. A key below one
/// that is listed reaches as far.
pub(super) const KEYS: [(&str, Reach, Option<&str>); 35] = [
    ("/agent", Reach::Files, None),
    ("/session", Reach::Files, None),
    ("/profile", Reach::Files, Some("--profile")),
    ("/models", Reach::Files, Some("--models")),
    ("/worldbooks", Reach::Files, Some("--worldbook")),
    ("/assets", Reach::Files, None),
    ("/endpoint/base-url", Reach::Sends, Some("--base-url")),
    ("/endpoint/headers", Reach::Sends, Some("--base-url")),
    ("/endpoint/key-env", Reach::Secret, Some("--key-env")),
    ("/endpoint/key-file", Reach::Secret, Some("--key-file")),
    // Where no address is named, a dialect is one: that of its provider, who gets the key.
    ("/endpoint/dialect", Reach::Sends, Some("--dialect")),
    ("/endpoint/model", Reach::Nothing, None),
    ("/endpoint/connect-timeout", Reach::Nothing, None),
    ("/endpoint/first-token-timeout", Reach::Nothing, None),
    ("/endpoint/stall-timeout", Reach::Nothing, None),
    ("/endpoint/retries", Reach::Nothing, None),
    ("/fallbacks", Reach::Sends, None),
    ("/transcription/base-url", Reach::Sends, None),
    ("/transcription/headers", Reach::Sends, None),
    ("/transcription/key-env", Reach::Secret, None),
    ("/transcription/key-file", Reach::Secret, None),
    ("/transcription/dialect", Reach::Sends, None),
    // Naming a model is what has recordings sent at all.
    ("/transcription/model", Reach::Sends, None),
    ("/transcription/connect-timeout", Reach::Nothing, None),
    ("/transcription/first-token-timeout", Reach::Nothing, None),
    ("/transcription/stall-timeout", Reach::Nothing, None),
    ("/transcription/retries", Reach::Nothing, None),
    ("/tools", Reach::Tools, Some("--tools-dir")),
    ("/store", Reach::Store, Some("--store")),
    ("/processors", Reach::Nothing, None),
    ("/compression", Reach::Nothing, None),
    ("/model", Reach::Nothing, None),
    ("/context-tokens", Reach::Nothing, None),
    ("/reserve", Reach::Nothing, None),
    ("/tz", Reach::Nothing, None),
];

impl Withheld {
    /// Describes what the key does.
    pub const fn about(&self) -> &'static str {
        match self.reach {
            Reach::Sends => "where requests go, and what is sent with them",
            Reach::Secret => "a secret, which is sent",
            Reach::Tools => "files that the model may read",
            Reach::Store => "a file that conversations are written to",
            Reach::Files | Reach::Nothing => "a path that leads out of the folder",
        }
    }

    /// Returns whether a run goes on without it: the user's own file says it too, or most runs do not need it.
    pub(super) fn is_dispensable(&self, own: &Value) -> bool {
        let has = |pointer: &str| own.pointer(pointer).is_some();
        match self.pointer.split_once("/endpoint/") {
            // One file alone says where requests go.
            Some(_) => ["base-url", "dialect", "headers", "key-env", "key-file"]
                .iter()
                .any(|key| has(&format!("/endpoint/{key}"))),
            None => {
                self.pointer.starts_with("/transcription/") || self.pointer == "/assets" || has(&self.pointer)
            }
        }
    }

    /// Returns the key as the file has it, such as `endpoint.base-url`.
    pub fn key(&self) -> String {
        self.pointer.trim_start_matches('/').replace('/', ".")
    }
}

/// Returns what of a file in a folder counts only where the file is trusted, in the order of [`KEYS`].
pub(super) fn withheld(file: &Value, folder: &Path) -> Vec<Withheld> {
    let found = KEYS.iter().filter_map(|(pointer, reach, option)| {
        let value = file.pointer(pointer)?;
        let is_withheld = match reach {
            Reach::Nothing => false,
            Reach::Files => paths(value).any(|path| files::leads_out(Path::new(path), folder)),
            Reach::Sends | Reach::Secret | Reach::Tools | Reach::Store => true,
        };
        is_withheld.then(|| Withheld {
            pointer: (*pointer).to_owned(),
            shown: shown(pointer, value),
            reach: *reach,
            option: *option,
        })
    });
    found.collect()
}

fn paths(value: &Value) -> impl Iterator<Item = &str> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    value.as_str().into_iter().chain(list.iter().filter_map(Value::as_str))
}

/// How many characters of a value are shown: whoever agrees to an address must see the whole name of its host.
const MOST_SHOWN: usize = 1_000;

/// What a key holds, as people may see it: headers may be keys.
fn shown(pointer: &str, value: &Value) -> String {
    let value = match value {
        Value::Object(headers) if pointer.ends_with("/headers") => {
            let names: Vec<&str> = headers.keys().map(String::as_str).collect();
            return format!("{} = …", names.join(", "));
        }
        Value::String(text) => Value::from(text.trim()).to_string(),
        value => value.to_string(),
    };
    match value.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::SchemaGenerator;
    use serde_json::json;

    use super::*;
    use crate::config::ConfigFile;

    /// The keys that the file may have, those of tables by their own.
    fn declared() -> BTreeSet<String> {
        let mut generator = SchemaGenerator::default();
        let schema = json!(generator.root_schema_for::<ConfigFile>());
        let mut keys = BTreeSet::new();
        for (key, field) in schema["properties"].as_object().unwrap() {
            let table = ["endpoint", "transcription"].contains(&key.as_str());
            let inner = if table { find_properties(&schema, field) } else { vec![String::new()] };
            keys.extend(
                inner.into_iter().map(|inner| format!("/{key}/{inner}").trim_end_matches('/').to_owned()),
            );
        }
        keys
    }

    /// The keys of a table, wherever its schema is written.
    fn find_properties(schema: &Value, field: &Value) -> Vec<String> {
        let inner = |field: &Value| {
            let properties = field.get("properties").and_then(Value::as_object);
            properties.map(|properties| properties.keys().cloned().collect::<Vec<_>>())
        };
        let referred = |field: &Value| {
            let name = field.get("$ref")?.as_str()?.strip_prefix('#')?;
            inner(schema.pointer(name)?)
        };
        let choices = field.get("anyOf").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut all = std::iter::once(field.clone()).chain(choices);
        all.find_map(|field| inner(&field).or_else(|| referred(&field))).unwrap()
    }

    #[test]
    fn it_is_decided_of_every_key_how_far_it_reaches() {
        let decided: BTreeSet<String> = KEYS.iter().map(|(pointer, ..)| (*pointer).to_owned()).collect();
        assert_eq!(declared(), decided);
    }

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
            &["endpoint.base-url", "endpoint.key-env"],
        );
        check(
            &json!({ "endpoint": { "key-file": "k", "headers": { "a": "b" }, "retries": 1 } }),
            &["endpoint.headers", "endpoint.key-file"],
        );
        check(&json!({ "transcription": { "model": "whisper-1" } }), &["transcription.model"]);
        check(&json!({ "endpoint": { "dialect": "gemini" } }), &["endpoint.dialect"]);
        check(&json!({ "tools": { "folder": "." }, "store": "chats.db" }), &["tools", "store"]);
        check(
            &json!({ "processors": [], "compression": {}, "model": "m", "tz": "UTC", "context-tokens": 1 }),
            &[],
        );
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
    fn an_address_is_shown_with_its_whole_host() {
        let host = format!("https://api.openai.com{}.example.org", ".a".repeat(110));
        let file = json!({ "endpoint": { "base-url": format!("{}{host}", " ".repeat(2_000)) } });
        assert_eq!(withheld(&file, Path::new(""))[0].shown, format!("{host:?}"));
    }
}
