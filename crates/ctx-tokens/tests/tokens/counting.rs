use ctx_tokens::{Counter, Encoding, ModelFacts, internal::estimate};
use ctx_types::Text;
use ctx_types::ports::TokenCounter;
use proptest::prelude::*;

fn counters() -> Vec<Counter> {
    let mut counters = vec![Counter::estimate()];
    for encoding in [Encoding::Cl100kBase, Encoding::O200kBase] {
        counters.extend(Counter::new(encoding));
    }
    counters
}

#[track_caller]
fn check(encoding: Encoding, text: &str, expected: u32) {
    for counter in counters().into_iter().filter(|counter| counter.kind() == encoding) {
        assert_eq!(counter.count(text), expected, "{text:?}");
        assert_eq!(counter.count_till_limit(text, expected), Some(expected), "{text:?}");
        if let Some(below) = expected.checked_sub(1) {
            assert_eq!(counter.count_till_limit(text, below), None, "{text:?}");
        }
    }
}

#[test]
fn matches_counts_published_by_openai() {
    // From the notebook "How to count tokens".
    check(Encoding::Cl100kBase, "antidisestablishmentarianism", 6);
    check(Encoding::O200kBase, "antidisestablishmentarianism", 6);
    check(Encoding::Cl100kBase, "2 + 2 = 4", 7);
    check(Encoding::O200kBase, "2 + 2 = 4", 7);
    check(Encoding::Cl100kBase, "お誕生日おめでとう", 9);
    check(Encoding::O200kBase, "お誕生日おめでとう", 8);
    check(Encoding::Cl100kBase, "tiktoken is great!", 6);
}

#[test]
fn counts_special_tokens_as_plain_text() {
    check(Encoding::O200kBase, "<|endoftext|>", 7);
    check(Encoding::Cl100kBase, "<|endoftext|>", 7);
}

#[test]
fn estimates_tokens_from_ascii_and_other_characters() {
    check(Encoding::Estimate, "a", 1);
    check(Encoding::Estimate, "abcd", 1);
    check(Encoding::Estimate, "abcde", 2);
    check(Encoding::Estimate, "你", 1);
    check(Encoding::Estimate, "你好", 2);
    check(Encoding::Estimate, "你好abc", 3);
    check(Encoding::Estimate, "é", 1);
    check(Encoding::Estimate, "\u{1F600}", 1);
    check(Encoding::Estimate, "\u{1F600} ok", 2);
    check(Encoding::Estimate, "\n\n\n\n\n\n\n\n", 2);
}

#[test]
fn caches_count_across_text_clones() {
    for counter in counters() {
        let text = Text::from("remember me");
        let count = counter.count_text(&text.clone());
        assert_eq!(text.known_tokens(counter.encoding()), Some(count));
    }
}

#[test]
fn counts_long_repetitions_quickly() {
    for counter in counters() {
        for unit in ["a", " ", "!", "\n", "你", "a\n", "\u{301}"] {
            let text = unit.repeat(50_000);
            let count = counter.count(&text) as usize;
            assert!(count > 0 && count <= text.len(), "{counter} {unit:?} {count}");
        }
    }
}

#[test]
fn counts_million_spaces_without_panic() {
    let text = format!("x{}x", " ".repeat(1_100_000));
    for counter in counters().into_iter().filter(|counter| counter.kind() == Encoding::O200kBase) {
        assert_eq!(counter.count(&text), 8_596);
        assert_eq!(counter.count_till_limit(&text, 10), None);
    }
}

#[test]
fn keeps_encoding_ids_stable() {
    let table = Encoding::ALL.map(|encoding| (encoding.name(), encoding.id().0));
    assert_eq!(table, [("estimate", 1), ("cl100k_base", 2), ("o200k_base", 3)]);
    for encoding in Encoding::ALL {
        assert_eq!(Encoding::parse(encoding.name()), Some(encoding));
    }
    assert_eq!(Encoding::parse("p50k_base"), None);
}

