//! The words of a text.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::request::coverage::telegraph::{FILLERS, WordSet};

/// A word in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// In lower case and without its ending.
    pub(crate) stem: &'a str,
    /// Whether it is capitalized within a sentence, like a name.
    pub(crate) is_name: bool,
    /// Whether it is in a short quotation, like a title.
    pub(crate) is_quoted: bool,
}

/// Calls `visit` for each word with content; O(bytes).
///
/// A word is a run of letters and digits with `_ ' - : . @ /` inside, so that ids, dates, times, addresses and paths
/// are one word each. In scripts without spaces between words (Chinese, Japanese, Thai), each pair of neighboring
/// characters is a word. Frequent words of every text are skipped.
pub(crate) fn each_word(text: &str, mut visit: impl FnMut(Word<'_>)) {
    let quotes = Quotes::of(text);
    each_place(text, |stem, place| {
        let begins_with_capital = char_at(text, place.start).is_some_and(char::is_uppercase);
        let is_name = begins_with_capital && place.gap.is_some_and(|gap| !gap.contains(SENTENCE_BORDERS));
        visit(Word { stem, is_name, is_quoted: quotes.contain(place.start) });
    });
}

/// Calls `visit` for each word like [`each_word`], only with its stem in lower case and whether it contains joining
/// signs.
pub(crate) fn each_stem(text: &str, mut visit: impl FnMut(&str, bool)) {
    each_place(text, |stem, place| visit(stem, place.is_joined));
}

/// The place of a word.
#[derive(Clone, Copy)]
struct Place<'a> {
    start: usize,
    /// The text between the previous word and this one.
    gap: Option<&'a str>,
    /// Whether signs join parts of the word.
    is_joined: bool,
}

fn each_place<'a>(text: &'a str, mut visit: impl FnMut(&str, Place<'a>)) {
    let mut lowered = String::new();
    let (mut at, mut last_end) = (0, None);
    while let Some(c) = char_at(text, at) {
        let start = at;
        at += c.len_utf8();
        if is_dense(c) {
            at = each_pair(text, c, start, |pair, start| {
                visit(pair, Place { start, gap: None, is_joined: false });
            });
            last_end = Some(at);
            continue;
        }
        if !c.is_alphanumeric() {
            continue;
        }
        let is_joined;
        (at, is_joined) = word_end(text, at);
        let gap = last_end.replace(at).and_then(|last| text.get(last..start));
        let lower = lower(text.get(start..at).unwrap_or_default(), &mut lowered);
        if !is_common(lower) {
            visit(stem(lower), Place { start, gap, is_joined });
        }
    }
}

/// Signs after which a capital letter does not mark a name.
const SENTENCE_BORDERS: [char; 13] = ['.', '!', '?', ':', '\n', '"', '“', '。', '！', '？', '：', '*', '['];

/// Returns the character at a byte.
fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at)? {
        byte if byte.is_ascii() => Some(char::from(*byte)),
        _ => text.get(at..)?.chars().next(),
    }
}

/// Returns the end of a word whose first character ends at `at`, and whether signs join parts of it.
fn word_end(text: &str, mut at: usize) -> (usize, bool) {
    let mut is_joined = false;
    loop {
        // The fast path for ASCII.
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        at += rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let Some(c) = char_at(text, at) else { break };
        let next = at + c.len_utf8();
        if is_joint(c) && char_at(text, next).is_some_and(is_letter) {
            is_joined = true;
        } else if !is_letter(c) {
            break;
        }
        at = next;
    }
    (at, is_joined)
}

/// Returns whether a character joins two parts of a word.
const fn is_joint(c: char) -> bool {
    matches!(c, '_' | '\'' | '’' | '-' | ':' | '.' | '@' | '/' | '\\')
}

fn is_letter(c: char) -> bool {
    !is_dense(c) && c.is_alphanumeric()
}

