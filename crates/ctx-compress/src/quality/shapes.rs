//! What a run of letters, digits and signs is.

use crate::quality::lex::Kind;
use crate::quality::lexicon::{is_extension, is_top_domain};
use crate::quality::moments::{Clock, Day};
use crate::quality::units;

/// What is to be done with a run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// It is one token.
    Whole(Kind),
    /// It is several, with this sign between them.
    Split(char),
}

/// The signs at which a run is split; the one that binds least comes first.
const SEPARATORS: [char; 9] = [':', '/', '\\', '@', '-', ',', '.', '\'', '’'];

/// Returns what a run is.
pub(super) fn shape(run: &str, is_code: bool) -> Shape {
    if let Some(kind) = whole(run, is_code) {
        return Shape::Whole(kind);
    }
    // The time after a day has colons of its own, so that the day is taken off first.
    if day_and_time(run).is_some() {
        return Shape::Split('T');
    }
    match SEPARATORS.iter().find(|sign| run.contains(**sign)) {
        Some(separator) => Shape::Split(*separator),
        None => Shape::Whole(plain(run)),
    }
}

fn whole(run: &str, is_code: bool) -> Option<Kind> {
    let has = |sign: char| run.contains(sign);
    let has_letter = run.contains(char::is_alphabetic);
    if !has_letter {
        return of_digits(run);
    }
    if has('@') {
        return is_mail(run).then_some(Kind::Id);
    }
    if has('/') || has('\\') {
        return is_path(run, is_code).then_some(Kind::Path);
    }
    if run.contains("::") {
        return Some(Kind::Id);
    }
    if Clock::parse(run).is_some() {
        return Some(Kind::Clock);
    }
    if has(':') {
        return None;
    }
    if units::measure(run).is_some() {
        return Some(Kind::Measure);
    }
    if let Some(kind) = of_dots(run, is_code) {
        return Some(kind);
    }
    if has('.') && !run.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if has('_') {
        return Some(if run.trim_matches('_').contains('_') || is_code {
            Kind::Id
        } else {
            plain(run.trim_matches('_'))
        });
    }
    if run.contains(|c: char| c.is_ascii_digit()) {
        return is_mixed(run).then_some(Kind::Id);
    }
    of_letters(run, is_code)
}

/// Digits and signs.
fn of_digits(run: &str) -> Option<Kind> {
    const LONGEST_NUMBER: usize = 9;
    let digits = run.chars().filter(|c| c.is_numeric()).count();
    let groups = run.split(|c: char| !c.is_numeric()).count();
    if run.contains('_') && run.chars().all(|c| c.is_ascii_digit() || c == '_') {
        return units::decimal(run).map(|_| Kind::Number);
    }
    if Day::parse(run).is_some() {
        return Some(Kind::Day);
    }
    if Clock::parse(run).is_some() {
        return Some(Kind::Clock);
    }
    let is_one_number = units::decimal(run).is_some();
    if is_one_number && (digits <= LONGEST_NUMBER || groups > 1) {
        return Some(Kind::Number);
    }
    let only = |sign: char| run.chars().all(|c| c.is_numeric() || c == sign);
    let is_version = groups >= 3 && only('.');
    let is_telephone = groups >= 2 && digits >= 7 && only('-');
    (is_one_number || is_version || is_telephone).then_some(Kind::Id)
}

/// Letters with dots: a file, a host, a call in code, an abbreviation, or two sentences.
fn of_dots(run: &str, is_code: bool) -> Option<Kind> {
    let (stem, last) = run.rsplit_once('.')?;
    let lower = last.to_ascii_lowercase();
    let mut parts = run.split('.');
    if run.starts_with('.') {
        return Some(Kind::Path);
    }
    if parts.clone().all(|part| part.chars().count() == 1 && part.chars().all(char::is_alphabetic)) {
        return Some(Kind::Word);
    }
    let is_lower = !last.contains(char::is_uppercase) || !last.contains(char::is_lowercase);
    if is_extension(&lower) && is_lower && !stem.ends_with('-') {
        return Some(Kind::Path);
    }
    let is_ascii = run.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    let is_host = is_ascii && is_top_domain(last) && !stem.contains('_') && stem.len() > 1;
    let is_dotted = is_code || (is_ascii && (run.contains('_') || has_hump(stem)));
    let begins_as_version =
        run.starts_with(['v', 'V']) && parts.all(|part| part.contains(|c: char| c.is_ascii_digit()));
    (is_host || is_dotted || begins_as_version).then_some(Kind::Id)
}

fn of_letters(run: &str, is_code: bool) -> Option<Kind> {
    let is_joined = run.contains(['-', '\'', '’']);
    if !is_joined {
        return Some(if is_code && !is_common_word(run) { Kind::Id } else { plain(run) });
    }
    let mut parts = run.split('-');
    let begins_large = |part: &str| part.chars().next().is_some_and(char::is_uppercase);
    if run.contains('-') {
        let is_name = parts.all(|part| begins_large(part) && part.contains(char::is_lowercase));
        return if is_code { Some(Kind::Id) } else { is_name.then_some(Kind::Word) };
    }
    Some(Kind::Word)
}

/// One run of letters and digits without signs.
fn plain(run: &str) -> Kind {
    let has_digit = run.contains(char::is_numeric);
    let has_letter = run.contains(char::is_alphabetic);
    match (has_digit, has_letter) {
        (true, false) => Kind::Number,
        (true, true) if units::measure(run).is_some() => Kind::Measure,
        (true, true) => Kind::Id,
        _ if is_camel(run) => Kind::Id,
        _ => Kind::Word,
    }
}

