use regex_syntax::hir::{Class, Hir, HirKind};

use crate::code_set::CodeSet;

/// Properties with a value in JavaScript.
const WITH_VALUE: [&str; 6] = ["General_Category", "gc", "Script", "sc", "Script_Extensions", "scx"];

/// Unlike JavaScript, compares loosely: `\p{lu}` is `\p{Lu}`.
pub(crate) fn lookup(text: &str) -> Option<CodeSet> {
    match text.split_once('=') {
        Some((name, value)) if WITH_VALUE.contains(&name) && is_name(value) => query(text),
        Some(_) => None,
        None if !is_name(text) => None,
        // JavaScript requires a prefix for scripts.
        None if query(&format!("sc={text}")).is_some() && query(&format!("gc={text}")).is_none() => None,
        None => query(text),
    }
}

pub(crate) fn changes_when_casemapped() -> CodeSet {
    query("Changes_When_Casemapped").expect("the property exists")
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn query(text: &str) -> Option<CodeSet> {
    let hir = regex_syntax::parse(&format!(r"\p{{{text}}}")).ok()?;
    members(&hir)
}

fn members(hir: &Hir) -> Option<CodeSet> {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(CodeSet::new(class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()))
        }
        HirKind::Class(Class::Bytes(class)) => {
            Some(CodeSet::new(class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()))
        }
        // Parsed from a class with one character.
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(CodeSet::one(u32::from(c)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, member: Option<char>) {
        let set = lookup(text);
        assert_eq!(set.is_some(), member.is_some(), "{text}");
        if let (Some(set), Some(c)) = (set, member) {
            assert!(set.contains(u32::from(c)), "{text}");
        }
    }

    #[test]
    fn finds_categories_scripts_and_binary_properties() {
        check("Lu", Some('A'));
        check("gc=Uppercase_Letter", Some('A'));
        check("Script=Han", Some('中'));
        check("scx=Hira", Some('ー'));
        check("Emoji", Some('😀'));
        check("Zl", Some('\u{2028}'));
        check("ASCII", Some('a'));
        check("Sc", Some('€'));
        check("Cf", Some('\u{200D}'));
    }

    #[test]
    fn rejects_properties_unknown_to_javascript() {
        check("Han", None);
        check("Age=6.0", None);
        check("", None);
        check("^Lu", None);
        check("Script=", None);
        check("Nothing", None);
    }
}
