//! Writes recalled records as one message with a line each, in the order of the conversation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ctx_types::internal::Fingerprint;
use ctx_types::report::TokenFigure;
use ctx_types::{
    Message, NoteLineKind, Phrase, Role, Segment, Source, SourceKind, Span, Text, Trust, phrase,
};

use crate::recall::index::RecallIndex;
use crate::recall::records::{Record, each_record};
use crate::recall::search::{Hit, SearchResult};
use crate::request::{Meter, quarters, without_name, write_detail, write_prefix, write_whole};

/// The input of a recall, and its room.
#[derive(Clone, Copy)]
pub struct RecallRequest<'a> {
    /// The hits.
    pub found: &'a SearchResult,
    /// The index that was searched.
    pub index: &'a RecallIndex,
    /// Returns a message by its position in the index, or `None` if it was removed.
    pub message: &'a dyn Fn(usize) -> Option<Message>,
    /// Returns whether a message must be left out if the recalled lines take this many tokens, for example because the
    /// request contains it. If this is `true` for a number of tokens, it must be `true` for each smaller number.
    pub is_held: &'a dyn Fn(usize, u64) -> bool,
    /// Returns whether a note in the request already contains the words of a line of a message if the recalled lines
    /// take this many tokens; see [`Noted`](crate::recall::Noted).
    pub is_noted: &'a dyn Fn(usize, &str, u64) -> bool,
    /// The number of messages at the beginning of the index that are on other branches.
    pub others: usize,
    /// The maximum number of tokens of the message; values above 2^32 count as 2^32.
    pub room: u64,
    /// The role of the message.
    pub role: Role,
    /// Counts the tokens.
    pub meter: &'a Meter<'a>,
}

impl fmt::Debug for RecallRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, room, role, .. } = self;
        let mut fields = f.debug_struct("RecallRequest");
        fields.field("found", found).field("room", room).field("role", role);
        fields.finish_non_exhaustive()
    }
}

/// The message with recalled lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// A heading, and one line per record: `#12 U: …` is the 12th message of the conversation, by the user.
    pub message: Message,
    /// The lines in order.
    pub pieces: Vec<RecalledPiece>,
    /// The tokens of the message.
    pub tokens: u64,
}

/// A recalled line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecalledPiece {
    /// The position of its message in the index.
    pub message: usize,
    /// Its origin.
    pub source: Source,
    /// The words of the query in it; empty for a neighbor of a matching record.
    pub words: Vec<String>,
    /// The number of later messages of the conversation; `None` on another branch.
    pub ago: Option<usize>,
}

/// The maximum number of tokens of the message.
const MOST_ROOM: u64 = 1 << 32;

/// The maximum number of lines.
const MOST_LINES: usize = 2_000;

/// The number of lines without room after which the choice ends.
const MOST_MISSES: usize = 64;

/// 1 divided by this is the share of the room that may stay empty, because filling it needs many attempts.
const LEFT: u64 = 128;

/// The maximum number of times that lines are chosen again without messages of the request.
const ATTEMPTS: usize = 4;

/// Writes the best hits that the request does not contain into the available room.
///
/// Lines are chosen by their estimated tokens. The message is counted once, and again only if it is too large, or so
/// small that the request has room for a message that it repeats.
///
/// Errors: the reason why there is no line.
pub(super) fn recall(request: &RecallRequest<'_>) -> Result<Recalled, Phrase> {
    if let Some(why) = request.found.why_nothing() {
        return Err(why);
    }
    let mut lines = Lines::new(request);
    let most = request.room.min(MOST_ROOM);
    let mut room = most;
    for _ in 0..ATTEMPTS {
        let chosen = lines.chosen(room, room)?;
        if lines.repeats(&chosen, chosen.tokens) {
            room = chosen.tokens;
            continue;
        }
        let (chosen, recalled) = lines.written_within(chosen, room)?;
        if !lines.repeats(&chosen, recalled.tokens) {
            return Ok(recalled);
        }
        room = recalled.tokens;
    }
    let chosen = lines.chosen(most, 0)?;
    lines.written_within(chosen, most).map(|(_, recalled)| recalled)
}

/// A line with its origin.
#[derive(Debug)]
struct Line {
    /// With its line break, as it is counted.
    text: String,
    source: Source,
    /// The estimate in quarters of a token.
    cost: u64,
}

/// Lines that fit by the estimate.
struct Chosen {
    head: String,
    /// The best first.
    lines: Vec<Hit>,
    tokens: u64,
}

/// The lines of the hits. Each is written at most once.
///
/// All lines of a message are written together, because finding one record reads the message from its beginning.
struct Lines<'a> {
    request: &'a RecallRequest<'a>,
    costs: Costs<'a>,
    /// The messages and records of the hits, in order.
    found: Vec<(usize, usize)>,
    /// By message and record; `None` if the message was removed.
    made: BTreeMap<(usize, usize), Option<Line>>,
}

