//! The index: the words of each record of a conversation.

use ctx_types::{Diagnostic, Message, NoteLineKind, Phrase, Place, Role, count_of, phrase};

use crate::codes;
use crate::recall::postings::Postings;
use crate::recall::records::{MOST_RECORDS, Record, each_record};
use crate::recall::terms::each_term;
use crate::request::first_name;

/// An inverted index over the messages of a conversation, oldest first; see the [module](crate::recall).
///
/// It contains the words but not the texts. It is built when a conversation is loaded, and is not stored. It reads the
/// first 1 MiB of a text, the first 4,096 records of a message and 2^31 records in total; [`RecallIndex::findings`]
/// reports messages beyond that.
#[derive(Debug, Default)]
pub struct RecallIndex {
    pub(super) postings: Postings,
    pub(super) records: Vec<RecordEntry>,
    /// The first record of each message.
    firsts: Vec<u32>,
    pub(super) words: u64,
    /// Messages that are only partly indexed.
    shortened: usize,
    /// Messages that were added when the index was full.
    unsearched: usize,
    speakers: [SpeakerVote; 2],
}

/// The maximum number of records of all messages.
const MAX_RECORDS: usize = 1 << 31;

/// Adds messages, the oldest first.
impl<'a> Extend<&'a Message> for RecallIndex {
    fn extend<T: IntoIterator<Item = &'a Message>>(&mut self, messages: T) {
        let before = self.len();
        messages.into_iter().for_each(|message| self.add(message));
        self.settle_after(self.len() - before);
    }
}

/// Data about a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordEntry {
    /// The number of its words, at most 255.
    pub(super) words: u8,
    /// 1 for the user, 2 for the model, 0 for tools; plus 4 for a question and 8 for a pinned message.
    flags: u8,
}

impl RecordEntry {
    const ASKS: u8 = 4;
    const PINNED: u8 = 8;

    pub(super) const fn asks(self) -> bool {
        self.flags & Self::ASKS > 0
    }

    pub(super) const fn is_pinned(self) -> bool {
        self.flags & Self::PINNED > 0
    }

    /// Returns the speaker: 1 for the user, 2 for the model, 0 for neither.
    pub(super) const fn speaker(self) -> usize {
        (self.flags & 3) as usize
    }
}

impl RecallIndex {
    /// Adds the next message; a message without records counts too. O(bytes).
    pub fn add(&mut self, message: &Message) {
        self.add_within(message, MAX_RECORDS);
    }

    /// Adds a message if the index then has at most this many records.
    pub(super) fn add_within(&mut self, message: &Message, most: usize) {
        self.firsts.push(u32::try_from(self.records.len()).expect("there are at most 2^31 records"));
        if self.records.len() + MOST_RECORDS > most {
            self.unsearched += 1;
        } else {
            let is_whole = each_record(message, |record| self.add_record(message, record));
            self.shortened += usize::from(!is_whole);
        }
        self.vote(message);
        self.postings.settle_if_large();
    }

    /// Compacts the index if enough messages were added. O(index).
    pub(super) fn settle_after(&mut self, added: usize) {
        if added * 8 > self.len() {
            self.postings.settle();
        }
    }

    /// Returns the number of added messages.
    pub const fn len(&self) -> usize {
        self.firsts.len()
    }

    /// Returns whether no message was added.
    pub const fn is_empty(&self) -> bool {
        self.firsts.is_empty()
    }

    /// Returns findings about messages that are not or only partly indexed.
    pub fn findings(&self) -> Vec<Diagnostic> {
        let told =
            |message: Phrase, help: Phrase| Diagnostic::info(codes::RECALL_LIMIT, message).with_help(help);
        let shortened = (self.shortened > 0).then(|| {
            let messages = count_of!(self.shortened, "message");
            let message =
                phrase!("only the first 1 MiB and 4,096 entries of {messages} are searched", messages);
            told(message, phrase!("split long messages to search all of their text"))
        });
        let unsearched = (self.unsearched > 0).then(|| {
            let messages = count_of!(self.unsearched, "message");
            let message = phrase!("{messages} not searched: the index is full", messages);
            told(message, phrase!("start a new conversation to keep later messages searchable"))
        });
        shortened.into_iter().chain(unsearched).collect()
    }

    /// Returns the approximate size in memory in bytes.
    pub fn memory(&self) -> usize {
        self.postings.memory()
            + self.records.capacity() * size_of::<RecordEntry>()
            + self.firsts.capacity() * size_of::<u32>()
    }

    fn add_record(&mut self, message: &Message, record: Record<'_>) {
        let number = u32::try_from(self.records.len()).expect("there are at most 2^31 records");
        let mut words = 0_usize;
        for text in [record.text, record.tool, message.name.as_deref().unwrap_or_default()] {
            each_term(text, |word| {
                self.postings.add(word, number);
                words += 1;
            });
        }
        self.words += words as u64;
        let speaker = match record.kind {
            NoteLineKind::User => 1,
            NoteLineKind::Assistant => 2,
            NoteLineKind::System | NoteLineKind::Call | NoteLineKind::Result => 0,
        };
        let is_question = record.text.contains('?') || record.text.contains('？');
        let asks = if is_question { RecordEntry::ASKS } else { 0 };
        let pinned = if message.place == Place::Pinned { RecordEntry::PINNED } else { 0 };
        let words = u8::try_from(words).unwrap_or(u8::MAX);
        self.records.push(RecordEntry { words, flags: speaker | asks | pinned });
    }

    /// Returns the message of a record, and the position of the record within it. O(log messages).
    pub(super) fn place(&self, record: u32) -> (usize, usize) {
        let message = self.firsts.partition_point(|first| *first <= record) - 1;
        (message, (record - self.firsts[message]) as usize)
    }

    fn vote(&mut self, message: &Message) {
        let vote = match message.role {
            Role::User => self.speakers.first_mut(),
            Role::Assistant => self.speakers.last_mut(),
            _ => None,
        };
        let text = message.text();
        if let Some(vote) = vote.filter(|_| !text.trim().is_empty()) {
            vote.add(first_name(&text).unwrap_or_default());
        }
    }

    /// Returns the name at the beginning of nearly all messages of the user (1) or of the model (2).
    pub(super) fn speaker(&self, number: usize) -> Option<&str> {
        self.speakers.get(number.checked_sub(1)?)?.name()
    }
}

/// The most frequent name at the beginning of a role's messages, found in one pass without a list of names.
#[derive(Clone, Debug, Default)]
struct SpeakerVote {
    name: String,
    /// The lead of the name over the others.
    lead: u32,
    /// The number of messages with the name since it leads.
    with: u32,
    all: u32,
}

impl SpeakerVote {
    fn add(&mut self, name: &str) {
        self.all += 1;
        if self.name == name {
            (self.lead, self.with) = (self.lead + 1, self.with + 1);
        } else if self.lead == 0 {
            (self.name, self.lead, self.with) = (name.to_owned(), 1, 1);
        } else {
            self.lead -= 1;
        }
    }

    fn name(&self) -> Option<&str> {
        let is_believed = !self.name.is_empty() && self.all >= 4 && self.with * 10 >= self.all * 8;
        is_believed.then_some(&*self.name)
    }
}
