//! Finding the facts of one text.

use std::ops::Range;

use crate::quality::amounts::amount;
use crate::quality::chinese_names;
use crate::quality::clauses::{self, Sentence, sentences, utterance};
use crate::quality::fact::FactKind;
use crate::quality::key::{Key, Reading, literal, normal};
use crate::quality::lex::{Form, Kind, Lexed};
use crate::quality::moments::{Moment, further_day, moment};
use crate::quality::names;
use crate::quality::quotes::quotes;
use crate::quality::stems;

/// A fact in a text.
#[derive(Clone, Debug)]
pub(super) struct FoundFact {
    pub(super) kind: FactKind,
    pub(super) key: Key,
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    /// Whether it says too little to be told, but enough to know that something is not made up.
    pub(super) is_weak: bool,
    /// What it says, if it is more than a value.
    pub(super) sentence: Option<Box<Sentence>>,
}

/// What was found in a text.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) found: Vec<FoundFact>,
    pub(super) sentences: Vec<Sentence>,
}

/// Finds the facts of a text, those that are values first. O(bytes).
pub(super) fn gather(lexed: &Lexed<'_>) -> Gathered {
    let mut values = Values { lexed, found: Vec::new(), owners: vec![None; lexed.tokens.len()] };
    values.take_moments_and_amounts();
    values.take_literals();
    values.take_names();
    values.take_quotes();
    let Values { mut found, owners, .. } = values;
    let of_value = |at: usize| {
        let owner = owners.get(at).copied().flatten()?;
        found.get(owner).and_then(|found| found.key.stem())
    };
    let said = if lexed.form.is_data() { Vec::new() } else { sentences(lexed, &of_value) };
    let quoted: Vec<Option<Box<Sentence>>> = found
        .iter()
        .map(|found| match found.kind {
            FactKind::Quote => utterance(lexed, lexed.within(&found.bytes), &of_value).map(Box::new),
            _ => None,
        })
        .collect();
    let is_title = |(found, sentence): &(&FoundFact, &Option<Box<Sentence>>)| {
        found.kind == FactKind::Quote && sentence.is_none()
    };
    let titles: Vec<Range<usize>> =
        found.iter().zip(&quoted).filter(is_title).map(|(found, _)| found.bytes.clone()).collect();
    for (found, sentence) in found.iter_mut().zip(quoted) {
        // The words of a title are no names of their own.
        let at = titles.partition_point(|title| title.end < found.bytes.end);
        found.is_weak |= found.kind == FactKind::Name
            && titles.get(at).is_some_and(|title| title.start <= found.bytes.start);
        found.sentence = sentence;
    }
    found.sort_by_key(|found| found.bytes.start);
    Gathered { found, sentences: said }
}

struct Values<'a> {
    lexed: &'a Lexed<'a>,
    found: Vec<FoundFact>,
    /// Which fact each token belongs to.
    owners: Vec<Option<usize>>,
}

