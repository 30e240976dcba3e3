//! The form `/body/flags`, and escaping.

use ctx_regex::{Error, Flags, Limits, Literal, Regex, escape};

#[track_caller]
fn check(text: &str, expected: Option<(&str, &str)>) {
    let found = Literal::parse(text).map(|literal| (literal.pattern, literal.flags.to_string()));
    assert_eq!(found, expected.map(|(pattern, flags)| (pattern, flags.to_owned())), "{text}");
}

#[test]
fn slashes_enclose_the_pattern() {
    check("/a/", Some(("a", "")));
    check("/a/gi", Some(("a", "gi")));
    check("/中|文/ig", Some(("中|文", "gi")));
}

#[test]
fn the_last_free_slash_ends_the_pattern() {
    check("/a/b/g", Some(("a/b", "g")));
    check("/<b>.*</b>/s", Some(("<b>.*</b>", "s")));
    check(r"/a\/b/", Some((r"a\/b", "")));
    check(r"/a\\/g", Some((r"a\\", "g")));
    check("/[/]/g", Some(("[/]", "g")));
    check(r"/[\]/]/g", Some((r"[\]/]", "g")));
    check("/a\nb/", Some(("a\nb", "")));
}

#[test]
fn anything_else_is_no_literal() {
    check("", None);
    check("/", None);
    check("//", None);
    check("//g", None);
    check("a/b", None);
    check("/a", None);
    check("/a/x", None);
    check("/a/gg", None);
    check("/a/uv", None);
    check("/a/g ", None);
    check(" /a/g", None);
    check("/usr/bin/env", None);
    check(r"/a\/g", None);
    check("/[/g", None);
}

#[test]
fn escaped_text_fits_a_literal() {
    let literal = format!("/{}/g", escape("a/b\n[x]"));
    let literal = Literal::parse(&literal).unwrap();
    assert_eq!(literal.pattern, r"a\/b\n\[x\]");
    let regex = Regex::new(literal.pattern, literal.flags, &Limits::default()).unwrap();
    assert_eq!(regex.is_match("..a/b\n[x].."), Ok(true));
}

#[test]
fn escaped_text_may_follow_any_piece() {
    let regex = Regex::new(&format!(r"(a)\0{}", escape("1")), Flags::NONE, &Limits::default()).unwrap();
    assert_eq!(regex.is_match("a\x001"), Ok(true));
    assert_eq!(escape("10"), r"\x310");
}

#[track_caller]
fn check_sillytavern(text: &str, expected: Result<(&str, &str), Error>) {
    let found = Literal::sillytavern(text).map(|literal| (literal.pattern, literal.flags.to_string()));
    assert_eq!(found, expected.map(|(pattern, flags)| (pattern, flags.to_owned())), "{text}");
}

#[test]
fn sillytavern_splits_at_the_last_slash() {
    check_sillytavern("/a/g", Ok(("a", "g")));
    check_sillytavern("/a/b/g", Ok(("a/b", "g")));
    check_sillytavern("/a/", Ok(("a", "")));
    check_sillytavern("/a/i/", Ok(("a/i", "")));
    check_sillytavern("/[/]/gi", Ok(("[/]", "gi")));
    check_sillytavern("/a/g ", Ok(("a", "g")));
    check_sillytavern("/a/g1", Ok(("a", "g")));
    check_sillytavern(r"/a\/g", Ok((r"a\", "g")));
}

#[test]
fn without_slashes_sillytavern_has_no_flags() {
    check_sillytavern("a", Ok(("a", "")));
    check_sillytavern("a/b", Ok(("a/b", "")));
    check_sillytavern("a/g", Ok(("a/g", "")));
    check_sillytavern("/a", Ok(("/a", "")));
    check_sillytavern("//", Ok(("//", "")));
    check_sillytavern("//g", Ok(("//g", "")));
}

#[test]
fn other_letters_make_the_text_a_pattern_for_sillytavern() {
    check_sillytavern("/usr/bin/env", Ok(("/usr/bin/env", "")));
    check_sillytavern("/a/y", Ok(("/a/y", "")));
    check_sillytavern("/a/gg", Ok(("/a/gg", "")));
    check_sillytavern("/a/gd", Ok(("/a/gd", "")));
    check_sillytavern("/a/G", Ok(("/a/G", "")));
}

#[test]
fn some_letters_pass_sillytavern_and_are_refused_by_javascript() {
    for flag in ['x', 'X', 'U', 'A', 'J'] {
        check_sillytavern(&format!("/a/g{flag}"), Err(Error::UnknownFlag { flag }));
    }
}

#[test]
fn sillytavern_reads_one_line() {
    check_sillytavern("/a/g\n/b/i", Ok(("a", "g")));
    check_sillytavern("\n/a/g", Ok(("a", "g")));
    check_sillytavern("/a\nb/g", Ok(("/a", "")));
    let nothing = Error::Syntax { offset: 0, reason: "empty pattern" };
    check_sillytavern("", Err(nothing.clone()));
    check_sillytavern("\n", Err(nothing));
}

#[track_caller]
fn check_key(text: &str, expected: Option<(&str, &str)>) {
    let found = Literal::lorebook_key(text).map(|literal| (literal.pattern, literal.flags.to_string()));
    assert_eq!(found, expected.map(|(pattern, flags)| (pattern, flags.to_owned())), "{text}");
}

#[test]
fn keys_between_slashes_are_patterns() {
    check_key("/a|b/", Some(("a|b", "")));
    check_key("/中.*文/imsuyg", Some(("中.*文", "gimsuy")));
    check_key(r"/a\/b/i", Some((r"a\/b", "i")));
    check_key("/a\nb/", Some(("a\nb", "")));
}

#[test]
fn other_keys_are_plain_text() {
    check_key("dragon", None);
    check_key("/", None);
    check_key("//", None);
    check_key("/a", None);
    check_key("/a/b/", None);
    check_key("//a/", None);
    check_key("/a/v", None);
    check_key("/a/ii", None);
    check_key("/a/ i", None);
}
