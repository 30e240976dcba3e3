//! Sentences of one side, by what they are about: rules, denials and questions are looked up among them.

use std::collections::{HashMap, HashSet};

use ctx_types::Role;

use crate::quality::clauses;
use crate::quality::fact::{FactKind, Spot};
use crate::quality::sentences::{Clause, Sentences, Statement, unique};
use crate::quality::signs::Signs;

/// The sentences of a side.
#[derive(Debug, Default)]
pub(super) struct Rules {
    sentences: Sentences,
    /// Numbers for what sentences say, each with the first that says it, sorted.
    first: Vec<(u32, u32)>,
}

/// Which sentences of a side have a stem.
#[derive(Debug, Default)]
pub(super) struct Postings(HashMap<u32, Vec<u32>>);

/// How a side answers to a sentence of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A sentence says the same.
    Same(u32),
    /// A sentence is about the same and says the opposite.
    Opposite(u32),
    /// Some sentence is about so much of it, in percent.
    Partly(u32),
}

/// A stem that stands in more sentences says nothing about any of them.
const MOST_POSTINGS: usize = 256;

impl Rules {
    /// Adds a sentence. O(its stems).
    pub(super) fn add(&mut self, sentence: &clauses::Sentence, spot: Spot, role: Role) {
        self.sentences.add(sentence, spot, role);
    }

    /// Finds out which sentences say the same, once all are there.
    pub(super) fn finish(&mut self) {
        self.first = Vec::with_capacity(self.sentences.len() as usize);
        self.first.extend(self.sentences.iter().map(Statement::number).zip(0..));
        self.first.sort_unstable();
        self.first.dedup_by_key(|(number, _)| *number);
    }

    /// Notes which sentences have which stems, if only some are asked for, of those. O(stems).
    pub(super) fn postings(&self, asked: Option<&HashSet<u32>>) -> Postings {
        let mut postings: HashMap<u32, Vec<u32>> = HashMap::new();
        for (said, number) in self.sentences.iter().zip(0..) {
            let stems = said.clauses().flat_map(|clause| clause.stems);
            for stem in stems.filter(|stem| asked.is_none_or(|asked| asked.contains(stem))) {
                let list = postings.entry(*stem).or_default();
                if list.len() < MOST_POSTINGS && list.last() != Some(&number) {
                    list.push(number);
                }
            }
        }
        Postings(postings)
    }

    /// Returns a sentence.
    pub(super) fn sentence(&self, number: u32) -> Option<&Statement> {
        self.sentences.get(number)
    }

    /// Returns the number of the first sentence that says what a sentence says.
    pub(super) fn first_like(&self, sentence: &Statement) -> Option<u32> {
        let number = sentence.number();
        let at = self.first.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        let (_, first) = self.first.get(at)?;
        self.sentences.get(*first).is_some_and(|said| said.is_like(sentence)).then_some(*first)
    }

    /// Returns the kind of fact that a sentence is, if it is one; questions only while nobody has answered them if
    /// `only_open` is set.
    pub(super) fn kind(&self, number: u32, only_open: bool) -> Option<FactKind> {
        let kind = kind(self.sentences.get(number)?)?;
        let is_answered = kind == FactKind::Question && only_open && self.is_answered(number);
        (!is_answered).then_some(kind)
    }

    /// Returns how many sentences there are; they are numbered from 0.
    pub(super) fn len(&self) -> u32 {
        self.sentences.len()
    }

    /// Returns whether what somebody else says next answers a question.
    fn is_answered(&self, number: u32) -> bool {
        /// So many sentences of the next speaker are looked at.
        const MOST: usize = 12;
        let Some(asked) = self.sentences.get(number) else { return false };
        let about = asked.about();
        let later = self.sentences.from(number + 1).skip_while(|said| said.role == asked.role);
        let mut replies = later
            .take(MOST)
            .take_while(|said| said.role != asked.role)
            .filter(|said| !said.is_question)
            .peekable();
        if asked.is_yes_or_no && replies.peek().is_some_and(|said| said.says_yes_or_no) {
            return true;
        }
        replies.any(|said| {
            let stems = said.clauses().flat_map(|clause| clause.stems);
            let shared = stems.filter(|stem| about.contains(stem)).count();
            shared >= 2 && shared * 3 >= about.len() || shared * 2 > about.len()
        })
    }

    /// Returns whether anything beside a sentence, in the same text, does what a fact of a kind does.
    pub(super) fn does_around(&self, number: u32, kind: FactKind) -> bool {
        let Some(passage) = self.sentences.get(number).map(|said| said.spot.passage) else { return false };
        let around = self.sentences.from(self.sentences.first_of(passage));
        let around = around.take_while(|said| said.spot.passage == passage);
        let mut clauses = around.flat_map(Statement::clauses);
        clauses.any(|clause| counts(&clause, kind) || (kind == FactKind::Constraint && clause.signs.denies))
    }

