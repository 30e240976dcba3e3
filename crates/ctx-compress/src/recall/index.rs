//! The index: which records of a conversation have which words.

use std::sync::Mutex;

use ctx_types::{Diagnostic, Message, NoteLineKind, Phrase, Place, Role, count_of, phrase};

use crate::codes;
use crate::recall::line_memory::LineMemory;
use crate::recall::postings::{self, Postings, make_room};
use crate::recall::records::{MOST_RECORDS, Record, each_record};
use crate::recall::terms::each_term;
use crate::request::{first_name, word_hash};

/// An inverted index over the messages of a conversation, oldest first; see the [module](crate::recall).
///
/// It holds no text. Of English conversations of 0.3 to 0.5 MB it takes a sixth to a quarter, and while it grows up to
/// 28 hundredths; of 1.5 MB of Chinese prose nearly half, and while it grows up to two thirds, since each character
/// begins a pair, and more than the text where most pairs are new. Adding a message takes some 20 microseconds, and an
/// index that grew message by message finds the same as one that is made at once.
/// Of a text of more than 1 MiB, and of a message of more than 4,096 records, the rest is not found, and nothing of
/// what follows 2^31 records; [`RecallIndex::findings`] says so.
#[derive(Debug, Default)]
pub struct RecallIndex {
    pub(super) postings: Postings,
    pub(super) records: Vec<RecordEntry>,
    /// One for every 64 records, the first of all among them.
    marks: Vec<Mark>,
    /// For each message without records, how many with records are before it.
    empty: Vec<u32>,
    messages: u32,
    pub(super) words: u64,
    /// How many messages were too long to be searched as a whole.
    shortened: usize,
    /// How many messages came when it was full.
    unsearched: usize,
    speakers: [SpeakerVote; 2],
    /// The hashes of the words of one record, kept for its room alone.
    hashes: Vec<u64>,
    /// Lines that were written of it.
    pub(super) lines: Mutex<LineMemory>,
}

/// How many records there are from one mark to the next.
const RECORDS_PER_MARK: usize = 64;

/// Adds messages, the next one first, and leaves no more memory taken than needed if they are many.
impl<'a> Extend<&'a Message> for RecallIndex {
    fn extend<T: IntoIterator<Item = &'a Message>>(&mut self, messages: T) {
        let before = self.len();
        messages.into_iter().for_each(|message| self.add(message));
        self.settle_after(self.len() - before);
    }
}

/// What is known about a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordEntry {
    /// How many words it has, 255 for more.
    pub(super) words: u8,
    /// 1 for the user, 2 for the model, 0 for tools; 4 is added where it asks, 8 where it is pinned, 16 where it is the
    /// first of its message.
    flags: u8,
}

/// What is before a record.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// How many messages begin before it.
    messages: u32,
    /// How many records the last one of these has before it.
    records: u32,
}

impl RecordEntry {
    const ASKS: u8 = 4;
    const PINNED: u8 = 8;
    const FIRST: u8 = 16;

    pub(super) const fn asks(self) -> bool {
        self.flags & Self::ASKS > 0
    }

    const fn is_first(self) -> bool {
        self.flags & Self::FIRST > 0
    }

    pub(super) const fn is_pinned(self) -> bool {
        self.flags & Self::PINNED > 0
    }

    /// Returns which of the speakers says it: 1 the user, 2 the model, 0 nobody.
    pub(super) const fn speaker(self) -> usize {
        (self.flags & 3) as usize
    }
}

impl RecallIndex {
    /// Adds the next message; one without records still counts as a message. O(bytes), now and then O(index).
    ///
    /// To add many of them at once, [`extend`](Extend::extend) it, which is less work.
    pub fn push(&mut self, message: &Message) {
        self.add(message);
        self.settle_after(1);
    }

    /// Adds a message as [`push`](Self::push) does; [`settle_after`](Self::settle_after) is to follow some of them.
    pub(super) fn add(&mut self, message: &Message) {
        self.add_within(message, postings::MOST_RECORDS);
    }

    /// Adds a message to at most so many records.
    pub(super) fn add_within(&mut self, message: &Message, most: usize) {
        let before = self.records.len();
        if before + MOST_RECORDS > most || self.postings.is_full() {
            self.unsearched += 1;
        } else {
            let is_whole = each_record(message, |record| self.add_record(message, record));
            self.shortened += usize::from(!is_whole);
        }
        self.vote(message);
        self.mark(before);
        self.messages += 1;
    }

