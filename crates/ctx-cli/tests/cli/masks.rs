//! `ctx compress … --mask`: summaries in a conversation's file, and what is done with them.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::assemble::json as output;

/// Everything that makes a run the same each time.
pub(crate) const AT: &str = "--at 2026-01-31T12:00:00Z";

/// A conversation of fourteen messages about a hotel, with a branch that goes another way.
pub(crate) fn hotel() -> Value {
    let said = [
        "Hello! Please book a room for Ms Ada Bell from 3 May to 7 May. She must not be put above the kitchen.",
        "Of course, I would be very happy to help you with that. Room 12 is free and costs 140 a night, with a view of Lake Zurich. Shall I book it?",
        "Yes please, that sounds really lovely. Her number at the “Travel Club” is TC-4471.",
        "It is done: room 12 is booked for Ada Bell, and the booking is B-7781. Would you like anything else today?",
        "Thank you so much, you are kind. Breakfast has to be at 6:30, since her train to Chur leaves at 7:15.",
        "I have noted breakfast at 6:30. I will ask the kitchen tomorrow whether they can do it. Does she eat eggs?",
        "She eats eggs, but no nuts at all: she is allergic to them.",
        "No nuts for Ada Bell, then; the kitchen knows. Is there anything else that it should know?",
        "No. The invoice goes to the Travel Club, not to her.",
        "The invoice for B-7781 will go to the Travel Club.",
        "Can she bring a dog called Rex?",
        "Dogs are welcome, and cost 15 a night.",
        "Then add Rex to the booking.",
        "Rex is added to B-7781.",
    ];
    let mut nodes = json!({ "root": { "id": "root", "parentId": null, "childrenIds": ["n1"], "role": "system", "content": "" } });
    for (at, text) in said.iter().enumerate() {
        let (id, role) = (format!("n{}", at + 1), if at % 2 == 0 { "user" } else { "assistant" });
        let parent = if at == 0 { "root".to_owned() } else { format!("n{at}") };
        let mut children = Vec::from_iter((at + 1 < said.len()).then(|| format!("n{}", at + 2)));
        children.extend((at == 3).then(|| "b1".to_owned()));
        nodes[&id] =
            json!({ "id": id, "parentId": parent, "childrenIds": children, "role": role, "content": text });
    }
    nodes["b1"] = json!({ "id": "b1", "parentId": "n4", "childrenIds": [], "role": "user", "content": "Can I pay now?" });
    json!({ "id": "s1", "name": "Room 12", "nodes": nodes, "rootNodeId": "root", "activeLeafId": "n14" })
}

/// A folder with that conversation.
pub(crate) fn folder() -> Folder {
    let folder = Folder::with(&[]);
    folder.write("chat.json", format!("{:#}\n", hotel()).as_bytes());
    folder
}

/// What the conversation's file holds.
pub(crate) fn chat(folder: &Folder) -> String {
    std::fs::read_to_string(folder.path().join("chat.json")).unwrap()
}

/// Compresses the first ten messages and writes the file.
#[track_caller]
pub(crate) fn compressed() -> (Folder, String) {
    let folder = folder();
    let answer =
        folder.ctx(&format!("compress run --session chat.json --mask --from 1 --to 10 --json --write {AT}"));
    let id = output(&answer)["node"]["id"].as_str().unwrap().to_owned();
    (folder, id)
}

