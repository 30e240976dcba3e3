//! Sentences and their clauses: what they are about, and whether they deny, demand or limit something.

use std::ops::Range;

use crate::quality::lex::{Kind, Lexed};
use crate::quality::lexicon::is_abbreviation;
use crate::quality::signs::{self, Signs, chinese_signs, english_signs};
use crate::quality::stems;

/// A sentence as it is read from a text.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Debug)]
pub(super) struct Sentence {
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    pub(super) clauses: Vec<Clause>,
    pub(super) is_question: bool,
    /// Whether it asks for yes or no.
    pub(super) is_yes_or_no: bool,
    /// Whether it is in Chinese, where each character is a stem.
    pub(super) is_chinese: bool,
    /// Whether it begins with yes or no.
    pub(super) says_yes_or_no: bool,
}

/// A part of a sentence that says one thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Clause {
    /// What it is about: hashes of stems, sorted, each once.
    pub(super) stems: Vec<u32>,
    /// Those of them that are values.
    pub(super) values: Vec<u32>,
    /// If it denies something: those behind the word that does.
    pub(super) denied: Vec<u32>,
    pub(super) signs: Signs,
}

/// How a token that belongs to a value is hashed; `None` for one that does not.
pub(super) type OfValue<'a> = dyn Fn(usize) -> Option<u32> + 'a;

/// Splits prose into sentences. O(bytes).
pub(super) fn sentences(lexed: &Lexed<'_>, of_value: &OfValue<'_>) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..lexed.tokens.len() {
        if ends_sentence(lexed, at, of_value) {
            found.extend(sentence(lexed, start..at + 1, of_value));
            start = at + 1;
        }
    }
    found.extend(sentence(lexed, start..lexed.tokens.len(), of_value));
    found
}

fn ends_sentence(lexed: &Lexed<'_>, at: usize, of_value: &OfValue<'_>) -> bool {
    match lexed.kind(at) {
        Some(Kind::Break | Kind::Mark('。' | '！' | '？' | '!' | '?' | '…')) => true,
        Some(Kind::Mark('.')) => {
            let word = at.checked_sub(1).map(|before| lexed.str(before)).unwrap_or_default();
            let is_short =
                lexed.touches(at) && is_abbreviation(&word.to_lowercase()) && !word.is_empty() && word != "I";
            let is_inside = of_value(at).is_some();
            !(is_short
                || is_inside
                || (lexed.touches(at) && lexed.touches(at + 1) && lexed.mark(at + 1).is_none()))
        }
        _ => false,
    }
}

fn sentence(lexed: &Lexed<'_>, tokens: Range<usize>, of_value: &OfValue<'_>) -> Option<Sentence> {
    let is_said = |at: &usize| !matches!(lexed.kind(*at), Some(Kind::Break | Kind::Mark(_)) | None);
    let first = tokens.clone().find(is_said)?;
    let last = tokens.clone().rev().find(|at| lexed.kind(*at) != Some(Kind::Break))?;
    let bytes = lexed.tokens.get(first)?.start..lexed.tokens.get(last)?.end;
    let begin = label_end(lexed, first..tokens.end);
    let clauses = clauses(lexed, begin..tokens.end, of_value);
    let is_question = is_question(lexed, tokens.clone()) && !is_tagged(lexed, begin..tokens.end);
    let is_yes_or_no = is_question && asks_yes_or_no(lexed, begin, tokens.clone());
    let is_chinese = tokens.clone().filter(|at| lexed.kind(*at) == Some(Kind::Han)).count() >= 4;
    let says_yes_or_no = says_yes_or_no(lexed, first);
    Some(Sentence { bytes, clauses, is_question, is_yes_or_no, is_chinese, says_yes_or_no })
}

/// Reads words in quotation marks as one sentence, if they are more than a title.
pub(super) fn utterance(lexed: &Lexed<'_>, tokens: Range<usize>, of_value: &OfValue<'_>) -> Option<Sentence> {
    is_utterance(lexed, tokens.clone()).then(|| sentence(lexed, tokens, of_value)).flatten()
}

/// Returns whether words in quotation marks are more than a title.
pub(super) fn is_utterance(lexed: &Lexed<'_>, tokens: Range<usize>) -> bool {
    const MOST_WORDS: usize = 4;
    const MOST_CHINESE: usize = 8;
    let count =
        |wanted: fn(Kind) -> bool| tokens.clone().filter(|at| lexed.kind(*at).is_some_and(wanted)).count();
    let words = count(|kind| !matches!(kind, Kind::Han | Kind::Mark(_) | Kind::Break));
    let is_called = tokens
        .end
        .checked_sub(1)
        .is_some_and(|last| matches!(lexed.mark(last), Some('?' | '!' | '？' | '！')));
    is_called || words > MOST_WORDS || count(|kind| kind == Kind::Han) > MOST_CHINESE
}

/// Skips a label such as `Open question:` at the beginning of a line.
fn label_end(lexed: &Lexed<'_>, tokens: Range<usize>) -> usize {
    const LONGEST: usize = 8;
    let colon = tokens.clone().take(LONGEST).find(|at| matches!(lexed.mark(*at), Some(':' | '：')));
    let is_plain = |at: usize| {
        matches!(lexed.kind(at), Some(Kind::Word | Kind::Han | Kind::Mark('*' | '_' | ' ' | '-')))
    };
    match colon.filter(|colon| (tokens.start..*colon).all(is_plain) && colon + 1 < tokens.end) {
        Some(colon) => colon + 1,
        None => tokens.start,
    }
}

