//! Properties of all patterns and texts.

use std::ops::Range;

use ctx_regex::{Error, Flags, Limits, Literal, Regex, Replacement, Steps, escape};
use proptest::prelude::*;

/// Valid and invalid fragments.
fn pattern() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c01 -~]",
        any::<char>().prop_map(String::from),
        proptest::sample::select(
            &[
                "(", ")", "(?:", "(?<n>", "(?=", "(?!", "(?<=", "(?<!", "[", "[^", "]", "|", "*", "+?",
                "{2}", "{,3}", "{{", "\\", "\\d", "\\W", "\\s", "\\b", "\\B", "\\1", "\\k<n>", "\\u",
                "\\uD83D", "\\uDE00", "\\u{41}", "\\x4", "\\c", "\\p{Lu}", "\\P{Han}", "[\\s\\S]", "[^]",
                "[]", ".", "^", "$", "-", "&&", "--", "中", "😀", "ſ",
            ][..]
        )
        .prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn flags() -> impl Strategy<Value = Flags> {
    proptest::sample::select(&["", "g", "gi", "gm", "gs", "gu", "gv", "giu", "giv", "gy", "y", "dgimsu"][..])
        .prop_map(|letters| Flags::parse(letters).unwrap())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c01 \r\n]{0,12}", "\\PC{0,12}"]
}

fn compile(pattern: &str, flags: Flags) -> Result<Regex, Error> {
    let limits = Limits { compiled_bytes: 1 << 18, ..Limits::default() };
    Regex::new(pattern, flags, &limits)
}

fn compile_for_backtracking(pattern: &str, flags: Flags) -> Result<Regex, Error> {
    Regex::new(pattern, flags, &Limits { build_cost: 0, ..Limits::default() })
}

fn all(regex: &Regex, text: &str) -> Vec<Vec<Option<Range<usize>>>> {
    let matches = regex.find_iter(text).map(|found| found.unwrap());
    matches.map(|found| (0..=found.group_count()).map(|number| found.group_range(number)).collect()).collect()
}

/// Patterns with the same meaning in `fancy-regex`: loops are never empty, and backreferences follow their
/// group.
fn shared_pattern() -> impl Strategy<Value = String> {
    let pieces = &[
        "a", "b", "[ab]", "[^a]", "(?:ab|a)", "a+", "b*", "[ab]+?", "(?=ab?)", "(?!b)", "(?<=a)", "(?<!ab)",
        " ",
    ][..];
    let piece = proptest::sample::select(pieces);
    (proptest::collection::vec(piece, 1..6), any::<bool>()).prop_map(|(pieces, again)| {
        let tail = if again { r"\1" } else { "" };
        format!("({}){tail}", pieces.concat())
    })
}

