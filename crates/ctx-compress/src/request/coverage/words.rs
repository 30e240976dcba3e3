//! The words of a text, and what kind of word each is.

use std::collections::HashMap;

/// A word as it stands in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word<'a> {
    /// In lower case and without its ending.
    pub(super) stem: &'a str,
    /// Whether it stands capitalised within a sentence, as names do.
    pub(super) is_name: bool,
    /// Whether it stands within a short quotation, as titles do.
    pub(super) is_quoted: bool,
}

/// Calls `visit` for each word of a text that carries meaning; O(bytes).
///
/// A word is a run of letters and digits with `_ ' - : . @ /` inside, so that ids, dates, times, addresses and paths
/// are one word each. Where a script writes without blanks between words (Chinese, Japanese, Thai), each two
/// neighbouring characters are a word. Words that every text has are passed over.
pub(super) fn each_word(text: &str, visit: &mut dyn FnMut(Word<'_>)) {
    let quotes = Quotes::of(text);
    let mut lower = String::new();
    let mut last_end = None;
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if is_dense(c) {
            let next = rest.peek().map(|(_, next)| *next).filter(|next| is_dense(*next));
            visit_dense(c, next, quotes.contain(start), &mut lower, visit);
            last_end = Some(start + c.len_utf8());
            continue;
        }
        if !c.is_alphanumeric() {
            continue;
        }
        let mut end = start + c.len_utf8();
        while let Some((at, next)) = rest.next_if(|(_, next)| is_inside(*next)) {
            if is_letter(next) {
                end = at + next.len_utf8();
            } else if !rest.peek().is_some_and(|(_, after)| is_letter(*after)) {
                break;
            }
        }
        let gap = last_end.replace(end).and_then(|last| text.get(last..start));
        let raw = text.get(start..end).unwrap_or_default();
        lower.clear();
        lower.extend(raw.chars().map(|c| if c == '’' { '\'' } else { c }).flat_map(char::to_lowercase));
        if is_common(&lower) {
            continue;
        }
        let is_name = c.is_uppercase() && gap.is_some_and(|gap| !gap.contains(SENTENCE_BORDERS));
        visit(Word { stem: stem(&lower), is_name, is_quoted: quotes.contain(start) });
    }
}

/// Signs behind which a capital letter tells nothing.
const SENTENCE_BORDERS: [char; 13] = ['.', '!', '?', ':', '\n', '"', '“', '。', '！', '？', '：', '*', '['];

/// Tells whether a character can stand in a word, not only at its beginning.
fn is_inside(c: char) -> bool {
    is_letter(c) || matches!(c, '_' | '\'' | '’' | '-' | ':' | '.' | '@' | '/' | '\\')
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !is_dense(c)
}

/// Tells whether a character belongs to a script without blanks between words.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{0E01}'..='\u{0E4E}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}')
}

/// Characters of Chinese grammar; two of them together say nothing.
const CHINESE_GRAMMAR: &str =
    "的了是在我你您他她它们这那和与也就都吗呢吧啊有不个上下来去要会能可以到说把被让给对很还又再";

fn visit_dense(
    c: char,
    next: Option<char>,
    is_quoted: bool,
    buffer: &mut String,
    visit: &mut dyn FnMut(Word<'_>),
) {
    let says_nothing = |c: char| CHINESE_GRAMMAR.contains(c);
    let Some(next) = next.filter(|next| !(says_nothing(c) && says_nothing(*next))) else { return };
    buffer.clear();
    buffer.extend([c, next]);
    visit(Word { stem: buffer, is_name: false, is_quoted });
}

/// Takes English endings off; `bookings` and `booked` become one word. Light, since a wrong stem costs little.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 6] = ["ing", "edly", "ed", "es", "s", "ly"];
    const SHORTEST: usize = 3;
    if !word.is_ascii() {
        return word;
    }
    let bare =
        ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|bare| bare.len() >= SHORTEST));
    bare.unwrap_or(word)
}

/// English words that every text has, beside the fillers: prepositions, conjunctions, negations, words of questions.
#[rustfmt::skip]
const COMMON: [&str; 91] = [
    "about", "after", "again", "ago", "all", "another", "any", "anything", "as", "at", "because", "before",
    "but", "by", "can't", "cannot", "come", "didn't", "doesn't", "don't", "each", "even", "every", "for",
    "from", "get", "gets", "getting", "go", "going", "got", "how", "if", "in", "into", "isn't", "know",
    "let", "let's", "like", "make", "many", "may", "might", "more", "most", "much", "must", "need",
    "never", "no", "not", "now", "of", "off", "on", "one", "only", "or", "other", "out", "over", "own",
    "same", "say", "see", "should", "some", "something", "still", "such", "than", "then", "think", "to",
    "up", "want", "wasn't", "what", "when", "where", "whether", "which", "while", "who", "why", "with",
    "without", "won't", "wouldn't", "yet",
];

fn is_common(lower: &str) -> bool {
    const LONGEST: usize = 10;
    lower.len() <= LONGEST && (super::telegraph::is_filler(lower) || COMMON.binary_search(&lower).is_ok())
}

/// Where short quotations stand in a text.
#[derive(Debug, Default)]
struct Quotes(Vec<(usize, usize)>);

