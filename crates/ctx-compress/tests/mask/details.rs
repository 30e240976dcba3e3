//! What a user interface shows of summaries.

use ctx_compress::mask::{MaskDetails, MaskNotice, MaskState, MaskStatistics};
use ctx_tokens::Counter;
use ctx_types::session::Session;

use crate::conversation;

fn details(session: &Session, id: &str) -> MaskDetails {
    MaskDetails::of(session, id, &Counter::estimate()).unwrap()
}

#[track_caller]
fn check(messages: usize, summaries: usize, is_again: bool, expected: &str) {
    let notice = MaskNotice { messages, summaries, replaced_tokens: 1_234_567, summary_tokens: 7, is_again };
    assert_eq!(notice.to_string(), expected);
}

#[test]
fn notices_tell_what_is_saved_net_of_the_summary() {
    check(1, 0, false, "compressed 1 message, saved 1,234,560 tokens");
    check(3, 2, false, "compressed 3 messages and 2 summaries, saved 1,234,560 tokens");
    check(0, 1, false, "compressed 1 summary, saved 1,234,560 tokens");
    check(4, 0, true, "summarized 4 messages again, saved 1,234,560 tokens");
    let grown =
        MaskNotice { messages: 1, summaries: 0, replaced_tokens: 5, summary_tokens: 7, is_again: false };
    assert_eq!(grown.saved_tokens(), 0);
}

#[test]
fn details_tell_what_a_summary_stands_for() {
    let session = conversation("u a S[n1,n2,x] ~S[n1] S[n3] u");
    let first = details(&session, "n3");
    assert_eq!((first.messages, first.listed.len(), first.original_tokens), (2, 3, 126));
    assert_eq!(first.to_string(), "`n3` replaces 2 messages: 126 → 6 tokens; replaced by `n5`");
    assert_eq!(first.listed[2].role, None);
    assert_eq!(details(&session, "n4").state, MaskState::Disabled);
    assert_eq!(details(&session, "n5").state, MaskState::Active);
    assert_eq!(MaskDetails::of(&session, "n1", &Counter::estimate()), None);
    assert_eq!(serde_json::json!(first)["state"], serde_json::json!({ "state": "hidden", "by": "n5" }));
}

#[test]
fn statistics_count_the_active_path() {
    let session = conversation("u a S[n1,n2] u a");
    let found = MaskStatistics::of(&session, &Counter::estimate());
    assert_eq!((found.summaries, found.active, found.hidden_messages), (1, 1, 2));
    assert_eq!((found.full_tokens, found.sent_tokens), (252, 132));
}
