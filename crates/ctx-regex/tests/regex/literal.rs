use ctx_regex::{Flags, Limits, Literal, Regex, escape};

#[track_caller]
fn check(text: &str, expected: Option<(&str, &str)>) {
    let found = Literal::parse(text).map(|literal| (literal.pattern, literal.flags.to_string()));
    assert_eq!(found, expected.map(|(pattern, flags)| (pattern, flags.to_owned())), "{text}");
}

#[test]
fn reads_pattern_between_slashes() {
    check("/a/", Some(("a", "")));
    check("/a/gi", Some(("a", "gi")));
    check("/中|文/ig", Some(("中|文", "gi")));
}

#[test]
fn ends_pattern_at_last_unescaped_slash() {
    check("/a/b/g", Some(("a/b", "g")));
    check("/<b>.*</b>/s", Some(("<b>.*</b>", "s")));
    check(r"/a\/b/", Some((r"a\/b", "")));
    check(r"/a\\/g", Some((r"a\\", "g")));
    check("/[/]/g", Some(("[/]", "g")));
    check(r"/[\]/]/g", Some((r"[\]/]", "g")));
    check("/a\nb/", Some(("a\nb", "")));
}

#[test]
fn rejects_other_text() {
    for text in
        ["", "/", "//", "//g", "a/b", "/a", "/a/x", "/a/gg", "/a/uv", "/a/g ", " /a/g", "/usr/bin/env"]
    {
        check(text, None);
    }
    check(r"/a\/g", None);
    check("/[/g", None);
}

#[test]
fn embeds_escaped_text_in_literal() {
    let literal = format!("/{}/g", escape("a/b\n[x]"));
    let literal = Literal::parse(&literal).unwrap();
    assert_eq!(literal.pattern, r"a\/b\n\[x\]");
    let regex = Regex::new(literal.pattern, literal.flags, &Limits::default()).unwrap();
    assert_eq!(regex.is_match("..a/b\n[x].."), Ok(true));
}

#[test]
fn escapes_leading_digits() {
    let regex = Regex::new(&format!(r"(a)\0{}", escape("1")), Flags::NONE, &Limits::default()).unwrap();
    assert_eq!(regex.is_match("a\x001"), Ok(true));
    assert_eq!(escape("10"), r"\x310");
}