impl Quotes {
    /// How long a quotation may be, in bytes, to be taken for a title.
    const LONGEST: usize = 60;

    fn of(text: &str) -> Self {
        let mut quotes = Self::default();
        for (open, close) in [('"', '"'), ('“', '”'), ('《', '》'), ('「', '」')] {
            let mut rest = 0;
            while let Some(start) = find(text, rest, open) {
                let inner = start + open.len_utf8();
                let Some(end) = find(text, inner, close) else { break };
                let is_title = end > inner + 1
                    && end - inner <= Self::LONGEST
                    && text.get(inner..end).is_some_and(|inner| !inner.contains('\n'));
                if is_title {
                    quotes.0.push((inner, end));
                }
                // A quotation that is too long may be the gap between two.
                rest = if is_title { end + close.len_utf8() } else { inner };
            }
        }
        quotes
    }

    fn contain(&self, at: usize) -> bool {
        self.0.iter().any(|(start, end)| (*start..*end).contains(&at))
    }
}

fn find(text: &str, from: usize, c: char) -> Option<usize> {
    text.get(from..).and_then(|rest| rest.find(c)).map(|at| from + at)
}

/// The words of a conversation as numbers, with what is known about each.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    ids: HashMap<u64, u32>,
    pub(super) known: Vec<Known>,
}

/// What is known about a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// How many units it occurs in.
    pub(super) units: u32,
    /// The unit in which it was seen last, counted from 1.
    seen_in: u32,
    pub(super) kind: Kind,
}

/// What kind of word it is; a word that is several things once is all of them.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kind {
    /// It has a digit.
    pub(super) has_digit: bool,
    /// It has digits only, three at the most.
    pub(super) is_small_number: bool,
    /// It has digits and letters, as ids have.
    pub(super) is_mixed: bool,
    /// It stands capitalised within a sentence somewhere.
    pub(super) is_name: bool,
    /// It stands in a short quotation somewhere.
    pub(super) is_quoted: bool,
    /// It is a part of an argument of some tool call.
    pub(super) is_argument: bool,
}

impl Vocabulary {
    /// Notes that a word occurs in a unit, counted from 1; returns its number the first time it does.
    pub(super) fn add(&mut self, word: Word<'_>, unit: u32) -> Option<u32> {
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry(hash(word.stem)).or_insert(next);
        if id == next {
            self.known.push(Known { kind: kind(word.stem), ..Known::default() });
        }
        let known = self.known.get_mut(id as usize)?;
        known.kind.is_name |= word.is_name;
        known.kind.is_quoted |= word.is_quoted;
        if known.seen_in == unit {
            return None;
        }
        known.seen_in = unit;
        known.units += 1;
        Some(id)
    }

    /// Notes that a word is a part of an argument of some call.
    pub(super) fn note_argument(&mut self, id: u32) {
        if let Some(known) = self.known.get_mut(id as usize) {
            known.kind.is_argument = true;
        }
    }

    /// Returns the number of a word that occurs in some unit.
    pub(super) fn id(&self, word: Word<'_>) -> Option<u32> {
        self.ids.get(&hash(word.stem)).copied()
    }
}

fn kind(stem: &str) -> Kind {
    let has_digit = stem.contains(|c: char| c.is_numeric());
    let is_number = has_digit && !stem.contains(|c: char| !c.is_ascii_digit());
    Kind {
        has_digit,
        is_small_number: is_number && stem.len() <= 3,
        is_mixed: has_digit && stem.contains(char::is_alphabetic),
        ..Kind::default()
    }
}

/// Two words with one hash would count as one; that is rare, and costs a little choice.
fn hash(word: &str) -> u64 {
    ctx_types::Fingerprint::default().text(word).as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words, with `^` before names and `"` before quoted ones.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut shown = Vec::new();
        each_word(text, &mut |word| {
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
    fn short_quotations_are_titles() {
        check("we saw \"Blue Note\" there", "saw \"blue ^\"note");
        let long = format!("\"{}\" said", "word ".repeat(20));
        assert!(Quotes::of(&long).0.is_empty());
    }

    #[test]
    fn chinese_is_read_in_pairs() {
        check("我们的酒店，上海", "的酒 酒店 上海");
    }

    #[test]
    fn common_words_and_endings_go() {
        check("I was booking the rooms, and booked them without breakfast", "book room book breakfast");
    }

    #[test]
    fn kinds_are_told_by_the_signs() {
        let shown = |word: &str| {
            let kind = kind(word);
            (kind.has_digit, kind.is_small_number, kind.is_mixed)
        };
        assert_eq!(shown("123"), (true, true, false));
        assert_eq!(shown("2024-05-01"), (true, false, false));
        assert_eq!(shown("hat069"), (true, false, true));
        assert_eq!(shown("hat"), (false, false, false));
    }

    #[test]
    fn a_vocabulary_counts_units_once() {
        let mut vocabulary = Vocabulary::default();
        let word = |stem| Word { stem, is_name: false, is_quoted: false };
        assert_eq!(
            [("a", 1), ("a", 1), ("b", 1), ("a", 2)].map(|(stem, unit)| vocabulary.add(word(stem), unit)),
            [Some(0), None, Some(1), Some(0)]
        );
        assert_eq!(vocabulary.known[0].units, 2);
        assert_eq!(vocabulary.id(word("c")), None);
    }
}
