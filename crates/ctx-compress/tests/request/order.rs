//! Invariant 2: the result is a subsequence of the request.

use proptest::prelude::*;

use crate::generate::requests;
use crate::{Pass, cases, settings};

proptest! {
    #![proptest_config(cases())]

    /// Invariant 2: messages keep their order, ids, roles, calls and places; only notes are new, and none comes twice.
    #[test]
    fn the_result_is_a_subsequence_of_the_request(messages in requests(), setting in settings()) {
        let pass = Pass::of(&messages, setting);
        // A note that is written anew with the words of the earlier one is that one again.
        let notes = pass.done.messages.iter().filter(|message| message.note.is_some()).count();
        let new = pass.sources().iter().filter(|source| source.is_none()).count();
        prop_assert!((new..=notes).contains(&pass.done.report.note_count));
        for (message, source) in pass.done.messages.iter().zip(pass.sources()) {
            prop_assert!(source.is_some() || message.note.is_some(), "only notes are new: {:?}", message);
        }
    }
}