fn is_question(lexed: &Lexed<'_>, tokens: Range<usize>) -> bool {
    let mut back = tokens.rev().skip_while(|at| {
        matches!(lexed.kind(*at), Some(Kind::Break | Kind::Mark('"' | '”' | '*' | ')' | '」' | '。' | '.')))
    });
    let Some(last) = back.next() else { return false };
    let is_code = lexed.tokens.get(last).is_some_and(|token| token.is_code);
    !is_code
        && (matches!(lexed.mark(last), Some('?' | '？'))
            || lexed.han(last).is_some_and(|c| matches!(c, '吗' | '呢')))
}

/// Returns whether a sentence only asks for agreement in its end: `it is late, isn't it?`, `好的，对吧？`.
fn is_tagged(lexed: &Lexed<'_>, tokens: Range<usize>) -> bool {
    const PRONOUNS: [&str; 8] = ["he", "i", "it", "she", "they", "there", "we", "you"];
    let comma = tokens.clone().rev().find(|at| matches!(lexed.mark(*at), Some(',' | '，')));
    let Some(comma) = comma.filter(|comma| *comma > tokens.start) else { return false };
    if ["对吧", "是吧", "好吧", "对吗", "是吗", "好吗", "行吗"]
        .iter()
        .any(|tag| lexed.has_han(comma + 1, tag))
    {
        return true;
    }
    let is_verb = asks_yes_or_no(lexed, comma + 1, comma + 1..comma + 1);
    let is_end = !matches!(lexed.kind(comma + 3), Some(Kind::Word | Kind::Han | Kind::Number | Kind::Id));
    is_verb && is_end && PRONOUNS.contains(&&*lexed.str(comma + 2).to_lowercase())
}

fn asks_yes_or_no(lexed: &Lexed<'_>, begin: usize, tokens: Range<usize>) -> bool {
    const VERBS: [&str; 27] = [
        "might", "need", "shall", "am", "are", "aren't", "can", "can't", "could", "did", "didn't", "do",
        "does", "doesn't", "don't", "had", "has", "have", "is", "isn't", "may", "should", "was", "were",
        "will", "won't", "would",
    ];
    let first = lexed.str(begin).to_lowercase().replace('’', "'");
    VERBS.contains(&first.as_str())
        || first.ends_with("n't")
        || tokens.rev().take(3).any(|at| lexed.han(at) == Some('吗'))
}

fn says_yes_or_no(lexed: &Lexed<'_>, first: usize) -> bool {
    let word = lexed.str(first).to_lowercase();
    matches!(&*word, "yes" | "yeah" | "yep" | "yup" | "no" | "nope" | "definitely" | "absolutely")
        || ["是的", "对", "不是", "没有", "不用", "有的", "要的", "可以"]
            .iter()
            .any(|word| lexed.has_han(first, word))
}

/// Splits a sentence where another thing begins to be said.
fn clauses(lexed: &Lexed<'_>, tokens: Range<usize>, of_value: &OfValue<'_>) -> Vec<Clause> {
    let mut found = Vec::new();
    let mut start = tokens.start;
    for at in tokens.clone() {
        if splits(lexed, at) && of_value(at).is_none() {
            found.extend(clause(lexed, start..at, of_value));
            start = at;
        }
    }
    found.extend(clause(lexed, start..tokens.end, of_value));
    found
}

fn splits(lexed: &Lexed<'_>, at: usize) -> bool {
    match lexed.kind(at) {
        Some(Kind::Mark(',' | ';' | ':' | '，' | '；' | '：' | '—' | '–' | '(' | ')' | '（' | '）')) => {
            true
        }
        Some(Kind::Word) => matches!(
            lexed.str(at),
            "but" | "because" | "although" | "though" | "whereas" | "unless" | "however"
        ),
        Some(Kind::Han) => ["但是", "可是", "因为", "所以", "而是", "不过", "虽然"]
            .iter()
            .any(|word| lexed.has_han(at, word)),
        _ => false,
    }
}

fn clause(lexed: &Lexed<'_>, tokens: Range<usize>, of_value: &OfValue<'_>) -> Option<Clause> {
    let mut words: Vec<String> = Vec::new();
    let mut chinese = String::new();
    let mut values = Vec::new();
    for at in tokens.clone() {
        // Values stay in place, so that what stands before and behind them is told apart; their words say nothing.
        if let Some(value) = of_value(at) {
            values.extend(Some(value).filter(|value| !values.contains(value)));
            words.push("#".to_owned());
            continue;
        }
        match lexed.kind(at) {
            Some(Kind::Word) => words.push(lexed.str(at).to_lowercase().replace('’', "'")),
            Some(Kind::Number | Kind::Measure | Kind::Id | Kind::Path) => words.push("#".to_owned()),
            Some(Kind::Han) => chinese.extend(lexed.han(at)),
            Some(Kind::Mark('≤' | '<')) => words.push("≤".to_owned()),
            Some(Kind::Mark('≥' | '>')) => words.push("≥".to_owned()),
            _ => {}
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let has_value = !values.is_empty();
    let signs = english_signs(&words, has_value).and(chinese_signs(&chinese, has_value));
    let stems = stems::of(lexed, tokens.clone(), of_value);
    let denial = tokens.clone().find(|at| is_denial(lexed, *at)).filter(|_| signs.denies);
    let denied = denial.map_or_else(Vec::new, |at| stems::of(lexed, at + 1..tokens.end, of_value));
    (!stems.is_empty() || signs != Signs::default()).then_some(Clause { stems, values, denied, signs })
}

fn is_denial(lexed: &Lexed<'_>, at: usize) -> bool {
    match lexed.kind(at) {
        Some(Kind::Word) => signs::is_denial(&lexed.str(at).to_lowercase().replace('’', "'")),
        Some(Kind::Han) => lexed.han(at).is_some_and(signs::is_chinese_denial),
        _ => false,
    }
}
