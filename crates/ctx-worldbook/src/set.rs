use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, count_of, phrase};

use crate::automaton::Automaton;
use crate::book::{Book, Level};
use crate::codes;
use crate::decorators::Condition;
use crate::entry::Entry;
use crate::input::EntryPart;
use crate::keys::{self, Key, KeyTable, MatchOptions};
use crate::limits::Limits;
use crate::sequence::{SequencedEntry, sequence};
use crate::settings::Settings;

/// Compiled books for any number of scans. See the crate example.
#[derive(Debug)]
pub struct BookSet {
    members: Vec<Member>,
    books: Vec<Book>,
    settings: Settings,
    limits: Limits,
    automaton: Automaton,
}

/// A compiled entry.
#[derive(Clone, Debug)]
pub struct Member {
    /// Member index.
    pub number: usize,
    /// Entry.
    pub entry: Entry,
    /// Name of the book.
    pub book: Arc<str>,
    /// Owner of the book.
    pub level: Level,
    /// Unique id: `book.uid`, with `#2` and so on if repeated.
    pub id: Arc<str>,
    pub(crate) book_number: usize,
    /// First member of the book with the same uid, possibly this one.
    pub(crate) first_with_uid: usize,
    pub(crate) keys: Vec<Key>,
    pub(crate) secondary: Vec<Key>,
    pub(crate) conditions: Vec<Vec<Key>>,
    pub(crate) matching: MatchOptions,
}

impl Member {
    /// Returns keys that seem to contain macros.
    pub fn keys_with_macros(&self) -> impl Iterator<Item = (EntryPart, &str)> {
        let entry = &self.entry;
        let keys = entry.keys.iter().enumerate().map(|(at, key)| (EntryPart::Key(at), key));
        let secondary =
            entry.secondary_keys.iter().enumerate().map(|(at, key)| (EntryPart::SecondaryKey(at), key));
        let conditions = entry.conditions.iter().enumerate().flat_map(|(number, condition)| {
            let keys = condition.keys().iter().enumerate();
            keys.map(move |(at, key)| (EntryPart::ConditionKey(number, at), key))
        });
        let all = keys.chain(secondary).chain(conditions).map(|(part, key)| (part, &**key));
        all.filter(|(_, key)| keys::may_hold_macros(key))
    }
}

impl BookSet {
    /// Compiles books. Diagnostics name the book as their document.
    ///
    /// A key with `{{…` or a placeholder such as `<USER>` is expanded in each scan. Linear in the size,
    /// except for sorting.
    pub fn compile(
        books: impl IntoIterator<Item = Book>,
        settings: Settings,
        limits: Limits,
    ) -> (Self, Vec<Diagnostic>) {
        Self::compile_with(books, settings, limits, &|_| true)
    }

    /// Like [`BookSet::compile`], but `has_macros` decides which keys that seem to contain macros are
    /// expanded in each scan.
    pub fn compile_with(
        books: impl IntoIterator<Item = Book>,
        settings: Settings,
        limits: Limits,
        has_macros: &dyn Fn(&str) -> bool,
    ) -> (Self, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let (books, mut entries) = sequence(books.into_iter().collect(), settings.strategy);
        if entries.len() > limits.entries {
            findings.push(too_many(entries.len(), limits.entries));
            entries.truncate(limits.entries);
        }
        let mut compiler = Compiler {
            settings: &settings,
            limits: &limits,
            books: &books,
            has_macros,
            table: KeyTable::default(),
            findings: &mut findings,
            bad_keys: 0,
            is_full: false,
        };
        let mut members: Vec<Member> =
            entries.into_iter().enumerate().map(|at| compiler.member(at.0, at.1)).collect();
        find_same_uids(&mut members);
        compiler.report_hidden();
        let automaton = compiler.table.build().unwrap_or_else(|| {
            let message = phrase!("too many keys for one search; none of them can match");
            findings.push(Diagnostic::error(codes::TOO_MANY_ENTRIES, message));
            Automaton::default()
        });
        (Self { members, books, settings, limits, automaton }, findings)
    }

    /// Returns the entries in the order of consideration. Scan results contain indexes into this list.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Returns the books without their entries.
    pub fn books(&self) -> &[Book] {
        &self.books
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns whether timed effects must be stored.
    pub fn is_timed(&self) -> bool {
        self.entries().any(|entry| entry.timing.lasts())
    }

    /// Returns whether a scan needs [`ScanInput::answers`](crate::ScanInput).
    pub fn counts_answers(&self) -> bool {
        let counts_answers = |condition: &Condition| {
            matches!(condition, Condition::AnswersReach(_) | Condition::AnswersDivideBy(_))
        };
        self.entries().any(|entry| entry.conditions.iter().any(counts_answers))
    }

    /// Returns the maximum number of searched messages.
    pub fn depth(&self) -> usize {
        let settings = &self.settings;
        let most = match (settings.min_activations, settings.min_activations_depth_max) {
            (0, _) => settings.depth,
            (_, 0) => u64::MAX,
            (_, max) => settings.depth.max(max.saturating_add(1)),
        };
        usize::try_from(most).unwrap_or(usize::MAX).max(self.own_depth()).min(self.limits.messages)
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.members.iter().map(|member| &member.entry)
    }

    /// Returns the deepest scan depth of an entry.
    pub(crate) fn own_depth(&self) -> usize {
        let depths = self.entries().filter_map(|entry| entry.scan_depth);
        depths.map(|depth| usize::try_from(depth.max(0)).unwrap_or(usize::MAX)).max().unwrap_or_default()
    }

    /// Returns the recursion levels, ascending.
    pub(crate) fn levels(&self) -> Vec<u32> {
        let levels = self.entries().map(|entry| entry.recursion_level).filter(|level| *level > 0);
        let mut levels: Vec<u32> = levels.collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }
}

struct Compiler<'c> {
    settings: &'c Settings,
    limits: &'c Limits,
    books: &'c [Book],
    has_macros: &'c dyn Fn(&str) -> bool,
    table: KeyTable,
    findings: &'c mut Vec<Diagnostic>,
    bad_keys: usize,
    is_full: bool,
}