/// Returns whether a character belongs to a script without spaces between words.
const fn is_dense(c: char) -> bool {
    // The first comparison decides for most characters.
    c >= '\u{0E01}'
        && matches!(c, '\u{0E01}'..='\u{0E4E}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// Characters of Chinese grammar; a pair of them has no content.
static CHINESE_GRAMMAR: LazyLock<HashSet<char>> = LazyLock::new(|| {
    "的了是在我你您他她它们这那和与也就都吗呢吧啊有不个上下来去要会能可以到说把被让给对很还又再"
        .chars()
        .collect()
});

/// Calls `visit` with each pair of neighbors that counts as a word in a run of such a script, and with its start. `c`
/// is the first character, at `start`. Returns the end of the run.
fn each_pair<'a>(text: &'a str, c: char, mut start: usize, mut visit: impl FnMut(&'a str, usize)) -> usize {
    let mut at = start + c.len_utf8();
    let mut is_grammar = CHINESE_GRAMMAR.contains(&c);
    while let Some(next) = char_at(text, at).filter(|next| is_dense(*next)) {
        let end = at + next.len_utf8();
        let was_grammar = std::mem::replace(&mut is_grammar, CHINESE_GRAMMAR.contains(&next));
        if !(was_grammar && is_grammar)
            && let Some(pair) = text.get(start..end)
        {
            visit(pair, start);
        }
        (start, at) = (at, end);
    }
    at
}

/// Returns a word in lower case with plain apostrophes; allocates only if that changes it.
fn lower<'a>(word: &'a str, into: &'a mut String) -> &'a str {
    if word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return word;
    }
    into.clear();
    if word.is_ascii() {
        into.push_str(word);
        into.make_ascii_lowercase();
    } else {
        into.extend(word.chars().map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase));
    }
    into
}

/// Removes English endings; `bookings` and `booked` become one word. A wrong stem does little harm.
pub(crate) fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 6] = ["ing", "edly", "ed", "es", "s", "ly"];
    const SHORTEST: usize = 3;
    if !word.ends_with(['g', 'd', 's', 'y']) || !word.is_ascii() {
        return word;
    }
    let bare =
        ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|bare| bare.len() >= SHORTEST));
    bare.unwrap_or(word)
}

/// Frequent English words: fillers, prepositions, conjunctions, negations, question words.
#[rustfmt::skip]
const COMMON_WORDS: [&str; 91] = [
    "about", "after", "again", "ago", "all", "another", "any", "anything", "as", "at", "because", "before",
    "but", "by", "can't", "cannot", "come", "didn't", "doesn't", "don't", "each", "even", "every", "for",
    "from", "get", "gets", "getting", "go", "going", "got", "how", "if", "in", "into", "isn't", "know",
    "let", "let's", "like", "make", "many", "may", "might", "more", "most", "much", "must", "need",
    "never", "no", "not", "now", "of", "off", "on", "one", "only", "or", "other", "out", "over", "own",
    "same", "say", "see", "should", "some", "something", "still", "such", "than", "then", "think", "to",
    "up", "want", "wasn't", "what", "when", "where", "whether", "which", "while", "who", "why", "with",
    "without", "won't", "wouldn't", "yet",
];

static COMMON: LazyLock<WordSet> = LazyLock::new(|| {
    let mut words = FILLERS.clone();
    words.extend(COMMON_WORDS);
    words
});

fn is_common(lower: &str) -> bool {
    const LONGEST: usize = 10;
    lower.len() <= LONGEST && COMMON.contains(lower)
}

/// Short quotations in a text, ordered by their start.
#[derive(Debug, Default)]
struct Quotes(Vec<(usize, usize)>);

impl Quotes {
    /// The maximum bytes of a quotation that counts as a title.
    const LONGEST: usize = 60;

    fn of(text: &str) -> Self {
        let mut quotes = Self::default();
        for (open, close) in [('"', '"'), ('“', '”'), ('《', '》'), ('「', '」')] {
            let mut rest = 0;
            while let Some(start) = find(text, rest, open) {
                let inner = start + open.len_utf8();
                let mut near =
                    text[inner..].char_indices().take_while(|(length, _)| *length <= Self::LONGEST);
                let end = near.find(|(_, c)| *c == close || *c == '\n');
                // A quotation that is too long may be the text between two quotations.
                rest = inner;
                if let Some((length, _)) = end.filter(|(length, c)| *length > 1 && *c == close) {
                    quotes.0.push((inner, inner + length));
                    rest = inner + length + close.len_utf8();
                }
            }
        }
        quotes.0.sort_unstable();
        quotes
    }

