//! Pieces: the parts of a passage that are kept or removed separately.

use std::borrow::Cow;
use std::collections::HashSet;

use ctx_types::NoteLineKind;

use crate::request::coverage::leaves::{Leaf, leaves};
use crate::request::coverage::passage::Passage;
use crate::request::coverage::telegraph::{separate_sentences, write_telegraphic, write_whole};

/// The form of prose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Without words of little content.
    Telegraphic,
    /// Whole sentences.
    Sentences,
    /// Whole sentences, one per piece unless they are very short.
    SingleSentences,
}

impl Style {
    /// The minimum bytes of neighboring sentences in one piece.
    const fn piece_len(self) -> usize {
        match self {
            Self::Telegraphic => 160,
            Self::Sentences => 320,
            Self::SingleSentences => 80,
        }
    }
}

/// A part of a passage as it is written in a note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece<'a> {
    /// The text, on one line.
    pub(super) text: &'a str,
    /// The text that its words are read from.
    pub(super) meaning: &'a str,
    /// The number of bytes at the beginning of the text that are a key shared with other pieces of the list.
    pub(super) key_len: usize,
    /// Its list, counted from 1 within the passage; 0 for none.
    pub(super) list: u16,
    /// The factor of its words, in thousandths.
    pub(super) factor: u32,
}

impl<'a> Piece<'a> {
    pub(super) const fn new(text: &'a str, meaning: &'a str, factor: u32) -> Self {
        Self { text, meaning, key_len: 0, list: 0, factor }
    }
}

/// Called for each piece of a passage, in the order of the text.
pub(super) type Visit<'v> = dyn FnMut(Piece<'_>) + 'v;

/// A factor of one.
const WHOLE: u32 = 1_000;

/// The factor of tool results: later calls need their values.
const RESULT: u32 = 1_250;

/// The factor of a value whose key is also an argument key of a call: it may be an argument again.
const ARGUMENT_KEY: u32 = 2;

/// The factor of a call.
const CALL: u32 = 1_500;

/// The factor of a piece that only contains questions, in percent.
const QUESTION_LOSS: u64 = 30;

/// The factor of rules and wishes in lasting summaries, in percent.
const DUTY: u32 = 150;

/// Words for duties and prohibitions.
const DUTIES: [&str; 20] = [
    "must", "never", "always", "not", "cannot", "can't", "don't", "only", "no", "without", "allergic",
    "要求", "必须", "不要", "不能", "不得", "别", "禁止", "务必", "过敏",
];

/// Returns whether a sentence states a duty or a prohibition.
fn speaks_of_duty(text: &str) -> bool {
    let is_duty = |word: &str| DUTIES.iter().any(|duty| duty.eq_ignore_ascii_case(word));
    let mut words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
    words.any(|word| is_duty(&word.replace('’', "'")))
        || DUTIES.iter().any(|duty| !duty.is_ascii() && text.contains(duty))
}

/// The maximum bytes of a piece; longer texts are split.
const LONGEST: usize = 400;

/// Splits a passage into pieces, in the order of the text. Equal passages give equal pieces. O(bytes).
///
/// `name` is at the beginning of all messages of the speaker; the note contains it only once.
pub(super) fn each_piece(
    passage: &Passage<'_>,
    name: Option<&str>,
    style: Style,
    argument_keys: &HashSet<String>,
    visit: &mut Visit<'_>,
) {
    let text: &str = &passage.text;
    let is_result = passage.kind == NoteLineKind::Result;
    let factor = if is_result { RESULT } else { WHOLE };
    if let Some(cuts) = &passage.cuts {
        earlier_pieces(passage, cuts, visit);
    } else if passage.kind == NoteLineKind::Call {
        call(text, visit);
    } else if let Some(leaves) = leaves(text) {
        for leaf in &leaves {
            leaf_pieces(leaf, factor, argument_keys, visit);
        }
    } else {
        prose(name.and_then(|name| without_name(text, name)).unwrap_or(text), style, factor, visit);
    }
}