proptest! {
    #[test]
    fn points_errors_inside_the_pattern(pattern in pattern(), flags in flags()) {
        if let Err(Error::Syntax { offset, .. }) = compile(&pattern, flags) {
            prop_assert!(offset <= pattern.len() && pattern.is_char_boundary(offset));
        }
    }

    #[test]
    fn orders_matches_on_character_boundaries(pattern in pattern(), flags in flags(), text in text()) {
        let Ok(regex) = compile(&pattern, flags) else { return Ok(()) };
        let mut end = 0;
        let mut last = None;
        for found in regex.find_iter(&text) {
            let found = found.unwrap();
            let range = found.range();
            prop_assert!(end <= range.start && range.start <= range.end);
            prop_assert!(text.get(range.clone()).is_some());
            prop_assert_ne!(last.replace(range.clone()), Some(range.clone()));
            end = range.end;
            prop_assert_eq!(format!("{}{}{}", found.before(), found.as_str(), found.after()), text.clone());
            for group in (1..=found.group_count()).filter_map(|number| found.group_range(number)) {
                prop_assert!(text.get(group).is_some());
            }
        }
        prop_assert_eq!(last.is_some(), regex.is_match(&text).unwrap());
    }

    #[test]
    fn finds_required_literal_in_every_match(
        pattern in prop_oneof![pattern(), "(ab|[a-cS]b){1,2}K?[a-c](?:s.|kk)"],
        flags in flags(),
        text in prop_oneof![text(), "[abcABCsSkKſ\u{212A}ΣσİI]{0,12}"],
    ) {
        let Ok(regex) = compile(&pattern, flags) else { return Ok(()) };
        if regex.is_match(&text).unwrap() {
            let lower = text.to_lowercase();
            let required_literals = regex.required_literals();
            prop_assert!(required_literals.is_empty() || required_literals.iter().any(|literal| lower.contains(&**literal)));
        }
    }

    #[test]
    fn finds_same_matches_with_both_engines(pattern in pattern(), flags in flags(), text in text()) {
        let (Ok(regex), Ok(other)) = (compile(&pattern, flags), compile_for_backtracking(&pattern, flags)) else {
            return Ok(());
        };
        prop_assert_eq!(all(&regex, &text), all(&other, &text));
    }

    #[test]
    fn finds_same_match_as_fancy_regex(pattern in shared_pattern(), text in "[ab1 ]{0,10}") {
        let Ok(other) = fancy_regex::Regex::new(&pattern) else { return Ok(()) };
        let regex = compile_for_backtracking(&pattern, Flags::NONE).unwrap();
        let found = regex.find(&text).unwrap().map(|found| found.range());
        let expected = match regex::Regex::new(&pattern) {
            // `fancy-regex` 0.20 finds `(a+b*a+)` in `a`.
            Ok(plain) => plain.find(&text).map(|found| found.range()),
            Err(_) => other.find(&text).unwrap().map(|found| found.range()),
        };
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn keeps_result_with_fewer_steps(
        pattern in pattern(),
        flags in flags(),
        text in text(),
        few in 0_u64..200,
    ) {
        let Ok(regex) = compile(&pattern, flags) else { return Ok(()) };
        let mut steps = Steps::new(few);
        match regex.find_within(&text, &mut steps) {
            Ok(found) => prop_assert_eq!(found.is_some(), regex.is_match(&text).unwrap()),
            Err(error) => {
                prop_assert_eq!(error, Error::TooManySteps);
                prop_assert_eq!(steps.left(), 0);
            }
        }
    }

    #[test]
    fn keeps_text_when_replacing_matches_with_themselves(pattern in pattern(), flags in flags(), text in text()) {
        let Ok(regex) = compile(&pattern, flags) else { return Ok(()) };
        prop_assert_eq!(regex.replace(&text, &Replacement::parse("$&")).unwrap(), text.as_str());
    }

    #[test]
    fn expands_any_replacement_text(
        pattern in pattern(),
        flags in flags(),
        text in text(),
        replacement in "([$&`'<>n0-9]|\\PC){0,8}",
    ) {
        let Ok(regex) = compile(&pattern, flags) else { return Ok(()) };
        let found = regex.replace(&text, &Replacement::parse(&replacement));
        prop_assert!(found.is_ok());
        let plain = regex.replace(&text, &Replacement::literal(&replacement)).unwrap();
        let count = if flags.contains(Flags::GLOBAL) { usize::MAX } else { 1 };
        let (mut by_hand, mut end) = (String::new(), 0);
        for range in regex.find_iter(&text).take(count).map(|found| found.unwrap().range()) {
            by_hand.extend([&text[end..range.start], &replacement]);
            end = range.end;
        }
        prop_assert_eq!(plain, by_hand + &text[end..]);
    }

    #[test]
    fn matches_escaped_text_exactly(literal in "\\PC{1,6}|[\\x00-\\x7f]{1,6}", flags in flags()) {
        let flags = Flags::parse(&flags.to_string().replace('i', "")).unwrap();
        let regex = compile(&escape(&literal), flags).unwrap();
        let found = regex.find(&literal).unwrap().map(|found| found.range());
        prop_assert_eq!(found, Some(0..literal.len()));
    }

    #[test]
    fn reads_back_written_literal(pattern in "[a-z中]{1,6}", flags in flags()) {
        let text = format!("/{pattern}/{flags}");
        prop_assert_eq!(Literal::parse(&text), Some(Literal { pattern: &pattern, flags }));
    }
}
