//! A catalogue: English texts with holes, and the same in another language.
//!
//! Its files are pairs of lines, divided by blank ones, in sections. A hole is `{}`; where the other language says
//! things in another order, its holes are `{0}`, `{1}` and so on. What stands in a hole is a stranger's if it is
//! quoted in backticks, or if the other language writes the hole as `{=}`, `{=0}` and so on, and stays; any other is
//! looked for among the terms.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use std::sync::OnceLock;

use ctx_types::{Argument, Divider, Phrase, PhrasePart};

/// The Chinese catalogue, read when it is first needed.
pub(super) fn chinese() -> &'static Catalogue {
    static CHINESE: OnceLock<Catalogue> = OnceLock::new();
    CHINESE.get_or_init(|| Catalogue::read(&CHINESE_FILES))
}

/// The files of the Chinese catalogue.
const CHINESE_FILES: [&str; 11] = [
    include_str!("zh/library.txt"),
    include_str!("zh/terms.txt"),
    include_str!("zh/texts.txt"),
    include_str!("zh/verbs.txt"),
    include_str!("zh/talk.txt"),
    include_str!("zh/macros.txt"),
    include_str!("zh/page.txt"),
    include_str!("zh/errors.txt"),
    include_str!("zh/help.txt"),
    include_str!("zh/codes.txt"),
    include_str!("zh/causes.txt"),
];

/// How deeply what stands in holes is translated.
const MAX_DEPTH: usize = 4;

