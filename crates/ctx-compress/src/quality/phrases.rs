//! Looking for many phrases in a text at once.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::quality::lex::is_han;
use crate::quality::side::Side;
use crate::request::is_filler;

/// Where phrases were found, in the order in which they were asked for.
#[derive(Debug, Default)]
pub(super) struct Hits(Vec<Hit>);

/// What became of a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where it stands in the words of the side, word for word.
    pub(super) at: Option<usize>,
    /// Whether it stands there if words that carry little are left out of both.
    pub(super) is_light: bool,
}

impl Hits {
    /// Looks for phrases, written as [`normal`](crate::quality::key::normal) writes them. O(bytes of both + hits).
    pub(super) fn of(phrases: &[&str], side: &Side<'_>) -> Self {
        let mut hits = vec![Hit::default(); phrases.len()];
        let whole: Vec<String> = phrases.iter().map(|phrase| bounded(phrase)).collect();
        each_hit(&whole, &side.words, &mut |which, at| {
            if let Some(hit) = hits.get_mut(which) {
                hit.at = hit.at.or(Some(at));
            }
        });
        let light: Vec<String> = phrases.iter().map(|phrase| without_fillers(phrase)).collect();
        each_hit(&light, &side.light, &mut |which, _| {
            if let Some(hit) = hits.get_mut(which) {
                hit.is_light = true;
            }
        });
        Self(hits)
    }

    /// Returns what became of a phrase.
    pub(super) fn get(&self, which: usize) -> Hit {
        self.0.get(which).copied().unwrap_or_default()
    }
}

/// Calls `visit` for phrases that stand in a text, with their first bytes; blank ones are left out.
fn each_hit(phrases: &[String], text: &str, visit: &mut dyn FnMut(usize, usize)) {
    let (places, patterns): (Vec<usize>, Vec<&str>) = phrases
        .iter()
        .enumerate()
        .filter(|(_, phrase)| !phrase.is_empty())
        .map(|(at, phrase)| (at, phrase.as_str()))
        .unzip();
    if patterns.is_empty() {
        return;
    }
    // It fails only for more patterns or states than there can be facts.
    let Ok(automaton) = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&patterns) else {
        return;
    };
    for found in automaton.find_overlapping_iter(text) {
        if let Some(place) = places.get(found.pattern().as_usize()) {
            visit(*place, found.start());
        }
    }
}

/// Puts blanks around a phrase, so that it is found between words only; Chinese has no blanks.
fn bounded(phrase: &str) -> String {
    let blank = |is_han: bool| if is_han { "" } else { " " };
    let (Some(first), Some(last)) = (phrase.chars().next(), phrase.chars().next_back()) else {
        return String::new();
    };
    format!("{}{phrase}{}", blank(is_han(first)), blank(is_han(last)))
}

/// Leaves words out that carry little; a phrase of which less than two words are left says too little then.
fn without_fillers(phrase: &str) -> String {
    let words: Vec<&str> = phrase.split(' ').filter(|word| !is_filler(word)).collect();
    match words.len() {
        0 | 1 => String::new(),
        _ => bounded(&words.join(" ")),
    }
}