    /// Notes where the records of a message begin, so that [`place`](Self::place) finds it.
    fn mark(&mut self, first: usize) {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let messages = self.messages - number(self.empty.len());
        if let Some(record) = self.records.get_mut(first) {
            record.flags |= RecordEntry::FIRST;
        } else {
            make_room(&mut self.empty);
            self.empty.push(messages);
        }
        while self.marks.len() * RECORDS_PER_MARK < self.records.len() {
            let records = number(self.marks.len() * RECORDS_PER_MARK - first);
            self.marks.push(Mark { messages: messages + u32::from(records > 0), records });
        }
    }

    /// Makes it as small, and as quick to search, as it can be. O(all that was added).
    fn settle(&mut self) {
        self.postings.settle();
        self.records.shrink_to_fit();
        self.marks.shrink_to_fit();
        self.empty.shrink_to_fit();
    }

    /// Settles it if that is worth the work: after an eighth of all messages, or where it lies in too many parts.
    pub(super) fn settle_after(&mut self, added: usize) {
        self.postings.rest();
        if added > 0 && (added * 8 >= self.len() || self.postings.is_scattered()) {
            self.settle();
        }
    }

    /// Returns how many messages were added.
    pub const fn len(&self) -> usize {
        self.messages as usize
    }

    /// Returns whether no message was added.
    pub const fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Returns what is to be told of messages that are not found, or a part of which is not.
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

    /// Returns about how many bytes of memory it takes.
    pub fn memory(&self) -> usize {
        self.postings.memory()
            + self.records.capacity() * size_of::<RecordEntry>()
            + self.marks.capacity() * size_of::<Mark>()
            + self.empty.capacity() * size_of::<u32>()
    }

    fn add_record(&mut self, message: &Message, record: Record<'_>) {
        let number = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        let mut words = std::mem::take(&mut self.hashes);
        words.clear();
        for text in [record.text, record.tool, message.name.as_deref().unwrap_or_default()] {
            each_term(text, |word| words.push(word_hash(word)));
        }
        self.postings.push(&words, number);
        self.words += words.len() as u64;
        let speaker = match record.kind {
            NoteLineKind::User => 1,
            NoteLineKind::Assistant => 2,
            NoteLineKind::System | NoteLineKind::Call | NoteLineKind::Result => 0,
        };
        let is_question = record.text.contains('?') || record.text.contains('？');
        let asks = if is_question { RecordEntry::ASKS } else { 0 };
        let pinned = if message.place == Place::Pinned { RecordEntry::PINNED } else { 0 };
        make_room(&mut self.records);
        let count = u8::try_from(words.len()).unwrap_or(u8::MAX);
        self.records.push(RecordEntry { words: count, flags: speaker | asks | pinned });
        self.hashes = words;
    }

    /// Returns the message of a record, and which of its records it is. O(log messages without records).
    pub(super) fn place(&self, record: u32) -> (usize, usize) {
        let (record, marked) = (record as usize, record as usize / RECORDS_PER_MARK);
        let Mark { messages, records } = self.marks.get(marked).copied().unwrap_or_default();
        let near = self.records.get(marked * RECORDS_PER_MARK..=record).unwrap_or_default();
        let begun = messages as usize + near.iter().filter(|record| record.is_first()).count();
        let behind = near.iter().rev().position(|record| record.is_first());
        let number = behind.unwrap_or_else(|| (records as usize + near.len()).saturating_sub(1));
        let with_records = begun.saturating_sub(1);
        let empty = self.empty.partition_point(|before| *before as usize <= with_records);
        (with_records + empty, number)
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

    /// Returns the name that begins nearly all messages of the user (1) or of the model (2).
    pub(super) fn speaker(&self, number: usize) -> Option<&str> {
        self.speakers.get(number.checked_sub(1)?)?.name()
    }
}

/// The name that most messages of a role begin with, found in one pass and without a list of names.
#[derive(Clone, Debug, Default)]
struct SpeakerVote {
    name: String,
    /// How often it came more than others since it leads.
    lead: u32,
    /// How often it came since it leads.
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
