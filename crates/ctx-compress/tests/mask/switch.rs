//! Operations on summaries that are there, and findings about them.

use ctx_compress::mask::{check_summaries, delete_summary, edit_summary, switch_summary};
use ctx_tokens::Counter;
use ctx_types::Role;
use ctx_types::session::{Node, Session, SessionOp};
use serde_json::json;

use crate::{bytes, conversation, ids, visible};

#[test]
fn switching_off_shows_the_messages_and_on_hides_them() {
    let mut session = conversation("u a S[n1,n2] u a");
    let before = bytes(&session);
    let off = switch_summary(&session, "n3", false).unwrap();
    let undo = session.apply(&off).unwrap();
    assert_eq!(ids(&visible(&session)), "n1 n2 n4 n5");
    session.apply(&switch_summary(&session, "n3", true).unwrap()).unwrap();
    assert_eq!(ids(&visible(&session)), "n3 n4 n5");
    session.apply(&off).unwrap();
    session.apply(&undo).unwrap();
    assert_eq!(bytes(&session), before);
}

#[test]
fn deleting_shows_the_messages() {
    let mut session = conversation("u a S[n1,n2] u a");
    session.apply(&delete_summary(&session, "n3").unwrap()).unwrap();
    assert_eq!(ids(&visible(&session)), "n1 n2 n4 n5");
    assert_eq!(session.node("n4").unwrap().parent_id.as_deref(), Some("n2"));
}

#[test]
fn an_edit_changes_words_and_tokens() {
    let mut session = conversation("u a S[n1,n2] u a");
    let edit = edit_summary(&session, "n3", "Shorter still.", &Counter::estimate()).unwrap();
    session.apply(&edit).unwrap();
    let file = json!(session.node("n3").unwrap());
    assert_eq!((&file["content"], &file["metadata"]["tokenCount"]), (&json!("Shorter still."), &json!(7)));
    assert_eq!(file["metadata"]["compressedNodeIds"], json!(["n1", "n2"]));
    assert_eq!(file["metadata"]["compressionDetails"]["edited"], true);
}

#[test]
fn what_is_no_summary_is_refused() {
    let session = conversation("u a S[n1,n2]");
    let counter = Counter::estimate();
    let text = |result: Result<_, ctx_compress::mask::SummaryError>| result.unwrap_err().to_string();
    assert_eq!(text(switch_summary(&session, "n1", false)), "`n1` is not a summary");
    assert_eq!(text(delete_summary(&session, "n1")), "`n1` is not a summary");
    assert_eq!(text(delete_summary(&session, "x")), "no node `x`");
    assert_eq!(
        text(edit_summary(&session, "n3", " \n", &counter)),
        "the summary is blank; to show its messages, disable or delete it"
    );
}

/// Checks what is found about the summaries of a conversation.
#[track_caller]
fn check(session: &Session, expected: &[&str]) {
    let found: Vec<String> = check_summaries(session).iter().map(|one| one.message.to_string()).collect();
    assert_eq!(found, expected);
}

#[test]
fn sound_summaries_are_no_finding() {
    check(&conversation("u a S[n1,n2] u a S[n3,n4,n5] u"), &[]);
}

#[test]
fn a_message_further_down_may_be_listed() {
    let session = conversation("u a S[n1,n4] u a");
    check(&session, &[]);
    assert_eq!(ids(&visible(&session)), "n2 n3 n5");
}

#[test]
fn circles_are_found() {
    check(
        &conversation("u a S[n1,n3] u S[n4,n6] S[n5] S[n6]"),
        &[
            "summary `n3` lists itself, directly or through other summaries",
            "summary `n5` lists itself, directly or through other summaries",
            "summary `n6` lists itself, directly or through other summaries",
        ],
    );
}

#[test]
fn foreign_ids_are_found() {
    check(
        &conversation("u a S[n1,x,y,n4] u S[z] S[]"),
        &[
            "summary `n3` lists 2 ids that are not on its branch (first: `x`); they are ignored",
            "summary `n5` lists no message of its branch; it hides nothing",
            "summary `n6` lists no message of its branch; it hides nothing",
        ],
    );
}

#[test]
fn ids_of_no_node_and_of_other_branches_are_told_apart() {
    check(&conversation("u a S[n1,x] u"), &["summary `n3` lists `x`, which is not a node; it is ignored"]);
    let mut session = conversation("u a S[n1,x2] u");
    let branch =
        SessionOp::Append { parent: "n1".into(), node: Box::new(Node::new(Role::User, "hi").with_id("x2")) };
    session.apply(&branch).unwrap();
    check(&session, &["summary `n3` lists `x2`, which is not on its branch; it is ignored"]);
}

#[test]
fn ids_that_are_listed_twice_are_found() {
    check(&conversation("u a S[n1,n2,n1] u"), &["summary `n3` lists `n1` twice"]);
}

#[test]
fn summaries_of_the_same_messages_are_found_if_both_are_sent() {
    let overlap = "summary `n6` lists `n2`, also listed by `n3`; both are sent";
    check(&conversation("u a S[n1,n2] u a S[n2,n4] u"), &[overlap]);
    check(&conversation("u a ~S[n1,n2] u a S[n2,n4] u"), &[]);
    check(&conversation("u a S[n1,n2] u a S[n1,n2,n3,n4] u"), &[]);
}

#[test]
fn a_summary_of_one_that_is_switched_off_is_said() {
    let chain = "summary `n6` lists disabled summary `n3` and hides the messages of `n3`";
    check(&conversation("u a ~S[n1,n2] u a S[n1,n2,n3,n4] u"), &[chain]);
    check(&conversation("u a ~S[n1,n2] u a ~S[n1,n2,n3,n4] u"), &[]);
}
