//! Sentences of one side, by what they are about: rules, denials and questions are looked up among them.

use std::collections::HashMap;

use ctx_types::Role;

use crate::quality::clauses::{Clause, Sentence};
use crate::quality::fact::FactKind;
use crate::quality::signs::Signs;

/// The sentences of a side.
#[derive(Debug, Default)]
pub(super) struct Rules {
    sentences: Vec<Said>,
    /// Which sentences have a stem.
    by_stem: HashMap<u32, Vec<u32>>,
    /// The first sentence of each key.
    by_key: HashMap<Vec<u32>, usize>,
}

#[derive(Debug)]
struct Said {
    sentence: Sentence,
    passage: u32,
    role: Role,
}

/// How a side answers to a sentence of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A sentence says the same.
    Same(usize),
    /// A sentence is about the same and says the opposite.
    Opposite(usize),
    /// Some sentence is about so much of it, in percent.
    Partly(u32),
}

/// A stem that stands in more sentences says nothing about any of them.
const MOST_POSTINGS: usize = 256;

impl Rules {
    /// Adds a sentence. O(its stems).
    pub(super) fn add(&mut self, sentence: Sentence, passage: u32, role: Role) {
        let number = u32::try_from(self.sentences.len()).unwrap_or(u32::MAX);
        for stem in sentence.clauses.iter().flat_map(|clause| &clause.stems) {
            let list = self.by_stem.entry(*stem).or_default();
            if list.len() < MOST_POSTINGS && list.last() != Some(&number) {
                list.push(number);
            }
        }
        self.by_key.entry(sentence.key()).or_insert(self.sentences.len());
        self.sentences.push(Said { sentence, passage, role });
    }

    /// Returns a sentence with its passage.
    pub(super) fn sentence(&self, at: usize) -> Option<(u32, &Sentence)> {
        self.sentences.get(at).map(|said| (said.passage, &said.sentence))
    }

    /// Returns the sentences that are facts, with their kinds; questions only while nobody has answered them if
    /// `only_open` is set.
    pub(super) fn facts(&self, only_open: bool) -> Vec<(usize, FactKind)> {
        let kind = |at: usize| {
            let said = self.sentences.get(at)?;
            let kind = kind(&said.sentence)?;
            let is_answered = kind == FactKind::Question && only_open && self.is_answered(at);
            (!is_answered).then_some((at, kind))
        };
        (0..self.sentences.len()).filter_map(kind).collect()
    }

    /// Tells whether what somebody else says next answers a question.
    fn is_answered(&self, at: usize) -> bool {
        /// So many sentences of the next speaker are looked at.
        const MOST: usize = 12;
        let Some(asked) = self.sentences.get(at) else { return false };
        let about = about(&asked.sentence);
        let later = self.sentences.iter().skip(at + 1).skip_while(|said| said.role == asked.role);
        let mut replies = later
            .take(MOST)
            .take_while(|said| said.role != asked.role)
            .filter(|said| !said.sentence.is_question)
            .peekable();
        if asked.sentence.is_yes_or_no && replies.peek().is_some_and(|said| said.sentence.says_yes_or_no) {
            return true;
        }
        replies.any(|said| {
            let shared = said
                .sentence
                .clauses
                .iter()
                .flat_map(|clause| &clause.stems)
                .filter(|stem| about.contains(stem))
                .count();
            shared >= 2 && shared * 3 >= about.len() || shared * 2 > about.len()
        })
    }

    /// Tells whether anything beside a sentence, in the same text, does what a fact of a kind does.
    pub(super) fn does_around(&self, at: usize, kind: FactKind) -> bool {
        let Some(passage) = self.sentences.get(at).map(|said| said.passage) else { return false };
        let first = self.sentences.partition_point(|said| said.passage < passage);
        let around = self.sentences.iter().skip(first).take_while(|said| said.passage == passage);
        let mut clauses = around.flat_map(|said| &said.sentence.clauses);
        clauses.any(|clause| counts(clause, kind) || (kind == FactKind::Constraint && clause.signs.denies))
    }

    /// Looks for a sentence that says what a sentence of the other side says. O(stems).
    pub(super) fn answer(&self, sentence: &Sentence, kind: FactKind) -> Answer {
        if let Some(at) = self.by_key.get(&sentence.key()) {
            return Answer::Same(*at);
        }
        let about = about_for(sentence, kind);
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for stem in &about {
            for number in self.by_stem.get(stem).into_iter().flatten() {
                *counts.entry(*number).or_default() += 1;
            }
        }
        let mut candidates: Vec<(u32, usize)> = counts.into_iter().collect();
        candidates.sort_unstable_by_key(|(number, count)| (std::cmp::Reverse(*count), *number));
        let best = candidates.first().map_or(0, |(_, count)| *count);
        let mut opposite = None;
        for (number, count) in candidates.iter().filter(|(_, count)| *count >= enough(about.len())) {
            let at = *number as usize;
            let Some(said) = self.sentences.get(at) else { continue };
            if kind == FactKind::Question || matches((sentence, kind), &said.sentence, &about) {
                return Answer::Same(at);
            }
            if opposite.is_none() && *count * 4 >= about.len() * 3 {
                opposite = Some(at);
            }
        }
        match opposite {
            Some(at) => Answer::Opposite(at),
            None => Answer::Partly(u32::try_from(best * 100 / about.len().max(1)).unwrap_or(100)),
        }
    }
}

