//! Replacements with custom syntax.

use ctx_regex::{Flags, Limits, Regex, Replacement, ReplacementPart as Part};

#[track_caller]
fn check(pattern: &str, replacement: &Replacement, expected: &str) {
    let regex = Regex::new(pattern, Flags::NONE, &Limits::default()).unwrap();
    assert_eq!(regex.replace("<ab 12>", replacement).unwrap(), format!("<{expected}>"), "{replacement:?}");
}

const NAMED: &str = r"(?<word>\w+) (\d+)(x)?";
const UNNAMED: &str = r"(\w+) (\d+)(x)?";

#[test]
fn resolves_match_and_group_parts() {
    let parts = |written: &str| {
        let otherwise = vec![Part::Text(written.to_owned())];
        let name = |name: &str| Part::Name { name: name.to_owned(), otherwise: otherwise.clone() };
        let group = |number| Part::Group { number, otherwise: otherwise.clone() };
        let list = vec![Part::Before, Part::Match, Part::After, group(0), group(2), group(3), group(4)];
        Replacement::from(list.into_iter().chain([name("word"), name("none")]).collect::<Vec<_>>())
    };
    check(NAMED, &parts("?"), "<ab 12>ab 1212?ab");
    check(UNNAMED, &parts("?"), "<ab 12>ab 1212???");
}

#[test]
fn extends_javascript_syntax() {
    let more = |behind: &str| {
        let found = behind.starts_with(['#', '1', '<']);
        found.then(|| (Part::Text("more".to_owned()), 1))
    };
    let check = |pattern, text, expected| check(pattern, &Replacement::parse_with(text, more), expected);
    check(NAMED, "$#|$1|$$#|$<word>|$<#", "more|ab|$#|ab|more#");
    check(UNNAMED, "$#|$9|$<$#>", "more|$9|moremore>");
}

#[test]
fn detects_literal_replacement() {
    let text = |text: &str| Part::Text(text.to_owned());
    assert_eq!(Replacement::from(vec![text("a"), text(""), text("b")]).as_literal(), Some("ab"));
    assert_eq!(Replacement::from(Vec::new()).as_literal(), Some(""));
    assert_eq!(Replacement::parse("a$$b$").as_literal(), Some("a$b$"));
    assert_eq!(Replacement::parse("$&").as_literal(), None);
    assert_eq!(Replacement::parse("$<a>").as_literal(), None);
}

#[test]
fn treats_unclosed_names_as_literal() {
    let open = format!(">{}", "$<".repeat(500_000));
    assert_eq!(Replacement::parse(&open).as_literal(), Some(&*open));
}
