//! `ctx session list`, `export`, `import` and `delete`: the conversations of a store.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::assemble::json as output;
use crate::masks::compressed;
use crate::server::{Answer, Server};

/// A conversation as seed 004 stores it.
const STORED: &str = r#"[
  {"id":"m1","role":"user","content":"USER_INPUT\nList","createdAt":"2026-01-01T00:00:00Z","mode":"chat","runId":"chat-1"},
  {"id":"m2","role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}],"createdAt":"2026-01-01T00:00:01Z"},
  {"id":"m3","role":"tool","content":"a b","tool_call_id":"c1","partType":"tool_result","toolName":"ls","createdAt":"2026-01-01T00:00:02Z"},
  {"id":"m4","role":"assistant","content":"Two files.","createdAt":"2026-01-01T00:00:03Z"}
]"#;

/// A folder with a store that holds what these files hold.
fn store(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with(files);
    for (name, _) in files {
        let imported = folder.ctx(&format!("session import {name} --store s.db"));
        assert!(imported.starts_with("exit code 0"), "{imported}");
    }
    folder
}

#[test]
fn what_is_kept_is_listed() {
    let folder = store(&[("plan.json", STORED)]);
    let list = output(&folder.ctx("session list --store s.db --json"));
    assert_eq!(list.as_array().map(Vec::len), Some(1));
    assert_eq!((&list[0]["id"], &list[0]["steps"]), (&json!("plan"), &json!(0)));
    assert!(list[0]["createdAt"].as_str().unwrap().ends_with('Z'));
    let table = folder.ctx("session list --store s.db");
    assert!(table.contains("conversation") && table.contains("plan"), "{table}");
}

#[test]
fn what_cannot_be_imported_is_told_and_the_rest_is_there() {
    let folder = Folder::with(&[("plan.json", STORED), ("broken.json", "{"), ("agent.yaml", "name: Ada\n")]);
    let told = folder.ctx("session import plan.json broken.json plan.json --store s.db");
    let imported =
        "exit code 3\n=== output\nimported: `plan` (4 messages, plan.json: a list of stored messages)\n";
    assert!(told.starts_with(imported) && told.contains("error[CTX0602]: invalid JSON: "), "{told}");
    let again = "\nerror: `plan.json`: conversation `plan` already exists; set another id with `--id`\n";
    assert!(told.ends_with(again), "{told}");
    let named = output(&folder.ctx("session import plan.json --id other --store s.db --json"));
    let file =
        json!({ "file": "plan.json", "id": "other", "form": "a list of stored messages", "messages": 4 });
    assert_eq!(named, json!({ "imported": [file] }));
    assert_snapshot!(folder.ctx("session import plan.json agent.yaml --id x --store s.db"), @"
    exit code 2
    === errors
    error: `--id` requires exactly one file
    ");
}

#[test]
fn deletion_leaves_nothing_behind() {
    const SECRET: &str = "the harbour at night";
    let text = STORED.replace("Two files.", SECRET);
    let folder = store(&[("plan.json", &text)]);
    folder.ctx("session import plan.json --id other --store s.db");
    std::fs::remove_file(folder.path().join("plan.json")).unwrap();
    assert_snapshot!(folder.ctx("session delete plan none other --store s.db"), @"
    exit code 3
    === output
    deleted: `plan`
    deleted: `other`
    === errors
    error: no conversation `none`
    ");
    assert_eq!(folder.names(), ["s.db"]);
    let bytes = std::fs::read(folder.path().join("s.db")).unwrap();
    for words in [SECRET, "USER_INPUT", "m4"] {
        assert!(!bytes.windows(words.len()).any(|window| window == words.as_bytes()), "{words}");
    }
    let exported = folder.ctx("session export plan --store s.db");
    assert_eq!(exported, "exit code 3\n=== errors\nerror: no conversation `plan`\n");
    let deleted = folder.ctx("session delete plan --store none.db --json");
    assert_eq!(deleted, "exit code 3\n=== errors\nerror: no store `none.db`\n");
}

#[test]
fn large_results_are_not_exported_and_go_with_their_conversation() {
    const AGENT: &str = "name: Ada\npresetMessages:\n- {type: chat_history}\n";
    let large = "red umbrella ".repeat(5_000);
    let folder = Folder::with(&[("agent.yaml", AGENT), ("notes/a.txt", &large)]);
    let call = Answer::calls(&[("a", "read_file", r#"{"path":"a.txt"}"#)]);
    let server = Server::script([call, Answer::text("Red.")]);
    let base = server.base_url();
    folder.ctx(&format!(
        "chat agent.yaml --model m --base-url {base} --store s.db --conversation c --once Which? --tools-dir notes"
    ));
    assert_eq!(folder.names(), ["agent.yaml", "notes", "s.db", "s.db.results"]);
    let exported = folder.ctx("session export c --store s.db --out c.json");
    assert!(exported.contains("info[CTX0908]: not exported: 1 large result"), "{exported}");
    folder.ctx("session delete c --store s.db");
    assert_eq!(folder.names(), ["agent.yaml", "c.json", "notes", "s.db"]);
}

#[test]
fn a_session_comes_out_with_branches_summaries_and_undo() {
    let (folder, _) = compressed();
    let imported = folder.ctx("session import chat.json --id room --store s.db");
    assert!(imported.contains("imported: `room` (16 messages, chat.json: a session)\n"), "{imported}");
    folder.ctx("session export room --store s.db --out back.json");
    let read = |name: &str| {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        serde_json::from_slice::<Value>(&bytes).unwrap()
    };
    let mut given = read("chat.json");
    given["id"] = json!("room");
    assert_eq!(read("back.json"), given);
    let undone = folder.ctx("session undo back.json");
    assert!(undone.starts_with("exit code 0\n=== output\nundid: compress 10 messages\n"), "{undone}");
    let told = folder.ctx("session export room --to messages --store s.db --out messages.json");
    assert!(told.contains("warning[CTX0637]: not exported: 1 message outside the active branch\n"), "{told}");
}
