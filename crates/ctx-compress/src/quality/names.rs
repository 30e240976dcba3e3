//! Names of people, places and products in languages that write them with capitals.

use std::ops::Range;

use crate::quality::lex::{Form, Kind, Lexed};
use crate::quality::lexicon::{
    is_abbreviation, is_common, is_common_abbreviation, is_honorific, is_of_people, is_particle, is_stop,
};
use crate::quality::shapes::has_hump;

/// A name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Its tokens.
    pub(super) tokens: Range<usize>,
    /// Whether its first word may be capitalised only because a sentence begins with it.
    pub(super) is_soft: bool,
}

/// Finds the name that begins at a token; `is_free` tells which tokens belong to nothing else.
///
/// Returns the token after the capitalised words, whether they are a name or not.
pub(super) fn name(lexed: &Lexed<'_>, at: usize, is_free: &dyn Fn(usize) -> bool) -> (Option<Name>, usize) {
    let is_part = |at: usize| is_free(at) && is_capitalised(lexed, at);
    if !is_part(at) {
        return (None, at + 1);
    }
    let end = run_end(lexed, at, &is_part);
    let name = checked(lexed, at..end).map(|name| with_number(lexed, name));
    let end = name.as_ref().map_or(end, |name| end.max(name.tokens.end));
    (name, end)
}

/// Takes the number of a model to its name: `Windows 11`.
fn with_number(lexed: &Lexed<'_>, name: Name) -> Name {
    let end = name.tokens.end;
    let is_number =
        lexed.kind(end) == Some(Kind::Number) && lexed.str(end).bytes().all(|byte| byte.is_ascii_digit());
    let is_counted =
        matches!(lexed.kind(end + 1), Some(Kind::Word | Kind::Han)) || lexed.mark(end + 1) == Some('%');
    let goes_on = matches!(lexed.kind(end + 1), Some(Kind::Word)) && lexed.str(end + 1).len() <= 3;
    if is_number && (!is_counted || goes_on) && !is_possessive(lexed.str(end - 1)) {
        Name { tokens: name.tokens.start..end + 1, ..name }
    } else {
        name
    }
}

/// Finds the end of capitalised words with particles and initials between them.
fn run_end(lexed: &Lexed<'_>, at: usize, is_part: &dyn Fn(usize) -> bool) -> usize {
    /// Longer runs are headings.
    const MOST: usize = 12;
    let mut end = at + 1;
    while end < at + MOST && !is_possessive(lexed.str(end - 1)) {
        let skips_particles = (0..2).take_while(|skip| is_particle(lexed.str(end + skip))).count();
        let is_initial = lexed.mark(end) == Some('.') && lexed.touches(end) && is_short(lexed.str(end - 1));
        if is_part(end) {
            end += 1;
        } else if skips_particles > 0 && is_part(end + skips_particles) {
            end += skips_particles + 1;
        } else if is_initial && is_part(end + 1) {
            end += 2;
        } else {
            break;
        }
    }
    end
}

/// Returns whether a full stop behind a word belongs to it: `J. Smith`, `Dr. Smith`.
fn is_short(word: &str) -> bool {
    let lower = word.to_lowercase();
    word.chars().count() == 1 || is_abbreviation(&lower) && is_honorific(&lower)
}

fn is_capitalised(lexed: &Lexed<'_>, at: usize) -> bool {
    let word = lexed.str(at);
    let is_pronoun = word == "I" || word.starts_with("I'") || word.starts_with("I’");
    let is_word =
        lexed.kind(at) == Some(Kind::Word) && !lexed.tokens.get(at).is_some_and(|token| token.is_code);
    let is_large = word.starts_with(char::is_uppercase) || is_product(word);
    is_word && is_large && !is_pronoun
}

/// `iPhone`, `eBay`.
fn is_product(word: &str) -> bool {
    let mut characters = word.chars();
    let is_small = characters.next().is_some_and(char::is_lowercase);
    is_small && characters.next().is_some_and(char::is_uppercase) && characters.any(char::is_lowercase)
}

/// Returns whether a word has the ending of a possessor.
pub(super) fn is_possessive(word: &str) -> bool {
    word.ends_with("'s") || word.ends_with("’s")
}

/// Returns a word as lists have it: in lower case and without the ending of a possessor.
fn plain(word: &str) -> String {
    let lower = word.to_lowercase();
    let bare = lower.strip_suffix("'s").or_else(|| lower.strip_suffix("’s"));
    bare.map_or(lower.clone(), str::to_owned)
}

/// Takes off what is no part of a name; nothing may be left.
fn checked(lexed: &Lexed<'_>, run: Range<usize>) -> Option<Name> {
    let is_start = begins_sentence(lexed, run.start);
    let word = |at: usize| plain(lexed.str(at));
    let mut start = run.start;
    let mut is_soft = is_start;
    while start < run.end {
        let lower = word(start);
        let is_first = start == run.start;
        let is_before = is_honorific(&lower) && start + 1 < run.end;
        let is_no_part = is_first && is_start && (is_common(&lower) || is_stop(&lower));
        let is_article = matches!(&*lower, "the" | "a" | "an" | "my" | "our");
        if !(is_before
            || is_no_part
            || is_article
            || lexed.mark(start).is_some()
            || is_particle(lexed.str(start)))
        {
            break;
        }
        is_soft &= is_before;
        start += 1;
    }
    let words: Vec<usize> = (start..run.end).filter(|at| lexed.kind(*at) == Some(Kind::Word)).collect();
    let (first, last) = (*words.first()?, *words.last()?);
    let name = Name { tokens: first..last + 1, is_soft: is_soft && words.len() > 1 };
    let is_name = match words.as_slice() {
        [single] => is_single_name(lexed, *single, is_start && start == run.start),
        several => is_long_name(lexed, several, is_start),
    };
    is_name.then_some(name)
}

