//! A query: its words, each looked up in the index once.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ctx_types::internal::{Argument, Divider};
use ctx_types::{Phrase, phrase};

use crate::recall::index::RecallIndex;
use crate::recall::postings::FoundWord;
use crate::recall::records::beginning;
use crate::recall::terms::each_term;

/// The maximum number of bytes read of a query.
const MOST_BYTES: usize = 16 * 1024;

/// The maximum number of words in a search, by weight and rarity. Each has a bit in
/// [`Hit::words`](crate::recall::Hit::words).
const MOST_TERMS: usize = 64;

/// The number of these reserved for the text with the highest weight. Other texts, such as tool results, have more and
/// rarer words.
const FIRST_TERMS: usize = 48;

/// The maximum weight of a text, in percent.
const MOST_WEIGHT: u64 = 10_000;

/// The weight, in percent, of the ending of a word if the index has the ending but not the word.
const END: u64 = 50;

/// The words of a search.
#[derive(Debug)]
pub(super) struct Query<'a> {
    /// The words of the query that are in the index, by weight and rarity, the highest first.
    pub(super) terms: Vec<Term<'a>>,
    /// Whether the query names nobody, the user or the model.
    pub(super) named: [bool; 3],
}

/// A word of the query that is in the index.
#[derive(Clone, Debug)]
pub(super) struct Term<'a> {
    pub(super) word: String,
    pub(super) list: FoundWord<'a>,
    pub(super) weight: u64,
    pub(super) rarity: u64,
}

impl<'a> Query<'a> {
    /// Looks up the words of texts, each with its weight.
    ///
    /// Errors: the reason why nothing can be found, if only texts below half of the highest weight have usable words.
    pub(super) fn of(index: &'a RecallIndex, query: &[(&str, u64)]) -> Result<Self, Phrase> {
        let Asked { words, named } = Asked::of(index, query);
        if words.values().all(|word| word.rank == Rank::Beside) {
            return Err(phrase!(
                "no matches: the question has no words to search for (function words and speaker names are ignored)"
            ));
        }
        let mut found: BTreeMap<&str, (AskedWord, FoundWord<'_>)> = BTreeMap::new();
        for (word, asked) in &words {
            let same = index.postings.get(word).map(|list| (&**word, *asked, list));
            // `walnut` is a `nut`.
            let end = || {
                let (end, list) = ends(word).find_map(|end| Some((end, index.postings.get(end)?)))?;
                Some((end, AskedWord { weight: asked.weight * END / 100, ..*asked }, list))
            };
            if let Some((word, asked, list)) = same.or_else(end) {
                found.entry(word).or_insert((asked, list)).0.take_in(asked);
            }
        }
        let records = index.records.len() as u64;
        let with = |list: &FoundWord<'_>| u64::from(list.count());
        // A few records say nothing about how rare a word is.
        let is_rare = |list: &FoundWord<'_>| with(list) * 2 <= records || records < 32;
        let (rare, common): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, (_, list))| is_rare(list));
        if rare.iter().all(|(_, (asked, _))| asked.rank == Rank::Beside) {
            return Err(not_found(common.into_iter().map(|(word, (asked, _))| (word, asked)).collect()));
        }
        let term = |(word, (AskedWord { weight, rank, .. }, list)): (&str, (AskedWord, FoundWord<'a>))| {
            (rank, Term { word: word.to_owned(), weight, rarity: rarity(records, with(&list)), list })
        };
        Ok(Self { terms: chosen(rare.into_iter().map(term).collect()), named })
    }
}

/// Returns the reason why nothing is found; `common` are the words that are too frequent.
fn not_found(mut common: Vec<(&str, AskedWord)>) -> Phrase {
    common.retain(|(_, asked)| asked.rank < Rank::Beside);
    common.sort_unstable_by_key(|(_, asked)| asked.position);
    let words = common.iter().take(MOST_NAMED);
    let words: Vec<String> = words.map(|(word, _)| format!("`{}`", beginning(word, LONGEST_NAMED))).collect();
    if words.is_empty() {
        phrase!("no matches: no searched message contains these words")
    } else {
        phrase!(
            "no matches: more than half of the messages contain {words}; use rarer words",
            words = Argument::list(&words, Divider::Comma)
        )
    }
}

