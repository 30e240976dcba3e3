//! Going through matches.

use crate::check_all;

#[test]
fn empty_matches_advance_by_one_character() {
    check_all(&[
        ("x*", "g", "axb", "-", "0 ; 1 x; 2 ; 3 ", "-a--b-"),
        ("", "g", "abc", "-", "0 ; 1 ; 2 ; 3 ", "-a-b-c-"),
        ("", "g", "", "-", "0 ", "-"),
        ("a*", "g", "aaba", "<$&>", "0 aa; 2 ; 3 a; 4 ", "<aa><>b<a><>"),
        ("a*?", "g", "aa", "-", "0 ; 1 ; 2 ", "-a-a-"),
        ("a?", "g", "baab", "-", "0 ; 1 a; 2 a; 3 ; 4 ", "-b---b-"),
        (r"\b", "g", "hi yo", "|", "0 ; 2 ; 3 ; 5 ", "|hi| |yo|"),
        ("(?:)", "gu", "中文", "-", "0 ; 3 ; 6 ", "-中-文-"),
        ("(?:)", "gu", "😀a", "-", "0 ; 4 ; 5 ", "-😀-a-"),
        (r"\B", "g", "abc", "-", "1 ; 2 ", "a-b-c"),
        ("b*|c", "g", "abc", "-", "0 ; 1 b; 2 ; 3 ", "-a--c-"),
        ("$", "g", "a", "-", "1 ", "a-"),
        ("^", "g", "a", "-", "0 ", "-a"),
        ("[^]*", "g", "ab", "-", "0 ab; 2 ", "--"),
        ("[^]*?", "g", "ab", "-", "0 ; 1 ; 2 ", "-a-b-"),
    ]);
}

#[test]
fn sticky_matches_are_contiguous() {
    check_all(&[
        ("a", "gy", "aaba", "-", "0 a; 1 a", "--ba"),
        ("a", "y", "aab", "-", "0 a; 1 a", "-ab"),
        ("b", "y", "ab", "-", "", "ab"),
        ("b", "gy", "ab", "-", "", "ab"),
        ("a|b", "gy", "abcab", "-", "0 a; 1 b", "--cab"),
        ("^a", "gy", "aa", "-", "0 a", "-a"),
        ("a*", "gy", "aab", "-", "0 aa; 2 ; 3 ", "--b-"),
        (r"\b", "gy", "ab c", "|", "0 ", "|ab c"),
        ("^b", "gmy", "a\nb", "-", "", "a\nb"),
        ("^.", "gmy", "a\nb", "-", "0 a", "-\nb"),
    ]);
}

#[test]
fn the_leftmost_match_wins() {
    check_all(&[
        ("b|a", "g", "ab", "<$&>", "0 a; 1 b", "<a><b>"),
        ("a.*?c|b", "g", "abcb", "<$&>", "0 abc; 3 b", "<abc><b>"),
        ("a+|aab", "g", "aab", "<$&>", "0 aa", "<aa>b"),
        ("(a+)(a+)", "", "aaaa", "$1|$2", "0 aaaa [aaa] [a]", "aaa|a"),
        ("(a+?)(a+)", "", "aaaa", "$1|$2", "0 aaaa [a] [aaa]", "a|aaa"),
        ("(a*)(a|b)*", "", "aab", "[$1][$2]", "0 aab [aa] [b]; 3  [] ~", "[aa][b]"),
    ]);
}
