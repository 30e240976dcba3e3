//! Strategies that shorten older messages to the units of text that add the most new words.

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

/// Keeps the newest groups unchanged, and writes a note with one line per message about all older ones.
///
/// The note contains the first request of the user, the calls that changed something, and then the units that add the
/// most new words for their length: sentences of prose, single JSON values with their keys, whole calls. Rare words,
/// names, numbers, ids, titles and arguments of calls are worth more. Words that the newest groups or the first message
/// contain are worth nothing. `docs/compression.md` contains measurements.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    style: Style,
}

impl Coverage {
    /// Writes notes without words of little content; the default strategy.
    pub const fn telegraphic() -> Self {
        Self { style: Style::Telegraphic }
    }

    /// Writes notes of whole sentences, which are easier to read but contain less.
    pub const fn sentences() -> Self {
        Self { style: Style::Sentences }
    }
}

/// The maximum share of a note's room for calls that changed something, in percent.
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

/// The newest groups, which stay unchanged.
struct Tail {
    /// The position of the first of them among the material's groups.
    begin: usize,
    tokens: u64,
}

/// Finds the newest groups that fit their share of the target.
///
/// Protected messages after the oldest removable group count towards that share.
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
    /// Writes the note about some groups; `None` if there is no room for it.
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

/// The maximum number of attempts to write a note.
const ATTEMPTS: usize = 4;

/// Writes a note that fits into a number of tokens and uses most of them.
///
/// The choice uses the estimate, in quarters of a token. If the model's meter counts differently, the room is corrected
/// after each attempt, so that a few attempts are enough.
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
        // The last attempts leave more room free: a note with unused room is better than none.
        let careful = if tokens > room { 100 - 3 * attempt as u64 * attempt as u64 } else { 98 };
        quarters = quarters.saturating_mul(room) / tokens * careful / 100;
    }
    best.map(|(_, note)| note)
}

/// The share of its room that a note must use to be accepted, in percent.
const ENOUGH: u64 = 93;

/// Chooses the units and writes the note within a room.
struct Writer<'a> {
    material: &'a Material<'a>,
    index: &'a Index,
    making: &'a Making,
    elsewhere: &'a [usize],
    role: Role,
}

impl Writer<'_> {
    /// Writes a note of at most this many quarters of a token; `None` if there is no room for it.
    fn write(&self, room: u64) -> Option<Message> {
        let mut choice = Choice::new(self.index, room);
        let head = self.head(room);
        let head_cost: u64 = head.iter().map(|line| quarters(line) + 1).sum();
        // Each run of kept messages may need a line.
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

    /// Writes the heading with the meaning of the letters; in a small note, only the names.
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

    /// Writes the pinned lines: those of an earlier note, otherwise the first message of the user.
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

    /// Returns the text of a pinned line within its share of the room.
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
            // Characters outside ASCII take four quarters each.
            let chars = usize::try_from(most * text.chars().count() as u64 / quarters(&text)).unwrap_or(0);
            text = ends(&text, chars.saturating_sub(8)).replace('\n', " ");
        }
        (!text.is_empty() && quarters(&text) <= most).then_some(text)
    }
}

/// Returns whether a message belongs to the conversation and was not inserted by a preset or a plug-in.
fn is_said(message: &Message) -> bool {
    matches!(message.place, Place::History | Place::Pinned)
}

/// The size of a mark for kept messages with its letter and line break, in quarters of a token.
const MARK: u64 = 8;

/// Counts the runs of consecutive numbers.
fn runs(indexes: &[usize]) -> u64 {
    indexes.chunk_by(|a, b| a + 1 == *b).count() as u64
}

/// Returns the maximum size of a pinned line in quarters of a token: a share of the room, smaller for a large room.
fn pin_room(room: u64, share: u64) -> u64 {
    const ALWAYS: u64 = 4 * 1_500;
    (room * share / 100).min(ALWAYS.max(room / 5))
}

const _: () = assert!(ELSEWHERE.len() == 3, "three bytes, one character outside ASCII: four quarters");

#[cfg(test)]
mod tests;
