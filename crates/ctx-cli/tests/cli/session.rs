//! `ctx session`: the tree of a file, and its steps.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::assemble::json as output;
use crate::masks::{compressed, folder, hotel};

#[test]
fn a_path_shows_what_hides_what() {
    let (folder, _) = compressed();
    assert_snapshot!(folder.ctx("session show chat.json"), @"
    exit code 0
    === output
    chat.json: Room 12

        #   id                             role        tokens   text
    ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
     1–10                                               (257)   10 messages hidden by #11
       11   compression_8c38f6836520a663   system          97   [replaces 10 messages: 1–10] user: Hello! Please book a r…
       12   n11                            user            11   Can she bring a dog called Rex?
       13   n12                            assistant       13   Dogs are welcome, and cost 15 a night.
       14   n13                            user            10   Then add Rex to the booking.
       15   n14                            assistant        9   Rex is added to B-7781.

    sent now: 140 of 300 tokens; 1 summary hides 10 messages (estimate)
    undo: compress 10 messages
    ");
    let all = folder.ctx("session show chat.json --all");
    let line = "\n  9   n9                             user          (16)   [hidden by #11] No. The invoice goes to the Travel";
    assert!(all.contains(line) && all.matches("[hidden by #11]").count() == 10, "{all}");
}

#[test]
fn a_path_is_data_too() {
    let (folder, id) = compressed();
    let path = output(&folder.ctx("session show --session chat.json --json"));
    let states: Vec<_> =
        path["path"].as_array().unwrap().iter().map(|one| one["state"].as_str().unwrap()).collect();
    assert_eq!(states, [vec!["hidden"; 10], vec!["sent"; 5]].concat());
    assert_eq!(path["path"][0]["hiddenBy"], json!(id));
    assert_eq!(path["path"][10]["standsFor"].as_array().unwrap().len(), 10);
    assert_eq!(path["steps"]["undo"][0]["label"], "compress 10 messages");
}

#[test]
fn a_tree_is_drawn_with_its_branches_and_signs() {
    let (folder, id) = compressed();
    assert_snapshot!(folder.ctx("session tree chat.json"), @"
    exit code 0
    === output
    chat.json: Room 12
    16 nodes, 2 branches, 1 summary

     1  ○ n1                              user            29  Hello! Please book a room for Ms Ada Bell from 3 May to 7 May…
     2  ○ n2                              assistant       38  Of course, I would be very happy to help you with that. Room…
     3  ○ n3                              user            25  Yes please, that sounds really lovely. Her number at the “Tra…
     4  ○ n4                              assistant       30  It is done: room 12 is booked for Ada Bell, and the booking i…
     5  ├─○ n5                            user            29  Thank you so much, you are kind. Breakfast has to be at 6:30,…
     6  │ ○ n6                            assistant       30  I have noted breakfast at 6:30. I will ask the kitchen tomorr…
     7  │ ○ n7                            user            18  She eats eggs, but no nuts at all: she is allergic to them.
     8  │ ○ n8                            assistant       26  No nuts for Ada Bell, then; the kitchen knows. Is there anyth…
     9  │ ○ n9                            user            16  No. The invoice goes to the Travel Club, not to her.
    10  │ ○ n10                           assistant       16  The invoice for B-7781 will go to the Travel Club.
    11  │ ◆ compression_8c38f6836520a663  system          97  [replaces 10 messages: 1–10] user: Hello! Please book a room…
    12  │ ● n11                           user            11  Can she bring a dog called Rex?
    13  │ ● n12                           assistant       13  Dogs are welcome, and cost 15 a night.
    14  │ ● n13                           user            10  Then add Rex to the booking.
    15  │ ● n14                           assistant        9  ◀ Rex is added to B-7781.
        └─· b1                            user             7  Can I pay now?

    ● sent  ◆ summary  ○ hidden by a summary  · on another branch  ◀ active branch
    undo: compress 10 messages
    ");
    folder.ctx(&format!("compress disable {id} --session chat.json --write"));
    let tree = output(&folder.ctx("session tree chat.json --json"));
    assert_eq!(tree["activeLeafId"], "n14");
    assert_eq!(tree["summaries"][0]["state"], json!({ "state": "disabled" }));
    let states = |id: &str| {
        let nodes = tree["nodes"].as_array().unwrap();
        nodes.iter().find(|node| node["id"] == id).unwrap()["state"].clone()
    };
    assert_eq!([states("n1"), states(&id), states("b1")], ["sent", "off", "elsewhere"]);
}

#[test]
fn deep_forks_are_counted_and_not_drawn() {
    let mut nodes = json!({ "r": { "id": "r", "parentId": null, "childrenIds": ["a0", "b0"] } });
    for at in 0..20 {
        let parent = if at == 0 { "r".to_owned() } else { format!("a{}", at - 1) };
        let children = if at < 19 { vec![format!("a{}", at + 1), format!("b{}", at + 1)] } else { vec![] };
        nodes[format!("a{at}")] = json!({ "id": format!("a{at}"), "parentId": parent, "childrenIds": children, "role": "user", "content": "x" });
        nodes[format!("b{at}")] = json!({ "id": format!("b{at}"), "parentId": parent, "childrenIds": [], "role": "user", "content": "y" });
    }
    let file = json!({ "id": "s", "nodes": nodes, "rootNodeId": "r", "activeLeafId": "b19" });
    let tree = Folder::with(&[("c.json", &file.to_string())]).ctx("session tree c.json");
    assert!(tree.contains("\n40 nodes, 21 branches, 0 summaries\n"), "{tree}");
    for line in [
        "12  │ │ │ │ │ │ │ │ │ │ │ ├─● a11    user             4  x",
        "13  ⋯ │ │ │ │ │ │ │ │ │ │ │ ├─● a12  user             4  x",
        "20  ⋯ │ │ │ │ │ │ │ │ │ │ │ └─● b19  user             4  ◀ y",
        "    ⋯ │ │ │ │ │ │ │ │ │ │ │ └─· b12  user             4  y",
        "    └─· b0                           user             4  y",
        "● sent  · on another branch  ◀ active branch  ⋯ more branches above",
    ] {
        assert!(tree.contains(&format!("{line}\n")), "{line}\n{tree}");
    }
}

#[test]
fn steps_are_taken_back_and_done_again() {
    let (folder, id) = compressed();
    folder.ctx(&format!("compress disable {id} --session chat.json --write"));
    let masked = "sent now: 140 of 300 tokens; 1 summary hides 10 messages";
    let whole = "sent now: 300 tokens; no messages are hidden";
    let wrote = "wrote `chat.json`";
    for (verb, told) in [
        (
            "undo",
            format!("undid: disable ID\n{masked}\n{wrote}\nundo: compress 10 messages\nredo: disable ID\n"),
        ),
        (
            "undo",
            format!(
                "undid: compress 10 messages\n{whole}\n{wrote}\nredo: compress 10 messages, and 1 more operation\n"
            ),
        ),
        (
            "redo --dry-run",
            format!(
                "would redo: compress 10 messages\n{masked}\nnothing written (`--dry-run`)\nundo: compress 10 messages\nredo: disable ID\n"
            ),
        ),
        (
            "redo",
            format!(
                "redid: compress 10 messages\n{masked}\n{wrote}\nundo: compress 10 messages\nredo: disable ID\n"
            ),
        ),
        ("redo", format!("redid: disable ID\n{whole}\n{wrote}\nundo: disable ID, and 1 more operation\n")),
    ] {
        let answer = folder.ctx(&format!("session {verb} chat.json")).replace(&id, "ID");
        assert_eq!(answer, format!("exit code 0\n=== output\n{told}"));
    }
    let none = folder.ctx("session redo chat.json");
    assert_eq!(none, "exit code 1\n=== errors\nerror: nothing to redo\n");
}

#[test]
fn a_step_that_does_not_fit_any_more_changes_nothing() {
    let (folder, id) = compressed();
    folder.ctx(&format!("compress edit {id} --session chat.json --write --text All-is-booked."));
    let path = folder.path().join("chat.json");
    let mut edited: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    edited["nodes"][&id]["content"] = json!("Somebody else wrote this.");
    let edited = edited.to_string();
    std::fs::write(&path, &edited).unwrap();
    assert_snapshot!(folder.ctx("session undo chat.json").replace(&id, "ID"), @"
    exit code 1
    === errors
    error: cannot undo `edit ID`: `ID` was edited since
    ");
    assert!(std::fs::read_to_string(&path).unwrap() == edited, "the file is as it was");
}

#[test]
fn a_conversation_may_come_from_the_settings() {
    let folder = folder();
    folder.write("ctx.toml", b"session = 'chat.json'\n");
    assert!(folder.ctx("session show").contains("chat.json: Room 12"));
    assert_snapshot!(folder.ctx("session show --no-config"), @"
    exit code 2
    === errors
    error: no conversation given; name a file, or set `session` in `ctx.toml`
    ");
    assert_snapshot!(folder.ctx("session undo"), @"
    exit code 1
    === errors
    error: nothing to undo
    ");
}

#[test]
fn other_forms_are_shown_and_not_written() {
    let folder = Folder::with(&[("list.json", r#"[{"role":"user","content":"Hi."}]"#), ("none.json", "[]")]);
    assert_snapshot!(folder.ctx("session show list.json"), @"
    exit code 0
    === output
    list.json

     #   id   role   tokens   text
    ───────────────────────────────
     1   n1   user        4   Hi.

    sent now: 4 tokens; no messages are hidden (estimate)
    ");
    assert_snapshot!(folder.ctx("session undo list.json"), @"
    exit code 2
    === errors
    error: `list.json` has no undo history: it is a list of chat messages; to convert it, use `ctx session import list.json`, then `ctx session export ID --out FILE`
    ");
    assert_snapshot!(folder.ctx("session undo list"), @"
    exit code 3
    === errors
    error: no file `list`; to export a stored conversation, use `ctx session export list --out FILE`; to change it, use `ctx chat --conversation list`
    ");
    let halves = json!({ "index": { "id": "s" }, "detail": hotel() });
    folder.write("halves.json", halves.to_string().as_bytes());
    assert!(folder.ctx("session tree halves.json").contains("15 nodes, 2 branches"));
}
