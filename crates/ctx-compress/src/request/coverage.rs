//! Strategies that keep what is said, not who said it: units of text by the words that they add.

mod calls;
mod excerpts;
mod greedy;
mod index;
mod leaves;
mod passage;
mod pieces;
mod speakers;
mod telegraph;
mod vocabulary;
mod words;
mod worth;
mod write;

pub(crate) use passage::is_changed_note;

use std::collections::BTreeMap;
use std::ops::Range;

use ctx_types::{Message, NoteLineKind, Place, Role, phrase};

pub(crate) use excerpts::{Excerpt, excerpts};

use crate::request::config::share;
use crate::request::coverage::greedy::Choice;
use crate::request::coverage::index::{Index, Making};
use crate::request::coverage::passage::ELSEWHERE;
pub(crate) use crate::request::coverage::passage::{passages, write_prefix};
use crate::request::coverage::pieces::Style;
pub(crate) use crate::request::coverage::pieces::without_name;
pub(crate) use crate::request::coverage::speakers::first_name;
use crate::request::coverage::telegraph::write_telegraphic;
pub(crate) use crate::request::coverage::telegraph::{begins_with_words_of, write_detail, write_whole};
pub(crate) use crate::request::coverage::words::{each_stem, stem};
use crate::request::coverage::write::Draft;
use crate::request::excerpt::ends;
use crate::request::layout::is_summary;
use crate::request::meter::{Meter, quarters};
use crate::request::strategy::{Fate, Material, PlacedNote, Selection, Strategy};

/// Keeps the newest groups as they are, and of everything older a note of one line for each message.
///
/// The note holds the first thing that the user asked, the calls that changed something, and then whatever adds
/// most new words for its length: sentences of prose, single values of JSON with their keys, whole calls. Rare
/// words, names, numbers, ids, titles and what calls were made with are worth more; what the tail or the first
/// message says is worth nothing again. How well that does is in `docs/compression.md`.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    style: Style,
}

impl Coverage {
    /// Writes notes without the words that carry little: the default strategy.
    pub const fn telegraphic() -> Self {
        Self { style: Style::Telegraphic }
    }

    /// Writes notes of whole sentences, which people read more easily, and which hold less.
    pub const fn sentences() -> Self {
        Self { style: Style::Sentences }
    }
}

/// How much of a note's room calls that changed something may take before anything else, in hundredths.
const CHANGES_SHARE: u64 = 90;

impl Strategy for Coverage {
    fn name(&self) -> &'static str {
        match self.style {
            Style::Telegraphic => "telegraphic",
            Style::Sentences | Style::SingleSentences => "sentences",
        }
    }

    fn choose(&self, material: &Material<'_>) -> Selection {
        let tail = tail(material);
        let older = material.groups.get(..tail.begin).unwrap_or_default();
        let note =
            if older.is_empty() { None } else { self.note(material, older, material.room - tail.tokens) };
        let before = older.first().map_or(0, |group| group.start);
        let fate = match &note {
            Some(_) => Fate::Summarise(phrase!("older than the newest messages")),
            None => Fate::Drop(phrase!("no tokens left for a digest")),
        };
        let mut fates = vec![fate; older.len()];
        fates.resize(material.groups.len(), Fate::Keep(phrase!("newest messages")));
        let notes = note.map(|message| PlacedNote { before, message });
        Selection { fates, notes: notes.into_iter().collect() }
    }
}

/// The newest groups, which stay as they are.
struct Tail {
    /// The position of the first of them among the material's groups.
    begin: usize,
    tokens: u64,
}

/// Finds the newest groups that fit the share of the target meant for them.
///
/// What follows the oldest group that may be changed and must stay in any case is a part of that share.
fn tail(material: &Material<'_>) -> Tail {
    let first = material.groups.first().map_or(0, |group| group.start);
    let fixed = material.messages.iter().enumerate().skip(first).filter(|(at, _)| !material.may_change(*at));
    let fixed: u64 = fixed.map(|(_, message)| material.meter.message(message)).sum();
    let most = share(material.target, material.config.tail_share)
        .saturating_sub(fixed)
        .min(material.room_for_messages);
    let mut tail = Tail { begin: material.groups.len(), tokens: 0 };
    for group in material.groups.iter().rev() {
        let tokens = material.tokens(group);
        if tail.tokens + tokens > most {
            break;
        }
        tail = Tail { begin: tail.begin - 1, tokens: tail.tokens + tokens };
    }
    tail
}