/// The texts of one language, by sections.
#[derive(Debug, Default)]
pub(super) struct Catalogue(BTreeMap<&'static str, Section>);

#[derive(Debug, Default)]
struct Section {
    /// Texts without holes, which are found at once.
    whole: BTreeMap<&'static str, &'static str>,
    /// The others, of which the first that fits counts, by their ranks.
    patterns: Vec<Pattern>,
}

/// An English text with holes, and its translation.
#[derive(Debug)]
struct Pattern {
    literals: Vec<&'static str>,
    translation: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Literal(&'static str),
    /// The number of a hole, and whether what stands in it stays as it is.
    Hole(usize, bool),
}

impl Piece {
    #[cfg(test)]
    const fn hole(&self) -> Option<usize> {
        match self {
            Self::Literal(_) => None,
            Self::Hole(index, _) => Some(*index),
        }
    }
}

impl Catalogue {
    fn read(files: &[&'static str]) -> Self {
        let mut catalogue = Self::default();
        for file in files {
            let mut section = "";
            for block in file.split("\n\n") {
                let mut lines = block.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
                let mut first = lines.next();
                if let Some(name) = first.and_then(|line| line.strip_prefix('[')?.strip_suffix(']')) {
                    section = name;
                    first = lines.next();
                }
                if let (Some(english), Some(other)) = (first, lines.next()) {
                    catalogue.add(section, english, other);
                }
            }
        }
        for section in catalogue.0.values_mut() {
            section.patterns.sort_by_key(Pattern::rank);
        }
        catalogue
    }

    fn add(&mut self, section: &'static str, english: &'static str, other: &'static str) {
        let has_holes = english.contains("{}") && !matches!(section, "help" | "codes" | "library");
        let section = self.0.entry(section).or_default();
        if !has_holes {
            section.whole.insert(english, other);
            return;
        }
        let pattern = Pattern { literals: english.split("{}").collect(), translation: pieces(other) };
        section.patterns.push(pattern);
    }

    /// Translates a line of the command itself.
    pub(super) fn text(&self, english: &str) -> Option<String> {
        self.in_section("texts", english, 0).or_else(|| self.in_section("errors", english, 0))
    }

    /// Translates a part of such a line, whose pattern would fit too many others.
    pub(super) fn phrase(&self, english: &str) -> Option<String> {
        self.in_section("phrases", english, 0).or_else(|| self.text(english))
    }

    /// Translates a text of a page, some of which would be something else on a line.
    pub(super) fn page(&self, english: &str) -> Option<String> {
        self.in_section("page", english, 0).or_else(|| self.phrase(english))
    }

    /// Translates a cell of a list, which may hold a word that would be something else on a line.
    pub(super) fn cell(&self, english: &str) -> Option<String> {
        self.in_section("cells", english, 0)
    }

    /// Translates a paragraph of a help text.
    pub(super) fn help(&self, english: &str) -> Option<&'static str> {
        self.0.get("help")?.whole.get(english).copied()
    }

    /// Returns the title and the way out of a code.
    pub(super) fn explanation(&self, code: &str) -> Option<(&'static str, &'static str)> {
        let (head, way_out) =
            self.0.get("codes")?.whole.range::<str, _>((Included(code), Unbounded)).next()?;
        let title = head.strip_prefix(code)?.strip_prefix(": ")?;
        Some((title, way_out))
    }

    /// Returns what causes the findings of a code.
    pub(super) fn cause(&self, code: &str) -> Option<&'static str> {
        self.0.get("causes")?.whole.get(code).copied()
    }

    /// Returns the texts whose translation does not name each of their holes once.
    #[cfg(test)]
    pub(super) fn disagreeing(&self) -> Vec<&'static str> {
        let patterns = self.0.values().flat_map(|section| &section.patterns);
        let is_odd = |pattern: &&Pattern| {
            let mut holes: Vec<usize> = pattern.translation.iter().filter_map(Piece::hole).collect();
            holes.sort_unstable();
            holes != (0..pattern.literals.len() - 1).collect::<Vec<_>>()
        };
        patterns.filter(is_odd).filter_map(|pattern| pattern.literals.first().copied()).collect()
    }

    /// Writes what a library says, by its template; in English where there is no translation.
    pub(super) fn say(&self, phrase: &Phrase) -> String {
        if phrase.is_verbatim() {
            let text = phrase.to_string();
            return self.in_section("errors", &text, 0).unwrap_or(text);
        }
        let Some(template) = self.template(phrase.template()) else { return phrase.to_string() };
        phrase.parts(template).fold(String::new(), |text, part| {
            let part = match part {
                PhrasePart::Literal(literal) => Cow::Borrowed(literal),
                PhrasePart::Argument(argument) => self.argument(argument, text.ends_with('`')),
            };
            spaced(text, &part)
        })
    }

    /// Writes what stands in a hole; between backticks it stays as it is.
    fn argument<'a>(&'a self, argument: &'a Argument, is_quoted: bool) -> Cow<'a, str> {
        match argument {
            Argument::Phrase(phrase) => Cow::Owned(self.say(phrase)),
            Argument::Text(text) if !is_quoted => match self.template(text) {
                Some(other) => Cow::Borrowed(other),
                None => Cow::Owned(self.hole(&Held { text, is_quoted }, 0)),
            },
            Argument::List(items, divider) => {
                let last = match divider {
                    Divider::Or => " 或 ",
                    Divider::And => " 和 ",
                    Divider::Semicolon => "；",
                    _ => "、",
                };
                let between = if *divider == Divider::Semicolon { "；" } else { "、" };
                let items: Vec<Cow<'_, str>> = items.iter().map(|item| self.argument(item, false)).collect();
                Cow::Owned(match items.split_last() {
                    Some((end, rest)) if !rest.is_empty() => format!("{}{last}{end}", rest.join(between)),
                    _ => items.concat(),
                })
            }
            other => Cow::Owned(other.to_string()),
        }
    }

    /// Returns the translation of a template.
    fn template(&self, template: &str) -> Option<&'static str> {
        self.0.get("library")?.whole.get(template).copied()
    }

    fn in_section(&self, section: &str, english: &str, depth: usize) -> Option<String> {
        let section = self.0.get(section)?;
        if let Some(other) = section.whole.get(english) {
            return Some((*other).to_owned());
        }
        section.patterns.iter().find_map(|pattern| {
            let held = pattern.fits(english)?;
            Some(pattern.write(&held, |held| self.hole(held, depth)))
        })
    }

    fn hole(&self, held: &Held<'_>, depth: usize) -> String {
        let list = words(held.text, held.is_quoted);
        let is_looked_up = !held.is_quoted && depth < MAX_DEPTH;
        let term = |section| is_looked_up.then(|| self.in_section(section, held.text, depth + 1)).flatten();
        let other = list.or_else(|| term("terms")).or_else(|| term("errors"));
        other.unwrap_or_else(|| held.text.to_owned())
    }
}

