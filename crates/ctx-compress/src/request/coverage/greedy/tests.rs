//! The choice, held against one that keeps words as texts and looks at every unit anew.

use std::collections::{BTreeMap, BTreeSet};

use ctx_types::{Message, NoteLineKind, Role, Source, ToolCall};
use proptest::prelude::*;

use super::*;
use crate::request::coverage::calls::changes;
use crate::request::coverage::index::{Making, argument_keys};
use crate::request::coverage::leaves::leaves;
use crate::request::coverage::passage::{Passage, passages};
use crate::request::coverage::pieces::Style;
use crate::request::coverage::speakers::Speakers;
use crate::request::coverage::vocabulary::Vocabulary;
use crate::request::coverage::words::{Word, each_word};
use crate::request::coverage::worth::worth;
use crate::request::coverage::write::Draft;
use crate::request::meter::quarters;

/// A piece, with all that is known of it as texts.
struct Plain {
    message: usize,
    passage: usize,
    kind: NoteLineKind,
    is_change: bool,
    /// What its line costs beside its pieces, what it costs itself, and what of that is a key.
    prefix: u64,
    cost: u64,
    key: u64,
    list: u16,
    factor: u64,
    words: BTreeSet<String>,
}

/// How a word is told apart: by itself, as name, as quoted, as argument.
#[derive(Default)]
struct Known {
    is_name: bool,
    is_quoted: bool,
    is_argument: bool,
}

/// A choice from units that are all looked at before each step.
struct Model {
    units: Vec<Plain>,
    weights: BTreeMap<String, u64>,
    covered: BTreeSet<String>,
    done: BTreeSet<usize>,
    room: u64,
    picks: Vec<(usize, u64)>,
}

/// Units and words as they are read.
#[derive(Default)]
struct Seen {
    units: Vec<Plain>,
    words: BTreeMap<String, Known>,
}

impl Seen {
    fn read(&mut self, passage: &Passage<'_>, message: usize, number: usize, making: &Making) {
        let is_call = passage.kind == NoteLineKind::Call;
        let is_talk = matches!(passage.kind, NoteLineKind::User | NoteLineKind::Assistant);
        // Of the words of the table only these speak of the speaker, and a text with Chinese is Chinese.
        let says = |words: &[&str]| words.iter().any(|word| passage.text.contains(word));
        let is_chinese = says(&["酒", "我"]);
        let is_personal = says(if is_chinese { &["我"] } else { &["I", "we"] });
        let has_letters = is_chinese || passage.text.contains(|c: char| c.is_ascii_alphabetic());
        let divisor = if is_talk && !is_personal && has_letters { 2 } else { 1 };
        let prefix = if is_call { format!("C {}: ", passage.tool) } else { "U: ".to_owned() };
        making.each_piece(passage, &mut |piece| {
            let words = self.note_words(piece.meaning, is_call);
            self.units.push(Plain {
                message,
                passage: number,
                kind: passage.kind,
                is_change: is_call && changes(passage.tool),
                prefix: quarters(&prefix),
                cost: quarters(piece.text) + 1,
                key: quarters(&piece.text[..piece.key_len]),
                list: piece.list,
                factor: u64::from(piece.factor / divisor),
                words,
            });
        });
    }

    fn note_words(&mut self, text: &str, is_call: bool) -> BTreeSet<String> {
        let mut words = BTreeSet::new();
        each_word(text, |word| {
            let known = self.words.entry(word.stem.to_owned()).or_default();
            known.is_name |= word.is_name;
            known.is_quoted |= word.is_quoted;
            known.is_argument |= is_call;
            words.insert(word.stem.to_owned());
        });
        words
    }

    fn note_arguments(&mut self, other: &Message) {
        for leaf in other.tool_calls.iter().filter_map(|call| leaves(&call.arguments)).flatten() {
            each_word(&leaf.value, |word| {
                self.words.get_mut(word.stem).into_iter().for_each(|known| known.is_argument = true);
            });
        }
    }

    fn weights(&self) -> BTreeMap<String, u64> {
        let weight = |(stem, known): (&String, &Known)| {
            let with = self.units.iter().filter(|unit| unit.words.contains(stem)).count();
            let mut alone = Vocabulary::default();
            alone.add(Word { stem, is_name: known.is_name, is_quoted: known.is_quoted });
            if known.is_argument {
                alone.add_argument(0);
            }
            let kind = alone.into_kinds()[0];
            (stem.clone(), u64::from(worth(self.units.len(), u32::try_from(with).unwrap(), kind)))
        };
        self.words.iter().map(weight).collect()
    }
}

