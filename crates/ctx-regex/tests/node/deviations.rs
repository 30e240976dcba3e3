//! Where this crate differs from Node.js 20, with both results; the crate's documentation says why.

use crate::evaluate;

/// Pattern, flags, text; then our matches and those of Node, with `HIGH` and `LOW` for halves of a
/// character, or `refused`.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

#[track_caller]
fn check_all(rows: &[Row]) {
    for &(pattern, flags, text, ours, node) in rows {
        assert_eq!(evaluate(pattern, flags, text, "").0, ours, "/{pattern}/{flags} on {text:?}");
        assert_ne!(ours, node, "/{pattern}/{flags} on {text:?} is no deviation");
    }
}

#[test]
fn a_character_is_never_split_into_its_halves() {
    check_all(&[
        (".", "g", "😀", "0 😀", "0 HIGH; 3 LOW"),
        ("^.$", "", "😀", "0 😀", ""),
        ("", "g", "😀", "0 ; 4 ", "0 ; 3 ; 4 "),
        (r"[\uD800-\uDFFF]", "g", "a😀b", "1 😀", "1 HIGH; 4 LOW"),
        ("(.)(.)", "", "😀a", "0 😀a [😀] [a]", "0 😀 [HIGH] [LOW]"),
    ]);
}

#[test]
fn a_character_of_the_pattern_is_one_without_u_too() {
    check_all(&[
        ("😀+", "", "😀😀", "0 😀😀", "0 😀; 4 😀"),
        ("[😀-😂]", "g", "😁", "0 😁", "refused"),
        ("[😀😂]", "g", "😁😂", "4 😂", "0 HIGH; 4 HIGH; 7 LOW"),
    ]);
}

#[test]
fn names_of_properties_are_compared_loosely() {
    check_all(&[(r"\p{lu}", "gu", "aB", "1 B", "refused")]);
}

#[test]
fn lines_do_not_end_at_separators() {
    check_all(&[("^", "gm", "a\u{2028}b", "0 ", "0 ; 4 "), ("$", "gm", "a\u{2029}b", "5 ", "1 ; 5 ")]);
}

#[test]
fn beside_a_dollar_a_caret_misses_the_place_inside_crlf() {
    check_all(&[("^$", "gm", "a\r\n", "3 ", "2 ; 3 ")]);
}

#[test]
fn groups_keep_what_an_earlier_iteration_matched() {
    check_all(&[
        ("(?:(a)|b)*", "", "ab", "0 ab [a]; 2  ~", "0 ab ~; 2  ~"),
        ("(?:(a)|(b))+", "", "aba", "0 aba [a] [b]", "0 aba [a] ~"),
        (
            "(z)((a+)?(b+)?(c))*",
            "",
            "zaacbbbcac",
            "0 zaacbbbcac [z] [ac] [a] [bbb] [c]",
            "0 zaacbbbcac [z] [ac] [a] ~ [c]",
        ),
    ]);
}

#[test]
fn required_iterations_end_at_an_empty_match() {
    check_all(&[
        ("(a*?)+", "", "aa", "0  []; 1  []; 2  []", "0 aa [a]; 2  []"),
        ("(?:a??){2,}", "", "aa", "0 ; 1 ; 2 ", "0 aa; 2 "),
        (r"(\w*){1,2}", "", "ab", "0 ab []; 2  []", "0 ab [ab]; 2  []"),
    ]);
}

#[test]
fn bodies_of_several_empty_parts_may_match_nothing() {
    check_all(&[
        ("(a*b*)?", "", "c", "0  []; 1  []", "0  ~; 1  ~"),
        ("(a*?b*?)?c", "", "cac", "0 c []; 1 ac [a]", "0 c ~; 1 ac [a]"),
    ]);
}

#[test]
fn word_boundaries_stay_ascii_under_iu() {
    check_all(&[(r"\b", "giu", "ſ", "", "0 ; 2 ")]);
}

#[test]
fn set_operations_fold_case_before_they_compare() {
    check_all(&[("[^A&&a]", "giv", "a", "", "0 a"), ("[k--K]", "giv", "k", "", "0 k")]);
}
