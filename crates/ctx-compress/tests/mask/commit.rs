//! From draft to operation, and sessions that change meanwhile.

use ctx_compress::mask::{MaskCommit, MaskConfig, MaskLayer, MaskLevel, MaskPlan, MaskSelection};
use ctx_tokens::Counter;
use ctx_types::session::{Node, NodeEdit, Session, SessionOp};
use ctx_types::{Content, Role};
use serde_json::{Value, json};

use crate::{bytes, conversation, ids, plan, says, summarize, visible};

fn config(settings: Value) -> MaskConfig {
    MaskConfig::resolve(&[MaskLayer::new(MaskLevel::Call, settings)]).config
}

fn compress(session: &Session, settings: Value) -> Result<MaskCommit, String> {
    let plan = plan(session, &config(settings), &MaskSelection::All).unwrap();
    let draft = summarize(plan, &says("They talk.")).unwrap();
    draft.commit(session, 1_733_712_000_000).map_err(|error| error.to_string())
}

/// Plans, lets something happen, commits.
#[track_caller]
fn check(words: &str, meanwhile: SessionOp, expected: Result<(), &str>) {
    let mut session = conversation(words);
    let plan = plan(&session, &config(json!({ "protectRecentCount": 2 })), &MaskSelection::All).unwrap();
    let draft = summarize(plan, &says("They talk.")).unwrap();
    session.apply(&meanwhile).unwrap();
    let before = bytes(&session);
    let commit = draft.commit(&session, 7);
    assert_eq!(bytes(&session), before);
    let found = commit.as_ref().map(|_| ()).map_err(ToString::to_string);
    assert_eq!(found, expected.map_err(str::to_owned));
    if let Ok(commit) = commit {
        session.apply(&commit.op).unwrap();
    }
}

fn edit(id: &str) -> SessionOp {
    SessionOp::Edit { id: id.into(), edit: Box::new(NodeEdit::content(Content::Text("other".into()))) }
}

fn append(parent: &str) -> SessionOp {
    SessionOp::Append { parent: parent.into(), node: Box::new(Node::new(Role::User, "new").with_id("new")) }
}

#[test]
fn the_node_stands_behind_what_it_hides_with_all_metadata() {
    let mut session = conversation("u a u a u a");
    let commit = compress(&session, json!({ "protectRecentCount": 2, "summaryRole": "assistant" })).unwrap();
    session.apply(&commit.op).unwrap();
    let mut visible = visible(&session);
    assert_eq!(visible.remove(0), commit.id);
    assert_eq!(ids(&visible), "n5 n6");
    let node = session.node(&commit.id).unwrap();
    let file = json!(node);
    assert_eq!(
        (&file["role"], &file["content"], &file["parentId"]),
        (&json!("assistant"), &json!("They talk."), &json!("n4"))
    );
    assert_eq!(
        file["metadata"],
        json!({
            "isCompressionNode": true,
            "compressedNodeIds": ["n1", "n2", "n3", "n4"],
            "compressionTimestamp": 1_733_712_000_000_i64,
            "originalTokenCount": 252,
            "originalMessageCount": 4,
            "compressionConfig": {
                "triggerMode": "token",
                "thresholds": { "tokenThreshold": 80000, "countThreshold": 50, "protectRecentCount": 2,
                    "compressCount": 20, "minHistoryCount": 15 },
                "summaryRole": "assistant"
            },
            "tokenCount": 6,
            "compressionDetails": { "madeBy": "summarizer", "profile": "chat", "language": "en",
                "replacedTokenCount": 252, "coveredSummaryIds": [], "parts": 1 }
        })
    );
    assert_eq!(commit.notice.to_string(), "compressed 4 messages, saved 246 tokens");
}

#[test]
fn one_undo_takes_it_back() {
    let mut session = conversation("u a u a u a");
    let before = bytes(&session);
    let commit = compress(&session, json!({ "protectRecentCount": 2 })).unwrap();
    let undo = session.apply(&commit.op).unwrap();
    session.apply(&undo).unwrap();
    assert_eq!(bytes(&session), before);
}

#[test]
fn later_messages_do_not_matter() {
    check("u a u a u a", append("n6"), Ok(()));
    check("u a u a u a", edit("n5"), Ok(()));
}

#[test]
fn an_edited_range_is_stale() {
    check("u a u a u a", edit("n2"), Err("the messages changed during summarization"));
}

#[test]
fn a_change_of_an_earlier_summary_makes_it_stale() {
    let changed = "the messages changed during summarization";
    check("u a S[n1,n2] u a u a", edit("n3"), Err(changed));
    let off = SessionOp::Toggle { id: "n3".into(), enabled: false };
    check("u a S[n1,n2] u a u a", off, Err("`n3` was hidden during summarization"));
    check("u a S[n1,n2] u a u a", edit("n1"), Ok(()));
}