impl Model {
    fn of(messages: &[Message], indexes: &[usize], making: &Making, room: u64) -> Self {
        let mut seen = Seen::default();
        let all =
            indexes.iter().flat_map(|at| passages(&messages[*at]).into_iter().map(move |one| (*at, one)));
        for (number, (message, passage)) in all.enumerate() {
            seen.read(&passage, message, number, making);
        }
        let mut said = BTreeSet::new();
        for (_, other) in messages.iter().enumerate().filter(|(at, _)| !indexes.contains(at)) {
            seen.note_arguments(other);
            for passage in passages(other) {
                each_word(&passage.text, |word| said.extend([word.stem.to_owned()]));
            }
        }
        let weights = seen.weights();
        Self { units: seen.units, weights, covered: said, done: BTreeSet::new(), room, picks: Vec::new() }
    }

    fn price(&self, at: usize) -> u64 {
        let unit = &self.units[at];
        let mut taken = self.picks.iter().map(|(at, _)| &self.units[*at]);
        let mut same_list = taken.clone().filter(|other| other.passage == unit.passage);
        let has_line = taken.any(|other| other.passage == unit.passage);
        let has_key = unit.list > 0 && same_list.any(|other| other.list == unit.list);
        let prefix = if has_line { 0 } else { unit.prefix };
        unit.cost + prefix - if has_key { unit.key } else { 0 }
    }

    fn gain(&self, at: usize) -> u64 {
        let unit = &self.units[at];
        let new = unit.words.difference(&self.covered);
        let worth: u64 = new.map(|word| self.weights[word]).sum();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "prices are small and positive"
        )]
        let effort = ((self.price(at) as f64).powf(1.1) * 64.0).round() as u64;
        worth * unit.factor * 1_024 / effort
    }

    fn take(&mut self, at: usize) {
        let price = self.price(at);
        self.room -= price;
        self.done.insert(at);
        self.covered.extend(self.units[at].words.iter().cloned());
        self.picks.push((at, price));
    }

    fn take_message(&mut self, message: usize, most: u64) {
        let least = self.room.saturating_sub(most);
        loop {
            let is_open = |at: &usize| {
                let unit = &self.units[*at];
                unit.message == message
                    && unit.kind != NoteLineKind::Call
                    && !self.done.contains(at)
                    && least + self.price(*at) <= self.room
            };
            let open = (0..self.units.len()).filter(is_open).map(|at| (self.gain(at), Reverse(at)));
            let Some((_, Reverse(at))) = open.max().filter(|(gain, _)| *gain > 0) else { return };
            self.take(at);
        }
    }

    fn take_changes(&mut self, share: u64) {
        let least = self.room - self.room * share / 100;
        for at in (0..self.units.len()).rev() {
            let is_open = self.units[at].is_change && !self.done.contains(&at);
            if is_open && least + self.price(at) <= self.room {
                self.take(at);
            }
        }
    }

    /// Takes by figures that are made anew only when they are the highest, as the choice says.
    fn take_best(&mut self) {
        loop {
            let mut bounds: BTreeMap<usize, u64> = BTreeMap::new();
            bounds.extend(
                (0..self.units.len()).filter(|at| !self.done.contains(at)).map(|at| (at, self.gain(at))),
            );
            bounds.retain(|_, gain| *gain > 0);
            let before = self.picks.len();
            while let Some((bound, Reverse(at))) = bounds.iter().map(|(at, gain)| (*gain, Reverse(*at))).max()
            {
                let gain = self.gain(at);
                bounds.remove(&at);
                if gain < bound {
                    bounds.extend(Some((at, gain)).filter(|_| gain > 0));
                } else if self.price(at) <= self.room {
                    self.take(at);
                } else {
                    self.done.insert(at);
                }
            }
            if self.picks.len() == before {
                return;
            }
            self.covered.clear();
        }
    }
}

/// Texts that differ in all that a choice looks at.
const WORDS: [&str; 28] = [
    "Ada",
    "booked",
    "room",
    "12",
    "2026-05-01",
    "B-7",
    "\"Blue Note\"",
    "I",
    "we",
    "never",
    "lake",
    "酒店在上海",
    "我要去",
    "garden?",
    "boat.",
    "Why is it so quiet?",
    "really",
    "the",
    "Bo",
    "tea",
    "17:30",
    "ada@lake.org",
    "red",
    "redder",
    "books",
    "rooms",
    "1250",
    "x",
];

