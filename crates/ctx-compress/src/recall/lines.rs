//! The message that recalled records become: one line each, in the order of the conversation.

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

/// What is recalled, and into how many tokens.
#[derive(Clone, Copy)]
pub struct RecallRequest<'a> {
    /// What was found.
    pub found: &'a SearchResult,
    /// The index that it was found in.
    pub index: &'a RecallIndex,
    /// Returns a message by its position in the index; none if it is there no more.
    pub message: &'a dyn Fn(usize) -> Option<Message>,
    /// Returns whether a message must not be written where what is recalled takes so many tokens: the request has it
    /// then, or it must not be in it. What is held beside more tokens is held beside fewer ones too.
    pub is_held: &'a dyn Fn(usize, u64) -> bool,
    /// Returns whether a note of the request has the words of a line of a message, where what is recalled takes so many
    /// tokens; see [`Noted`](crate::recall::Noted).
    pub is_noted: &'a dyn Fn(usize, &str, u64) -> bool,
    /// How many of the first messages of the index stand on other branches of the conversation.
    pub others: usize,
    /// How many tokens the message may have; more than 2^32 count as these.
    pub room: u64,
    /// Who speaks it.
    pub role: Role,
    /// What things cost.
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

/// A message with what was recalled.
#[derive(Clone, Debug, PartialEq)]
pub struct Recalled {
    /// A head, and a line for each piece: `#12 U: …` is the 12th message of the conversation, said by the user.
    pub message: Message,
    /// The lines, in their order.
    pub pieces: Vec<RecalledPiece>,
    /// The tokens of the message.
    pub tokens: u64,
}

/// A line of what was recalled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecalledPiece {
    /// The position of the message among those of the index.
    pub message: usize,
    /// Where it came from.
    pub source: Source,
    /// Words of the query that it has; none if it stands beside what has them.
    pub words: Vec<String>,
    /// How many messages of the conversation came after it; none if it stands on another branch.
    pub ago: Option<usize>,
}

/// How many tokens a message may have at the most, whatever the room.
const MOST_ROOM: u64 = 1 << 32;

/// How many lines are written at the most.
const MOST_LINES: usize = 2_000;

/// How many lines that do not fit are tried before it is enough.
const MOST_MISSES: usize = 64;

/// Which part of the room may stay empty: one of these. To fill it, many lines would be written that do not fit.
const LEFT: u64 = 128;

/// How often what turned out to be held is taken out again.
const ATTEMPTS: usize = 4;

/// Writes the best hits that are not held already into the room there is.
///
/// Lines are chosen by what they are expected to cost; the message is counted once, and
/// again only where it came out larger, or so small that the request has room for a message that it repeats.
///
/// Errors: why there is nothing to write.
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

/// A line with where it came from.
#[derive(Debug)]
struct Line {
    /// With its line break at the end, as it is counted.
    text: String,
    source: Source,
    /// Expected, in quarters of a token.
    cost: u64,
}

/// Lines that fit together, as far as is known before they are counted.
struct Chosen {
    head: String,
    /// The best first.
    lines: Vec<Hit>,
    tokens: u64,
}

/// The lines of hits, each of them written once whatever is tried.
///
/// Those of a message are written in one go: to find one record it has to be read from the beginning.
struct Lines<'a> {
    request: &'a RecallRequest<'a>,
    costs: Costs<'a>,
    /// The messages and records that were found, in their order.
    found: Vec<(usize, usize)>,
    /// By message and record; none where the message is there no more.
    made: BTreeMap<(usize, usize), Option<Line>>,
}

impl<'a> Lines<'a> {
    fn new(request: &'a RecallRequest<'a>) -> Self {
        let mut found: Vec<(usize, usize)> =
            request.found.hits.iter().map(|hit| (hit.message, hit.record)).collect();
        found.sort_unstable();
        Self { request, costs: Costs::new(request.meter), found, made: BTreeMap::new() }
    }

    /// Chooses the best lines for a room, of messages that are not held beside so many tokens.
    ///
    /// Errors: why there is none.
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

    /// Returns whether the request has one of the lines beside so many tokens.
    fn repeats(&self, chosen: &Chosen, tokens: u64) -> bool {
        let is_noted = |hit: &Hit| {
            let line = self.made.get(&(hit.message, hit.record)).and_then(Option::as_ref);
            line.is_some_and(|line| (self.request.is_noted)(hit.message, &line.text, tokens))
        };
        chosen.lines.iter().any(|hit| (self.request.is_held)(hit.message, tokens) || is_noted(hit))
    }

    /// Writes lines and counts them. If they have more tokens than were expected, what fits least goes.
    ///
    /// Errors: that none fits.
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

    /// Makes the lines of all records of a message that were found.
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

    /// Returns lines that are made, in the order of the conversation.
    fn ordered(&self, chosen: &Chosen) -> Vec<(Hit, &Line)> {
        let mut ordered = chosen.lines.clone();
        ordered.sort_unstable_by_key(|hit| (hit.message, hit.record));
        let made = |hit: Hit| Some((hit, self.made.get(&(hit.message, hit.record))?.as_ref()?));
        ordered.into_iter().filter_map(made).collect()
    }

    fn message(&self, text: Text) -> Message {
        Message::new(self.request.role, text, Source::new(SourceKind::Summary, Trust::Model))
    }

    /// Says of each part of a text where it comes from.
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

/// Joins a head and lines.
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

/// What lines cost, in quarters of a token. Beyond the first ones that is taken from what these cost for their length.
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

    /// How many texts are counted: all of them would be as much work as counting what they are joined to.
    const COUNTED: usize = 24;

    /// Returns what a text costs that has its line break.
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

/// Writes a record as a line with its break: its number, or `~` on another branch, who says it, and what.
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

/// Writes what explains the lines; in little room only the names that the letters stand for.
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
