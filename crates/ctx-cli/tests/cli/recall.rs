//! `ctx recall`: what a conversation says about a question.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;
use crate::assemble::json as output;

const CHAT: &str = r#"[
  { "role": "user", "content": "Please book room B-12 for Ada Bell from 2026-05-14 on." },
  { "role": "assistant", "content": "Room B-12 is booked. Does she eat everything?" },
  { "role": "user", "content": "She is allergic to walnuts." },
  { "role": "assistant", "content": "I have noted that." },
  { "role": "user", "content": "我对花生过敏，请记住。" },
  { "role": "assistant", "content": "好的，我记住了。" }
]"#;

/// Searches the conversation, and shows what is found.
#[track_caller]
fn check(question: &str, options: &str) -> String {
    let folder = Folder::with(&[("chat.json", CHAT)]);
    folder.ctx_reading(&format!("recall - --session chat.json {options}"), question)
}

#[test]
fn what_is_found_is_shown_with_its_place_and_why() {
    assert_snapshot!(check("May Ada have walnut cake?", "--budget 40"), @"
    exit code 0
    === output
    3 lines, 38 of 40 tokens
      #1 U: Please book room B-12 for Ada Bell from 2026-05-14 on.
        n1, 5 messages back: ada
      #3 U: allergic to walnuts.
        n3, 3 messages back: walnut
      #4 A: noted
        n4, 2 messages back, next to a match
    ");
    assert_snapshot!(check("花生可以吃吗？", "--budget 40 --lang zh"), @"
    exit code 0
    === output
    3 行，38/40 Token
      #4 A: noted
        n4，往前第 2 条消息，与匹配处相邻
      #5 U: 我对花生过敏，请记住。
        n5，往前第 1 条消息：花生
      #6 A: 好的，我记住了。
        n6，最新的消息，与匹配处相邻
    ");
}

#[test]
fn json_has_the_text_and_where_each_line_comes_from() {
    assert_snapshot!(output(&check("walnuts?", "--budget 28 --json")), @r##"{"tokens":22,"text":"Recalled:\n#3 U: allergic to walnuts.\n#4 A: noted","lines":[{"id":"n3","ago":3,"words":["walnuts"],"text":"#3 U: allergic to walnuts."},{"id":"n4","ago":2,"words":[],"text":"#4 A: noted"}]}"##);
    assert_snapshot!(output(&check("zebra", "--json")), @r#"{"tokens":0,"text":null,"lines":[],"nothing":"no matches: no searched message contains these words"}"#);
}

#[test]
fn what_says_nothing_finds_nothing() {
    assert_snapshot!(check("what is it?", ""), @"
    exit code 0
    === output
    no matches: the question has no words to search for (function words and speaker names are ignored)
    ");
    assert_snapshot!(check("walnuts", "--budget 0"), @"
    exit code 0
    === output
    the matches do not fit into 0 tokens; raise the budget
    ");
}

#[test]
fn budgets_may_be_of_any_size() {
    let all = check("walnuts", "--budget 4000000");
    assert!(all.contains("#3 U: allergic to walnuts."));
    assert_eq!(
        check("walnuts", &format!("--budget {}", i64::MAX)),
        all.replace("4000000", &i64::MAX.to_string())
    );
}

#[test]
fn a_report_shows_what_a_question_brought_back() {
    let said = |n: usize| match n {
        6 => "By the way, my daughter is allergic to walnuts.".to_owned(),
        _ => {
            format!("Lamp {n} of the pier was lit by Ada at {}:30, and the ferry {} came in.", n % 24, n * 3)
        }
    };
    let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let message = |n: usize| json!({ "role": role(n), "content": said(n) });
    let chat = Value::Array((0..40).map(message).collect());
    let folder = Folder::with(&[("chat.json", &chat.to_string())]);
    let report =
        |options: &str| folder.ctx(&format!("compress report --session chat.json --budget 200 {options}"));
    let asked = report("--input walnut");
    for line in ["#7 U: By way daughter allergic to walnuts.\n", "n7, 33 messages back: walnut\n"] {
        assert!(asked.contains(line), "{asked}");
    }
    assert!(report("--input walnut --json").contains("\"words\": [\n            \"walnut\"\n          ]"));
    assert!(!report("").contains("recalled"), "nothing was asked");
}

#[test]
fn other_branches_are_searched_if_asked_for() {
    let node = |id: &str, parent: Value, children: &[&str], text: &str| json!({ "id": id, "parentId": parent, "childrenIds": children, "role": "user", "content": text, "isEnabled": id != "c" });
    let nodes = json!({
        "root": node("root", Value::Null, &["a"], ""),
        "a": node("a", json!("root"), &["b", "c", "d"], "The pier is green."),
        "b": node("b", json!("a"), &[], "Ada has a walnut."),
        "c": node("c", json!("a"), &[], "Walnuts are switched off."),
        "d": node("d", json!("a"), &[], "No walnut for Bo."),
    });
    let session =
        json!({ "id": "s", "name": "s", "rootNodeId": "root", "activeLeafId": "d", "nodes": nodes });
    let folder = Folder::with(&[("s.json", &session.to_string())]);
    assert_snapshot!(folder.ctx("recall walnut --session s.json --branches"), @"
    exit code 0
    === output
    3 lines, 27 of 1000 tokens
      ~ U: Ada walnut.
        b, on another branch: walnut
      #1 U: pier green.
        a, 1 message back, next to a match
      #2 U: No walnut for Bo.
        d, the newest message: walnut
    ");
}
