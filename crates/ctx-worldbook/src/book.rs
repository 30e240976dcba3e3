use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::internal::{excerpt, nearest};
use ctx_types::worldbook::{Numeric, Worldbook, WorldbookEntry};
use ctx_types::{Code, Diagnostic, Fix, count_of, phrase};

use crate::decorators::{Idle, IdleDecorator};
use crate::entry::{Entry, at_least_0};
use crate::{codes, invalid_values};

/// A worldbook.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Book {
    /// Name in reports and entry ids.
    pub name: Arc<str>,
    /// Owner.
    pub level: Level,
    /// Entries, in file order.
    pub entries: Vec<Entry>,
    /// Token budget of this book, in addition to the budget of the scan.
    pub token_budget: Option<u64>,
}

/// Owner of a book. Affects the order of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The conversation.
    Conversation,
    /// The user profile.
    Profile,
    /// The character.
    Character,
    /// All conversations.
    #[default]
    Global,
}

/// Application whose rules a book follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SillyTavern: only `@@activate` and `@@dont_activate` work, and a book has no settings.
    Plain,
    CharacterCard3,
    /// Character Card V3 as in `RisuAI`: decorators count all messages, not only the assistant's.
    RisuAi,
}

const DIALECTS: [(&str, Dialect); 3] =
    [("sillytavern", Dialect::Plain), ("ccv3", Dialect::CharacterCard3), ("risuai", Dialect::RisuAi)];

impl Book {
    /// Reads a book. Diagnostics have JSON pointers. O(size of the book).
    pub fn read(name: impl Into<Arc<str>>, level: Level, noun: &Worldbook) -> (Self, Vec<Diagnostic>) {
        let name = name.into();
        let mut findings = Findings { name: name.clone(), all: Vec::new(), counts: BTreeMap::new() };
        let dialect = dialect(noun, &mut findings);
        let mut book =
            Self { name, level, entries: Vec::with_capacity(noun.entries.len()), token_budget: None };
        let mut uids = Uids::default();
        for (key, entry) in noun.entries.in_order() {
            if let Some(entry) = read_entry(key, entry, dialect, &mut uids, &mut findings) {
                book.entries.push(entry);
            }
        }
        if dialect != Dialect::Plain {
            for finding in invalid_values::in_book(noun) {
                findings.add(finding);
            }
            book.token_budget = non_negative(noun.token_budget);
            book.apply_card_settings(noun);
        }
        (book, findings.all)
    }

    fn apply_card_settings(&mut self, noun: &Worldbook) {
        let depth = non_negative(noun.scan_depth).map(|depth| i64::try_from(depth).unwrap_or(i64::MAX));
        let is_recursive = noun.recursive_scanning.is_none_or(|flag| flag.0);
        for entry in &mut self.entries {
            entry.scan_depth = entry.scan_depth.or(depth);
            entry.is_excluded_from_recursion |= !is_recursive;
        }
    }
}

fn non_negative(number: Option<Numeric>) -> Option<u64> {
    number.filter(|number| number.0 >= 0.0).map(|number| at_least_0(number.0))
}

fn read_entry(
    key: &str,
    noun: &WorldbookEntry,
    dialect: Dialect,
    uids: &mut Uids,
    findings: &mut Findings,
) -> Option<Entry> {
    // The reader of the file has reported it.
    if noun.is_malformed() {
        return None;
    }
    let (entry, idle) = Entry::read(key, noun, dialect);
    if let Some(repeated) = uids.add(&entry, noun.uid.is_some()) {
        findings.add(repeated);
    }
    for idle in &idle {
        findings.add(idle_decorator(idle).at_pointer(format!("{}/content", entry.pointer())));
    }
    let id = format!("{}.{}", findings.name, entry.uid);
    for odd in invalid_values::in_entry(&id, noun) {
        let field = odd.location.pointer.clone().unwrap_or_default();
        findings.add(odd.at_pointer(format!("{}{field}", entry.pointer())));
    }
    Some(entry)
}

#[derive(Default)]
struct Uids(BTreeMap<Arc<str>, usize>);