    fn contain(&self, at: usize) -> bool {
        let begun = self.0.partition_point(|(start, _)| *start <= at);
        let mut near = self.0[..begun].iter().rev().take_while(|(start, _)| at - start <= Self::LONGEST);
        near.any(|(_, end)| at < *end)
    }
}

fn find(text: &str, from: usize, c: char) -> Option<usize> {
    text.get(from..).and_then(|rest| rest.find(c)).map(|at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words, with `^` before names and `"` before quoted ones.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut shown = Vec::new();
        each_word(text, |word| {
            let name = if word.is_name { "^" } else { "" };
            let quoted = if word.is_quoted { "\"" } else { "" };
            shown.push(format!("{name}{quoted}{}", word.stem));
        });
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn ids_dates_times_and_addresses_are_one_word() {
        check(
            "mail a.b@c.org, 2024-05-01 at 10:30, src/main.rs and user_7",
            "mail a.b@c.org 2024-05-01 10:30 src/main.r user_7",
        );
        check("Price: $1,250.50.", "price 1 250.50");
    }

    #[test]
    fn names_are_capitalised_within_a_sentence() {
        check("Lin met Bo. Then Kim: Ann came", "lin met ^bo ^kim ann came");
    }

    #[test]
    fn scripts_are_told_apart_within_a_text() {
        check("see room酒店2号楼Ada", "room 酒店 2 号楼 ^ada");
        check("Zoë’s müllers’ Ärger", "zoë's müllers ^ärger");
        check("path\\to it’s a--b user@ @user 3.", "path\\to b user user 3");
        check("カタカナ ไทย 𠀀𠀁 \u{F900}\u{F901}", "カタ タカ カナ ไท ทย 𠀀𠀁 \u{F900}\u{F901}");
    }

    #[test]
    fn endings_go_where_enough_is_left() {
        check("bed beds bedding bing rapidly used tedly dress", "bed bed bedd bing rapid used ted dres");
    }

    #[test]
    fn short_quotations_are_titles() {
        check("we saw \"Blue Note\" there", "saw \"blue ^\"note");
        check("sign \"x\" \"\" on “Red Sea” met", "sign x \"red ^\"sea met");
        check("saw \"red sea\" met \"blue lake\" met", "saw \"red \"sea met \"blue \"lake met");
        check("《红楼》看《西游》", "\"红楼 \"西游");
        check("「red sea」 met 「blue", "\"red \"sea met blue");
        check("saw \"red\nsea\" met", "saw red sea met");
        let far = "x".repeat(90);
        check(&format!("{far} \"red sea\""), &format!("{far} \"red \"sea"));
        let quoted = |length: usize| {
            let inner = "y".repeat(length);
            let mut is_quoted = false;
            each_word(&format!("{far} \"{inner}\" \"red\""), |word| {
                is_quoted |= word.is_quoted && word.stem == inner;
            });
            is_quoted
        };
        assert_eq!([1, 2, 60, 61, 200].map(quoted), [false, true, true, false, false]);
        check(&format!("saw \"{far} \"red sea\" met"), &format!("saw {far} \"red \"sea met"));
        let long = format!("\"{}\" said", "word ".repeat(20));
        assert!(Quotes::of(&long).0.is_empty());
        let mut quoted = 0;
        each_word(&"\"Blue\" ".repeat(100_000), |word| quoted += usize::from(word.is_quoted));
        assert_eq!(quoted, 100_000);
        // Only the marks near the end are close enough. The first of these begins the title.
        assert_eq!(Quotes::of(&format!("{}”", "“".repeat(300_000))).0.len(), 1);
    }

    #[test]
    fn chinese_is_read_in_pairs() {
        check("我们的酒店，上海", "的酒 酒店 上海");
        check("酒、店。上海！room：海", "上海 room");
    }

    #[test]
    fn common_words_and_endings_go() {
        check("I was booking the rooms, and booked them without breakfast", "book room book breakfast");
    }
}
