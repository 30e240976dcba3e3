//! Entries of worldbooks as people read them: which are active and why, and which are not.

use std::collections::BTreeMap;

use ctx_types::{Phrase, plural, thousands};

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
    /// Where timed effects are kept, if there is something to say about it.
    pub(crate) kept: Option<String>,
}

/// What is told of an entry.
pub(crate) struct EntryRow {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) pass: Option<usize>,
    pub(crate) tokens: Option<u32>,
    pub(crate) place: String,
    pub(crate) why: Option<Phrase>,
}

const HEADER: [&str; 6] = ["entry", "state", "pass", "tokens", "place", "why"];

/// Writes what a scan found: a line on all of it, a table of entries, what kept the others out, timed effects.
pub(crate) fn scan_table(found: &ScanFigures) -> String {
    let active = found.entries - found.others.len();
    let head = format!(
        "{active} of {} in {} active, {}, {}\n",
        if found.entries == 1 { "1 entry".to_owned() } else { format!("{} entries", found.entries) },
        plural(found.books, "book"),
        tokens(found),
        if found.passes == 1 { "1 pass".to_owned() } else { format!("{} passes", found.passes) },
    );
    let mut text = lang::lines(&head).into_owned();
    if !found.rows.is_empty() {
        text.push('\n');
        text.push_str(&listing(HEADER, found.rows.iter().map(row)));
    }
    if !found.others.is_empty() {
        let help = if found.lists_others { "" } else { "; `--all` lists them" };
        let others = format!("not active: {}{help}", counts(&found.others));
        text.extend([format!("\n{}\n", lang::text(&others))]);
    }
    if !found.timed.is_empty() {
        text.extend([format!("\n{}\n  {}\n", lang::text("timed effects"), found.timed.join("\n  "))]);
    }
    text.extend(found.kept.iter().map(|kept| format!("\n{}\n", lang::text(kept))));
    text
}

fn tokens(found: &ScanFigures) -> String {
    let about = if found.is_exact { "" } else { "about " };
    let word = |tokens: u64| if tokens == 1 { "token" } else { "tokens" };
    let own = thousands(found.tokens);
    match found.budget {
        Some(budget) => format!("{about}{own} of {} {}", thousands(budget), word(budget)),
        None => format!("{about}{own} {} without a budget", word(found.tokens)),
    }
}

fn row(entry: &EntryRow) -> [String; 6] {
    let name = match &entry.title {
        Some(title) => format!("{title} ({})", entry.id),
        None => entry.id.clone(),
    };
    let number = |number: Option<String>| number.unwrap_or_else(|| "–".to_owned());
    [
        name,
        lang::text(entry.state).into_owned(),
        number(entry.pass.map(|pass| pass.to_string())),
        number(entry.tokens.map(|tokens| tokens.to_string())),
        lang::text(&entry.place).into_owned(),
        entry.why.as_ref().map(lang::say).unwrap_or_default(),
    ]
}

/// Counts equal words, the most frequent first.
fn counts(words: &[&'static str]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
    lang::list(
        &counts.iter().map(|(word, count)| format!("{count} {}", lang::text(word))).collect::<Vec<_>>(),
    )
}