impl Values<'_> {
    fn push(&mut self, kind: FactKind, key: Key, tokens: Range<usize>, is_weak: bool) {
        let (Some(first), Some(last)) =
            (self.lexed.tokens.get(tokens.start), self.lexed.tokens.get(tokens.end - 1))
        else {
            return;
        };
        let bytes = first.start..last.end;
        let is_weak = is_weak || self.is_key(&tokens);
        if let Some(owners) = self.owners.get_mut(tokens) {
            owners.fill(Some(self.found.len()));
        }
        self.found.push(FoundFact { kind, key, bytes, is_weak, sentence: None });
    }

    fn is_free(&self, at: usize) -> bool {
        self.owners.get(at).is_some_and(Option::is_none)
    }

    /// Returns whether tokens are a key of JSON.
    fn is_key(&self, tokens: &Range<usize>) -> bool {
        let is_quote = |at: usize| matches!(self.lexed.mark(at), Some('"' | '\\'));
        self.lexed.form == Form::Json
            && tokens.start.checked_sub(1).is_some_and(is_quote)
            && is_quote(tokens.end)
            && self.lexed.mark(tokens.end + 1) == Some(':')
    }

    fn take_moments_and_amounts(&mut self) {
        let (mut at, mut last) = (0, None);
        while at < self.lexed.tokens.len() {
            let further = last.and_then(|(day, end)| further_day(self.lexed, at, day, end));
            if let Some((moment, next)) = further.or_else(|| moment(self.lexed, at)) {
                let key = match moment {
                    Moment::Day(day) => Key::Day(day),
                    Moment::Weekday(day) => Key::Weekday(day),
                    Moment::Clock(clock) => Key::Clock(clock),
                };
                if let Moment::Day(day) = moment {
                    last = Some((day, next));
                }
                self.push(FactKind::Date, key, at..next, false);
                at = next;
            } else if let Some(found) = amount(self.lexed, at) {
                self.push(
                    FactKind::Number,
                    Key::Amount(Box::new(found.quantity)),
                    at..found.next,
                    found.is_weak,
                );
                // What is counted is told with the number, and is a word of its sentence all the same.
                let end = self.lexed.tokens.get(found.shown - 1).map_or(0, |token| token.end);
                if let Some(told) = self.found.last_mut() {
                    told.bytes.end = told.bytes.end.max(end);
                }
                at = found.next;
            } else {
                at += 1;
            }
        }
    }

    fn take_literals(&mut self) {
        for at in 0..self.lexed.tokens.len() {
            let text = self.lexed.str(at);
            match self.lexed.kind(at) {
                Some(Kind::Path) => self.push(FactKind::Path, literal(text), at..at + 1, false),
                Some(Kind::Id) => {
                    let is_weak = self.lexed.form == Form::Output && text.len() <= 4;
                    self.push(FactKind::Identifier, literal(text), at..at + 1, is_weak);
                }
                // `@ada`, `--flag`.
                Some(Kind::Word) if self.is_handle(at) => {
                    self.push(FactKind::Identifier, literal(text), at..at + 1, false);
                }
                _ => {}
            }
        }
        let spans: Vec<Range<usize>> = self.lexed.spans.clone();
        for span in spans {
            let text = self.lexed.text.get(span.clone()).unwrap_or_default();
            if text.contains(|c: char| c.is_alphanumeric()) {
                self.found.push(FoundFact {
                    kind: FactKind::Identifier,
                    key: Key::Words(normal(text, self.lexed.form.reading()).into()),
                    bytes: span,
                    is_weak: false,
                    sentence: None,
                });
            }
        }
    }

    fn is_handle(&self, at: usize) -> bool {
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.lexed.mark(at));
        let is_free = |back: usize| {
            at.checked_sub(back).is_none_or(|at| !self.lexed.touches(at + 1) || self.lexed.mark(at).is_some())
        };
        if !self.lexed.touches(at) || self.lexed.str(at).len() < 2 {
            return false;
        }
        match before(1) {
            Some('@') => is_free(2),
            Some('-') => before(2) == Some('-') && self.lexed.touches(at - 1) && is_free(3),
            _ => false,
        }
    }

    fn take_names(&mut self) {
        let mut at = 0;
        while at < self.lexed.tokens.len() {
            at = match self.lexed.kind(at) {
                Some(Kind::Word) => self.take_name(at),
                Some(Kind::Han) if self.is_free(at) => self.take_chinese_name(at),
                _ => at + 1,
            };
        }
    }

    fn take_name(&mut self, at: usize) -> usize {
        let (found, next) = names::name(self.lexed, at, &|at| self.is_free(at));
        if let Some(name) = found {
            let words = normal(self.text_of(&name.tokens), self.lexed.form.reading());
            let is_possessor = names::is_possessive(self.lexed.str(name.tokens.end - 1));
            let words = words.strip_suffix(" s").filter(|_| is_possessor).unwrap_or(&words).to_owned();
            if !words.is_empty() {
                // The number of a model is no number of anything.
                let last = self.owners.get(name.tokens.end - 1).copied().flatten();
                if let Some(number) = last.and_then(|owner| self.found.get_mut(owner)) {
                    number.is_weak = true;
                }
                let key = Key::Name { words: words.into(), is_soft: name.is_soft };
                self.push(FactKind::Name, key, name.tokens, false);
            }
        }
        next
    }

    fn take_chinese_name(&mut self, at: usize) -> usize {
        let Some(tokens) = chinese_names::name(self.lexed, at) else { return at + 1 };
        let words = normal(self.text_of(&tokens), self.lexed.form.reading()).into();
        let next = tokens.end;
        self.push(FactKind::Name, Key::Name { words, is_soft: false }, tokens, false);
        next
    }

    fn take_quotes(&mut self) {
        if self.lexed.form.is_data() {
            return;
        }
        let code: Vec<Range<usize>> = self
            .lexed
            .tokens
            .iter()
            .filter(|token| token.is_code)
            .map(|token| token.start..token.end)
            .collect();
        let is_code = |at: usize| {
            let place = code.partition_point(|range| range.end <= at);
            code.get(place).is_some_and(|range| range.contains(&at))
        };
        for bytes in quotes(self.lexed.text, &is_code) {
            let words = normal(self.lexed.text.get(bytes.clone()).unwrap_or_default(), Reading::Signs);
            // A value in quotation marks is that value.
            let Range { start: first, end: last } = self.lexed.within(&bytes);
            let owner = self.owners.get(first).copied().flatten();
            let is_value = owner.is_some()
                && last > first
                && (first..last).all(|at| self.owners.get(at).copied().flatten() == owner);
            let is_name = owner
                .and_then(|owner| self.found.get(owner))
                .is_some_and(|found| found.kind == FactKind::Name);
            if !words.is_empty() && (!is_value || is_name) {
                // The words of a title say nothing in the sentence around it.
                if !clauses::is_utterance(self.lexed, first..last)
                    && let Some(owners) = self.owners.get_mut(first..last)
                {
                    owners.fill(Some(self.found.len()));
                }
                self.found.push(FoundFact {
                    kind: FactKind::Quote,
                    key: Key::Words(words.into()),
                    bytes,
                    is_weak: false,
                    sentence: None,
                });
            }
        }
    }

    fn text_of(&self, tokens: &Range<usize>) -> &str {
        let (Some(first), Some(last)) =
            (self.lexed.tokens.get(tokens.start), self.lexed.tokens.get(tokens.end - 1))
        else {
            return "";
        };
        self.lexed.text.get(first.start..last.end).unwrap_or_default()
    }
}

/// Returns the hash by which a value is told apart in a sentence.
pub(super) fn value_stem(text: &str) -> u32 {
    stems::hash(text)
}
