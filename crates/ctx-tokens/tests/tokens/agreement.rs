//! Compares counts with `tiktoken-rs`.

#![cfg(feature = "bpe")]
use ctx_tokens::{Counter, Encoding};
use ctx_types::ports::TokenCounter;
use proptest::prelude::*;
use tiktoken_rs::{cl100k_base_singleton, o200k_base_singleton};

#[track_caller]
fn check(text: &str) {
    let tokenizers =
        [(Encoding::Cl100kBase, cl100k_base_singleton()), (Encoding::O200kBase, o200k_base_singleton())];
    for (encoding, tiktoken) in tokenizers {
        let counter = Counter::new(encoding).unwrap();
        let bpe = counter.count(text);
        assert_eq!(tiktoken.count_ordinary(text), bpe as usize, "{encoding}: {text:?}");
        let parts: u32 = counter.parts(text).map(|part| counter.count(part)).sum();
        assert_eq!(parts, bpe, "{encoding}, in parts: {text:?}");
        assert_eq!(counter.parts(text).collect::<String>(), text);
    }
}

#[rustfmt::skip] // Several per line.
const PIECES: [&str; 34] = [
    "", " ", "  ", "\n", "\r\n", "\t", "   \n  ", "\u{a0}", "\u{3000}", "\u{2028}", "Hello", "WORLD",
    "camelCase", "don't", "I'LL", "it's", "12345678", "3.14", "你好，世界", "角色扮演", "こんにちは", "안녕하세요", "Привет",
    "مرحبا", "e\u{301}", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", "\u{1F1E9}\u{1F1EA}", "{{user}}",
    "*smiles*", "<|endoftext|>", "```rust\nfn main() {}\n```", "https://example.org/a?b=c#d", "!!!???",
    "//\n/",
];

#[test]
fn counts_text_pairs_equally() {
    for (index, first) in PIECES.iter().enumerate() {
        // About 200 of all pairs.
        for step in [0, 1, 5, 11, 17, 23] {
            let second = PIECES[(index + step) % PIECES.len()];
            check(&format!("{first}{second}"));
            check(&format!("{first} {second}\n{first}"));
        }
    }
}

#[test]
fn counts_long_runs_equally() {
    for unit in ["a", "A", " ", "!", "\n", "\t", "0", "你", "é", "ab ", " \n", "\n/", "\u{301}"] {
        check(&unit.repeat(10_000));
        check(&format!("{}x", unit.repeat(999)));
    }
}

#[test]
fn counts_split_long_text_equally() {
    check(&"He said: \"it's 3 o'clock\"\n\n  /// 你好 \r\n\t".repeat(15_000));
    check(&"one two three ".repeat(50_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn counts_any_text_equally(text in any::<String>()) {
        check(&text);
    }

    #[test]
    fn counts_any_mixture_equally(text in "([a-zA-Z0-9]{1,4}|[ \\t\\r\\n\u{a0}]{1,3}|[你好世界ぁ-ん가-힣а-яé\u{301}]|[!'/.,]){0,40}") {
        check(&text);
    }
}
