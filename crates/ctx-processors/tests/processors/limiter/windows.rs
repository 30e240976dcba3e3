//! Loading a part gives the same result as loading everything. The oldest groups are dropped first.

use ctx_pipeline::RunError;
use ctx_pipeline::internal::Run;
use ctx_types::internal::is_partition;
use ctx_types::report::Outcome;
use ctx_types::{GenerationKind, Message, Place, Role, SourceKind, groups};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::limiter::case::{Case, limited, skipped, word, words};

/// Complete and broken parts of a conversation.
const TURNS: &[&str] = &[
    "u a",
    "u=4 a=25",
    "u",
    "a",
    "u u a",
    "c:x t:x",
    "u c:x,y t:x t:y a",
    "u c:x t:x c:y t:y",
    "c:x,y t:y",
    "t:x",
    "t",
    "u c:x t t:zzz t:x",
    "s",
    "d a",
    "u b",
    "u=3 S:1,2 a",
    "S:0,3,4",
    "p",
    "u p",
];

fn chat() -> impl Strategy<Value = String> {
    let head = select(&["", "", "s", "s s=3"][..]);
    (head, vec(select(TURNS), 0..12)).prop_map(|(head, turns)| format!("{head} {}", turns.join(" ")))
}

fn entry() -> impl Strategy<Value = Value> {
    let depth = (0_u64..20).prop_map(|depth| json!({ "type": "depth", "depth": depth }));
    let points = select(&["0~1", "1~2", "2,9", "0, 3~4", "50, 1"][..])
        .prop_map(|points| json!({ "type": "advanced_depth", "depthConfig": points }));
    let strategy =
        (prop_oneof![3 => depth, 2 => points], 0_i64..3, 0_i64..2).prop_map(|(mut strategy, order, lane)| {
            strategy["order"] = json!(order);
            strategy["lane"] = json!(lane);
            json!({ "injectionStrategy": strategy })
        });
    let placement = prop_oneof![
        4 => strategy,
        2 => (-12_i64..12).prop_map(|at| json!({ "insertionPoint": at })),
        1 => select(&["before", "after"][..]).prop_map(|side| json!({ "anchorTarget": "chat_history", "anchorPoint": side })),
        1 => Just(json!({})),
    ];
    (placement, select(&["system", "user", "assistant"][..])).prop_map(|(mut entry, role)| {
        entry["role"] = json!(role);
        entry
    })
}

fn preset() -> impl Strategy<Value = Value> {
    (vec(entry(), 0..6), 0_usize..6).prop_map(|(mut entries, history)| {
        for (entry, name) in entries.iter_mut().zip('A'..) {
            entry["content"] = json!(name);
        }
        entries.insert(history.min(entries.len()), json!({ "type": "chat_history" }));
        Value::from(entries)
    })
}

prop_compose! {
    fn case()(
        chat in chat(), preset in preset(), budget in 1_u32..140, retained in select(&[0, 0, 2, 5][..]),
        input in select(&[None, Some("now")][..]), continues in any::<bool>(), merges in any::<bool>(),
    ) -> Case {
        Case {
            // Leaks a few kilobytes.
            chat: Box::leak(chat.into_boxed_str()),
            preset,
            budget: Some(budget),
            config: json!({ "retainedCharacters": retained, "truncationMarker": "#" }),
            input,
            merges,
            kind: if continues { GenerationKind::Continue } else { GenerationKind::Normal },
            ..Case::default()
        }
    }
}

/// Starts with a limit equal to the budget, and doubles it until something is dropped or everything is
/// loaded.
fn run_windowed(case: &Case) -> Result<Run, RunError> {
    let mut window = u64::from(case.budget.unwrap());
    loop {
        let run = Case { window: Some(window), ..case.clone() }.run()?;
        if skipped(&run) == 0 || limited(&run).dropped > 0 {
            return Ok(run);
        }
        window *= 2;
    }
}

fn tokens(message: &Message) -> usize {
    let id = |id: &str| id.len().div_ceil(2);
    let calls = message.tool_calls.iter().map(|call| id(&call.id) + call.name.len() + call.arguments.len());
    let answered = message.tool_call_id.as_deref().map_or(0, id);
    message.content.len() + answered + calls.sum::<usize>()
}