#[test]
fn a_removed_range_is_stale() {
    check("u a u a u a", SessionOp::Remove { id: "n3".into() }, Err("`n3` was removed during summarization"));
}

#[test]
fn another_branch_makes_it_stale() {
    check("u a u a u a", append("n3"), Err("another branch became active while `n4` was summarized"));
}

#[test]
fn a_message_that_was_switched_off_makes_it_stale() {
    let off = SessionOp::Toggle { id: "n2".into(), enabled: false };
    check("u a u a u a", off, Err("`n2` was hidden during summarization"));
}

#[test]
fn a_message_that_came_between_makes_it_stale() {
    let node = Box::new(Node::new(Role::User, "new").with_id("new"));
    let between = SessionOp::Insert { after: "n2".into(), node };
    check("u a u a u a", between, Err("the messages changed during summarization"));
}

#[test]
fn of_two_summaries_of_one_range_the_second_is_stale() {
    let mut session = conversation("u a u a u a");
    let settings = config(json!({ "protectRecentCount": 2 }));
    let draft =
        || summarize(plan(&session, &settings, &MaskSelection::All).unwrap(), &says("They talk.")).unwrap();
    let (first, second) = (draft(), draft());
    session.apply(&first.commit(&session, 1).unwrap().op).unwrap();
    assert_eq!(second.commit(&session, 2).unwrap_err().to_string(), "`n1` was hidden during summarization");
}

#[test]
fn equal_ids_are_told_apart() {
    let mut session = conversation("u a u a u a");
    let first = compress(&session, json!({ "protectRecentCount": 2 })).unwrap();
    session.apply(&first.op).unwrap();
    session.apply(&SessionOp::Toggle { id: first.id.clone(), enabled: false }).unwrap();
    let second = compress(&session, json!({ "protectRecentCount": 2 })).unwrap();
    assert_eq!(*second.id, *format!("{}_2", first.id));
    session.apply(&second.op).unwrap();
}

#[test]
fn hidden_reasoning_is_noted() {
    let mut session = conversation("u a u a u a");
    let metadata =
        serde_json::from_value(json!({ "reasoningArtifacts": [{ "replayPolicy": "always" }] })).unwrap();
    let edit = NodeEdit { metadata: ctx_types::session::Change::Set(metadata), ..NodeEdit::default() };
    session.apply(&SessionOp::Edit { id: "n2".into(), edit: Box::new(edit) }).unwrap();
    let commit = compress(&session, json!({ "protectRecentCount": 2 })).unwrap();
    session.apply(&commit.op).unwrap();
    let metadata = &json!(session.node(&commit.id).unwrap())["metadata"];
    assert_eq!(metadata["reasoningStateStatus"], "broken");
}

#[test]
fn a_regenerated_summary_keeps_what_it_stands_for() {
    let mut session = conversation("u a u a u a");
    let commit = compress(&session, json!({ "protectRecentCount": 2 })).unwrap();
    session.apply(&commit.op).unwrap();
    let before = visible(&session);
    let counter = Counter::estimate();
    let again = || MaskPlan::regenerate(&session, &config(json!({})), &commit.id, &counter).unwrap();
    let draft = summarize(again(), &says("They talk again.")).unwrap();
    let stale = summarize(again(), &says("They talk once more.")).unwrap();
    let again = draft.commit(&session, 9).unwrap();
    assert_eq!(again.notice.to_string(), "summarized 4 messages again, saved 245 tokens");
    session.apply(&again.op).unwrap();
    assert_eq!(visible(&session), before);
    let node = session.node(&commit.id).unwrap();
    assert_eq!(node.content, Some(Content::Text("They talk again.".into())));
    assert_eq!(json!(node)["metadata"]["compressionTimestamp"], 9);
    assert_eq!(
        stale.commit(&session, 9).unwrap_err().to_string(),
        "the messages changed during summarization"
    );
}

#[test]
fn only_summaries_can_be_regenerated() {
    let session = conversation("u a S[n1,n2] S[x]");
    let regenerate = |id: &str| {
        let plan = MaskPlan::regenerate(&session, &MaskConfig::default(), &id.into(), &Counter::estimate());
        plan.map(|plan| plan.to_string()).map_err(|error| error.to_string())
    };
    assert_eq!(regenerate("n3"), Ok("summarize 2 messages again (126 tokens) into `n3`".to_owned()));
    assert_eq!(regenerate("n1"), Err("`n1` is not a summary".to_owned()));
    assert_eq!(regenerate("n4"), Err("no message that `n4` lists is above it".to_owned()));
    assert_eq!(regenerate("y"), Err("no node `y`".to_owned()));
}
