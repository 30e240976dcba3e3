//! Entries of worldbooks as people read them: which are active and why, and which are not.

use ctx_language::Language;
use std::collections::BTreeMap;

use ctx_types::internal::{Argument, Divider, thousands};
use ctx_types::{Phrase, count_of, phrase};

use super::table::listing;
use crate::lang;

/// What a scan found.
pub(crate) struct ScanFigures {
    pub(crate) books: usize,
    /// How many entries there are.
    pub(crate) entries: usize,
    /// The tokens of all active ones.
    pub(crate) tokens: u64,
    /// Whether they were counted as the model counts.
    pub(crate) is_exact: bool,
    /// How many tokens they may have, if that is limited.
    pub(crate) budget: Option<u64>,
    pub(crate) passes: usize,
    /// The entries that are listed.
    pub(crate) rows: Vec<EntryRow>,
    /// What kept each of the others out, in a word.
    pub(crate) others: Vec<&'static str>,
    /// Whether the others are listed too.
    pub(crate) lists_others: bool,
    /// A line for each timed effect.
    pub(crate) timed: Vec<String>,
    /// What to do next, a line each.
    pub(crate) hints: Vec<Phrase>,
}

/// What is told of an entry.
pub(crate) struct EntryRow {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) pass: Option<usize>,
    pub(crate) tokens: Option<u32>,
    pub(crate) place: Phrase,
    pub(crate) why: Option<Phrase>,
}

const HEADER: [&str; 6] = ["entry", "state", "pass", "tokens", "place", "reason"];

/// Writes what a scan found: a line on all of it, a table of entries, what kept the others out, timed effects.
pub(crate) fn scan_table(language: Language, found: &ScanFigures) -> String {
    let active = found.entries - found.others.len();
    let head = phrase!(
        "{active} of {entries} in {books} active; {tokens}; {passes}",
        active,
        entries = match found.entries {
            1 => phrase!("1 entry"),
            count => phrase!("{count} entries", count),
        },
        books = count_of!(found.books, "worldbook"),
        tokens = tokens(found),
        passes = match found.passes {
            1 => phrase!("1 pass"),
            count => phrase!("{count} passes", count),
        },
    );
    let mut text = lang::say(language, &head) + "\n";
    if !found.rows.is_empty() {
        text.push('\n');
        text.push_str(&listing(language, HEADER, found.rows.iter().map(|entry| row(language, entry))));
    }
    if !found.others.is_empty() {
        let counts = counts(language, &found.others);
        let others = if found.lists_others {
            phrase!("not active: {counts}", counts)
        } else {
            phrase!("not active: {counts}; use `--all` to list these", counts)
        };
        text.extend([format!("\n{}\n", lang::say(language, &others))]);
    }
    if !found.timed.is_empty() {
        text.extend([format!(
            "\n{}\n  {}\n",
            lang::word(language, "timed effects"),
            found.timed.join("\n  ")
        )]);
    }
    text.extend(found.hints.iter().map(|hint| format!("\n{}\n", lang::say(language, hint))));
    text
}

fn tokens(found: &ScanFigures) -> Phrase {
    let tokens = match found.budget {
        Some(budget) => {
            phrase!("{own} of {budget}", own = thousands(found.tokens), budget = super::tokens(budget))
        }
        None => phrase!("{tokens}, no budget", tokens = super::tokens(found.tokens)),
    };
    if found.is_exact { tokens } else { phrase!("about {tokens}", tokens) }
}

fn row(language: Language, entry: &EntryRow) -> [String; 6] {
    let name = match &entry.title {
        Some(title) => format!("{title} ({})", entry.id),
        None => entry.id.clone(),
    };
    let number = |number: Option<String>| number.unwrap_or_else(|| "–".to_owned());
    [
        name,
        lang::word(language, state(language, entry.state)).into_owned(),
        number(entry.pass.map(|pass| pass.to_string())),
        number(entry.tokens.map(|tokens| tokens.to_string())),
        lang::say(language, &entry.place),
        entry.why.as_ref().map(|english| lang::say(language, english)).unwrap_or_default(),
    ]
}

/// Returns the text by which the translation of a state is found. In English, a column and a state have one word.
fn state(language: Language, own: &'static str) -> &'static str {
    if language != Language::En && own == "budget" { "over budget" } else { own }
}

/// Counts equal words, the most frequent first.
fn counts(language: Language, words: &[&'static str]) -> Argument {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(state(language, word)).or_default() += 1;
    }
    let mut counts: Vec<(&'static str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
    Argument::list(
        counts.iter().map(|(word, count)| phrase!("{count} {word}", count, word = Phrase::from(*word))),
        Divider::Comma,
    )
}