impl<'a> Lines<'a> {
    fn new(request: &'a RecallRequest<'a>) -> Self {
        let mut found: Vec<(usize, usize)> =
            request.found.hits.iter().map(|hit| (hit.message, hit.record)).collect();
        found.sort_unstable();
        Self { request, costs: Costs::new(request.meter), found, made: BTreeMap::new() }
    }

    /// Chooses the best lines for a room, without messages that must be left out for this many tokens.
    ///
    /// Errors: the reason why no line fits.
    fn chosen(&mut self, room: u64, taken: u64) -> Result<Chosen, Phrase> {
        let request = self.request;
        let unfit = || unfit(request.room);
        let beside = room.checked_sub(request.meter.frame()).ok_or_else(unfit)?;
        let head = head(request.index, beside);
        let mut left = (beside * 4).checked_sub(self.costs.of(&format!("{head}\n"))).ok_or_else(unfit)?;
        let (mut lines, mut misses) = (Vec::new(), 0);
        for hit in &request.found.hits {
            if lines.len() == MOST_LINES || misses == MOST_MISSES || left * LEFT < beside * 4 {
                break;
            }
            if (request.is_held)(hit.message, taken) {
                continue;
            }
            let Some(line) = self.line(*hit) else { continue };
            // Beside more tokens fewer notes are sent: better said twice than not at all.
            if (request.is_noted)(hit.message, &line.text, room) {
                continue;
            }
            match left.checked_sub(line.cost) {
                Some(rest) => {
                    left = rest;
                    lines.push(*hit);
                }
                None => misses += 1,
            }
        }
        match lines.is_empty() {
            true if misses > 0 || left * LEFT < beside * 4 => Err(unfit()),
            true => Err(phrase!("the matches are already in the request")),
            false => Ok(Chosen { head, lines, tokens: room - left / 4 }),
        }
    }

    /// Returns whether the request contains one of the lines for this many tokens.
    fn repeats(&self, chosen: &Chosen, tokens: u64) -> bool {
        let is_noted = |hit: &Hit| {
            let line = self.made.get(&(hit.message, hit.record)).and_then(Option::as_ref);
            line.is_some_and(|line| (self.request.is_noted)(hit.message, &line.text, tokens))
        };
        chosen.lines.iter().any(|hit| (self.request.is_held)(hit.message, tokens) || is_noted(hit))
    }

    /// Writes lines and counts them. If they are larger than estimated, removes the worst ones.
    ///
    /// Errors: no line fits.
    fn written_within(&self, mut chosen: Chosen, room: u64) -> Result<(Chosen, Recalled), Phrase> {
        while !chosen.lines.is_empty() {
            let ordered = self.ordered(&chosen);
            let text = joined(&chosen.head, &ordered);
            let tokens = self.request.meter.message(&self.message(text.clone()));
            if tokens <= room {
                let recalled = self.recalled(&chosen.head, &ordered, text, tokens);
                return Ok((chosen, recalled));
            }
            let (lines, over) = (chosen.lines.len(), tokens - room);
            let excess = usize::try_from((lines as u64 * over).div_ceil(tokens)).unwrap_or(lines);
            chosen.lines.truncate(lines - (excess + lines / 128).clamp(1, lines));
        }
        Err(unfit(self.request.room))
    }

    fn line(&mut self, hit: Hit) -> Option<&Line> {
        if !self.made.contains_key(&(hit.message, hit.record)) {
            self.make(hit.message);
        }
        self.made.get(&(hit.message, hit.record))?.as_ref()
    }

    /// Writes the lines of all found records of a message.
    fn make(&mut self, at: usize) {
        let first = self.found.partition_point(|(message, _)| *message < at);
        let found = self.found.get(first..).unwrap_or_default().iter();
        let records: Vec<usize> =
            found.take_while(|(message, _)| *message == at).map(|found| found.1).collect();
        let message = (self.request.message)(at);
        let mut texts: BTreeMap<usize, String> = BTreeMap::new();
        if let Some(message) = &message {
            let mut number = 0;
            each_record(message, |record| {
                if records.binary_search(&number).is_ok() {
                    texts.insert(number, text(&record, at, self.request));
                }
                number += 1;
            });
        }
        for record in records {
            let line = texts.remove(&record).zip(message.as_ref()).map(|(text, message)| {
                let cost = self.costs.of(&text);
                Line { text, source: message.source.clone(), cost }
            });
            self.made.insert((at, record), line);
        }
    }

    /// Returns written lines in the order of the conversation.
    fn ordered(&self, chosen: &Chosen) -> Vec<(Hit, &Line)> {
        let mut ordered = chosen.lines.clone();
        ordered.sort_unstable_by_key(|hit| (hit.message, hit.record));
        let made = |hit: Hit| Some((hit, self.made.get(&(hit.message, hit.record))?.as_ref()?));
        ordered.into_iter().filter_map(made).collect()
    }

