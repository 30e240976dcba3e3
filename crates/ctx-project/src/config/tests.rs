//! What a file that was found decides, and what the user's own says below it.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::*;
use crate::config::reach::{KEYS, Reach};

/// A folder with a file of defaults, and files that it can name.
fn folder(value: &Value) -> (tempfile::TempDir, ConfigDocument) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.yaml", "b.yaml"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let document = ConfigDocument {
        folder: folder.path().to_owned(),
        name: "ctx.toml".to_owned(),
        bytes: value.to_string().into_bytes(),
        value: value.clone(),
    };
    (folder, document)
}

fn read(document: ConfigDocument) -> (Config, ConfigDocument) {
    (Config::of(&document.value, &document.folder).named(&document), document)
}

/// Everything that defaults decide, for somebody who says nothing on the command line.
fn decided(config: &Config) -> String {
    let (mut turn, sources) = (TurnOptions::default(), Sources::default());
    let endpoint = config.endpoint(&EndpointOptions::default()).unwrap();
    let fallbacks = config.fallbacks().unwrap();
    let (transcription, store) = (config.transcription(), config.store().unwrap());
    let tools = config.tools(false).unwrap();
    let given = config.tools(true).unwrap();
    config.complete(&mut turn, &sources).unwrap();
    let rest = (&config.user_parameters, &config.compression, config.endpoint_model());
    format!(
        "{endpoint:?}\n{fallbacks:?}\n{transcription:?}\n{store:?}\n{tools:?}\n{given:?}\n{turn:?}\n{rest:?}"
    )
}

/// A value of a key that has a meaning: of the user's own file, or of a stranger's, which reaches out of its folder.
fn value(pointer: &str, is_own: bool) -> Value {
    let name = if is_own { "own" } else { "stranger" };
    let path = if is_own { "a.yaml" } else { "../b.yaml" };
    match pointer.rsplit_once('/').unwrap().1 {
        "base-url" => json!(format!("http://{name}.example")),
        "headers" => json!({ "x-name": name }),
        "dialect" => json!(if is_own { "anthropic" } else { "gemini" }),
        "tools" => json!({ "ask": is_own, "folder": name, "deny": { "tools": [name] } }),
        "worldbooks" => json!([path]),
        "fallbacks" => json!([{ "base-url": format!("http://{name}.example") }]),
        "agent" | "session" | "profile" | "models" => json!(path),
        "assets" => json!(if is_own { "assets" } else { "../assets" }),
        _ => json!(name),
    }
}

fn file(pointer: &str, value: Value) -> Value {
    let keys = pointer.split('/').skip(1).collect::<Vec<_>>();
    keys.iter().rev().fold(value, |value, key| json!({ *key: value }))
}

#[test]
fn what_is_not_trusted_hides_nothing_of_the_users_own() {
    let guarded = KEYS.iter().filter(|(_, reach, _)| *reach != Reach::Nothing);
    for (pointer, ..) in guarded {
        let (_own, own) = folder(&file(pointer, value(pointer, true)));
        let (_stranger, stranger) = folder(&file(pointer, value(pointer, false)));
        let expected = decided(&read(own.clone()).0);
        let said = Arc::new(Mutex::new(Vec::new()));
        let ask = Ask::by({
            let said = said.clone();
            move |untrusted: &Untrusted<'_>| {
                said.lock().unwrap().extend(untrusted.notice.map(ToString::to_string));
                Answer::NotAsked
            }
        });
        let joined = Config::joined(read(stranger), Some(read(own)), Some(ask));
        assert_eq!(decided(&joined), expected, "{pointer}");
        assert_ne!(expected, decided(&Config::default()), "{pointer}");
        let said = said.lock().unwrap();
        assert_eq!(said.len(), 1, "{pointer}: {said:?}");
        assert!(said[0].contains(&format!("left out: `{}`", pointer[1..].replace('/', "."))), "{said:?}");
    }
}

#[test]
fn each_way_out_can_be_gone() {
    let said = |pointer: &str| {
        let (_stranger, stranger) = folder(&file(pointer, value(pointer, false)));
        let config = Config::joined(read(stranger), None, None);
        let endpoint = config.endpoint(&EndpointOptions::default()).map(|_| ());
        let others = [config.store().map(|_| ()), config.tools(false).map(|_| ())];
        let turn = config.complete(&mut TurnOptions::default(), &Sources::default()).map(|_| ());
        let error = [endpoint, turn].into_iter().chain(others).find_map(Result::err)?;
        Some(error.to_string().split_once("; or ").unwrap().1.to_owned())
    };
    for (pointer, option) in [
        ("/endpoint/base-url", "--base-url"),
        ("/endpoint/headers", "--base-url"),
        ("/endpoint/dialect", "--dialect"),
        ("/endpoint/key-env", "--key-env"),
        ("/endpoint/key-file", "--key-file"),
        ("/tools", "--tools-dir"),
        ("/store", "--store"),
        ("/profile", "--profile"),
        ("/models", "--models"),
        ("/worldbooks", "--worldbook"),
    ] {
        let key = pointer[1..].replace('/', ".");
        let expected = format!("give `{option}`, or set `{key}` in your own `ctx.toml`");
        assert_eq!(said(pointer).as_deref(), Some(expected.as_str()));
    }
    for key in ["agent", "session"] {
        let expected = format!("name the file on the command line, or set `{key}` in your own `ctx.toml`");
        assert_eq!(said(&format!("/{key}")).as_deref(), Some(expected.as_str()));
    }
    for pointer in ["/assets", "/transcription/base-url", "/transcription/key-env", "/transcription/model"] {
        assert_eq!(said(pointer), None);
    }
}
