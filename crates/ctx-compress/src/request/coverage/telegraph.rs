//! Removes words of little content from prose.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words of grammar: articles, pronouns, forms of be, have, do, will and can.
///
/// Negations, prepositions, conditions and words of duty (must, should, may, might) are kept.
static GRAMMAR: LazyLock<WordSet> = LazyLock::new(|| GRAMMAR_WORDS.into());

/// All removed words: those of grammar, and those for moods, politeness and greetings.
pub(super) static FILLERS: LazyLock<WordSet> = LazyLock::new(|| {
    let mut words = GRAMMAR.clone();
    words.extend(FILLER_WORDS);
    words
});

/// Words in lower case.
pub(super) type WordSet = HashSet<&'static str>;

#[rustfmt::skip]
const GRAMMAR_WORDS: [&str; 85] = [
    "a", "also", "am", "an", "and", "are", "be", "been", "being", "can", "could", "did", "do", "does",
    "had", "has", "have", "having", "he", "he'd", "he's", "her", "here", "hers", "him", "his", "i",
    "i'd", "i'll", "i'm", "i've", "is", "it", "it'd", "it'll", "it's", "its", "me", "my", "oh", "ok",
    "okay", "our", "ours", "shall", "she", "she'd", "she's", "so", "that", "that's", "the", "their",
    "theirs", "them", "there", "there's", "these", "they", "they'd", "they'll", "they're", "they've",
    "this", "those", "too", "us", "very", "was", "we", "we'd", "we'll", "we're", "we've", "were",
    "what's", "will", "would", "you", "you'd", "you'll", "you're", "you've", "your", "yours",
];

#[rustfmt::skip]
const FILLER_WORDS: [&str; 39] = [
    "absolutely", "actually", "anyway", "awesome", "basically", "cool", "definitely", "doing", "done",
    "glad", "gonna", "good", "gotta", "great", "haha", "hello", "hey", "hi", "just", "lol", "mine",
    "myself", "nice", "please", "quite", "really", "super", "sure", "thank", "thanks", "totally",
    "wanna", "well", "wow", "yeah", "yep", "yes", "yourself", "yup",
];

/// Appends a text like [`write_telegraphic`], but only removes words of grammar.
pub(crate) fn write_detail(text: &str, into: &mut String) {
    write_without(text, into, &GRAMMAR);
}

/// Appends a sentence without fillers and without signs at the ends of words, with one space between words, and one
/// before the first word unless `into` is empty.
pub(super) fn write_telegraphic(sentence: &str, into: &mut String) {
    write_without(sentence, into, &FILLERS);
}

fn write_without(sentence: &str, into: &mut String, dropped: &WordSet) {
    for word in sentence.split_whitespace() {
        let bare = word.trim_matches(BESIDE);
        let core = bare.trim_matches(AROUND);
        if !is_dropped(core, dropped) {
            push_word(bare, into);
        }
    }
}

/// Returns whether a line begins with all words of another one that has at least one word. Words of grammar and signs
/// at the ends of words are ignored. O(the other).
pub(crate) fn begins_with_words_of(line: &str, other: &str) -> bool {
    let is_said = |word: &&str| !word.is_empty() && !is_dropped(word, &GRAMMAR);
    let words = |text| str::split_whitespace(text).map(|word| word.trim_matches(AROUND)).filter(is_said);
    let (mut begins, mut other) = (words(line), words(other).peekable());
    other.peek().is_some() && other.all(|word| begins.next() == Some(word))
}

fn is_dropped(core: &str, dropped: &WordSet) -> bool {
    if core.len() > LONGEST_FILLER || !core.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return false;
    }
    let lower = core.to_ascii_lowercase();
    dropped.contains(&*lower) || !core.is_ascii() && dropped.contains(&*lower.replace('’', "'"))
}

/// Signs at the ends of a word that are removed, and signs around it that do not belong to it.
const BESIDE: [char; 5] = ['!', ',', ';', '"', '*'];
const AROUND: [char; 10] = ['!', ',', ';', '"', '*', '(', ')', '.', '?', ':'];

/// Appends a sentence unchanged except for white space, each run of which becomes one space.
pub(crate) fn write_whole(sentence: &str, into: &mut String) {
    sentence.split_whitespace().for_each(|word| push_word(word, into));
}

/// An apostrophe may have three bytes.
const LONGEST_FILLER: usize = 14;

fn push_word(word: &str, into: &mut String) {
    if word.is_empty() {
        return;
    }
    if !into.is_empty() {
        into.push(' ');
    }
    into.push_str(word);
}

/// Appends the space before another sentence; Chinese sentences have none between them.
pub(super) fn separate_sentences(text: &mut String) {
    if !text.is_empty() && !text.ends_with(['。', '！', '？', '；']) {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expected: &str) {
        let mut telegram = String::new();
        write_telegraphic(sentence, &mut telegram);
        assert_eq!(telegram, expected);
    }

    #[test]
    fn fillers_go_and_negations_conditions_and_duties_stay() {
        check(
            "Hey, I really must not leave without my passport, if it's raining!",
            "must not leave without passport if raining",
        );
        check("You should never pay before 3pm; I don't.", "should never pay before 3pm don't.");
        check("I’m the \"Blue Note\" fan (really).", "Blue Note fan");
    }

    #[test]
    fn a_line_begins_with_the_words_of_another() {
        let note = "U: You never use the port 443, but use port 80! ask Miso";
        for other in ["U: never use port 443.", "U: never use port 443 but (use) port 80"] {
            assert!(begins_with_words_of(note, other), "{other}");
        }
        for other in ["U: use port 443", "U: never use port 80", "R: never use port 443", "A: it is"] {
            assert!(!begins_with_words_of(note, other), "{other}");
        }
    }

    #[test]
    fn other_languages_are_left_alone() {
        check("我 不 要 去。 это не так", "我 不 要 去。 это не так");
    }
}
