//! Properties of message groups after any edit.

use ctx_types::{Message, groups};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::run::case::{Host, Step, message, messages, run, words};

/// Edits; numbers are positions modulo the length.
#[derive(Clone, Debug)]
enum Edit {
    Insert(usize),
    Remove(usize),
    Swap(usize, usize),
    Double(usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = 0..30_usize;
    let edit = prop_oneof![
        3 => place.clone().prop_map(Edit::Insert),
        1 => place.clone().prop_map(Edit::Remove),
        1 => (place.clone(), place.clone()).prop_map(|(left, right)| Edit::Swap(left, right)),
        1 => place.prop_map(Edit::Double),
    ];
    vec(edit, 0..4)
}

fn conversation() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        2 => Just((0, "u")),
        1 => Just((0, "a")),
        2 => (1..4_usize).prop_map(|results| (results, "c")),
    ];
    vec(part, 0..7).prop_map(|parts| {
        let mut words = Vec::new();
        for (at, (results, kind)) in parts.into_iter().enumerate() {
            let calls: Vec<String> = (0..results).map(|call| format!("x{at}{call}")).collect();
            let colon = if calls.is_empty() { "" } else { ":" };
            words.push(format!("{kind}{at}{colon}{}", calls.join(",")));
            words.extend(calls.iter().map(|call| format!("t{call}:{call}")));
        }
        words.join(" ")
    })
}

fn apply(edits: &[Edit], messages: &mut Vec<Message>) {
    for (number, edit) in edits.iter().enumerate() {
        let len = messages.len();
        match edit {
            Edit::Insert(at) => messages.insert(at % (len + 1), message(&format!("s{number}"))),
            _ if len == 0 => {}
            Edit::Remove(at) => drop(messages.remove(at % len)),
            Edit::Swap(left, right) => messages.swap(left % len, right % len),
            Edit::Double(at) => messages.push(messages[at % len].clone()),
        }
    }
}

fn sorted(messages: &[Message]) -> Vec<String> {
    let mut words: Vec<String> = messages.iter().map(|message| message.text().into_owned()).collect();
    words.sort();
    words
}

/// Groups of several messages as words, members sorted.
fn whole_groups(messages: &[Message]) -> Vec<Vec<String>> {
    let groups = groups(messages).into_iter().filter(|group| group.len() > 1);
    groups.map(|group| sorted(&messages[group])).collect()
}

proptest! {
    #[test]
    fn keeps_messages_and_complete_groups(conversation in conversation(), edits in edits()) {
        let before = messages(&conversation);
        let mut edited = before.clone();
        apply(&edits, &mut edited);
        let (run, result) = run([Step::edit("edit", move |messages| apply(&edits, messages))], &conversation, &Host::default());
        prop_assert!(result.is_ok());
        let after = run.draft.messages();
        if run.diagnostics.is_empty() {
            // The runner may only reorder the edited messages.
            prop_assert_eq!(sorted(after), sorted(&edited));
        } else {
            prop_assert_eq!(words(after), words(&before));
        }
        let known = whole_groups(&before);
        for group in whole_groups(after) {
            prop_assert!(known.contains(&group), "{group:?} of {}", words(after));
        }
        let members: usize = whole_groups(after).iter().map(Vec::len).sum();
        prop_assert_eq!(after.iter().filter(|m| m.text().starts_with(['c', 't'])).count(), members);
        prop_assert_eq!(run.draft.decisions().is_empty(), words(after) == words(&edited) || !run.diagnostics.is_empty());
    }
}
