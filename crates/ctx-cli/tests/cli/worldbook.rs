//! `ctx worldbook`, and worldbooks in the other verbs.

use insta::assert_snapshot;
use serde_json::json;

use crate::assemble::json as output;
use crate::{Folder, ctx};

/// One entry for each thing that may become of one.
const SKY: &str = r#"{
  "name": "Sky",
  "entries": {
    "7": { "uid": 7, "comment": "Moon", "key": ["moon"], "content": "The dragon sleeps in the moon.", "sticky": 3 },
    "8": { "uid": 8, "key": ["sun"], "content": "The sun is cold." },
    "9": { "uid": 9, "comment": "Dragon", "key": ["dragon"], "content": "It is called Ferro.", "position": 4, "depth": 1 },
    "10": { "uid": 10, "key": ["moon"], "keysecondary": ["night"], "selectiveLogic": 2, "content": "Pale." },
    "11": { "uid": 11, "key": ["moon"], "group": "g", "groupOverride": true, "content": "A lamp." },
    "12": { "uid": 12, "key": ["moon"], "group": "g", "content": "A cheese." },
    "13": { "uid": 13, "key": ["moon"], "probability": 0, "content": "Blue." },
    "14": { "uid": 14, "key": ["moon"], "delay": 9, "content": "Late." },
    "15": { "uid": 15, "key": ["look"], "disable": true, "content": "Off." },
    "16": { "uid": 16, "key": ["look"], "triggers": ["quiet"], "content": "Quiet." },
    "17": { "uid": 17, "key": ["dragon"], "excludeRecursion": true, "content": "Alone." }
  }
}
"#;

const CHAT: &str = r#"[{ "role": "user", "content": "Hello" },
 { "role": "assistant", "content": "Good night." },
 { "role": "user", "content": "Look at the moon!" }]
"#;

/// A book in which each entry has something wrong.
const ODD: &str = r#"{ "name": "Odd", "entries": {
  "1": { "uid": 1, "key": [], "content": "never" },
  "2": { "uid": 1, "key": ["moon", "a"], "content": "{{usr}}" },
  "3": { "uid": 3, "key": ["/(/"], "content": "x" },
  "4": { "uid": 4, "key": ["sun"], "delayUntilRecursion": true, "excludeRecursion": true, "content": "x" },
  "5": { "uid": 5, "key": ["star"], "content": "one two three four five six seven eight nine ten" }
} }
"#;

/// A card whose book names its fields otherwise.
const CARD: &str = r#"{ "spec": "chara_card_v2", "data": { "name": "Ada", "character_book": { "entries": [
  { "id": 3, "keys": ["moon", "/[/"], "content": "x", "enabled": true },
  { "id": 5, "keys": [], "content": "x", "enabled": true, "insertion_order": "1" }
] } } }
"#;

const AGENT: &str = "presetMessages:
- { role: system, content: Be kind. }
- { type: chat_history }
";

fn folder() -> Folder {
    let files = [
        ("sky.json", SKY),
        ("chat.json", CHAT),
        ("odd.json", ODD),
        ("card.json", CARD),
        ("agent.yaml", AGENT),
    ];
    Folder::with(&files)
}