/// The maximum number of frequent words in that reason, and the maximum bytes of each.
const MOST_NAMED: usize = 4;
const LONGEST_NAMED: usize = 60;

/// Chooses the words of a search, and returns them by weight and rarity.
fn chosen(mut terms: Vec<(Rank, Term<'_>)>) -> Vec<Term<'_>> {
    // The words are in their order, which stays among equal ones.
    let by_value = |(_, term): &(Rank, Term<'_>)| Reverse(term.weight * term.rarity);
    terms.sort_by_key(|term| (term.0, by_value(term)));
    let first = terms.iter().take(FIRST_TERMS).take_while(|(rank, _)| *rank == Rank::First).count();
    if let Some(rest) = terms.get_mut(first..) {
        rest.sort_by_key(by_value);
    }
    terms.truncate(MOST_TERMS);
    terms.sort_by_key(by_value);
    terms.into_iter().map(|(_, term)| term).collect()
}

/// The words of a query.
struct Asked {
    words: BTreeMap<String, AskedWord>,
    named: [bool; 3],
}

#[derive(Clone, Copy)]
struct AskedWord {
    weight: u64,
    rank: Rank,
    /// Its position among the words of the query.
    position: usize,
}

impl Asked {
    fn of(index: &RecallIndex, query: &[(&str, u64)]) -> Self {
        let greatest = query.iter().map(|(_, weight)| *weight).max().unwrap_or_default().min(MOST_WEIGHT);
        let mut names = Vec::new();
        for number in [1, 2] {
            let name = index.speaker(number).unwrap_or_default();
            each_term(name, |word| names.push((number, word.to_owned())));
        }
        let mut asked = Self { words: BTreeMap::new(), named: [false; 3] };
        each_query_text(query, |text, weight| {
            let weight = weight.min(MOST_WEIGHT);
            let rank = Rank::of(weight, greatest);
            each_term(text, |word| {
                let mut is_name = false;
                // The names of the user (1) and the model (2) are not looked for.
                for (number, _) in names.iter().filter(|(_, name)| name == word) {
                    asked.named[*number] = true;
                    is_name = true;
                }
                if !is_name {
                    let position = asked.words.len();
                    let word = asked.words.entry(word.to_owned());
                    let new = AskedWord { weight, rank, position };
                    word.and_modify(|known| known.take_in(new)).or_insert(new);
                }
            });
        });
        asked
    }
}

impl AskedWord {
    /// Merges the same word of another text: keeps the higher weight and the better rank.
    fn take_in(&mut self, other: Self) {
        (self.weight, self.rank) = (self.weight.max(other.weight), self.rank.min(other.rank));
    }
}

/// The weight class of a word's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The text has the highest weight.
    First,
    /// The text has at least half of the highest weight.
    Asked,
    /// The text has a lower weight, so that its words find nothing alone.
    Beside,
}

impl Rank {
    const fn of(weight: u64, greatest: u64) -> Self {
        if weight == greatest {
            Self::First
        } else if weight * 2 >= greatest {
            Self::Asked
        } else {
            Self::Beside
        }
    }
}

/// Returns the endings of a compound word, the longest first; both parts have at least three letters.
pub(super) fn ends(word: &str) -> impl Iterator<Item = &str> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let cuts = if is_plain { 3..word.len().saturating_sub(2) } else { 0..0 };
    cuts.filter_map(|cut| word.get(cut..))
}

/// Calls `visit` for each part of a query up to the maximum number of bytes.
pub(super) fn each_query_text(query: &[(&str, u64)], mut visit: impl FnMut(&str, u64)) {
    let mut left = MOST_BYTES;
    for (text, weight) in query {
        let looked_at = beginning(text, left);
        left -= looked_at.len();
        visit(looked_at, *weight);
    }
}

/// Returns the rarity of a word that occurs in `n` records, in 256ths: `ln(1 + (N - n + 0.5) / (n + 0.5))` (BM25).
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53, and the logarithm is between 0 and 23"
)]
fn rarity(records: u64, with: u64) -> u64 {
    let odds = (records.saturating_sub(with) as f64 + 0.5) / (with as f64 + 0.5);
    // Whole numbers, so that the last bit of a logarithm changes nothing.
    (odds.ln_1p() * 256.0).round() as u64
}