impl Uids {
    fn add(&mut self, entry: &Entry, has_uid: bool) -> Option<Diagnostic> {
        let uid = &entry.uid;
        let uses = self.0.entry(uid.clone()).or_default();
        *uses += 1;
        match *uses {
            1 => None,
            uses if has_uid => Some(duplicate(uid, uses).at_pointer(format!("{}/uid", entry.pointer()))),
            _ => Some(without_uid(uid).at_pointer(entry.pointer())),
        }
    }
}

fn idle_decorator(idle: &IdleDecorator) -> Diagnostic {
    let line = &idle.line;
    let (message, near) = match idle.why {
        Idle::BadValue => (phrase!("invalid value of decorator `{line}`", line), None),
        Idle::UnknownName(near) => {
            (phrase!("unknown decorator `{line}`; it is ignored and not sent", line), near)
        }
        Idle::OtherDialect => {
            let message = phrase!("decorator `{line}` has no effect in this worldbook and is not sent", line);
            let help = phrase!("set `dialect: ccv3` in the worldbook to use it");
            return Diagnostic::info(codes::BAD_DECORATOR, message).with_help(help);
        }
        Idle::Unsupported => {
            let message = phrase!("decorator `{line}` is not supported and not sent", line);
            let help = if line.starts_with("position") {
                phrase!("use `@@position after_desc` or another position, or remove the line")
            } else {
                phrase!("remove the line")
            };
            return Diagnostic::info(codes::BAD_DECORATOR, message).with_help(help);
        }
    };
    let idle = Diagnostic::warning(codes::BAD_DECORATOR, message);
    match near {
        Some(near) => idle.with_suggestion(near),
        None => idle.with_help(phrase!("fix or remove the line")),
    }
}

fn dialect(noun: &Worldbook, findings: &mut Findings) -> Dialect {
    let Some(name) = noun.dialect.as_deref() else { return Dialect::Plain };
    if let Some((_, dialect)) = DIALECTS.iter().find(|(known, _)| *known == name) {
        return *dialect;
    }
    let message = phrase!("unknown dialect `{name}`; SillyTavern's rules apply", name = excerpt(name));
    let unknown = Diagnostic::warning(codes::UNKNOWN_DIALECT, message).at_pointer("/dialect");
    let near = nearest(name, DIALECTS.iter().map(|(known, _)| *known));
    let help = || phrase!("write `sillytavern`, `ccv3` or `risuai`");
    findings.add(unknown.with_guess_or(near, Fix::text, help));
    Dialect::Plain
}

fn duplicate(uid: &str, uses: usize) -> Diagnostic {
    let uid = excerpt(uid);
    let message = match uses {
        2 => phrase!("duplicate uid `{uid}` in this worldbook", uid),
        _ => phrase!("uid `{uid}` is used {uses} times in this worldbook", uid, uses),
    };
    let help = phrase!("give each entry its own uid; only one entry of a uid is sent");
    Diagnostic::warning(codes::DUPLICATE_UID, message).with_help(help)
}

fn without_uid(key: &str) -> Diagnostic {
    let message =
        phrase!("the entry has no uid, and its key `{key}` is another entry's uid", key = excerpt(key));
    Diagnostic::warning(codes::DUPLICATE_UID, message).with_help(phrase!("add a uid"))
}

struct Findings {
    name: Arc<str>,
    all: Vec<Diagnostic>,
    counts: BTreeMap<Code, usize>,
}

/// Per code.
pub(crate) const MAX_FINDINGS: usize = 1_000;

impl Findings {
    fn add(&mut self, finding: Diagnostic) {
        let count = self.counts.entry(finding.code).or_default();
        *count += 1;
        match *count - 1 {
            0..MAX_FINDINGS => self.all.push(finding.in_document(self.name.clone())),
            MAX_FINDINGS => self.all.push(more_findings(finding.code, &self.name)),
            _ => {}
        }
    }
}

fn more_findings(code: Code, name: &str) -> Diagnostic {
    Diagnostic::info(
        code,
        phrase!(
            "more than {findings} in `{name}`; the rest is not shown",
            findings = count_of!(MAX_FINDINGS, "diagnostic"),
            name
        ),
    )
}
