//! A set of books, compiled.

use std::sync::Arc;

use ctx_types::{Diagnostic, excerpt};

use crate::automaton::Automaton;
use crate::book::{Book, Level};
use crate::codes;
use crate::decorators::Condition;
use crate::entry::Entry;
use crate::keys::{Key, KeyTable, Matching};
use crate::limits::Limits;
use crate::sequence::{Listed, sequence};
use crate::settings::Settings;

/// Books that are searched together, compiled once for any number of scans.
///
/// Immutable, and shared between threads. See the crate for an example.
#[derive(Debug)]
pub struct BookSet {
    members: Vec<Member>,
    books: Vec<Book>,
    settings: Settings,
    limits: Limits,
    automaton: Automaton,
    /// The deepest depth that an entry asks for itself.
    own_depth: usize,
    /// The levels of recursion for which entries wait, ascending.
    levels: Vec<u32>,
    is_timed: bool,
    counts_answers: bool,
}

/// An entry in a set, ready to be looked for.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its number among the members.
    pub number: usize,
    /// The entry.
    pub entry: Entry,
    /// The name of its book.
    pub book: Arc<str>,
    /// Who uses the book.
    pub level: Level,
    /// By what reports and timed effects know it: `book.uid`, and a number behind it for the second with the
    /// same uid.
    pub id: Arc<str>,
    pub(crate) book_number: usize,
    pub(crate) keys: Vec<Key>,
    pub(crate) secondary: Vec<Key>,
    /// The keys of each condition that has some.
    pub(crate) conditions: Vec<Vec<Key>>,
    pub(crate) matching: Matching,
    pub(crate) fingerprint: u64,
}

impl BookSet {
    /// Compiles books; what is wrong with their keys is reported, with the name of the book as the document.
    ///
    /// Linear in the size of the books, but for sorting entries.
    pub fn compile(
        books: impl IntoIterator<Item = Book>,
        settings: Settings,
        limits: Limits,
    ) -> (Self, Vec<Diagnostic>) {
        let mut findings = Vec::new();
        let (books, mut entries) = sequence(books.into_iter().collect(), settings.strategy);
        if entries.len() > limits.entries {
            let more = entries.len() - limits.entries;
            let message =
                format!("{more} of {} entries are not considered; {} can be", entries.len(), limits.entries);
            findings.push(Diagnostic::error(codes::TOO_MANY_ENTRIES, message));
            entries.truncate(limits.entries);
        }
        let mut compiler = Compiler {
            settings: &settings,
            limits: &limits,
            books: &books,
            table: KeyTable::default(),
            findings: &mut findings,
            is_full: false,
        };
        let members: Vec<Member> =
            entries.into_iter().enumerate().map(|at| compiler.member(at.0, at.1)).collect();
        let automaton = compiler.table.build().unwrap_or_else(|| {
            let message = "there are too many keys for one search; none of them is found";
            findings.push(Diagnostic::error(codes::TOO_MANY_ENTRIES, message));
            Automaton::default()
        });
        let depths = members.iter().filter_map(|member| usize::try_from(member.entry.scan_depth?).ok());
        let own_depth = depths.max().unwrap_or_default();
        let mut levels: Vec<u32> =
            members.iter().map(|member| member.entry.recursion_level).filter(|level| *level > 0).collect();
        levels.sort_unstable();
        levels.dedup();
        let is_timed = |member: &Member| member.entry.timing.sticky > 0 || member.entry.timing.cooldown > 0;
        let counts_answers = |condition: &Condition| {
            matches!(condition, Condition::AnswersReach(_) | Condition::AnswersDivideBy(_))
        };
        let set = Self {
            is_timed: members.iter().any(is_timed),
            counts_answers: members.iter().any(|member| member.entry.conditions.iter().any(counts_answers)),
            members,
            books,
            settings,
            limits,
            automaton,
            own_depth,
            levels,
        };
        (set, findings)
    }

    /// Returns the entries in the order in which they are considered; what results say of entries are numbers in
    /// this list.
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

    /// Tells whether any entry has timed effects that have to be kept.
    pub fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Tells whether any entry asks how many messages the agent has said: [`ScanInput::answers`](crate::ScanInput).
    pub fn counts_answers(&self) -> bool {
        self.counts_answers
    }