/// Returns whether code says this word as prose does.
fn is_common_word(run: &str) -> bool {
    run.len() <= 2
}

/// `OrderService`, `GitHub`: a capital behind a small letter.
pub(super) fn has_hump(word: &str) -> bool {
    word.chars().zip(word.chars().skip(1)).any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// `getUserName`, and neither `iPhone` nor `GitHub`.
fn is_camel(run: &str) -> bool {
    let small = run.chars().take_while(|c| c.is_lowercase()).count();
    small >= 2 && run.is_ascii() && run.chars().nth(small).is_some_and(char::is_uppercase)
}

/// Words before years and the like that make no id of them.
const PREFIXES: [&str; 7] = ["mid", "pre", "post", "non", "early", "late", "under"];

/// Returns whether letters and digits with signs between are one id, and not two numbers or words with a number.
fn is_mixed(run: &str) -> bool {
    let parts = || run.split('-').filter(|part| !part.is_empty());
    let is_amount = |part: &str| {
        units::decimal(part).is_some() || units::measure(part).is_some() || Clock::parse(part).is_some()
    };
    let is_word = |part: &str| part.chars().all(char::is_alphabetic) && part.chars().any(char::is_lowercase);
    if parts().count() > 1 {
        let first_is_number = parts().next().is_some_and(is_amount);
        if parts().all(is_amount) || (first_is_number && parts().skip(1).all(is_word)) {
            return false;
        }
        if parts().next().is_some_and(|first| PREFIXES.contains(&first.to_ascii_lowercase().as_str())) {
            return false;
        }
    }
    // Two sentences without a blank between, and a list without blanks, are no ids.
    let is_sentence_end = run.split_once('.').is_some_and(|(before, _)| {
        before.len() > 3 && is_word(before) && before.starts_with(char::is_lowercase)
    });
    !run.contains([',', '\'', '’']) && !is_sentence_end
}

fn is_mail(run: &str) -> bool {
    let Some((name, host)) = run.split_once('@') else { return false };
    let is_host = host.contains('.') && !host.contains(['@', ':', '/']);
    !name.is_empty() && is_host && !name.contains([':', '/'])
}

fn is_path(run: &str, is_code: bool) -> bool {
    let separators = ['/', '\\'];
    let has_drive = run.as_bytes().get(1) == Some(&b':')
        && run.as_bytes().get(2).is_some_and(|byte| separators.contains(&char::from(*byte)));
    if has_drive {
        return true;
    }
    if run.contains(':') || run.contains(',') {
        return false;
    }
    let rooted = ["/", "./", "../", "~/"].iter().any(|root| run.starts_with(root));
    let segments: Vec<&str> = run.split(separators).filter(|segment| !segment.is_empty()).collect();
    let last = segments.last().copied().unwrap_or_default();
    let has_extension = last.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    });
    let is_named = |segment: &&str| {
        segment.contains(['_', '.'])
            || segment.contains(|c: char| c.is_ascii_digit())
            || segment.contains('-')
    };
    let is_ascii = run.is_ascii();
    let is_unit = segments.len() == 2 && segments.iter().all(|segment| segment.len() <= 3) && !rooted;
    match segments.len() {
        0 => false,
        _ if has_extension => true,
        1 => rooted && (is_code || run.starts_with("~/") || run.starts_with("./") || run.starts_with("../")),
        2 => rooted || (is_ascii && !is_unit && (is_code || segments.iter().any(is_named))),
        _ => {
            rooted
                || is_code
                || (is_ascii
                    && segments.iter().all(|segment| segment.len() > 1)
                    && !segments.iter().all(|segment| segment.starts_with(|c: char| c.is_uppercase())))
        }
    }
}

/// Splits `2026-03-05T19:30` and the like.
fn day_and_time(run: &str) -> Option<(&str, &str)> {
    let (day, time) = run.split_once('T')?;
    Day::parse(day)?;
    time.starts_with(|c: char| c.is_ascii_digit()).then_some((day, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(runs: &str, expected: &Shape) {
        for run in runs.split_whitespace() {
            assert_eq!(&shape(run, false), expected, "{run}");
        }
    }

    #[test]
    fn ids_have_letters_and_digits_or_joins() {
        check("KX-9 B-7781 utf-8 a1b2 x86_64 foo_bar T1000 3f2a9c1 W3 v2", &Shape::Whole(Kind::Id));
        check("a.b@c.de example.com std::io camelCase v1.2 1.2.3", &Shape::Whole(Kind::Id));
    }

    #[test]
    fn amounts_are_no_ids() {
        check("5kg 2.5k 10MB 3rd 90s", &Shape::Whole(Kind::Measure));
        check("20-year-old 3-star 5kg-10kg mid-2024", &Shape::Split('-'));
        check("7pm 7:30pm 19:05", &Shape::Whole(Kind::Clock));
    }

    #[test]
    fn names_of_products_and_people_are_words() {
        check("iPhone GitHub McDonald NASA O'Brien Jean-Luc p.m", &Shape::Whole(Kind::Word));
    }

    #[test]
    fn a_slash_alone_makes_no_path() {
        check("and/or km/h 5/10 TCP/IP", &Shape::Split('/'));
        check("src/main.rs a/b/c.x foo/bar/baz lib.rs src/my_mod", &Shape::Whole(Kind::Path));
    }
}
