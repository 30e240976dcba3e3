//! Capitalized names.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::quality::fact::FactKind;
use crate::quality::key::Key;
use crate::quality::passage::Form;
use crate::quality::scan::{FoundFact, Remainder, TAKEN};

/// Capitalized words in a row, also with a particle between: `Casa do Almada`.
pub(super) static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"\p{Lu}[\p{L}\p{M}]*(?:['’-][\p{L}\p{M}]+)*";
    let particle = "(?:(?:of|de|do|da|di|du|del|van|von|der|den|la|le|el|al|bin)[ \t])?";
    Regex::new(&format!("{word}(?:[ \t]{particle}{word})*")).expect("a valid pattern")
});

/// Titles, and words that begin sentences and are not part of a name.
const STOP_WORDS: &str = " a about after all also always am an and another any are as at be because been before both \
    but by can could did do does don't each either every everything few first for from good great had has have \
    he hello her here hers hey hi his how however i i'd i'll i'm i've if in instead is it it's its just last let \
    let's like make many maybe me meanwhile more most mr mrs ms dr miss sir my never next no nobody none not note \
    nothing now of oh ok okay on once one only open or other our ours please right same second see she should \
    since so some still such sure thank thanks that that's the their them then there these they they're this \
    those though thus to today tomorrow tonight too under unless until up us very was we we're we've well were \
    what when where whether which while who whom whose why will with would yes yesterday yet you you're your \
    yours ";

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&format!(" {} ", word.to_lowercase().replace('’', "'")))
}

/// Reads a match of [`NAME`].
pub(super) fn name(text: Remainder<'_>, found: &Captures<'_>) -> Option<FoundFact> {
    let whole = found.get_match();
    if text.cuts_word(&whole.range()) {
        return None;
    }
    let mut name = whole.as_str();
    while let Some(first) = name.split([' ', '\t']).next().filter(|first| is_stop_word(first)) {
        name = name.get(first.len() + 1..).unwrap_or_default();
    }
    // A particle cannot begin a name.
    name = name.trim_start_matches(|c: char| !c.is_uppercase());
    let start = whole.end() - name.len();
    // `For Porto I'd suggest it.`
    let is_pronoun = |word: &str| word.split(['\'', '’']).next() == Some("I");
    if let Some((before, _)) = name.rsplit_once([' ', '\t']).filter(|(_, last)| is_pronoun(last)) {
        name = before;
    }
    let name = ["'s", "’s", "'S", "’S"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    if name.chars().filter(|c| c.is_alphabetic()).count() < 2 {
        return None;
    }
    let bytes = start..start + name.len();
    let is_first = is_first_of_sentence(text, whole.start()) && !is_json_string(text, &bytes);
    let is_cut = start > whole.start();
    let is_ordinary = is_first && (!is_cut && !name.contains(' ') || is_label(text, bytes.end));
    let is_weak = is_ordinary || is_in_heading(text, start);
    Some(FoundFact { kind: FactKind::Name, key: Key::words(name), bytes, is_weak })
}

/// Returns whether the word at a byte begins a sentence, a line, an item of a list or a quotation.
fn is_first_of_sentence(text: Remainder<'_>, at: usize) -> bool {
    let before = &text.text[..at];
    let line = before.trim_end_matches([' ', '\t', '*', '_', '"', '“', '「', '(', '[', '-', '>', '•', '—']);
    let item = line.strip_suffix([')', '.']).map(|line| line.trim_end_matches(TAKEN));
    let is_item = item.is_some_and(|line| line.is_empty() || line.ends_with('\n'));
    let is_title = ["Mr.", "Mrs.", "Ms.", "Dr.", "St."].iter().any(|title| line.ends_with(title));
    let ends = ['\n', '.', '!', '?', ':', ';', '。', '！', '？', '：', '；', '…', '|'];
    is_item || !is_title && (line.is_empty() || line.ends_with(ends))
}

/// Returns whether bytes are a whole string in JSON.
fn is_json_string(text: Remainder<'_>, bytes: &std::ops::Range<usize>) -> bool {
    text.form == Form::Json && text.before(bytes.start) == Some('"') && text.after(bytes.end) == Some('"')
}

/// Returns whether a colon follows: `Next Steps:`.
fn is_label(text: Remainder<'_>, end: usize) -> bool {
    text.text[end..].trim_start_matches('*').starts_with([':', '：'])
}

fn is_in_heading(text: Remainder<'_>, at: usize) -> bool {
    /// Longer lines are not headings.
    const LONGEST: usize = 120;
    let line = text.text[..at].chars().rev().take(LONGEST).take_while(|c| *c != '\n');
    text.form == Form::Prose && line.filter(|c| !c.is_whitespace()).last() == Some('#')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::scan::scan;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = scan(text, Form::Prose).into_iter();
        let names = found.filter(|found| found.kind == FactKind::Name && !found.is_weak);
        assert_eq!(names.map(|found| &text[found.bytes]).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn finds_capitalized_words_within_sentences() {
        check("I met Marta Okafor in Lisbon.", &["Marta Okafor", "Lisbon"]);
        check("Ada's guest stays at Casa do Almada near São Bento.", &["Casa do Almada", "São Bento"]);
        check("She calls Ms. Bell. The Blue Note is closed.", &["Bell", "Blue Note"]);
        check("For Porto I'd suggest it. Shall I?", &["Porto"]);
        check("找 Ada Bell 说话", &["Ada Bell"]);
    }

    #[test]
    fn leaves_out_first_words_and_headings() {
        check("Lovely! Whose is it? Rain.", &[]);
        check("## Next Steps\n**Key Decisions:** none\n- Open Questions: none", &[]);
        check("Please ask Ada. Deepika Raman knows.", &["Ada", "Deepika Raman"]);
    }
}