    /// Returns how many messages a scan may look at.
    pub fn depth(&self) -> usize {
        let settings = &self.settings;
        let most = match (settings.min_activations, settings.min_activations_depth_max) {
            (0, _) => settings.depth,
            (_, 0) => u64::MAX,
            (_, max) => settings.depth.max(max.saturating_add(1)),
        };
        usize::try_from(most).unwrap_or(usize::MAX).max(self.own_depth).min(self.limits.messages)
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    pub(crate) fn own_depth(&self) -> usize {
        self.own_depth
    }

    pub(crate) fn levels(&self) -> &[u32] {
        &self.levels
    }
}

struct Compiler<'c> {
    settings: &'c Settings,
    limits: &'c Limits,
    books: &'c [Book],
    table: KeyTable,
    findings: &'c mut Vec<Diagnostic>,
    is_full: bool,
}

/// How many bad patterns are told.
const MAX_FINDINGS: usize = 1_000;

impl Compiler<'_> {
    fn member(&mut self, number: usize, listed: Listed) -> Member {
        let Listed { book: book_number, id, entry } = listed;
        let book = self.books.get(book_number);
        let name = book.map_or_else(|| Arc::from(""), |book| book.name.clone());
        let matching = Matching {
            case_sensitive: entry.case_sensitive.unwrap_or(self.settings.case_sensitive),
            whole_words: entry.match_whole_words.unwrap_or(self.settings.match_whole_words),
        };
        let place = Place { id: &id, book: &name, pointer: entry.pointer() };
        let keys = self.keys(&entry.keys, &|index| format!("key/{index}"), &place, matching);
        let field = |index| format!("keysecondary/{index}");
        let secondary = self.keys(&entry.secondary_keys, &field, &place, matching);
        let conditions = entry.conditions.iter().map(|condition| match condition {
            Condition::AnyKey(keys) | Condition::NoKey(keys) => {
                self.keys(keys, &|_| "content".to_owned(), &place, matching)
            }
            _ => Vec::new(),
        });
        let conditions = conditions.collect();
        let fingerprint = entry.fingerprint();
        let level = book.map_or(Level::Global, |book| book.level);
        Member {
            number,
            book: name,
            level,
            id,
            book_number,
            keys,
            secondary,
            conditions,
            matching,
            fingerprint,
            entry,
        }
    }

    fn keys(
        &mut self,
        keys: &[Arc<str>],
        field: &dyn Fn(usize) -> String,
        place: &Place<'_>,
        matching: Matching,
    ) -> Vec<Key> {
        let mut compiled = Vec::with_capacity(keys.len());
        for (index, key) in keys.iter().enumerate() {
            if key.contains("{{") || key.contains('<') {
                compiled.push(Key::Dynamic);
                continue;
            }
            let findings = &mut *self.findings;
            let mut report = |key: &str, error: &ctx_regex::Error| {
                if findings.len() < MAX_FINDINGS {
                    findings.push(bad_pattern(key, error, &field(index), place));
                }
            };
            let added = self.table.add(key, matching, self.limits, &mut report);
            if added.is_none() {
                self.note_full();
            }
            compiled.push(added.unwrap_or(Key::Blank));
        }
        compiled
    }

    fn note_full(&mut self) {
        if !std::mem::replace(&mut self.is_full, true) {
            let message =
                format!("keys have more than {} bytes; the rest is never found", self.limits.key_bytes);
            self.findings.push(Diagnostic::error(codes::TOO_MANY_ENTRIES, message));
        }
    }
}

/// Where an entry stands.
struct Place<'p> {
    id: &'p str,
    book: &'p Arc<str>,
    pointer: String,
}

fn bad_pattern(key: &str, error: &ctx_regex::Error, field: &str, place: &Place<'_>) -> Diagnostic {
    let message = format!("the key `{}` of `{}` cannot run: {error}", excerpt(key), excerpt(place.id));
    let bad = Diagnostic::warning(codes::BAD_PATTERN, message).in_document(place.book.clone());
    bad.at_pointer(format!("{}/{field}", place.pointer))
        .with_help("it is looked for as plain text, slashes included")
}