fn history(run: &Run) -> Vec<String> {
    let messages = run.draft.messages().iter().filter(|message| message.source.kind.is_history());
    messages.map(|message| format!("{} {}", message.source, word(message))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 320, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gives_same_result_as_loading_everything(case in case()) {
        match (run_windowed(&case), case.run()) {
            (Ok(windowed), Ok(whole)) => {
                prop_assert_eq!(windowed.draft.messages(), whole.draft.messages(), "{} / {}", words(&windowed), words(&whole));
                prop_assert_eq!(limited(&windowed).kept, limited(&whole).kept);
                let dropped = |run: &Run| {
                    let of_history = |source: &ctx_types::Source| source.kind.is_history();
                    let decisions = run.draft.decisions().iter().filter(|decision| {
                        decision.outcome == Outcome::Dropped && of_history(&decision.source)
                    });
                    decisions.map(|decision| (decision.source.clone(), decision.count, decision.bytes)).collect::<Vec<_>>()
                };
                prop_assert_eq!(dropped(&windowed), dropped(&whole));
            }
            (Err(windowed), Err(whole)) => prop_assert_eq!(windowed.to_string(), whole.to_string()),
            (windowed, whole) => prop_assert!(false, "{:?} / {:?}", windowed.map(|run| words(&run)), whole.map(|run| words(&run))),
        }
    }

    #[test]
    fn keeps_messages_within_budget(case in case()) {
        let Ok(run) = case.run() else { return Ok(()) };
        let used: usize = run.draft.messages().iter().map(tokens).sum();
        prop_assert!(used <= case.budget.unwrap() as usize, "{}", words(&run));
    }

    #[test]
    fn drops_oldest_history_in_complete_groups(case in case()) {
        let Ok(run) = case.run() else { return Ok(()) };
        let all = Case { budget: None, ..case.clone() }.run().unwrap();
        let (kept, whole) = (history(&run), history(&all));
        // Pinned messages stay in front, followed by the end of the rest.
        let pinned = all.draft.messages().iter().filter(|message| message.place == Place::Pinned).count();
        let gone = whole.len() - kept.len();
        prop_assert_eq!(&kept[..pinned], &whole[..pinned]);
        let is_cut = run.draft.decisions().iter().any(|decision| decision.outcome == Outcome::Cut);
        let from = pinned + usize::from(is_cut);
        prop_assert_eq!(&kept[from..], &whole[from + gone..]);
        let messages: Vec<&Message> =
            all.draft.messages().iter().filter(|message| message.source.kind.is_history()).collect();
        let border = |group: &std::ops::Range<usize>| group.start == pinned + gone;
        prop_assert!(gone == 0 || pinned + gone == messages.len() || groups(&messages).iter().any(border));
    }

    #[test]
    fn counts_each_dropped_message_in_decisions(case in case()) {
        let Ok(run) = run_windowed(&case) else { return Ok(()) };
        let all = Case { budget: None, ..case.clone() }.run().unwrap();
        let gone = history(&all).len() - history(&run).len();
        let reason = "does not fit the budget";
        let counted: usize = run.draft.decisions().iter()
            .filter(|decision| decision.reason.to_string().starts_with(reason)).map(|decision| decision.count).sum();
        prop_assert_eq!(counted, gone, "{}", words(&run));
    }

    #[test]
    fn reports_each_move_to_front_once(case in case()) {
        let Ok(run) = run_windowed(&Case { merges: false, ..case }) else { return Ok(()) };
        let moved = run.draft.decisions().iter().filter(|decision| {
            decision.outcome == Outcome::Moved && !decision.reason.to_string().contains("stays with its results")
        });
        let mut names: Vec<String> = moved.map(|decision| decision.source.to_string()).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        prop_assert_eq!(count, names.len(), "{:?}", run.draft.decisions());
    }

    #[test]
    fn keeps_pending_turn_and_single_injections(case in case()) {
        let Ok(run) = case.run() else { return Ok(()) };
        let all = Case { budget: None, ..case.clone() }.run().unwrap();
        let single = |run: &Run| {
            let messages = run.draft.messages().iter();
            let single = messages.filter(|message| message.place == Place::Gap { multiple: false });
            let mut single: Vec<String> = single.map(word).collect();
            single.sort();
            single
        };
        prop_assert_eq!(single(&run), single(&all));
        let last = |run: &Run| {
            let messages = run.draft.messages().iter().rev();
            let user = |message: &&Message| message.role == Role::User && matches!(message.source.kind, SourceKind::History | SourceKind::Input);
            let answer = |message: &&Message| message.is_finished_answer() && message.source.kind == SourceKind::History;
            messages.take_while(|message| !answer(message)).find(user).map(word)
        };
        if last(&all).is_some() {
            prop_assert_eq!(last(&run), last(&all));
        }
        for message in run.draft.messages() {
            prop_assert!(is_partition(&message.segments(), message.content.len()), "{:?}", message);
        }
    }
}
