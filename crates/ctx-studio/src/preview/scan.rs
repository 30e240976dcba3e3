//! What a turn makes of its worldbooks, as `ctx worldbook scan` tells it.

use std::collections::BTreeMap;

use ctx_language::Language;
use ctx_processors::internal::worldbook_state;
use ctx_project::scan::{self, ObservedScan, Probe, SeenEntry};
use ctx_project::{Sources, Turn};
use ctx_types::internal::excerpt;
use ctx_types::{Diagnostic, Phrase, SourceKind, phrase};
use ctx_worldbook::{
    Member, TimedState,
    internal::{Cause, KeyHit, KeyPlace, Reason},
};

use super::{opened, said};
use crate::api::TextSpan;
use crate::api_preview::PreviewRequest;
use crate::api_scan::{ScanView, ScannedBook, ScannedEntry, ScannedKey, ScannedText};
use crate::call::Refusal;
use crate::codes;
use crate::server::Server;

/// How many places of a key are told.
const MAX_PLACES: usize = 20;

/// How many bytes of a text are shown, and of all texts.
const MAX_TEXT: usize = 256 << 10;
const MAX_TEXTS: usize = 2 << 20;

/// Scans the books of a turn.
pub(crate) fn scan(server: &Server, asked: &PreviewRequest, language: Language) -> Result<ScanView, Refusal> {
    let (probe, mut sources) = (Probe::default(), Sources::default());
    let turn = opened((server, probe.on(server.engine.clone())), asked, &mut sources)?;
    let (seen, found) = scan::look(&turn, &probe);
    let findings = said(server, language, &sources, &found);
    let books = turn.books().list().map(|(name, file, entries)| ScannedBook {
        name: name.to_owned(),
        file: server.desk.id(file),
        entries,
    });
    let view = ScanView { books: books.collect(), findings, ..ScanView::default() };
    Ok(match seen? {
        None => view,
        Some(seen) => Scanned { server, turn: &turn, seen: &seen, language }.view(view),
    })
}

/// What came of a scan.
struct Scanned<'a> {
    server: &'a Server,
    turn: &'a Turn,
    seen: &'a ObservedScan,
    language: Language,
}

impl Scanned<'_> {
    fn view(&self, view: ScanView) -> ScanView {
        let mut texts =
            FoundTexts { seen: self, numbers: BTreeMap::new(), shown: Vec::new(), room: MAX_TEXTS };
        let entries = self.seen.entries().map(|entry| self.entry(&entry, &mut texts)).collect();
        let scan = &self.seen.scan.scan;
        ScanView {
            entries,
            texts: texts.shown,
            passes: scan.passes.iter().map(|pass| pass.as_str()).collect(),
            budget: scan.budget,
            tokens: self.seen.active_tokens(),
            is_exact: self.seen.is_exact,
            kept: self.timed(&worldbook_state(self.turn.session())),
            timed: self.timed(&scan.state),
            ..view
        }
    }

    fn timed(&self, state: &TimedState) -> Vec<String> {
        let members = self.seen.scan.set.members().iter();
        let names: BTreeMap<&str, &str> = members.map(|member| (&*member.id, entry_name(member))).collect();
        let name = |id: &str| excerpt(names.get(id).copied().unwrap_or(id)).into_owned();
        scan::timed(state, name).iter().map(|line| self.language.say(line)).collect()
    }

    /// Explains why an entry is active, or is not. Messages have their numbers, and other entries their titles.
    fn why(&self, entry: &SeenEntry<'_>) -> Option<String> {
        let set = &self.seen.scan.set;
        let message = |newest: usize| self.message(newest);
        let why = match (entry.active, entry.reason) {
            (Some((activation, _)), _) => set.describe_with(activation, &message),
            (None, Some(Reason::NoKeyFound)) => {
                let newest = self.seen.newest_hits.get(entry.number).and_then(Option::as_ref);
                let (searched, hit) = (self.seen.scan.messages.len(), newest.map(|newest| &newest.hit));
                let message =
                    |_| newest.map_or_else(unnamed, |hit| self.message_of(&hit.message.to_string()));
                set.describe_missing_key(entry.number, searched, hit, &message)
            }
            (None, Some(reason)) => set.describe_reason(reason, &message),
            (None, None) => return None,
        };
        let with_title = |said: String, member: &Member| {
            let title = format!("`{}`", excerpt(entry_name(member)));
            said.replace(&format!("`{}`", excerpt(&member.id)), &title)
        };
        let others = named_entries(entry).into_iter().filter_map(|number| set.members().get(number));
        Some(others.fold(self.language.say(&why), with_title))
    }

    fn message(&self, newest: usize) -> Phrase {
        let messages = &self.seen.scan.messages;
        let source = messages.len().checked_sub(newest + 1).and_then(|at| messages.get(at));
        source.map_or_else(unnamed, |source| self.message_of(&source.to_string()))
    }

    /// Names a message by its number in the conversation.
    fn message_of(&self, source: &str) -> Phrase {
        let number = source.split_once(':').and_then(|(_, id)| self.turn.session().depth(id));
        match number {
            Some(number) => phrase!("message {number}", number),
            None if source == SourceKind::Input.as_str() => phrase!("the user message"),
            None => phrase!("{source}", source = source.to_owned()),
        }
    }

    fn entry(&self, entry: &SeenEntry<'_>, texts: &mut FoundTexts<'_>) -> ScannedEntry {
        let member = entry.member;
        let finding = Diagnostic::info(codes::UNUSABLE, phrase!(""));
        let place = self.turn.books().place(&member.book, &member.entry.pointer(), finding).location;
        let hits = hits(entry).into_iter().map(|hit| texts.key(member.number, hit)).collect();
        ScannedEntry {
            id: member.id.to_string(),
            book: member.book.to_string(),
            file: place.document.as_deref().and_then(|file| self.server.desk.id(file)),
            pointer: place.pointer,
            title: member.entry.title.as_deref().map(str::to_owned),
            state: entry.state,
            why: self.why(entry),
            place: self.language.say(&member.entry.destination.phrase()),
            pass: entry.active.map(|(activation, _)| activation.pass),
            tokens: entry
                .active
                .and_then(|(_, tokens)| tokens)
                .or_else(|| self.seen.content_tokens.get(entry.number).copied()),
            hits,
        }
    }
}