/// Returns how many of some stems must be there.
fn enough(stems: usize) -> usize {
    match stems {
        0..=2 => stems,
        3..=6 => (stems * 3).div_ceil(5),
        _ => stems.div_ceil(2),
    }
}

/// What kind of fact a sentence is.
fn kind(sentence: &Sentence) -> Option<FactKind> {
    // A Chinese word has two characters or more.
    let least = if sentence.is_chinese { 3 } else { 2 };
    let stems = about(sentence).len();
    if sentence.is_question {
        return (stems >= least).then_some(FactKind::Question);
    }
    if stems > 0 && sentence.clauses.iter().any(|clause| clause.signs.demands) {
        return Some(FactKind::Constraint);
    }
    let is_denial = |clause: &Clause| clause.signs.denies && clause.stems.len() >= 2;
    sentence.clauses.iter().any(is_denial).then_some(FactKind::Negation)
}

/// All stems of a sentence, each once.
fn about(sentence: &Sentence) -> Vec<u32> {
    let mut stems: Vec<u32> =
        sentence.clauses.iter().flat_map(|clause| clause.stems.iter().copied()).collect();
    stems.sort_unstable();
    stems.dedup();
    stems
}

/// Tells whether a sentence is a fact of its kind for this clause.
const fn counts(clause: &Clause, kind: FactKind) -> bool {
    match kind {
        FactKind::Constraint => clause.signs.demands,
        FactKind::Negation => clause.signs.denies,
        _ => true,
    }
}

/// The stems of the clauses for which a sentence is a fact of its kind.
fn about_for(sentence: &Sentence, kind: FactKind) -> Vec<u32> {
    let clauses = sentence.clauses.iter().filter(|clause| counts(clause, kind));
    let mut stems: Vec<u32> = clauses.flat_map(|clause| clause.stems.iter().copied()).collect();
    stems.sort_unstable();
    stems.dedup();
    // `It is mandatory, the side door` demands in one clause what another one tells.
    if stems.len() < 2 { about(sentence) } else { stems }
}

/// Tells whether a sentence does what the other does where both are about the same.
fn matches((fact, kind): (&Sentence, FactKind), other: &Sentence, about: &[u32]) -> bool {
    let shared =
        |clause: &Clause| clause.stems.iter().filter(|stem| about.binary_search(stem).is_ok()).count();
    let mine = joined(fact.clauses.iter().filter(|clause| counts(clause, kind)));
    // What stands in clauses about other things does not count, unless the clauses only share the matter.
    let best = other.clauses.iter().map(shared).max().unwrap_or(0);
    let theirs =
        joined(other.clauses.iter().filter(|clause| shared(clause) > 0 && shared(clause) * 2 >= best));
    if mine.denies && !theirs.denies {
        return false;
    }
    if mine.denies {
        if !denies_the_same(fact, other, about) {
            return false;
        }
    } else if theirs.denies && !theirs_denies_elsewhere(other, about) {
        return false;
    }
    let limits_differ =
        mine.limit.is_some() && theirs.limit != mine.limit && (theirs.limit.is_some() || mine.demands);
    let is_weakened = mine.is_duty && !mine.denies && theirs.allows && !theirs.is_duty;
    !(limits_differ || is_weakened)
}

/// Tells whether two sentences deny the same thing.
///
/// `The server is not down, the database is` does not say that the database is not down. Of a long sentence only what
/// is behind the word that denies must be denied by the other too.
fn denies_the_same(fact: &Sentence, other: &Sentence, about: &[u32]) -> bool {
    const SHORT: usize = 4;
    let denying = || other.clauses.iter().filter(|clause| clause.signs.denies);
    let shared =
        |clause: &Clause, with: &[u32]| clause.stems.iter().filter(|stem| with.contains(stem)).count();
    let is_denied = |stem: &&u32| denying().any(|clause| clause.stems.contains(stem));
    if other.clauses.len() == 1 || about.iter().filter(is_denied).count() * 2 > about.len() {
        return true;
    }
    let denied: Vec<u32> = fact.clauses.iter().flat_map(|clause| clause.denied.iter().copied()).collect();
    let behind = denying().map(|clause| shared(clause, &denied)).max().unwrap_or(0);
    about.len() > SHORT && behind * 2 >= denied.len()
}

/// Tells whether only clauses with less of the matter deny something.
fn theirs_denies_elsewhere(other: &Sentence, about: &[u32]) -> bool {
    let shared =
        |clause: &&Clause| clause.stems.iter().filter(|stem| about.binary_search(stem).is_ok()).count();
    let (denying, others): (Vec<&Clause>, Vec<&Clause>) =
        other.clauses.iter().partition(|clause| clause.signs.denies);
    let most = |clauses: &[&Clause]| clauses.iter().map(&shared).max().unwrap_or(0);
    most(&denying) < most(&others)
}

fn joined<'a>(clauses: impl Iterator<Item = &'a Clause>) -> Signs {
    clauses.fold(Signs::default(), |signs, clause| signs.and(clause.signs))
}