/// Divides a list of quoted words as Chinese does; the words stay themselves.
fn words(text: &str, is_quoted: bool) -> Option<String> {
    let is_list = is_quoted || text.starts_with('`') && text.ends_with('`');
    let divided = text.replace("`, `", "`、`").replace("` or `", "` 或 `").replace("` and `", "` 和 `");
    (is_list && divided != text).then_some(divided)
}

/// What stands in a hole.
struct Held<'t> {
    text: &'t str,
    is_quoted: bool,
}

impl Pattern {
    /// Those that begin with a word come first, and of them those that say most.
    fn rank(&self) -> (bool, Reverse<usize>) {
        let is_open = self.literals.first().is_none_or(|first| first.len() < 2);
        (is_open, Reverse(self.literals.iter().map(|literal| literal.len()).sum()))
    }

    /// Returns what stands in the holes of a text, if it is this one.
    fn fits<'t>(&self, text: &'t str) -> Option<Vec<Held<'t>>> {
        let (first, literals) = self.literals.split_first()?;
        let (last, between) = literals.split_last()?;
        let mut rest = text.strip_prefix(*first)?.strip_suffix(*last)?;
        let mut held = Vec::with_capacity(literals.len());
        let mut before = *first;
        for literal in between {
            let (inner, after) = rest.split_once(*literal)?;
            held.push(Held { text: inner, is_quoted: before.ends_with('`') });
            (rest, before) = (after, *literal);
        }
        held.push(Held { text: rest, is_quoted: before.ends_with('`') });
        Some(held)
    }

    fn write(&self, held: &[Held<'_>], translate: impl Fn(&Held<'_>) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(literal) => (*literal).to_owned(),
            Piece::Hole(index, stays) => match held.get(*index) {
                Some(held) if !stays => translate(held),
                held => held.map_or("", |held| held.text).to_owned(),
            },
        };
        self.translation.iter().map(piece).fold(String::new(), |text, piece| spaced(text, &piece))
    }
}

/// Puts a text behind another, with a blank where Chinese and what is none would touch outside of backticks.
fn spaced(mut text: String, behind: &str) -> String {
    let is_chinese = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let is_other = |c: char| c == '`' || c.is_ascii_alphanumeric();
    let is_within = text.bytes().filter(|byte| *byte == b'`').count() % 2 == 1;
    if let (false, Some(last), Some(first)) = (is_within, text.chars().next_back(), behind.chars().next())
        && (is_chinese(last) && is_other(first) || is_other(last) && is_chinese(first))
    {
        text.push(' ');
    }
    text + behind
}

fn pieces(other: &'static str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut next = 0;
    let mut rest = other;
    while let Some((literal, behind)) = rest.split_once('{') {
        let number = |hole: &'static str| hole.strip_prefix('=').unwrap_or(hole);
        let Some((hole, after)) =
            behind.split_once('}').filter(|(hole, _)| number(hole).bytes().all(|b| b.is_ascii_digit()))
        else {
            // A brace that is no hole stands for itself.
            let (own, after) = rest.split_at(literal.len() + 1);
            pieces.push(Piece::Literal(own));
            rest = after;
            continue;
        };
        pieces.push(Piece::Literal(literal));
        pieces.push(Piece::Hole(number(hole).parse().unwrap_or(next), hole.starts_with('=')));
        next += 1;
        rest = after;
    }
    pieces.push(Piece::Literal(rest));
    pieces
}
