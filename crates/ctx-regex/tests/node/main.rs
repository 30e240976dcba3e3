//! What Node.js 20 gives for a pattern, flags, a text and a replacement.
//!
//! Each row was run by Node; the expected values are its own, with offsets counted in bytes. Where
//! this crate differs on purpose, `deviations.rs` has the row with both results.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a row that cannot be run fails its test")]

use std::fmt::Write as _;

use ctx_regex::{Flags, Limits, Match, Regex, Replacement};

mod assertions;
mod case_folding;
mod classes;
mod deviations;
mod groups;
mod idioms;
mod iteration;
mod replacing;
mod syntax;
mod unicode;

/// Pattern, flags, text, replacement; then all matches and the text after replacing.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

/// Checks rows; matches are written as offset, text and groups, where `~` is a group that took no part.
#[track_caller]
fn check_all(rows: &[Row]) {
    for &(pattern, flags, text, replacement, matches, replaced) in rows {
        let found = evaluate(pattern, flags, text, replacement);
        assert_eq!(found, (matches.into(), replaced.into()), "/{pattern}/{flags} on {text:?}");
    }
}

/// The matches and the replaced text.
#[track_caller]
fn evaluate(pattern: &str, flags: &str, text: &str, replacement: &str) -> (String, String) {
    let regex = match Regex::new(pattern, Flags::parse(flags).unwrap(), &Limits::default()) {
        Ok(regex) => regex,
        Err(error) => panic!("/{pattern}/{flags}: {error}"),
    };
    let matches: Vec<String> = regex.find_iter(text).map(|found| render(&found)).collect();
    let replaced = regex.replace(text, &Replacement::parse(replacement)).unwrap();
    (matches.join("; "), replaced.into_owned())
}

fn render(found: &Match<'_>) -> String {
    let mut out = format!("{} {}", found.range().start, found.as_str());
    for number in 1..=found.group_count() {
        match found.group(number) {
            Some(text) => write!(out, " [{text}]").unwrap(),
            None => out.push_str(" ~"),
        }
    }
    out
}
