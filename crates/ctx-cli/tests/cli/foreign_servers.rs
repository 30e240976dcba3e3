//! `ctx chat` with a server that others wrote; skipped, and loudly, where it is not installed.

use std::path::Path;

use serde_json::Value;

use crate::Folder;
use crate::foreign::{self, Foreign, KEY};

/// The journal's own mark in the bodies that it shows.
const MARK: &str = ",\"_endpointType\":\"chat\"}";

/// A folder with an agent and a key, and the server, if it is there.
struct Place {
    folder: Folder,
    server: Foreign,
}

impl Place {
    fn new() -> Option<Self> {
        if let Err(why) = foreign::installed() {
            foreign::tell_skipped(&why);
            return None;
        }
        let agent =
            "name: Ada\npresetMessages:\n- {role: system, content: Be kind.}\n- {type: chat_history}\n";
        let folder = Folder::with(&[("agent.yaml", agent), ("key", KEY), ("notes/a.txt", "red umbrella\n")]);
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctx-chat/tests/servers/aimock.json");
        Some(Self { folder, server: foreign::start_aimock(&fixtures) })
    }

    #[track_caller]
    fn chat(&self, arguments: &str) -> String {
        let base = self.server.url("/v1");
        self.folder
            .ctx(&format!("chat agent.yaml --model gpt-4o --base-url {base} --key-file key {arguments}"))
    }

    fn journal(&self) -> Vec<Value> {
        self.server.get("/__aimock/journal").as_array().unwrap().clone()
    }
}

#[test]
fn the_bytes_of_a_dry_run_are_those_that_the_server_receives() {
    let Some(place) = Place::new() else { return };
    for more in ["", "--tools-dir notes", "--store s.db --conversation c"] {
        let arguments = format!("--at 2026-01-31T12:00:00Z {more} --once Hello");
        let shown = place.chat(&format!("{arguments} --dry-run"));
        let shown = shown.strip_prefix("exit code 0\n=== output\n").unwrap();
        place.chat(&arguments);
        let entry = place.journal().pop().unwrap();
        assert_eq!(entry["headers"]["content-length"], shown.len().to_string());
        assert_eq!(entry["body"].to_string(), shown.strip_suffix('}').unwrap().to_owned() + MARK);
    }
    assert_eq!(place.journal().len(), 3, "a dry run sends nothing");
}

#[test]
fn the_key_is_sent_and_found_nowhere() {
    let Some(place) = Place::new() else { return };
    place.folder.write(".home/ctx.toml", b"[endpoint]\nretries = 1\n");
    let mut shown = String::new();
    for dialect in ["openai", "anthropic"] {
        let kept =
            format!("--dialect {dialect} --store s.db --conversation {dialect} --tools-dir notes --ask");
        for more in
            ["--once Hello", "--once Call --json", "--once Break", "--once unheard", "--once Hello --dry-run"]
        {
            shown += &place.chat(&format!("{kept} {more}"));
        }
    }
    assert!(
        shown.contains("Hi there, who are you?") && shown.contains("the provider rejected the request"),
        "{shown}"
    );
    assert!(!shown.contains("CANARY"), "{shown}");
    std::fs::remove_file(place.folder.path().join("key")).unwrap();
    for name in place.folder.names() {
        let path = place.folder.path().join(&name);
        if path.is_file() {
            let bytes = std::fs::read(path).unwrap();
            assert!(!bytes.windows(6).any(|window| window == b"CANARY"), "{name}");
        }
    }
}