const MAX_FINDINGS: usize = 1_000;

impl Compiler<'_> {
    fn member(&mut self, number: usize, listed: SequencedEntry) -> Member {
        let SequencedEntry { book: book_number, id, entry } = listed;
        let Book { name: book, level, .. } = &self.books[book_number];
        let matching = MatchOptions {
            case_sensitive: entry.case_sensitive.unwrap_or(self.settings.case_sensitive),
            whole_words: entry.match_whole_words.unwrap_or(self.settings.match_whole_words),
        };
        let place = EntryContext { id: &id, book, entry: &entry };
        let keys = self.keys(&entry.keys, &EntryPart::Key, &place, matching);
        let secondary = self.keys(&entry.secondary_keys, &EntryPart::SecondaryKey, &place, matching);
        let conditions = entry.conditions.iter().enumerate().map(|(at, condition)| {
            self.keys(condition.keys(), &|key| EntryPart::ConditionKey(at, key), &place, matching)
        });
        let conditions = conditions.collect();
        Member {
            number,
            book: book.clone(),
            level: *level,
            id,
            book_number,
            first_with_uid: number,
            keys,
            secondary,
            conditions,
            matching,
            entry,
        }
    }

    fn keys(
        &mut self,
        keys: &[Arc<str>],
        part: &dyn Fn(usize) -> EntryPart,
        place: &EntryContext<'_>,
        matching: MatchOptions,
    ) -> Vec<Key> {
        let mut compiled = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            let (findings, bad_keys) = (&mut *self.findings, &mut self.bad_keys);
            let known_before = *bad_keys;
            let mut report = |_: &str, error: &ctx_regex::Error| {
                *bad_keys += 1;
                if *bad_keys <= MAX_FINDINGS {
                    let pointer = place.entry.pointer_to(part(index));
                    findings.push(bad_pattern(key, error, place.id, place.book, pointer));
                }
            };
            if keys::may_hold_macros(key) && (self.has_macros)(key) {
                keys::parse(&keys::without_macros(key), matching, self.limits, &mut report);
                compiled.push(Key::Dynamic { is_bad: self.bad_keys > known_before });
                continue;
            }
            let added = self.table.add(key, matching, self.limits, &mut report);
            if added.is_none() {
                self.note_full();
            }
            compiled.push(added.unwrap_or(Key::Blank));
        }
        compiled
    }

    fn report_hidden(&mut self) {
        let hidden = self.bad_keys.saturating_sub(MAX_FINDINGS);
        if hidden > 0 {
            let message = if hidden == 1 {
                phrase!("1 more invalid key is not listed")
            } else {
                phrase!("{hidden} more invalid keys are not listed", hidden)
            };
            self.findings.push(Diagnostic::warning(codes::BAD_PATTERN, message));
        }
    }

    fn note_full(&mut self) {
        if !std::mem::replace(&mut self.is_full, true) {
            let most = count_of!(self.limits.key_bytes, "byte");
            let message = phrase!("all keys together exceed {most}; later keys never match", most);
            self.findings.push(Diagnostic::error(codes::TOO_MANY_ENTRIES, message));
        }
    }
}

fn find_same_uids(members: &mut [Member]) {
    let mut first: BTreeMap<(usize, Arc<str>), usize> = BTreeMap::new();
    for member in members.iter_mut().filter(|member| !member.entry.uid.is_empty()) {
        let uid = (member.book_number, member.entry.uid.clone());
        member.first_with_uid = *first.entry(uid).or_insert(member.number);
    }
}

fn too_many(count: usize, limit: usize) -> Diagnostic {
    let left_out = match count - limit {
        1 => phrase!("1 entry is ignored"),
        more => phrase!("{more} entries are ignored", more),
    };
    let message =
        phrase!("{left}: only the first {limit} of {count} are scanned", left = left_out, count, limit);
    let finding = Diagnostic::error(codes::TOO_MANY_ENTRIES, message);
    finding.with_help(phrase!("use fewer worldbooks at once"))
}

struct EntryContext<'p> {
    id: &'p str,
    book: &'p Arc<str>,
    entry: &'p Entry,
}

pub(crate) fn bad_pattern(
    key: &str,
    error: &ctx_regex::Error,
    id: &str,
    book: &Arc<str>,
    pointer: String,
) -> Diagnostic {
    let message = phrase!(
        "invalid key `{key}` of `{id}`: {error}",
        key = excerpt(key),
        id = excerpt(id),
        error = Phrase::original(error.to_string())
    );
    let bad = Diagnostic::warning(codes::BAD_PATTERN, message).in_document(book.clone());
    bad.at_pointer(pointer)
        .with_help(phrase!("fix the pattern; it is matched as plain text, with its slashes, until then"))
}