fn unnamed() -> Phrase {
    phrase!("a message")
}

/// Returns the title of an entry, or its first key.
fn entry_name(member: &Member) -> &str {
    let title = member.entry.title.as_deref().filter(|title| !title.trim().is_empty());
    title.or_else(|| member.entry.keys.first().map(|key| &**key)).unwrap_or(&member.id)
}

/// Returns the other entries that the reason of an entry names.
fn named_entries(entry: &SeenEntry<'_>) -> Vec<usize> {
    let winner = match entry.reason {
        Some(Reason::Group { loss, .. }) => Some(loss.winner()),
        _ => None,
    };
    let searched = hits(entry).into_iter().filter_map(|hit| match hit.place {
        KeyPlace::Entry(number) => Some(number),
        _ => None,
    });
    searched.chain(winner).collect()
}

/// Returns the keys of an entry that were found.
fn hits<'a>(entry: &SeenEntry<'a>) -> Vec<&'a KeyHit> {
    match (entry.active.map(|(activation, _)| &activation.cause), entry.reason) {
        (Some(Cause::Keys { primary, secondary }), _) => std::iter::once(primary).chain(secondary).collect(),
        (_, Some(Reason::Secondary { primary, found, .. })) => {
            std::iter::once(primary).chain(found).collect()
        }
        _ => Vec::new(),
    }
}

/// The texts in which keys were found, each once.
struct FoundTexts<'a> {
    seen: &'a Scanned<'a>,
    numbers: BTreeMap<KeyPlace, usize>,
    shown: Vec<ScannedText>,
    /// How many bytes more are shown.
    room: usize,
}

impl FoundTexts<'_> {
    fn key(&mut self, member: usize, hit: &KeyHit) -> ScannedKey {
        let text = self.number(hit.place);
        let shown = text.and_then(|number| self.shown.get(number)).map_or("", |text| &text.text);
        let places = self.seen.seen.scan.set.places(member, &hit.key, shown, MAX_PLACES);
        let spans = places.into_iter().map(|place| TextSpan::of(shown, place.start, place.end)).collect();
        ScannedKey { key: hit.key.to_string(), text, spans }
    }

    fn number(&mut self, place: KeyPlace) -> Option<usize> {
        if let Some(known) = self.numbers.get(&place) {
            return Some(*known);
        }
        let scan = &self.seen.seen.scan;
        let (name, text) = match place {
            KeyPlace::Message(newest) => {
                let at = scan.texts.len().checked_sub(newest + 1)?;
                (self.seen.language.say(&self.seen.message(newest)), scan.texts.get(at)?.as_str())
            }
            KeyPlace::Entry(member) => {
                let active = scan.scan.activations.iter().find(|activation| activation.member == member)?;
                (entry_name(scan.set.members().get(member)?).to_owned(), active.content.as_str())
            }
            KeyPlace::Source(_) | KeyPlace::Injected(_) => return None,
        };
        let shown = start(text, MAX_TEXT.min(self.room));
        self.room -= shown.len();
        let is_cut = shown.len() < text.len();
        self.shown.push(ScannedText { name, text: shown.to_owned(), is_cut });
        self.numbers.insert(place, self.shown.len() - 1);
        Some(self.shown.len() - 1)
    }
}

fn start(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