#[test]
fn every_entry_has_one_state_with_its_reason() {
    assert_snapshot!(folder().ctx("worldbook scan sky.json --session chat.json --all"), @"
    exit code 0
    === output
    3 of 11 entries in 1 worldbook active; about 15 tokens, no budget; 3 passes

     entry            state         pass   tokens   place                  reason
    ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     Moon (Sky.7)     active        1      7        before the character   key `moon` in history:n3
     Sky.11           active        1      3        before the character   key `moon` in history:n3
     Dragon (Sky.9)   active        2      5        depth 1                key `dragon` in the content of `Sky.7`
     Sky.8            no key        –      –        before the character   no key in the last 2 messages (scan depth 2)
     Sky.10           no key        –      –        before the character   key `moon` in history:n3 matches, but so does
                                                                           secondary key `night` in history:n2
     Sky.12           group         –      –        before the character   `Sky.11` has priority in group `g`
     Sky.13           probability   –      –        before the character   the random value 59.3 is above the probability 0
     Sky.14           delay         –      –        before the character   delayed until the conversation has 9 messages
     Sky.15           off           –      –        before the character   disabled
     Sky.16           filter        –      –        before the character   only for `quiet`
     Sky.17           recursion     –      –        before the character   key `dragon` matches only in other entries; this
                                                                           entry is excluded from recursion

    not active: 2 no key, 1 delay, 1 filter, 1 group, 1 off, 1 probability, 1 recursion

    timed effects
      `Sky.7` is sticky until the conversation has 6 messages

    timed effects changed; save them with `--write`
    ");
}

#[test]
fn settings_are_those_of_applications() {
    let folder = folder();
    let settings =
        r#"{ "world_info_settings": { "world_info_depth": 0, "world_info_recursive": false, "depht": 3 } }"#;
    folder.write("set.json", settings.as_bytes());
    let told = folder.ctx("worldbook scan sky.json --session chat.json --settings set.json");
    assert!(told.contains("\nno messages to search; pass `--session` or `--input`\n"), "{told}");
    assert!(told.contains("warning[CTX0956]: unknown setting `depht`\n --> set.json:1:82\n"), "{told}");
}

#[test]
fn timed_effects_are_read_and_written_back() {
    let folder = folder();
    let scan = "worldbook scan sky.json --session chat.json --state timed.json --write --json";
    let first = output(&folder.ctx(scan));
    assert_eq!(first["state"]["sticky"]["Sky.7"]["end"], 6);
    assert_eq!(first["effects"].as_array().map(Vec::len), Some(1));
    folder.write("later.json", br#"[{"role":"user","content":"a"},{"role":"user","content":"b"},{"role":"user","content":"c"},{"role":"user","content":"d"}]"#);
    let later = folder.ctx("worldbook scan sky.json --session later.json --state timed.json");
    assert!(later.contains("sticky until the conversation has 6 messages"), "{later}");
    let without = folder.ctx("worldbook scan sky.json --session later.json");
    assert!(without.contains("0 of 11 entries"), "{without}");
}

#[test]
fn a_book_is_checked_whatever_the_defaults_say_of_conversations() {
    let folder = folder();
    folder.write("bad.json", br#"{"entries":{"0":{"uid":0,"key":["/(/"],"content":"x"}}}"#);
    for config in [
        "agent = \"nowhere.yaml\"\nsession = \"nowhere.json\"\n",
        "[[processors]]\nid = \"worldbook-processor\"\nenabled = false\n",
    ] {
        folder.write("ctx.toml", config.as_bytes());
        let answer = folder.ctx("worldbook check nowhere-too.json bad.json");
        assert!(answer.contains("CTX0900") && answer.contains("bad.json:1"), "{answer}");
        assert!(answer.contains("exit code 3"), "{answer}");
    }
}

#[test]
fn a_conversation_keeps_timed_effects_and_gives_them_back() {
    let node = |id: &str, parent: &str, children: &str, role: &str, text: &str| {
        format!(
            r#""{id}":{{"id":"{id}","parentId":{parent},"childrenIds":[{children}],"role":"{role}","content":"{text}"}}"#
        )
    };
    let nodes =
        [node("r", "null", "\"n1\"", "system", ""), node("n1", "\"r\"", "", "user", "Look at the moon!")];
    let session =
        format!(r#"{{"id":"s","rootNodeId":"r","activeLeafId":"n1","nodes":{{{}}}}}"#, nodes.join(","));
    let folder = folder();
    folder.write("session.json", session.as_bytes());
    let scan = folder.ctx("worldbook scan sky.json --session session.json --write");
    assert!(scan.contains("wrote timed effects to session.json"), "{scan}");
    let kept = std::fs::read_to_string(folder.path().join("session.json")).unwrap();
    assert!(kept.contains("worldbookState"), "{kept}");
    let undone = folder.ctx("session undo session.json");
    assert!(undone.contains("save timed effects of worldbooks"), "{undone}");
}

#[test]
fn a_scan_is_data_too() {
    let scan = output(&folder().ctx("worldbook scan sky.json --session chat.json --all --json"));
    let entries = scan["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &scan["count"], &scan["active"]), (11, &json!(11), &json!(3)));
    assert_eq!(entries[0]["key"], json!({ "key": "moon", "message": "history:n3", "depth": 0 }));
    assert_eq!(entries[0]["position"], json!({ "file": "sky.json", "line": 4, "column": 10 }));
    let dragon = entries.iter().find(|entry| entry["id"] == "Sky.9").unwrap();
    assert_eq!((&dragon["pass"], &dragon["key"]["entry"]), (&json!(2), &json!("Sky.7")));
}

#[test]
fn warnings_of_a_book_can_be_denied() {
    let answer = folder().ctx("worldbook check odd.json --deny-warnings --json");
    assert!(answer.starts_with("exit code 1\n"), "{answer}");
    let found = output(&answer);
    assert_eq!(found["findings"][0]["position"], json!({ "file": "odd.json", "line": 2, "column": 8 }));
    assert_eq!(folder().ctx("worldbook check chat.json").lines().next(), Some("exit code 3"));
    let limited = folder().ctx("worldbook check odd.json --context-tokens 40");
    assert!(
        limited.contains("warning[CTX0973]: the content of `Odd.5` alone uses the budget of 10 tokens\n")
    );
}

#[test]
fn books_of_one_name_are_told_apart() {
    let scan = output(&folder().ctx("worldbook scan sky.json sky.json --input moon --json"));
    let names: Vec<_> = scan["books"].as_array().unwrap().iter().map(|book| book["name"].clone()).collect();
    assert_eq!(names, ["Sky", "Sky#2"]);
}

#[test]
fn check_knows_worldbooks() {
    let folder = folder();
    let answer = folder.ctx("check odd.json");
    assert!(answer.contains("1 file checked: 0 errors, 6 warnings"), "{answer}");
    folder.write("asks.yaml", b"worldbookIds: [Sky]\npresetMessages: [{ type: chat_history }]\n");
    let missing = folder.ctx("check asks.yaml");
    assert!(missing.contains("worldbook `Sky` is not loaded"), "{missing}");
    let at_hand = folder.ctx("check asks.yaml --worldbook sky.json");
    assert!(!at_hand.contains("at hand"), "{at_hand}");
}

#[test]
fn findings_of_an_assembly_lead_into_the_book() {
    let told = folder().ctx("assemble agent.yaml --session chat.json --worldbook card.json --format text");
    let (_, errors) = told.split_once("=== errors\n").unwrap();
    assert_snapshot!(errors, @r#"
    warning[CTX0102]: expected a number, found the string `1`, which is converted
     --> card.json:3:78
      |
    3 |   { "id": 5, "keys": [], "content": "x", "enabled": true, "insertion_order": "1" }
      |                                                                              ^^^
      |
      = help: write the value in the type that the diagnostic names

    warning[CTX0950]: invalid key `/[/` of `card.3`: invalid pattern at byte 0: unterminated class
     --> card.json:2:31
      |
    2 |   { "id": 3, "keys": ["moon", "/[/"], "content": "x", "enabled": true },
      |                               ^^^^^
      |
      = help: fix the pattern; it is matched as plain text, with its slashes, until then
    "#);
}

#[test]
fn a_case_may_have_worldbooks() {
    let folder = folder();
    folder.write("case/agent.yaml", AGENT.as_bytes());
    folder.write("case/session.json", CHAT.as_bytes());
    folder.write("case/worldbook.json", SKY.as_bytes());
    folder.write(
        "named/case.yaml",
        b"agent: ../agent.yaml\nsession: ../chat.json\nworldbooks: [../sky.json]\n",
    );
    folder.ctx("test case named --update");
    for case in ["case", "named"] {
        let expected = std::fs::read_to_string(folder.path().join(case).join("expected.txt")).unwrap();
        assert!(expected.contains("It is called Ferro."), "{expected}");
    }
}

#[test]
fn a_config_may_name_worldbooks() {
    let folder = folder();
    folder.write("ctx.toml", b"worldbooks = [\"sky.json\"]\n");
    let told = |arguments: &str| folder.ctx(arguments).contains("It is called Ferro.");
    assert!(told("assemble agent.yaml --session chat.json --format text"));
    assert!(!told("assemble agent.yaml --session chat.json --format text --worldbook odd.json"));
    assert!(!told("assemble agent.yaml --session chat.json --format text --no-config"));
    folder.write("ctx.toml", b"worldbooks = [\"sea.json\"]\n");
    let missing = folder.ctx("assemble agent.yaml");
    assert!(missing.starts_with("exit code 3\n") && missing.contains("no file `sea.json`"), "{missing}");
}

#[test]
fn a_chat_may_have_worldbooks() {
    let folder = folder();
    let chat =
        "chat agent.yaml --model m --base-url http://127.0.0.1:9 --once Moon --dry-run --worldbook sky.json";
    let body = folder.ctx(chat);
    assert!(body.contains("It is called Ferro."), "{body}");
}

#[test]
fn scans_worldbooks_of_the_agent_without_a_book() {
    let agent = format!("worldbookIds: [Sky]\n{AGENT}");
    let files = [
        ("agent.yaml", agent.as_str()),
        ("worldbooks/sky.json", SKY),
        ("ctx.toml", "agent = 'agent.yaml'\n"),
    ];
    let own = Folder::with(&files);
    let scanned = own.ctx("worldbook scan --input moon");
    assert!(scanned.contains("of 11 entries in 1 worldbook active"), "{scanned}");
    let without =
        Folder::with(&[("agent.yaml", AGENT)]).ctx("worldbook scan --agent agent.yaml --input moon");
    assert!(without.starts_with("exit code 2") && without.contains("no worldbook is loaded"), "{without}");
}

#[test]
fn explanations_say_where_a_key_last_occurred() {
    let book = r#"{ "entries": { "1": { "uid": 1, "key": ["hello"], "content": "x", "scanDepth": 1 } } }"#;
    let folder = Folder::with(&[("book.json", book), ("chat.json", CHAT), ("agent.yaml", AGENT)]);
    let why = "no key in the last message (scan depth 1); `hello` is in history:n1, 3 messages back";
    let report =
        output(&folder.ctx("assemble agent.yaml --session chat.json --worldbook book.json --format json"));
    let decisions = report["report"]["decisions"].as_array().unwrap();
    assert!(decisions.iter().any(|decision| decision["reason"] == why), "{decisions:#?}");
    let scan = output(&folder.ctx("worldbook scan book.json --session chat.json --all --json"));
    assert_eq!(scan["entries"][0]["why"], why);
    let without = folder.ctx("worldbook scan book.json --all");
    assert!(without.contains("no messages to search; pass `--session` or `--input`"), "{without}");
}

#[test]
fn loads_yaml_worldbooks_of_the_agent() {
    let agent = format!("worldbookIds: [sky]\n{AGENT}");
    let book = ("worldbooks/sky.yml", "entries:\n  1: { uid: 1, key: [moon], content: x }\n");
    let scanned =
        ctx("worldbook scan --agent agent.yaml --input moon", &[("agent.yaml", agent.as_str()), book]);
    assert!(scanned.contains("1 of 1 entry in 1 worldbook active"), "{scanned}");
}

#[test]
fn reports_broken_worldbooks_of_the_agent() {
    let agent = format!("worldbookIds: [sky]\n{AGENT}");
    let broken = [("agent.yaml", agent.as_str()), ("worldbooks/sky.json", "{")];
    let folder = Folder::with(&broken);
    for command in [
        "assemble agent.yaml --input moon",
        "worldbook scan --agent agent.yaml --input moon",
        "export agent.yaml --to aio",
    ] {
        let told = folder.ctx(command);
        assert!(told.starts_with("exit code 3") && told.contains("error[CTX0602]: invalid JSON"), "{told}");
        assert!(told.contains("--> worldbooks/sky.json:"), "{told}");
    }
    let told = folder.ctx("check agent.yaml");
    assert!(
        told.contains("error[CTX0602]: cannot read `worldbooks/sky.json`: ")
            && told.contains("\n --> agent.yaml:1:16\n")
    );
    let both = folder.ctx("check .");
    assert_eq!(both.matches("error[CTX0602]").count(), 1, "{both}");
    assert!(!both.contains("CTX0785"), "{both}");
    // No id names the other file.
    folder.write("worldbooks/sky.json", SKY.as_bytes());
    folder.write("worldbooks/other.json", b"{");
    assert!(folder.ctx("assemble agent.yaml --input moon").starts_with("exit code 0"));
}

#[test]
fn reports_that_the_context_window_is_unknown() {
    for command in ["scan sky.json --session chat.json", "check sky.json"] {
        let told = folder().ctx(&format!("worldbook {command} --model nosuch"));
        assert!(told.contains("warning[CTX0410]: the context window of `nosuch` is unknown"), "{told}");
        let known = folder().ctx(&format!("worldbook {command} --model gpt-4o"));
        assert!(!known.contains("CTX0410"), "{known}");
    }
}