/// What somebody says or does, as numbers.
type Draw = (u8, Vec<u8>);

fn word(number: u8) -> &'static str {
    WORDS[usize::from(number) % WORDS.len()]
}

fn message(at: usize, (kind, numbers): &Draw) -> Message {
    let role = match kind {
        0..=3 => Role::User,
        4..=7 => Role::Assistant,
        8..=10 => Role::Tool,
        _ => Role::System,
    };
    let words: Vec<&str> = numbers.iter().map(|number| word(*number)).collect();
    let value = |at: usize| serde_json::to_string(words.get(at).unwrap_or(&"x")).unwrap();
    let text = match kind {
        8 => format!(
            "{{\"name\": {}, \"ids\": [{}, {}, {}], \"more\": [{}, {{\"at\": {}}}, {}]}}",
            value(0),
            value(1),
            value(2),
            value(3),
            value(4),
            value(5),
            value(6)
        ),
        9 => format!(
            "[{{\"place\": {}}}, {{\"place\": [{}, [{}], {}]}}]",
            value(0),
            value(1),
            value(2),
            value(3)
        ),
        _ => words.join(" "),
    };
    Message::new(role, text, Source::history(format!("n{at}"), role)).with(|message| {
        if matches!(kind, 6 | 7) {
            let name = if *kind == 6 { "book_room" } else { "get_weather" }.into();
            let arguments = format!("{{\"place\": {}, \"ids\": [{}, {}]}}", value(0), value(1), value(2));
            message.tool_calls = vec![ToolCall { id: "c".into(), name, arguments: arguments.into() }];
        }
    })
}

/// Chooses in both ways from all messages but every `others`-th, within a share of what all units cost.
fn check(draws: &[Draw], style: Style, others: usize, share: u64, first: (usize, u64)) {
    let messages: Vec<Message> = draws.iter().enumerate().map(|(at, draw)| message(at, draw)).collect();
    let is_in = |at: &usize| !(at + 1).is_multiple_of(others);
    let indexes: Vec<usize> = (0..messages.len()).filter(is_in).collect();
    let making = Making { style, speakers: Speakers::default(), argument_keys: argument_keys(&messages) };
    let other_messages = messages.iter().enumerate().filter(|(at, _)| !is_in(at)).map(|(_, message)| message);
    let index = Index::of(&messages, &indexes, other_messages, &making);
    let whole: u64 =
        Model::of(&messages, &indexes, &making, 0).units.iter().map(|unit| unit.cost + unit.prefix).sum();
    let room = whole * share / 100;
    let mut model = Model::of(&messages, &indexes, &making, room);
    let mut choice = Choice::new(&index, room);
    assert_eq!(index.units.len(), model.units.len());
    index.said.iter().for_each(|word| choice.cover_word(*word));
    choice.take_message(first.0, first.1);
    choice.take_changes(50);
    choice.take_best();
    model.take_message(first.0, first.1);
    model.take_changes(50);
    model.take_best();
    assert_eq!(choice.picks, model.picks);
    assert_eq!(choice.room(), room - choice.picks.iter().map(|(_, price)| price).sum::<u64>());
    // The account is what is written: each line with its line break, and no key twice.
    let pins = BTreeMap::new();
    let draft =
        Draft { messages: &messages, index: &index, making: &making, head: &[], pins: &pins, elsewhere: &[] };
    let note = draft.write(choice.by_passage(), Role::System);
    let written = note.map_or(0, |note| quarters(&note.text()) + 1);
    assert_eq!(room - choice.room(), written);
}

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    prop::collection::vec((0_u8..12, prop::collection::vec(any::<u8>(), 1..9)), 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn units_are_taken_by_what_they_add_for_what_they_cost(
        draws in draws(), style in prop::sample::select(vec![Style::Telegraphic, Style::Sentences, Style::SingleSentences]),
        others in 2_usize..6, share in 0_u64..110, first in (0_usize..14, 0_u64..200),
    ) {
        check(&draws, style, others, share, first);
    }
}

#[test]
fn many_units_are_found() {
    let draws: Vec<Draw> = (0..700).map(|at: u32| (8, at.to_le_bytes().repeat(2))).collect();
    check(&draws, Style::Telegraphic, 700, 1, (0, 0));
}