    /// Looks for a sentence that says what a sentence of the other side says. O(stems).
    pub(super) fn answer(&self, sentence: &Statement, kind: FactKind, postings: &Postings) -> Answer {
        if let Some(number) = self.first_like(sentence) {
            return Answer::Same(number);
        }
        let about = about_for(sentence, kind);
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for stem in &about {
            for number in postings.0.get(stem).into_iter().flatten() {
                *counts.entry(*number).or_default() += 1;
            }
        }
        let mut candidates: Vec<(u32, usize)> = counts.into_iter().collect();
        candidates.sort_unstable_by_key(|(number, count)| (std::cmp::Reverse(*count), *number));
        let best = candidates.first().map_or(0, |(_, count)| *count);
        let mut opposite = None;
        for (number, count) in candidates.iter().filter(|(_, count)| *count >= enough(about.len())) {
            let Some(said) = self.sentences.get(*number) else { continue };
            if kind == FactKind::Question || matches((sentence, kind), said, &about) {
                return Answer::Same(*number);
            }
            if opposite.is_none() && *count * 4 >= about.len() * 3 {
                opposite = Some(*number);
            }
        }
        match opposite {
            Some(number) => Answer::Opposite(number),
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
fn kind(sentence: &Statement) -> Option<FactKind> {
    // A Chinese word has two characters or more.
    let least = if sentence.is_chinese { 3 } else { 2 };
    let stems = sentence.about().len();
    if sentence.is_question {
        return (stems >= least).then_some(FactKind::Question);
    }
    if stems > 0 && sentence.clauses().any(|clause| clause.signs.demands) {
        return Some(FactKind::Constraint);
    }
    let is_denial = |clause: Clause<'_>| clause.signs.denies && clause.stems.len() >= 2;
    sentence.clauses().any(is_denial).then_some(FactKind::Negation)
}

/// Returns whether a sentence is a fact of its kind for this clause.
const fn counts(clause: &Clause<'_>, kind: FactKind) -> bool {
    match kind {
        FactKind::Constraint => clause.signs.demands,
        FactKind::Negation => clause.signs.denies,
        _ => true,
    }
}

/// The stems of the clauses for which a sentence is a fact of its kind.
fn about_for(sentence: &Statement, kind: FactKind) -> Vec<u32> {
    let clauses = sentence.clauses().filter(|clause| counts(clause, kind));
    let stems = unique(clauses.flat_map(|clause| clause.stems.iter().copied()));
    // `It is mandatory, the side door` demands in one clause what another one tells.
    if stems.len() < 2 { sentence.about() } else { stems }
}

/// Returns whether a sentence does what the other does where both are about the same.
fn matches((fact, kind): (&Statement, FactKind), other: &Statement, about: &[u32]) -> bool {
    let shared =
        |clause: &Clause<'_>| clause.stems.iter().filter(|stem| about.binary_search(stem).is_ok()).count();
    let mine = joined(fact.clauses().filter(|clause| counts(clause, kind)));
    // What stands in clauses about other things does not count, unless the clauses only share the matter.
    let best = other.clauses().map(|clause| shared(&clause)).max().unwrap_or(0);
    let theirs = joined(other.clauses().filter(|clause| shared(clause) > 0 && shared(clause) * 2 >= best));
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

/// Returns whether two sentences deny the same thing.
///
/// `The server is not down, the database is` does not say that the database is not down. Of a long sentence only what
/// is behind the word that denies must be denied by the other too.
fn denies_the_same(fact: &Statement, other: &Statement, about: &[u32]) -> bool {
    const SHORT: usize = 4;
    let denying = || other.clauses().filter(|clause| clause.signs.denies);
    let shared =
        |clause: Clause<'_>, with: &[u32]| clause.stems.iter().filter(|stem| with.contains(stem)).count();
    let is_denied = |stem: &&u32| denying().any(|clause| clause.stems.contains(stem));
    if other.clauses().count() == 1 || about.iter().filter(is_denied).count() * 2 > about.len() {
        return true;
    }
    let denied: Vec<u32> = fact.clauses().flat_map(|clause| clause.denied.iter().copied()).collect();
    let behind = denying().map(|clause| shared(clause, &denied)).max().unwrap_or(0);
    about.len() > SHORT && behind * 2 >= denied.len()
}

/// Returns whether only clauses with less of the matter deny something.
fn theirs_denies_elsewhere(other: &Statement, about: &[u32]) -> bool {
    let shared =
        |clause: Clause<'_>| clause.stems.iter().filter(|stem| about.binary_search(stem).is_ok()).count();
    let most = |denies: bool| {
        let clauses = other.clauses().filter(|clause| clause.signs.denies == denies);
        clauses.map(shared).max().unwrap_or(0)
    };
    most(true) < most(false)
}

fn joined<'a>(clauses: impl Iterator<Item = Clause<'a>>) -> Signs {
    clauses.fold(Signs::default(), |signs, clause| signs.and(clause.signs))
}
