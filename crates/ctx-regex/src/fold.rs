//! JavaScript case folding.
//!
//! With `u` or `v`, compares simple case foldings. Otherwise compares upper-case forms, except those of
//! several code units and ASCII forms of non-ASCII letters: the Kelvin sign does not equal `k`, and `ß` does
//! not equal `ẞ`.

use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::code_set::CodeSet;
use crate::property;

/// Without `u`, folding works on UTF-16 units.
const ONE_UNIT: (u32, u32) = (0, 0xFFFF);

static CASED: LazyLock<CodeSet> = LazyLock::new(property::changes_when_casemapped);

/// Returns the members to fold. Their number determines the cost of [`close`].
pub(crate) fn cased_part(set: &CodeSet, unicode: bool) -> CodeSet {
    if *set == CodeSet::all() {
        return CodeSet::default();
    }
    if set.single().is_some() {
        return set.clone();
    }
    let cased = set.intersect(&CASED);
    if unicode { cased } else { cased.intersect(&CodeSet::new(vec![ONE_UNIT])) }
}

/// Adds the characters that equal a member. `cased` is the result of [`cased_part`].
pub(crate) fn close(set: &CodeSet, cased: &CodeSet, unicode: bool) -> CodeSet {
    let added = simple_folding(cased).difference(set);
    if unicode {
        return set.union(&added);
    }
    let codes = added.char_ranges().flat_map(|(first, last)| first..=last);
    let equal = codes.filter(|c| has_equal_member(*c, set)).map(|c| (u32::from(c), u32::from(c)));
    set.union(&CodeSet::new(equal.collect()))
}

fn has_equal_member(c: char, set: &CodeSet) -> bool {
    let alike = simple_folding(&CodeSet::one(u32::from(c))).intersect(set);
    alike.char_ranges().flat_map(|(first, last)| first..=last).any(|member| upper(member) == upper(c))
}

fn simple_folding(set: &CodeSet) -> CodeSet {
    let mut class =
        ClassUnicode::new(set.char_ranges().map(|(first, last)| ClassUnicodeRange::new(first, last)));
    // Fails only without Unicode tables, which are always enabled.
    let _ = class.try_case_fold_simple();
    CodeSet::new(class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))).collect())
}

pub(crate) fn is_equal(a: char, b: char) -> bool {
    simple_folding(&CodeSet::one(u32::from(a))).contains(u32::from(b))
}

/// ECMA-262 `Canonicalize` without `u`.
pub(crate) fn upper(c: char) -> char {
    let mut forms = c.to_uppercase();
    match (forms.next(), forms.next()) {
        (Some(form), None) if u32::from(form) <= ONE_UNIT.1 && (c.is_ascii() || !form.is_ascii()) => form,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn closed(unicode: bool, members: &str) -> String {
        let set = CodeSet::new(members.chars().map(|c| (u32::from(c), u32::from(c))).collect());
        let closure = close(&set, &cased_part(&set, unicode), unicode);
        closure.char_ranges().flat_map(|(first, last)| first..=last).collect()
    }

    #[test]
    fn separates_non_ascii_variants_without_unicode_flag() {
        assert_eq!(closed(false, "k"), "Kk");
        assert_eq!(closed(false, "s"), "Ss");
        assert_eq!(closed(false, "ſ"), "ſ");
        assert_eq!(closed(true, "k"), "Kk\u{212A}");
        assert_eq!(closed(true, "sß"), "Ssßſẞ");
    }

    #[test]
    fn groups_equal_upper_cases_without_unicode_flag() {
        // The standard library may have a newer Unicode version.
        let assigned = property::lookup("Assigned").unwrap();
        let plane = || (0..=ONE_UNIT.1).filter(|code| assigned.contains(*code)).filter_map(char::from_u32);
        let mut alike: BTreeMap<char, Vec<char>> = BTreeMap::new();
        plane().for_each(|c| alike.entry(upper(c)).or_default().push(c));
        for c in plane() {
            let expected: String = alike[&upper(c)].iter().collect();
            assert_eq!(closed(false, c.encode_utf8(&mut [0; 4])), expected, "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn treats_every_folding_character_as_cased() {
        let cased = property::changes_when_casemapped();
        for c in ('\0'..=char::MAX).filter(|c| simple_folding(&CodeSet::one(u32::from(*c))).len() > 1) {
            assert!(cased.contains(u32::from(c)), "U+{:04X}", u32::from(c));
        }
    }
}