impl Coverage {
    /// Writes the note on some groups; `None` if there is no room for one.
    fn note(self, material: &Material<'_>, older: &[Range<usize>], room: u64) -> Option<Message> {
        let room = room.checked_sub(material.meter.frame())?;
        let messages = material.messages;
        let within: Vec<usize> = older.iter().flat_map(Clone::clone).collect();
        let indexes: Vec<usize> = older.iter().flat_map(|group| material.own(group)).collect();
        let making = Making::new(self.style, messages);
        let (first, last) = (*indexes.first()?, *indexes.last()?);
        let is_other = |at: &usize| within.binary_search(at).is_err();
        let others = (0..messages.len()).filter(is_other).map(|at| &messages[at]);
        let index = Index::of(messages, &indexes, others, &making);
        let elsewhere: Vec<usize> =
            (first..last).filter(|at| is_other(at) && is_said(&messages[*at])).collect();
        let writer = Writer {
            material,
            index: &index,
            making: &making,
            elsewhere: &elsewhere,
            role: material.config.note_role,
        };
        fitted(room, material.meter, |quarters| writer.write(quarters))
    }
}

/// How often a note is written at the most.
const ATTEMPTS: usize = 4;

/// Writes a note that fits into a number of tokens and makes good use of them.
///
/// What is chosen is accounted by the estimate, in quarters of a token. Where a model counts in another way, the
/// account is corrected by what came of it: a few attempts find one that fits, or nearly fills, the room.
fn fitted(room: u64, meter: &Meter<'_>, mut write: impl FnMut(u64) -> Option<Message>) -> Option<Message> {
    let mut quarters = room * 4;
    let mut best: Option<(u64, Message)> = None;
    for attempt in 1..=ATTEMPTS {
        let Some(note) = write(quarters) else { break };
        let tokens = meter.message(&note).saturating_sub(meter.frame()).max(1);
        let is_better = tokens <= room && best.as_ref().is_none_or(|(most, _)| *most < tokens);
        let is_enough = tokens <= room && (tokens * 100 >= room * ENOUGH || !is_better);
        if is_better {
            best = Some((tokens, note));
        }
        if is_enough || meter.is_estimate() {
            break;
        }
        // The last attempts are careful: what fits badly is better than nothing.
        let careful = if tokens > room { 100 - 3 * attempt as u64 * attempt as u64 } else { 98 };
        quarters = quarters.saturating_mul(room) / tokens * careful / 100;
    }
    best.map(|(_, note)| note)
}

/// How much of its room a note must use so that no other is tried, in hundredths.
const ENOUGH: u64 = 93;

/// Chooses and writes within a room.
struct Writer<'a> {
    material: &'a Material<'a>,
    index: &'a Index,
    making: &'a Making,
    elsewhere: &'a [usize],
    role: Role,
}