fn is_single_name(lexed: &Lexed<'_>, at: usize, is_start: bool) -> bool {
    let word = lexed.str(at);
    let lower = plain(word);
    let letters = lower.chars().count();
    let is_shout = letters > 1 && !word.contains(char::is_lowercase);
    if letters < 2 || is_common(&lower) || is_stop(&lower) || lexed.form == Form::Output {
        return false;
    }
    if is_shout {
        // Airports and companies; longer ones are words that somebody shouts.
        return (3..=5).contains(&letters) && !is_common_abbreviation(word) && !is_start;
    }
    if is_start && !has_hump(word) {
        (is_possessive(word) && !is_label(lexed, &[at])) || is_of_people(lexed.str(at + 1))
    } else {
        true
    }
}

fn is_long_name(lexed: &Lexed<'_>, words: &[usize], is_start: bool) -> bool {
    let is_ordinary = |at: &&usize| {
        let lower = plain(lexed.str(**at));
        is_common(&lower) || is_stop(&lower) || lower.chars().count() < 2
    };
    let ordinary = words.iter().filter(is_ordinary).count();
    let is_shout = words.iter().all(|at| !lexed.str(*at).contains(char::is_lowercase));
    if ordinary == words.len() || is_shout && ordinary > 0 {
        // `the Red Cross` has ordinary words only, and so have headings.
        return !is_shout && !is_start && lexed.form == Form::Prose && !is_label(lexed, words);
    }
    ordinary == 0 || !is_label(lexed, words)
}

/// Returns whether words are the heading of a line: alone on it, or with a colon behind them.
fn is_label(lexed: &Lexed<'_>, words: &[usize]) -> bool {
    const MOST_BEFORE: usize = 6;
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
    let lines_before = (0..MOST_BEFORE).filter_map(|back| first.checked_sub(back));
    let begins_line = lines_before.into_iter().any(|at| lexed.is_line_start(at));
    let mut after = last + 1..last + 5;
    let ends = after.find_map(|at| match lexed.kind(at) {
        None | Some(Kind::Break | Kind::Mark(':' | '：')) => Some(true),
        Some(Kind::Mark('*' | '_' | '#' | ')' | '&' | '/') | Kind::Word) => None,
        _ => Some(false),
    });
    begins_line && ends == Some(true)
}

/// Returns whether a token stands where capitals say nothing.
pub(super) fn begins_sentence(lexed: &Lexed<'_>, at: usize) -> bool {
    let mut before = at;
    loop {
        let Some(previous) = before.checked_sub(1) else { return true };
        match lexed.kind(previous) {
            None | Some(Kind::Break) => return true,
            Some(Kind::Mark('"' | '“' | '「' | '『')) => return lexed.form != Form::Json,
            Some(Kind::Mark('.')) => {
                let word = previous.checked_sub(1).map(|at| lexed.str(at)).unwrap_or_default();
                return !(lexed.touches(previous) && is_short(word));
            }
            Some(Kind::Mark(
                '!' | '?' | '。' | '！' | '？' | '…' | ':' | '：' | ';' | '；' | '=' | '|' | '>',
            )) => {
                return true;
            }
            Some(Kind::Mark('*' | '_' | '-' | '–' | '—' | '•' | '(' | '[' | '#' | '\'' | '‘')) => {
                before = previous;
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of a text, with `~` before those whose first word is doubtful.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let lexed = Lexed::of(text, Form::Prose);
        let (mut at, mut shown) = (0, Vec::new());
        while at < lexed.tokens.len() {
            let (found, next) = name(&lexed, at, &|_| true);
            if let Some(found) = found {
                let range = lexed.tokens[found.tokens.start].start..lexed.tokens[found.tokens.end - 1].end;
                shown.push(format!("{}{}", if found.is_soft { "~" } else { "" }, &text[range]));
            }
            at = next;
        }
        assert_eq!(shown.join(", "), expected, "{text}");
    }

    #[test]
    fn names_are_capitalised_within_sentences() {
        check("Yesterday I met Ada Lovelace and Bob in New York.", "Ada Lovelace, Bob, New York");
        check("They moved to Lisbon. Then Kim came.", "Lisbon, Kim");
        check("we use PostgreSQL, GitHub and an iPhone", "PostgreSQL, GitHub, iPhone");
        check("the Bank of England and Ludwig van Beethoven", "Bank of England, Ludwig van Beethoven");
        check("Ada's sister met Mr. Smith and J. K. Rowling", "Ada's, Smith, J. K. Rowling");
    }

    #[test]
    fn a_sentence_may_begin_with_a_name() {
        check("Ada Lovelace came.", "~Ada Lovelace");
        check("Greta said so.", "Greta");
        check("The Hollow Crown is long.", "Hollow Crown");
        check("Repairing it costs more. Visitors must ring.", "");
    }

    #[test]
    fn headings_and_shouting_are_no_names() {
        check("## Open Questions\n- **Next Steps**: none\n1. Key Concepts and Ideas", "");
        check("IMPORTANT NOTE: do NOT fly from JFK", "JFK");
        check("the API of the IBM mainframe", "IBM");
    }
}