/// Returns the rest of a text after `Name: `.
pub(crate) fn without_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix(": ")
}

/// Keeps the units of an earlier note.
fn earlier_pieces(passage: &Passage<'_>, cuts: &[usize], visit: &mut Visit<'_>) {
    let text: &str = &passage.text;
    let ends = cuts.iter().copied().chain([text.len()]);
    let mut start = 0;
    let factor = match passage.kind {
        NoteLineKind::Call => CALL,
        NoteLineKind::Result => RESULT,
        NoteLineKind::System | NoteLineKind::User | NoteLineKind::Assistant => WHOLE,
    };
    for end in ends {
        if let Some(piece) = text.get(start..end).map(str::trim).filter(|piece| !piece.is_empty()) {
            match passage.kind {
                NoteLineKind::Call | NoteLineKind::Result => {
                    visit(Piece::new(piece, &without_keys(piece), factor));
                }
                _ => visit(Piece::new(piece, piece, factor)),
            }
            start = end;
        }
    }
}

/// Returns a text of `key:value` without the keys.
fn without_keys(text: &str) -> String {
    let mut values = String::new();
    for word in text.split(' ') {
        let value = word.split_once(':').filter(|(key, value)| !value.is_empty() && is_key(key));
        values.push_str(value.map_or(word, |(_, value)| value));
        values.push(' ');
    }
    values
}

fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The maximum number of characters of an argument.
const LONGEST_ARGUMENT: usize = 160;

/// The maximum number of arguments of a call.
const MOST_ARGUMENTS: usize = 40;

/// Writes a call as one piece. It is kept completely, or removed.
fn call(arguments: &str, visit: &mut Visit<'_>) {
    let (mut text, mut meaning) = (String::new(), String::new());
    let Some(leaves) = leaves(arguments) else {
        write_whole(&cut(arguments, LONGEST), &mut text);
        return visit(Piece::new(&text, &text, CALL));
    };
    let mut last = 0;
    for Leaf { key, value, list } in leaves.iter().take(MOST_ARGUMENTS) {
        let value = cut(value, LONGEST_ARGUMENT);
        if *list > 0 && *list == last {
            text.push(',');
        } else {
            separate(&mut text);
            write_key(key, &mut text);
        }
        last = *list;
        write_squeezed(&value, &mut text);
        separate(&mut meaning);
        meaning.push_str(&value);
    }
    if leaves.len() > MOST_ARGUMENTS {
        text.push_str(" …");
    }
    visit(Piece::new(&text, &meaning, CALL));
}

/// Shortens a value that is too long, with a mark.
fn cut(text: &str, chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

fn leaf_pieces(leaf: &Leaf<'_>, mut factor: u32, argument_keys: &HashSet<String>, visit: &mut Visit<'_>) {
    if argument_keys.contains(&leaf.key.to_lowercase()) {
        factor *= ARGUMENT_KEY;
    }
    let (mut value, mut text) = (String::new(), String::new());
    write_squeezed(&leaf.value, &mut value);
    write_key(&leaf.key, &mut text);
    let key_len = text.len();
    for part in split_long(&value) {
        text.truncate(key_len);
        text.push_str(part);
        visit(Piece { key_len, list: leaf.list, ..Piece::new(&text, part, factor) });
    }
}

fn write_key(key: &str, into: &mut String) {
    if key.is_empty() {
        return;
    }
    into.extend(cut(key, 64).split_whitespace());
    into.push(':');
}

fn separate(text: &mut String) {
    if !text.is_empty() {
        text.push(' ');
    }
}

/// Appends a text with each run of white space as one space.
fn write_squeezed(text: &str, into: &mut String) {
    for (index, word) in text.split_whitespace().enumerate() {
        if index > 0 {
            into.push(' ');
        }
        into.push_str(word);
    }
}

/// Splits a long line at spaces; an empty line has no parts.
fn split_long(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.len() <= LONGEST {
            return Some(std::mem::take(&mut text)).filter(|rest| !rest.is_empty());
        }
        let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end))?;
        let (head, _) = text.split_at_checked(end)?;
        let end = head.rfind(' ').filter(|blank| *blank > LONGEST / 2).unwrap_or(end);
        let (head, rest) = text.split_at_checked(end)?;
        text = rest.trim_start();
        Some(head.trim())
    })
}