impl Writer<'_> {
    /// Writes a note of at most so many quarters of a token; `None` if there is no room for one.
    fn write(&self, room: u64) -> Option<Message> {
        let mut choice = Choice::new(self.index, room);
        let head = self.head(room);
        let head_cost: u64 = head.iter().map(|line| quarters(line) + 1).sum();
        // Each run of messages that stay elsewhere may cost a line.
        choice.reserve(head_cost + MARK * runs(self.elsewhere));
        let pins = self.pins(choice.room());
        for (passage, text) in &pins {
            choice.reserve(self.index.passages[*passage].prefix + quarters(text) + 1);
            choice.pin(*passage);
        }
        self.index.said.iter().for_each(|word| choice.cover_word(*word));
        choice.take_changes(CHANGES_SHARE);
        choice.take_best();
        let draft = Draft {
            messages: self.material.messages,
            index: self.index,
            making: self.making,
            head: &head,
            pins: &pins,
            elsewhere: self.elsewhere,
        };
        draft.write(choice.by_passage(), self.role)
    }

    /// Writes what explains the lines: who the letters are; in a small note only names.
    fn head(&self, room: u64) -> Vec<String> {
        let name =
            |kind: NoteLineKind, word: &str| self.making.speakers.name(kind).unwrap_or(word).to_owned();
        let (user, assistant) =
            (name(NoteLineKind::User, "user"), name(NoteLineKind::Assistant, "assistant"));
        let whole = format!("Earlier, shortened: U={user}, A={assistant}, C=call, R=result");
        if quarters(&whole) * 100 <= room {
            return vec![whole];
        }
        let letters = [(Role::User, "U"), (Role::Assistant, "A")];
        let name = |speaker: &ctx_types::Speaker| {
            let letter =
                letters.iter().find(|(role, _)| *role == speaker.role).map_or("", |(_, letter)| letter);
            format!("{letter}={}", speaker.name)
        };
        let names: Vec<String> = self.making.speakers.names.iter().map(name).collect();
        if names.is_empty() { Vec::new() } else { vec![names.join(", ")] }
    }

    /// Writes the pinned lines: those of an earlier pass, else what the user said first.
    fn pins(&self, room: u64) -> BTreeMap<usize, String> {
        let entries = || self.index.passages.iter().enumerate();
        let mut pinned: Vec<usize> =
            entries().filter(|(_, entry)| entry.is_pinned).map(|(at, _)| at).collect();
        if pinned.is_empty() {
            let is_turn =
                |message: &Message| is_said(message) && message.note.is_none() && !is_summary(message);
            let mut messages = self.material.messages.iter();
            let first = messages.position(|message| message.role == Role::User && is_turn(message));
            let of_first =
                entries().find(|(_, entry)| first == Some(entry.message) && entry.kind == NoteLineKind::User);
            pinned.extend(of_first.map(|(at, _)| at));
        }
        let mut left = room;
        let mut pins = BTreeMap::new();
        for passage in pinned {
            let Some(text) = self.pinned_text(passage, left) else { continue };
            left = left.saturating_sub(quarters(&text) + 8);
            pins.insert(passage, text);
        }
        pins
    }

    /// Returns the text of a pinned line, within the share of the room that is meant for it.
    fn pinned_text(&self, passage: usize, room: u64) -> Option<String> {
        let entry = &self.index.passages[passage];
        let passages = passages(&self.material.messages[entry.message]);
        let passage = &passages[entry.ordinal];
        let name = self.making.speakers.name(passage.kind).filter(|_| passage.cuts.is_none());
        let said = name.and_then(|name| without_name(&passage.text, name)).unwrap_or(&passage.text);
        let (usual, most) = (pin_room(room, 85), pin_room(room, 95));
        let mut text = String::new();
        write_whole(said, &mut text);
        if quarters(&text) > usual && passage.cuts.is_none() {
            text.clear();
            write_telegraphic(said, &mut text);
        }
        if quarters(&text) > most {
            // Characters outside ASCII cost four quarters each.
            let chars = usize::try_from(most * text.chars().count() as u64 / quarters(&text)).unwrap_or(0);
            text = ends(&text, chars.saturating_sub(8)).replace('\n', " ");
        }
        (!text.is_empty() && quarters(&text) <= most).then_some(text)
    }
}

/// Returns whether a message is of the conversation, and not what a preset or a plug-in placed in it.
fn is_said(message: &Message) -> bool {
    matches!(message.place, Place::History | Place::Pinned)
}

/// What a mark for messages that stay elsewhere costs with its letter and line break, in quarters of a token.
const MARK: u64 = 8;

/// Counts the runs of neighbours in ascending numbers.
fn runs(indexes: &[usize]) -> u64 {
    indexes.chunk_by(|a, b| a + 1 == *b).count() as u64
}

/// Returns how much a pinned line may have, in quarters of a token: a share of a small room, less of a large one.
fn pin_room(room: u64, share: u64) -> u64 {
    const ALWAYS: u64 = 4 * 1_500;
    (room * share / 100).min(ALWAYS.max(room / 5))
}

const _: () = assert!(ELSEWHERE.len() == 3, "three bytes, one character outside ASCII: four quarters");

#[cfg(test)]
mod tests;