    fn message(&self, text: Text) -> Message {
        Message::new(self.request.role, text, Source::new(SourceKind::Summary, Trust::Model))
    }

    /// Returns the origin of each part of a text.
    fn recalled(&self, head: &str, ordered: &[(Hit, &Line)], text: Text, tokens: u64) -> Recalled {
        let request = self.request;
        let id: Arc<str> = format!("recall-{}", Fingerprint::default().text(&text)).into();
        let own = |trust: Trust| Source::new(SourceKind::Summary, trust).with_id(id.clone());
        let own_words = Source::new(SourceKind::Formatter, Trust::Preset).with_id("recall");
        let mut segments =
            vec![Segment { span: Span::new(0, head.len()), source: own_words, via: Vec::new() }];
        let mut start = head.len();
        let mut pieces = Vec::with_capacity(ordered.len());
        for (hit, line) in ordered {
            let end = start + line.text.len();
            // To be trusted as what it was made from.
            let segment = Segment {
                span: Span::new(start, end),
                source: own(line.source.trust),
                via: vec![line.source.clone()],
            };
            segments.push(segment);
            start = end;
            pieces.push(RecalledPiece {
                message: hit.message,
                source: line.source.clone(),
                words: request.found.words.of_hit(hit),
                ago: (hit.message >= request.others).then(|| request.index.len() - hit.message - 1),
            });
        }
        let message = self.message(text).with(|message| {
            message.source = own(Trust::Model);
            message.written = segments;
        });
        Recalled { message, pieces, tokens }
    }
}

fn unfit(room: u64) -> Phrase {
    phrase!("the matches do not fit into {tokens}; raise the budget", tokens = TokenFigure::Exact(room))
}

/// Joins a heading and lines.
fn joined(head: &str, lines: &[(Hit, &Line)]) -> Text {
    let mut text =
        String::with_capacity(head.len() + lines.iter().map(|(_, line)| line.text.len()).sum::<usize>());
    text.push_str(head);
    for (_, line) in lines {
        text.push('\n');
        text.push_str(line.text.trim_end_matches('\n'));
    }
    text.into()
}

/// Estimates the quarters of a token of lines. After the first lines, the estimate follows from their tokens per byte.
struct Costs<'a> {
    meter: &'a Meter<'a>,
    counted: usize,
    tokens: u64,
    quarters: u64,
}

impl<'a> Costs<'a> {
    fn new(meter: &'a Meter<'a>) -> Self {
        Self { meter, counted: 0, tokens: 0, quarters: 0 }
    }

    /// The number of counted lines. Counting all would be as slow as counting the message.
    const COUNTED: usize = 24;

    /// Returns the estimate of a text with its line break.
    fn of(&mut self, text: &str) -> u64 {
        let quarters = quarters(text);
        if self.meter.is_estimate() {
            return quarters;
        }
        if self.counted < Self::COUNTED {
            let tokens = self.meter.text(text);
            self.counted += 1;
            self.tokens += tokens;
            self.quarters += quarters;
            return 4 * tokens;
        }
        (4 * quarters * self.tokens).div_ceil(self.quarters.max(1))
    }
}

/// Writes a record as a line with its break: its number (`~` on another branch), its speaker and its text.
fn text(record: &Record<'_>, message: usize, request: &RecallRequest<'_>) -> String {
    let index = request.index;
    let mut text = match message.checked_sub(request.others) {
        Some(before) => format!("#{} ", before + 1),
        None => "~ ".to_owned(),
    };
    write_prefix(record.kind, record.tool, &mut text);
    let speaker = match record.kind {
        NoteLineKind::User => index.speaker(1),
        NoteLineKind::Assistant => index.speaker(2),
        NoteLineKind::System | NoteLineKind::Call | NoteLineKind::Result => None,
    };
    let said = speaker.and_then(|name| without_name(record.text, name)).unwrap_or(record.text);
    let mut words = String::with_capacity(said.len());
    match record.kind {
        NoteLineKind::Call | NoteLineKind::Result => write_whole(said, &mut words),
        _ => write_detail(said, &mut words),
    }
    text.reserve(words.len() + 1);
    text.push_str(&words);
    text.push('\n');
    text
}

/// Writes the heading; with little room, only the names of the speakers.
fn head(index: &RecallIndex, room: u64) -> String {
    let name = |number: usize, word: &str| index.speaker(number).unwrap_or(word).to_owned();
    let whole = format!(
        "Recalled from earlier messages, shortened; # is the number of the message, U={}, A={}, C=call, R=result:",
        name(1, "user"),
        name(2, "assistant"),
    );
    if quarters(&whole) * 25 <= room {
        return whole;
    }
    let letters = [(1, "U"), (2, "A")].into_iter();
    let names: Vec<String> =
        letters.filter_map(|(number, letter)| Some(format!("{letter}={}", index.speaker(number)?))).collect();
    if names.is_empty() { "Recalled:".to_owned() } else { format!("Recalled, {}:", names.join(", ")) }
}