/// Joins neighboring sentences until they have the length of a piece.
fn prose(text: &str, style: Style, factor: u32, visit: &mut Visit<'_>) {
    let mut open = Open { style, factor, text: String::new(), raw: String::new(), questions: 0 };
    each_sentence(text, &mut |sentence, is_code| {
        split_long(sentence).for_each(|part| open.push(part, is_code, visit));
    });
    open.finish(open.text.len(), visit);
}

/// A piece of prose that may still grow.
struct Open {
    style: Style,
    factor: u32,
    text: String,
    raw: String,
    questions: usize,
}

impl Open {
    /// Adds a sentence, or finishes the piece before it.
    fn push(&mut self, sentence: &str, is_code: bool, visit: &mut Visit<'_>) {
        let before = self.text.len();
        let mut written = String::new();
        match self.style {
            Style::Telegraphic if !is_code => write_telegraphic(sentence, &mut written),
            Style::Telegraphic | Style::Sentences | Style::SingleSentences => {
                write_whole(sentence, &mut written);
            }
        }
        if !written.is_empty() {
            separate_sentences(&mut self.text);
            self.text.push_str(&written);
        }
        if before > 0 && self.text.len() > self.style.piece_len() {
            self.finish(before, visit);
        }
        separate(&mut self.raw);
        self.raw.push_str(sentence);
        if sentence.trim_end().ends_with(['?', '？']) {
            self.questions += sentence.len();
        }
    }

    /// Makes a piece of the text up to `end`; the rest begins the next one.
    fn finish(&mut self, end: usize, visit: &mut Visit<'_>) {
        let (text, rest) = self.text.split_at_checked(end).unwrap_or_default();
        if text.is_empty() {
            return;
        }
        visit(Piece::new(text, &self.raw, self.worth()));
        let rest = rest.trim_start().len();
        self.text.replace_range(..self.text.len() - rest, "");
        self.raw.clear();
        self.questions = 0;
    }

    fn worth(&self) -> u32 {
        let share = (self.questions * 100 / self.raw.len().max(1)) as u64;
        let loss = u64::from(self.factor) * share * QUESTION_LOSS / 10_000;
        let factor = self.factor - u32::try_from(loss).unwrap_or(0);
        let is_duty = self.style == Style::SingleSentences && speaks_of_duty(&self.raw);
        if is_duty { factor * DUTY / 100 } else { factor }
    }
}

/// Calls `visit` for each sentence, or each line of fenced code, and whether it is code.
fn each_sentence<'a>(text: &'a str, visit: &mut dyn FnMut(&'a str, bool)) {
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
        } else if is_code {
            visit(line, true);
        } else {
            let mut rest = line;
            while let Some(end) = sentence_end(rest) {
                let (sentence, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                visit(sentence.trim(), false);
                rest = after.trim_start();
            }
            visit(rest, false);
        }
    }
}

/// Returns the end of the first sentence of a line, unless that is the end of the line.
fn sentence_end(line: &str) -> Option<usize> {
    // The first bytes of all signs that end sentences; no byte inside a character has these values.
    let may_end = |byte: &u8| matches!(byte, b'.' | b'!' | b'?' | 0xE2 | 0xE3 | 0xEF);
    let mut at = 0;
    loop {
        at += line.as_bytes().get(at..)?.iter().position(may_end)?;
        let mut chars = line.get(at..)?.chars();
        let (c, next) = (chars.next()?, chars.next()?);
        at += c.len_utf8();
        let ends = match c {
            '.' | '!' | '?' | '…' => next.is_whitespace(),
            '。' | '！' | '？' => !matches!(next, '。' | '！' | '？' | '”' | '」' | '』'),
            _ => false,
        };
        if ends {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests;
