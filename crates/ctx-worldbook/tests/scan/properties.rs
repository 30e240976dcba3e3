use ctx_worldbook::{Status, TimedState};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::case::{compile, draws, scan};

fn word() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("moon"),
        Just("Moon"),
        Just("sun"),
        Just("so"),
        Just("o"),
        Just("龙"),
        Just("巨龙"),
        Just("été"),
        Just("x"),
        Just("mo"),
        Just("on"),
    ]
}

fn sentence() -> impl Strategy<Value = String> {
    proptest::collection::vec((word(), prop_oneof![Just(" "), Just(""), Just("."), Just("\n")]), 0..6)
        .prop_map(|words| words.into_iter().flat_map(|(word, between)| [word, between]).collect())
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => word().prop_map(str::to_owned),
        1 => (word(), word()).prop_map(|(one, other)| format!("{one} {other}")),
        1 => (word(), word()).prop_map(|(one, other)| format!("/{one}|{other}n/i")),
        1 => word().prop_map(|word| format!("/\\b{word}/")),
    ]
}

fn simple_entry() -> impl Strategy<Value = Value> {
    let keys = proptest::collection::vec(key(), 0..3);
    let secondary = proptest::collection::vec(key(), 0..2);
    let flags = proptest::collection::vec(any::<bool>(), 4);
    (keys, secondary, sentence(), 0..4_u8, flags).prop_map(|(keys, secondary, content, order, flags)| {
        json!({
            "key": keys, "keysecondary": secondary, "content": content, "order": order,
            "selectiveLogic": if flags[0] { 0 } else { 3 }, "matchWholeWords": flags[1], "caseSensitive": flags[2],
            "preventRecursion": flags[3],
        })
    })
}

fn entry() -> impl Strategy<Value = Value> {
    let numbers = proptest::collection::vec(0..4_u8, 8);
    (simple_entry(), numbers, prop_oneof![Just(""), Just("a"), Just("b"), Just("a,b"), Just("2, 1")])
        .prop_map(|(mut entry, numbers, group)| {
            entry["group"] = json!(group);
            entry["selectiveLogic"] = json!(numbers[0]);
            entry["probability"] = json!(if numbers[1] == 0 { 50 } else { 100 });
            entry["sticky"] = json!(numbers[2]);
            entry["cooldown"] = json!(numbers[3]);
            entry["delayUntilRecursion"] = json!(if numbers[4] > 1 { 0 } else { numbers[4] });
            entry["constant"] = json!(numbers[5] == 0);
            entry["ignoreBudget"] = json!(numbers[6] == 0);
            entry["scanDepth"] = if numbers[7] == 3 { json!(null) } else { json!(numbers[7]) };
            entry
        })
}

