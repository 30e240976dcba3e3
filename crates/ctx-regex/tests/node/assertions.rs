//! Starts, ends and word boundaries.

use crate::check_all;

#[test]
fn without_m_only_the_text_has_ends() {
    check_all(&[
        ("^a", "g", "a\na", "-", "0 a", "-\na"),
        ("a$", "g", "a\na\n", "-", "", "a\na\n"),
        ("a$", "", "a\n", "-", "", "a\n"),
        ("^", "g", "ab", "-", "0 ", "-ab"),
        ("$", "g", "ab", "-", "2 ", "ab-"),
        ("^$", "g", "", "-", "0 ", "-"),
        ("^a|b$", "g", "ab", "-", "0 a; 1 b", "--"),
        ("a^b", "", "ab", "-", "", "ab"),
        ("$^", "", "", "-", "0 ", "-"),
        ("x$y", "", "xy", "-", "", "xy"),
    ]);
}

#[test]
fn with_m_lines_have_ends() {
    check_all(&[
        ("^", "gm", "a\nb", "> ", "0 ; 2 ", "> a\n> b"),
        ("$", "gm", "a\nb\n", ";", "1 ; 3 ; 4 ", "a;\nb;\n;"),
        ("^.*$", "gm", "a\nb\n\nc", "[$&]", "0 a; 2 b; 4 ; 5 c", "[a]\n[b]\n[]\n[c]"),
        ("^$", "gm", "a\n\nb", "-", "2 ", "a\n-\nb"),
        (r"^#+\s", "gm", "# a\n## b\nc # d", "", "0 # ; 4 ## ", "a\nb\nc # d"),
        ("^- ", "gm", "- a\n- b", "* ", "0 - ; 4 - ", "* a\n* b"),
    ]);
}

#[test]
fn with_m_carriage_returns_end_lines() {
    check_all(&[
        ("^", "gm", "a\rb\r\nc", ">", "0 ; 2 ; 4 ; 5 ", ">a\r>b\r>\n>c"),
        ("$", "gm", "a\rb\r\nc", ";", "1 ; 3 ; 4 ; 6 ", "a;\rb;\r;\nc;"),
        ("^b", "gm", "a\rb", "-", "2 b", "a\r-"),
        ("a$", "gm", "a\r\na", "-", "0 a; 3 a", "-\r\n-"),
        (r"^\s*\n", "gm", "a\r\n\r\nb", "", "2 \n\r\n", "a\rb"),
        ("^.+$", "gm", "a\r\nb\rc", "[$&]", "0 a; 3 b; 5 c", "[a]\r\n[b]\r[c]"),
        (r"\s+$", "gm", "a \r\nb", "-", "1  \r", "a-\nb"),
    ]);
}

#[test]
fn word_boundaries_are_ascii() {
    check_all(&[
        (r"\b", "g", "ab cd", "|", "0 ; 2 ; 3 ; 5 ", "|ab| |cd|"),
        (r"\B", "g", "ab c", "|", "1 ", "a|b c"),
        (r"\bcat\b", "g", "cat concat cat_ cat.", "dog", "0 cat; 16 cat", "dog concat cat_ dog."),
        (r"\b", "g", "é中a", "|", "5 ; 6 ", "é中|a|"),
        (r"\bé", "g", "é", "-", "", "é"),
        (r"a\b", "g", "aé a", "-", "0 a; 4 a", "-é -"),
        (r"\b中", "g", "中 a中", "-", "5 中", "中 a-"),
        (r"\B中", "g", "中文", "-", "0 中", "-文"),
        (r"\b", "gu", "aéb", "|", "0 ; 1 ; 3 ; 4 ", "|a|é|b|"),
        (r"\b", "gi", "aſb", "|", "0 ; 1 ; 3 ; 4 ", "|a|ſ|b|"),
    ]);
}
