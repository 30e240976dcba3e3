//! Rejected patterns and flags.

use ctx_regex::{Error, Flags, Limits, Regex};

#[track_caller]
fn refusal(pattern: &str, flags: &str) -> Error {
    let compiled = Flags::parse(flags).and_then(|flags| Regex::new(pattern, flags, &Limits::default()));
    match compiled {
        Ok(_) => panic!("/{pattern}/{flags} is accepted"),
        Err(error) => error,
    }
}

/// Node.js 20 rejects these too.
#[track_caller]
fn check(rows: &[(&str, &str, usize, &str)]) {
    for &(pattern, flags, offset, reason) in rows {
        let expected = format!("invalid pattern at byte {offset}: {reason}");
        assert_eq!(refusal(pattern, flags).to_string(), expected, "/{pattern}/{flags}");
    }
}

#[test]
fn reports_invalid_groups_at_their_start() {
    check(&[
        ("(", "", 0, "unterminated group"),
        (")", "", 0, "unmatched `)`"),
        ("a)", "", 1, "unmatched `)`"),
        ("(?", "", 0, "invalid group"),
        ("(?a)", "", 0, "invalid group"),
        ("(?i)a", "", 0, "invalid group"),
        ("(?i:a)", "", 0, "invalid group"),
        ("(?#x)", "", 0, "invalid group"),
        ("(?P<n>a)", "", 0, "invalid group"),
        ("(?<n", "", 0, "invalid name of a group"),
        ("(?<>a)", "", 0, "invalid name of a group"),
        ("(?<1>a)", "", 0, "invalid name of a group"),
        ("(?<n>a)(?<n>b)", "", 7, "duplicate name of a group"),
        (r"(?<n>a)\k", "", 7, "invalid reference to a group"),
        (r"(?<n>a)\k<m>", "", 7, "reference to an unknown group"),
        (r"\1", "u", 0, "reference to an unknown group"),
        (r"\8", "u", 0, "reference to an unknown group"),
        (r"\k<n>", "u", 0, "reference to an unknown group"),
        ("(?:a", "u", 0, "unterminated group"),
    ]);
}

#[test]
fn reports_invalid_classes_at_their_start() {
    check(&[
        ("[", "", 0, "unterminated class"),
        ("[a", "", 0, "unterminated class"),
        ("[z-a]", "", 1, "range out of order in a class"),
        ("a[b-a]", "", 2, "range out of order in a class"),
        (r"[\w-z]", "u", 1, "invalid range in a class"),
        (r"[a-\d]", "u", 1, "invalid range in a class"),
        ("[(]", "v", 1, "character to be escaped in a class"),
        ("[a--b&&c]", "v", 5, "mixed operators in a class"),
        ("[a&&]", "v", 4, "character to be escaped in a class"),
        ("[a-z&&b]", "v", 4, "reserved operator in a class"),
        ("[&&a]", "v", 1, "reserved operator in a class"),
        ("[a||b]", "v", 2, "character to be escaped in a class"),
        ("[a!!b]", "v", 2, "reserved operator in a class"),
        ("[a-]", "v", 3, "character to be escaped in a class"),
        ("[[a]", "v", 0, "unterminated class"),
        ("[a&&&b]", "v", 2, "mixed operators in a class"),
        (r"[a-\d]", "v", 1, "invalid range in a class"),
    ]);
}

#[test]
fn reports_invalid_quantifiers_at_their_start() {
    check(&[
        ("*", "", 0, "nothing to repeat"),
        ("a**", "", 2, "nothing to repeat"),
        ("+a", "", 0, "nothing to repeat"),
        ("?", "", 0, "nothing to repeat"),
        ("a|*", "", 2, "nothing to repeat"),
        ("(*)", "", 1, "nothing to repeat"),
        ("{1}", "", 0, "nothing to repeat"),
        ("a{1}{2}", "", 4, "nothing to repeat"),
        ("a{2,1}", "", 1, "numbers out of order in a quantifier"),
        ("^*", "", 1, "nothing to repeat"),
        ("$+", "", 1, "nothing to repeat"),
        (r"\b+", "", 2, "nothing to repeat"),
        ("(?<=a)*", "", 6, "nothing to repeat"),
        ("a{", "u", 1, "incomplete quantifier"),
        ("a{,5}", "u", 1, "incomplete quantifier"),
        ("(?=a)*", "u", 5, "nothing to repeat"),
    ]);
}

#[test]
fn reports_invalid_escapes_and_brackets_at_their_start() {
    check(&[
        (r"\", "", 0, r"`\` at the end of the pattern"),
        (r"a\", "", 1, r"`\` at the end of the pattern"),
        (r"(?<n>a)[\k]", "", 8, "invalid escape"),
        ("{", "u", 0, "lone bracket"),
        ("}", "u", 0, "lone bracket"),
        ("]", "u", 0, "lone bracket"),
        (r"\A", "u", 0, "invalid escape"),
        (r"\-", "u", 0, "invalid escape"),
        (r"\01", "u", 0, "invalid escape"),
        (r"\c", "u", 0, "invalid escape"),
        (r"\x4", "u", 0, "invalid escape"),
        (r"\u12", "u", 0, "invalid escape"),
        (r"\u{110000}", "u", 0, "invalid escape"),
        (r"\u{}", "u", 0, "invalid escape"),
        (r"\u{41", "u", 0, "invalid escape"),
        (r"\p", "u", 0, "invalid name of a property"),
        (r"\p{Nope}", "u", 0, "unknown property"),
        (r"\p{Han}", "u", 0, "unknown property"),
        (r"\p{Script}", "u", 0, "unknown property"),
    ]);
}

#[test]
fn reports_offsets_in_bytes() {
    check(&[("中文(", "", 6, "unterminated group"), ("é[b-a]", "", 3, "range out of order in a class")]);
}

#[test]
fn rejects_strings_in_classes_by_name() {
    assert_eq!(refusal(r"[\q{ab}]", "v").to_string(), r"class string `\q{}` at byte 1 is not supported");
    assert_eq!(refusal(r"\p{RGI_Emoji}", "v").to_string(), "property of strings at byte 0 is not supported");
    assert_eq!(refusal(r"\p{RGI_Emoji}", "u").to_string(), "invalid pattern at byte 0: unknown property");
}

#[test]
fn validates_flags() {
    assert_eq!(refusal("a", "gx"), Error::UnknownFlag { flag: 'x' });
    assert_eq!(refusal("a", "G"), Error::UnknownFlag { flag: 'G' });
    assert_eq!(refusal("a", "gig"), Error::DuplicateFlag { flag: 'g' });
    assert_eq!(refusal("a", "uv"), Error::ConflictingFlags);
    let both = Flags::UNICODE.with(Flags::UNICODE_SETS);
    assert_eq!(Regex::new("a", both, &Limits::default()).unwrap_err(), Error::ConflictingFlags);
    assert_eq!(Flags::parse("yvsmigd").unwrap().to_string(), "dgimsvy");
}