#[test]
fn reports_whether_count_is_exact() {
    let mut model = ModelFacts::unknown("mine");
    let (counter, diagnostic) = Counter::for_model(&model);
    assert_eq!(diagnostic.is_none(), Counter::new(Encoding::O200kBase).is_some());
    assert!(!counter.is_exact());
    if diagnostic.is_none() {
        assert_eq!(counter.to_string(), "o200k_base as an estimate");
        model.is_exact = true;
        let (counter, _) = Counter::for_model(&model);
        assert!(counter.is_exact());
        assert_eq!(counter.to_string(), "o200k_base");
    }
    model.encoding = Encoding::Estimate;
    assert_eq!(Counter::for_model(&model), (Counter::estimate(), None));
}

#[test]
fn splits_text_at_line_starts_for_bpe() {
    let text = "a!\n/b\n\n  c\nd\r\n\u{3000}e\n";
    for counter in counters() {
        let parts: Vec<&str> = counter.parts(text).collect();
        let is_cut = counter.kind() != Encoding::Estimate;
        let expected = if is_cut { ["a!\n/b\n\n  c\n", "d\r\n\u{3000}e\n"].as_slice() } else { &[text] };
        assert_eq!(parts, expected, "{counter}");
    }
}

#[test]
fn warms_up_without_changing_counts() {
    for counter in counters() {
        counter.warm();
        assert_eq!(counter.count("a"), 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn counts_at_most_one_token_per_byte(text in "\\PC{0,80}|[ \\t\\r\\n\\PC]{0,80}") {
        for counter in counters() {
            let count = counter.count(&text);
            prop_assert!(count as usize <= text.len(), "{} {:?}", counter, text);
            prop_assert_eq!(count == 0, text.is_empty());
        }
        prop_assert!(estimate(&text) as usize >= text.len() / 4);
    }

    #[test]
    fn returns_none_above_count_limit(text in "\\PC{0,80}", limit in 0..60_u32) {
        for counter in counters() {
            let count = counter.count(&text);
            let expected = (count <= limit).then_some(count);
            prop_assert_eq!(counter.count_till_limit(&text, limit), expected, "{} {:?}", counter, text);
        }
    }
}

#[cfg(feature = "bpe")]
#[test]
fn loads_only_well_formed_tables() {
    use ctx_tokens::{TablesError, load_tables, tables};

    assert_eq!(tables(Encoding::Estimate), None);
    for encoding in [Encoding::Cl100kBase, Encoding::O200kBase] {
        let packed = tables(encoding).unwrap();
        let (cut, longer) = (&packed[..packed.len() - 1], [packed.as_slice(), &[0]].concat());
        for odd in [&[], b"ctx0".as_slice(), &packed[..10], cut, &longer] {
            assert_eq!(load_tables(encoding, odd), Err(TablesError::Malformed));
        }
        // Endless: an empty token, a token that is its own part, or a single row of merges.
        let token = 16 + 8 * 1_000;
        let spoiled = |at: usize, bytes: &[u8]| {
            let mut spoiled = packed.clone();
            spoiled[at..at + bytes.len()].copy_from_slice(bytes);
            spoiled
        };
        let own_part = spoiled(token, &1_000_u32.to_le_bytes());
        let merges = u32::from_le_bytes(packed[12..16].try_into().unwrap());
        let one_row = spoiled(12, &32_u32.to_le_bytes());
        let one_row = &one_row[..packed.len() - merges as usize + 32];
        for odd in [&spoiled(token, &[0; 8]), &own_part, one_row, b"ctx2\0\0\0\0\0\0\0\0\0\0\0\0".as_slice()]
        {
            assert_eq!(load_tables(encoding, odd), Err(TablesError::Malformed));
        }
        assert_eq!(load_tables(encoding, &packed), Ok(()));
    }
    assert_eq!(load_tables(Encoding::Estimate, b""), Err(TablesError::NoTables));
}

#[test]
fn counts_zero_tokens_in_empty_text() {
    for encoding in Encoding::ALL {
        check(encoding, "", 0);
    }
}