#[test]
fn a_plan_lists_what_the_summary_will_stand_for() {
    assert_snapshot!(folder().ctx("compress plan --session chat.json --mask --set protectRecentCount=10"), @"
    exit code 0
    === output
    summarize 4 messages (122 tokens) from `n1` to `n4`

     #   id   role        tokens   text
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     1   n1   user            29   Hello! Please book a room for Ms Ada Bell from 3 May to 7 May. She must not be put abo…
     2   n2   assistant       38   Of course, I would be very happy to help you with that. Room 12 is free and costs 140…
     3   n3   user            25   Yes please, that sounds really lovely. Her number at the “Travel Club” is TC-4471.
     4   n4   assistant       30   It is done: room 12 is booked for Ada Bell, and the booking is B-7781. Would you like…

    kept: 10 messages, always including the newest 10 (`protectRecentCount`)
    prompt: first summary; profile `chat`, language `en`
    trigger: 14 messages; compression starts at 15
    ");
}

#[test]
fn a_plan_is_data_too() {
    let plan = output(&folder().ctx("compress plan --session chat.json --mask --from n3 --to 4 --json"));
    assert_eq!(plan["plan"]["messages"], json!(["n3", "n4"]));
    assert_eq!(plan["plan"]["after"], "n4");
    assert_eq!(plan["trigger"]["fires"], false);
    assert_eq!(plan["settings"][3], json!({ "key": "tokenThreshold", "value": 80_000, "level": "built-in" }));
}

#[test]
fn a_run_shows_the_summary_and_writes_nothing() {
    let folder = folder();
    let before = chat(&folder);
    assert_snapshot!(folder.ctx(&format!("compress run --session chat.json --mask --from 1 --to 10 {AT}")), @"
    exit code 0
    === output
    summarize 10 messages (257 tokens) from `n1` to `n10`

    `compression_8c38f6836520a663` (system, 97 tokens; extracted from the messages):
      - user: Hello! Please book a room for Ms Ada Bell from 3 May to 7 May. She must not be put above the kitchen.
      - assistant: Room 12 is free and costs 140 a night, with a view of Lake Zurich. Shall I book it?
      - user: Her number at the “Travel Club” is TC-4471.
      - assistant: I have noted breakfast at 6:30.
      - assistant: The invoice for B-7781 will go to the Travel Club.

    compressed 10 messages, saved 160 tokens
    sent now: 140 of 300 tokens; 1 summary hides 10 messages
    nothing written; add `--write` to change `chat.json`
    ");
    assert!(chat(&folder) == before, "nothing is written");
}

#[test]
fn what_would_be_written_is_printed() {
    let folder = folder();
    let result =
        output(&folder.ctx(&format!("compress run --session chat.json --mask --from 1 --to 10 --json {AT}")));
    assert_eq!(result["outcome"]["kind"], "compacted");
    assert_eq!(result["written"], false);
    let id = result["node"]["id"].as_str().unwrap();
    assert_eq!(result["session"]["nodes"][id], result["node"]);
    assert_eq!(result["node"]["metadata"]["compressionTimestamp"], 1_769_860_800_000_i64);
    assert_eq!(result["notice"]["text"], "compressed 10 messages, saved 160 tokens");
    let (written, _) = compressed();
    assert_eq!(serde_json::from_str::<Value>(&chat(&written)).unwrap(), result["session"]);
}

#[test]
fn verbs_on_a_summary_are_steps() {
    let (folder, id) = compressed();
    let short = &id[..14];
    for (verb, told) in [
        (format!("disable {short}"), format!("disabled `{id}`")),
        (format!("disable {short}"), format!("`{id}` is already disabled")),
        (format!("enable {short}"), format!("enabled `{id}`")),
        (format!("edit {short} --text All-is-booked."), format!("edited `{id}`")),
        (format!("regenerate {short}"), format!("`{id}` (97 tokens; extracted from the messages):")),
        (format!("delete {short}"), format!("deleted `{id}`")),
    ] {
        let answer = folder.ctx(&format!("compress {verb} --session chat.json --write {AT}"));
        assert!(answer.starts_with(&format!("exit code 0\n=== output\n{told}\n")), "{answer}");
    }
    let shown = folder.ctx("session show chat.json");
    assert!(shown.contains("sent now: 300 tokens; no messages are hidden (estimate)\n"), "{shown}");
    assert!(shown.ends_with(&format!("undo: delete {id}, and 5 more operations\n")), "{shown}");
}

#[test]
fn the_facts_beside_a_summary_are_switched_by_themselves() {
    let folder = folder();
    let run = "compress run --session chat.json --mask --from 1 --to 4 --write --set appendixTokens=40 --summarizer";
    let mut command = folder.command(run);
    folder.write("s.sh", b"echo 'They talk about a room.'");
    command.args(["cmd:/bin/sh s.sh"]).env("PATH", "/usr/bin:/bin");
    assert!(command.output().unwrap().status.success());
    let sent = || folder.ctx("session show chat.json --json").contains("word for word:");
    assert!(sent() && chat(&folder).contains("compressionAppendix"));
    let switch = |verb: &str| {
        folder.ctx(&format!("compress {verb} compression --session chat.json --appendix --write"))
    };
    assert!(switch("disable").contains("disabled the facts of `compression_"));
    assert!(!sent() && chat(&folder).contains("compressionAppendix"));
    assert!(switch("enable").contains("exit code 0") && sent());
}

#[test]
fn an_edit_reads_standard_input() {
    let (folder, id) = compressed();
    let answer = folder
        .ctx_reading(&format!("compress edit {id} --session chat.json --json {AT}"), "All is booked.\n");
    let result = output(&answer);
    assert_eq!(result["node"]["content"], "All is booked.");
    assert_eq!(result["outcome"], json!({ "kind": "done", "step": format!("edit {id}") }));
    assert_eq!(result["session"]["nodes"][&id], result["node"]);
    assert_snapshot!(folder.ctx_reading(&format!("compress edit {id} --session chat.json"), " \n"), @"
    exit code 2
    === errors
    error: the summary is blank; to show its messages, disable or delete it
    ");
}

#[test]
fn summaries_are_named_where_one_is_not_found() {
    let (folder, _) = compressed();
    let all = ["compression_x", "n3", ""].map(|id| {
        let mut command = folder.command("compress disable --session chat.json");
        String::from_utf8(command.arg(id).output().unwrap().stderr).unwrap()
    });
    assert_snapshot!(all.concat(), @"
    error: no summary `compression_x`; the summaries are `compression_8c38f6836520a663`
    error: `n3` is not a summary
    error: no summary ``; the summaries are `compression_8c38f6836520a663`
    ");
}

#[test]
fn settings_decide_when_and_how_much() {
    let folder = folder();
    let agent = r#"{ "presetMessages": [], "parameters": { "contextCompression": { "countThreshold": 9, "protectRecentCount": 4 } } }"#;
    folder.write("agent.json", agent.as_bytes());
    let settings = r#"{ "contextCompression": { "defaultStrategy": { "triggerMode": "count", "countThreshold": 20 }, "minHistoryCount": 2, "compressCount": 4 } }"#;
    folder.write("settings.json", settings.as_bytes());
    let plan = |more: &str| {
        let given = "--session chat.json --mask --auto --json --settings settings.json";
        output(&folder.ctx(&format!("compress plan {given} {more}")))
    };
    assert_eq!(plan("")["outcome"]["detail"], "no threshold is exceeded");
    assert_eq!(plan("--agent agent.json --set compressCount=2")["plan"]["messages"], json!(["n1", "n2"]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = folder();
    folder.write("list.json", br#"[{"role":"user","content":"Hi."}]"#);
    folder.write("chat.yaml", b"id: s\nnodes: {root: {id: root, parentId: null, childrenIds: []}}\nrootNodeId: root\nactiveLeafId: root\n");
    let all = [
        "--session chat.json --from 15",
        "--session chat.json --from n5 --to n2",
        "--session chat.json --from b1",
        "--session chat.json --set protectRecent=4",
        "--session chat.json --set compressCount",
        "--session chat.json --summarizer magic",
        "--session list.json --write",
        "--session chat.yaml --write",
        "--session - --write",
        "--session chat.json list.json --out x.json",
        "--session chat.json --out chat.json --from 1 --to 4",
    ];
    let all = all.map(|arguments| folder.ctx(&format!("compress run --mask {arguments}")));
    assert_snapshot!(all.concat(), @"
    exit code 2
    === errors
    error: no message `15`; use an id, or a position on the active branch from 1 to 14
    exit code 2
    === errors
    error: `n5` comes after `n2`
    exit code 2
    === errors
    error: `b1` is not on the active branch
    exit code 2
    === errors
    error: `--set`: unknown compression setting `protectRecent`; available settings: `enabled`, `autoTrigger`, `triggerMode`, `tokenThreshold`, `countThreshold`, `protectRecentCount`, `compressCount`, `minHistoryCount`, `summaryRole`, `summaryModel`, `summaryTemperature`, `summaryMaxTokens`, `summaryPrompt`, `continueSummaryPrompt`, `summaryProfile`, `summaryLanguage`, `summaryTimeout`, `summaryRetries`, `rollUpPercent`, `appendixTokens`
    exit code 2
    === errors
    error: `--set compressCount` has no `=`; use the form `--set protectRecentCount=4`
    exit code 2
    === errors
    error: invalid value 'magic' for '--summarizer <WHO>': expected `extractive`, `cmd:PROGRAM`, or an API dialect: `openai`, `openai-responses`, `anthropic`, `gemini`, `completion`

    For more information, try '--help'.
    exit code 2
    === errors
    error: cannot store this in `list.json` (a list of chat messages); use `--out FILE` to write a session
    exit code 2
    === errors
    error: cannot change `chat.yaml`: it is not plain JSON; use `--out FILE` to write a session
    exit code 2
    === errors
    error: cannot write to standard input; use `--out FILE` to write a session
    exit code 2
    === errors
    error: `--out` writes one conversation; use `--write` to update each file
    exit code 2
    === errors
    error: cannot write `chat.json`: this run reads it; use another file
    ");
    folder.write("chats/a.json", hotel().to_string().as_bytes());
    folder.write("chats/b.json", hotel().to_string().as_bytes());
    assert!(folder.ctx("compress run --session chats --mask --out x.json").starts_with("exit code 2"));
    assert_snapshot!(folder.ctx("compress run --session chat.json"), @"
    exit code 2
    === errors
    error: use `--budget N` to compress to N tokens, or `--mask` to summarize older messages
    ");
    assert_snapshot!(folder.ctx("compress run --session chat.json --budget 100 --write"), @"
    exit code 2
    === errors
    error: `--write` and `--out` require `--mask`
    ");
}

#[test]
fn another_form_becomes_a_session_in_another_file() {
    let list: Vec<Value> = (1..=14).map(|n| json!({ "role": if n % 2 == 1 { "user" } else { "assistant" }, "content": format!("Message {n} tells of many things, one after the other, at length.") })).collect();
    let folder = Folder::with(&[("list.json", &json!(list).to_string())]);
    let answer = folder.ctx(&format!("compress run --session list.json --mask --out chat.json {AT}"));
    assert!(answer.ends_with("wrote `chat.json`\n"), "{answer}");
    assert!(folder.ctx("session show chat.json").contains("4 messages hidden by #5"));
}