fn case(entry: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let entries = proptest::collection::vec(entry, 0..8);
    let chat = proptest::collection::vec(sentence(), 0..5);
    let random = proptest::collection::vec(0.0..1.0_f64, 1..4);
    (entries, chat, random, any::<bool>(), 0..4_u64, 10..200_u64).prop_map(
        |(entries, chat, random, is_recursive, min, context)| {
            json!({
                "entries": entries, "chat": chat, "random": random, "context": context,
                "settings": { "recursive": is_recursive, "min_activations": min },
            })
        },
    )
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

/// Finds a plain key as SillyTavern does.
fn naive(text: &str, key: &str, case_sensitive: bool, whole_words: bool) -> bool {
    let fold = |text: &str| if case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let (text, key) = (fold(text), fold(key.trim()));
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_whole = |at: usize| {
        !is_word(text[..at].chars().next_back()) && !is_word(text[at + key.len()..].chars().next())
    };
    let places = (0..text.len()).filter(|at| text.is_char_boundary(*at) && text[*at..].starts_with(&key));
    let whole = whole_words && !key.contains(char::is_whitespace);
    !key.is_empty() && places.into_iter().any(|at| !whole || is_whole(at))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn finds_same_keys_as_plain_search(
        keys in proptest::collection::vec((key(), any::<bool>(), any::<bool>()), 1..12),
        text in sentence(),
    ) {
        let plain: Vec<_> = keys.into_iter().filter(|(key, ..)| !key.starts_with('/')).collect();
        let entries: Vec<Value> = plain.iter().map(|(key, case_sensitive, whole_words)| {
            json!({ "key": [key], "caseSensitive": case_sensitive, "matchWholeWords": whole_words })
        }).collect();
        let case = json!({ "entries": entries });
        let set = compile(&case);
        let scan = scan(&set, &case, &json!([text]), &TimedState::default(), &mut draws(&case));
        for ((key, case_sensitive, whole_words), status) in plain.iter().zip(&scan.statuses) {
            let expected = naive(text.trim(), key, *case_sensitive, *whole_words);
            prop_assert_eq!(matches!(status, Status::Activated(_)), expected, "{} in {}", key, text);
        }
    }

    #[test]
    fn repeats_scan_with_one_status_per_entry(case in case(entry())) {
        let set = compile(&case);
        let mut state = TimedState::default();
        for length in 1..=3 {
            let chat: Vec<Value> = case["chat"].as_array().into_iter().flatten().take(length).cloned().collect();
            let chat = Value::Array(chat);
            let one = scan(&set, &case, &chat, &state, &mut draws(&case));
            let other = scan(&compile(&case), &case, &chat, &state, &mut draws(&case));
            prop_assert_eq!(&one, &other);
            prop_assert_eq!(one.statuses.len(), set.members().len());
            let active: Vec<usize> = one.statuses.iter().filter_map(|status| match status {
                Status::Activated(at) => Some(*at),
                Status::NotActivated(_) => None,
            }).collect();
            let mut sorted = active.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..one.activations.len()).collect::<Vec<_>>());
            state = TimedState::read(&one.state.write()).0;
            prop_assert_eq!(&state, &one.state);
        }
    }

    #[test]
    fn ignores_key_order_of_file(case in case(entry())) {
        let entries = case["entries"].as_array().cloned().unwrap_or_default();
        let keyed = entries.iter().enumerate().map(|(uid, entry)| (uid.to_string(), entry.clone()));
        let turned: serde_json::Map<String, Value> = keyed.clone().rev().collect();
        let keyed: serde_json::Map<String, Value> = keyed.collect();
        let with = |entries: serde_json::Map<String, Value>| {
            let mut case = case.clone();
            case["entries"] = Value::Object(entries);
            let set = compile(&case);
            scan(&set, &case, &case["chat"], &TimedState::default(), &mut draws(&case))
        };
        prop_assert_eq!(with(keyed), with(turned));
    }

    /// For each entry that is not exempt, all texts up to it stay below the budget.
    #[test]
    fn exceeds_budget_only_with_exempt_entries(case in case(entry())) {
        let set = compile(&case);
        let scan = scan(&set, &case, &case["chat"], &TimedState::default(), &mut draws(&case));
        let budget = scan.budget.unwrap_or(u64::MAX);
        let mut tokens = 0;
        for activation in &scan.activations {
            tokens += activation.content.len() as u64;
            let is_exempt = set.members()[activation.member].entry.ignores_budget;
            prop_assert!(is_exempt || tokens < budget, "{} of {}", tokens, budget);
        }
    }

    #[test]
    fn keeps_matches_with_larger_scan_depth(case in case(simple_entry()), depth in 0..4_u64) {
        let active = |depth: u64| {
            let mut case = case.clone();
            case["settings"] = json!({ "depth": depth, "recursive": case["settings"]["recursive"] });
            case["context"] = Value::Null;
            let set = compile(&case);
            let scan = scan(&set, &case, &case["chat"], &TimedState::default(), &mut draws(&case));
            let mut active: Vec<usize> = scan.activations.iter().map(|activation| activation.member).collect();
            active.sort_unstable();
            active
        };
        let deeper = active(depth + 1);
        prop_assert!(active(depth).iter().all(|member| deeper.contains(member)));
    }

    #[test]
    fn places_each_entry_once(case in case(entry()), positions in proptest::collection::vec(0..8_u8, 8)) {
        let mut case = case;
        for (entry, position) in case["entries"].as_array_mut().into_iter().flatten().zip(positions) {
            entry["position"] = json!(position);
            entry["outletName"] = json!(if position == 7 { "o" } else { "" });
        }
        let set = compile(&case);
        let scan = scan(&set, &case, &case["chat"], &TimedState::default(), &mut draws(&case));
        let output = set.output(&scan);
        let mut all: Vec<usize> = output.in_order.clone();
        all.extend(output.unplaced.iter().map(|(at, _)| *at));
        all.sort_unstable();
        prop_assert_eq!(&all, &(0..scan.activations.len()).collect::<Vec<_>>());
        let mut placed: Vec<usize> = [&output.before_character, &output.after_character, &output.note_top, &output.note_bottom]
            .into_iter().flatten().copied().collect();
        placed.extend(output.examples.iter().map(|(at, _)| *at));
        placed.extend(output.depths.iter().flat_map(|at| &at.entries));
        placed.extend(output.outlets.values().flatten());
        placed.extend(&output.elsewhere);
        placed.sort_unstable();
        let mut in_order = output.in_order.clone();
        in_order.sort_unstable();
        prop_assert_eq!(placed, in_order);
    }
}
