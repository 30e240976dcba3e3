//! `ctx compress report`: what summaries and passes kept, lost and made up.

use insta::assert_snapshot;

use crate::assemble::json;
use crate::ctx;

/// Five messages, of which four are hidden behind a summary that dropped and made up things.
const TALK: &str = r#"{
  "id": "s1", "rootNodeId": "r", "activeLeafId": "m5",
  "nodes": {
    "r": { "id": "r", "role": "system", "content": "", "parentId": null, "childrenIds": ["m1"] },
    "m1": { "id": "m1", "role": "user", "content": "Please book room 12 for Ada Bell from 3 May to 7 May. She must not be called before 9:00.", "parentId": "r", "childrenIds": ["m2"] },
    "m2": { "id": "m2", "role": "assistant", "content": null, "parentId": "m1", "childrenIds": ["m3"],
      "toolCalls": [{ "id": "c1", "name": "book", "arguments": "{\"room\": 12, \"key\": \"K-7781\"}" }] },
    "m3": { "id": "m3", "role": "tool", "toolCallId": "c1", "content": "{\"ok\": true, \"price\": \"$1,240\"}", "parentId": "m2", "childrenIds": ["m4"] },
    "m4": { "id": "m4", "role": "assistant", "content": "Done. Is breakfast wanted?", "parentId": "m3", "childrenIds": ["c"] },
    "c": { "id": "c", "role": "system", "content": "Room 12 is booked for Ada Bell from May 3 to May 9, for 1.24k dollars.", "parentId": "m4", "childrenIds": ["m5"],
      "metadata": { "isCompressionNode": true, "compressedNodeIds": ["m1", "m2", "m3", "m4"] } },
    "m5": { "id": "m5", "role": "user", "content": "When does she come?", "parentId": "c", "childrenIds": [] }
  }
}"#;

#[track_caller]
fn report(arguments: &str) -> String {
    ctx(&format!("compress report {arguments} --session t.json"), &[("t.json", TALK)])
}

#[test]
fn a_report_tells_what_a_summary_lost_and_made_up() {
    assert_snapshot!(report(""), @"
    exit code 0
    === output
    summary `c`: kept 3 of 6 facts (50.0%), lost 3, invented 1
                   kept   lost  invented
      date            1      2         1
      number          1      0         0
      name            1      0         0
      identifier      0      1         0
    lost
      date        m1:47         7 May
      date        m1:84         9:00
      identifier  m2 call 0:21  K-7781
    invented
      date        c:45  May 9
    ");
}

#[test]
fn a_pass_can_be_reported_on_too() {
    let files = [(
        "n.json",
        r#"[
          { "id": "a", "role": "user", "content": "Keep the red umbrella of Greta Holm, please; it costs 300 crowns and is never lent." },
          { "id": "b", "role": "assistant", "content": "It is in locker B-17 from 5 to 9 June." },
          { "id": "c", "role": "user", "content": "Thanks! Where was it found?" }
        ]"#,
    )];
    assert_snapshot!(ctx("compress report --session n.json --budget 50", &files), @"
    exit code 0
    === output
    request compression: kept 2 of 4 facts (50.0%), lost 2, invented 0
                   kept   lost  invented
      date            0      1         0
      number          1      0         0
      name            1      0         0
      identifier      0      1         0
    lost
      identifier  b:16  B-17
      date        b:31  9 June
    ");
    assert_snapshot!(ctx("compress report --session n.json", &files), @"
    exit code 0
    === output
    no summaries; use `--budget N` for a report on request compression
    ");
}

#[test]
fn json_has_the_place_of_each_fact() {
    let value = json(&report("c --json"));
    let summary = &value["summaries"][0];
    assert_eq!(summary["node"], "c");
    assert_eq!(summary["retention"], 0.5);
    let place = serde_json::json!({ "message": 0, "id": "c", "start": 45, "end": 50 });
    let invented = serde_json::json!([{ "kind": "date", "text": "May 9", "places": [place], "count": 1 }]);
    assert_eq!(summary["invented"], invented);
    let place = serde_json::json!({ "message": 1, "id": "m2", "call": 0, "start": 21, "end": 27 });
    assert_eq!(summary["lost"][2]["places"][0], place);
}
