use std::collections::BTreeMap;
use std::rc::Rc;

use ctx_types::{Text, space};

use crate::hits::{FoundIn, Hits, SearchedText, View};
use crate::input::{ScanInput, ScanMessage};
use crate::keys::{self, PlainKey};
use crate::letters;
use crate::set::BookSet;
use crate::source::{Source, SourceSet};
use crate::status::KeyPlace;

/// Precedes each text, as in SillyTavern. Prevents matches across two messages.
const MARK: &str = "\u{1}";
const JOINER: &str = "\n\u{1}";

pub(crate) struct Texts<'r> {
    set: &'r BookSet,
    input: &'r ScanInput<'r>,
    pub(crate) hits: Hits,
    /// Newest first, each after a mark.
    messages: String,
    ends: Vec<usize>,
    /// One chunk per pass.
    chunks: Vec<Chunk>,
    /// Member of each text.
    pieces: Vec<usize>,
    /// By view and number of chunks.
    haystacks: BTreeMap<(View, usize), Rc<Haystack>>,
    bytes_left: usize,
    pub(crate) is_cut: bool,
}

/// Texts of one pass.
#[derive(Debug, Default)]
struct Chunk {
    text: String,
    ends: Vec<(usize, usize)>,
}

/// The text that regular expressions search.
#[derive(Debug, Default)]
pub(crate) struct Haystack {
    pub(crate) text: String,
    lower: std::cell::OnceCell<Lower>,
    parts: Vec<(usize, FoundIn)>,
}

/// Parts can have other lengths than in the original.
#[derive(Debug, Default)]
struct Lower {
    text: String,
    ends: Vec<usize>,
}

impl<'r> Texts<'r> {
    pub(crate) fn new(set: &'r BookSet, input: &'r ScanInput<'r>) -> Self {
        let mut texts = Self {
            set,
            input,
            hits: Hits::new(set.automaton()),
            messages: String::new(),
            ends: Vec::new(),
            chunks: Vec::new(),
            pieces: Vec::new(),
            haystacks: BTreeMap::new(),
            bytes_left: set.limits().text_bytes,
            is_cut: false,
        };
        for source in Source::ALL {
            if let Some(text) = input.sources.get(source) {
                texts.search(text, SearchedText::Source(source));
            }
        }
        for (index, text) in input.injected.iter().enumerate() {
            texts.search(text, SearchedText::Injected(index));
        }
        texts
    }

    pub(crate) fn read_to_depth(&mut self, depth: usize) {
        let depth = depth.min(self.input.messages.len()).min(self.set.limits().messages);
        let newest_first = self.input.messages.iter().rev().enumerate();
        for (index, message) in newest_first.take(depth).skip(self.ends.len()) {
            let line = self.line(message);
            if line.len() > self.bytes_left {
                self.is_cut = true;
                return;
            }
            self.search(&line, SearchedText::Message(index));
            self.messages.push_str(if index == 0 { MARK } else { JOINER });
            self.messages.push_str(&line);
            self.ends.push(self.messages.len());
            self.haystacks.clear();
        }
    }

    fn line(&self, message: &ScanMessage) -> String {
        let name = message.name.as_deref().filter(|_| self.set.settings().include_names);
        match name {
            Some(name) => space::trim(&format!("{name}: {}", &*message.text)).to_owned(),
            None => space::trim(&message.text).to_owned(),
        }
    }

    fn search(&mut self, text: &str, searched: SearchedText<'_>) {
        self.bytes_left = self.bytes_left.saturating_sub(text.len());
        let automaton = self.set.automaton();
        self.hits.search(automaton, &letters::lower(text), searched);
        if automaton.has_exact() {
            self.hits.search_exact(automaton, text, searched);
        }
    }

    pub(crate) fn add_entries<'t>(&mut self, entries: impl Iterator<Item = (usize, &'t Text)>) {
        let (mut chunk, mut lower) = (Chunk::default(), Chunk::default());
        for (member, text) in entries {
            if text.len() > self.bytes_left {
                self.is_cut = true;
                continue;
            }
            self.bytes_left -= text.len();
            let number = self.pieces.len();
            self.pieces.push(member);
            chunk.push(text, number);
            lower.push(&letters::lower(text), number);
        }
        let automaton = self.set.automaton();
        self.hits.search(automaton, &lower.text, SearchedText::Pieces(&lower.ends));
        if automaton.has_exact() {
            self.hits.search_exact(automaton, &chunk.text, SearchedText::Pieces(&chunk.ends));
        }
        self.chunks.push(chunk);
        self.haystacks.clear();
    }

    pub(crate) fn has_recursion(&self) -> bool {
        !self.chunks.is_empty()
    }

    pub(crate) fn place(&self, found: FoundIn) -> KeyPlace {
        match found {
            FoundIn::Place(place) => place,
            FoundIn::Piece(number) => KeyPlace::Entry(self.pieces.get(number).copied().unwrap_or_default()),
        }
    }

    pub(crate) fn haystack(&mut self, view: View) -> Option<Rc<Haystack>> {
        if view.depth == 0 {
            return None;
        }
        self.read_to_depth(view.depth);
        let view = View { depth: view.depth.min(self.ends.len()), ..view };
        let key = (view, self.chunks.len());
        if let Some(known) = self.haystacks.get(&key) {
            return Some(known.clone());
        }
        let haystack = Rc::new(self.compose(view));
        self.haystacks.insert(key, haystack.clone());
        Some(haystack)
    }

    fn compose(&self, view: View) -> Haystack {
        let end = view.depth.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or_default();
        let messages = self.messages.get(..end).unwrap_or_default();
        let mut haystack = Haystack { text: messages.to_owned(), ..Haystack::default() };
        if messages.is_empty() {
            haystack.text.push_str(MARK);
        }
        let ends = self.ends.iter().take(view.depth).enumerate();
        haystack.parts = ends.map(|(index, end)| (*end, FoundIn::Place(KeyPlace::Message(index)))).collect();
        for source in Source::ALL {
            let is_wanted = view.sources & SourceSet::default().with(source).bits() != 0;
            if let Some(text) = self.input.sources.get(source).filter(|_| is_wanted) {
                haystack.push(text, FoundIn::Place(KeyPlace::Source(source)));
            }
        }
        for (index, text) in self.input.injected.iter().enumerate() {
            haystack.push(text, FoundIn::Place(KeyPlace::Injected(index)));
        }
        for chunk in self.chunks.iter().filter(|_| view.has_recursion) {
            haystack.text.push_str(JOINER);
            let start = haystack.text.len();
            haystack.text.push_str(&chunk.text);
            haystack
                .parts
                .extend(chunk.ends.iter().map(|(end, number)| (start + end, FoundIn::Piece(*number))));
        }
        haystack
    }
}

impl Chunk {
    fn push(&mut self, text: &str, number: usize) {
        if !self.ends.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.ends.push((self.text.len(), number));
    }
}

impl Haystack {
    fn push(&mut self, text: &str, found: FoundIn) {
        self.text.push_str(JOINER);
        self.text.push_str(text);
        self.parts.push((self.text.len(), found));
    }

    /// Returns the part where the match starts.
    pub(crate) fn find(&self, key: &PlainKey) -> Option<FoundIn> {
        if key.matching.case_sensitive {
            return keys::find(&self.text, key).map(|start| self.part_at(start));
        }
        let lower = self.lower.get_or_init(|| self.in_lower_case());
        let start = keys::find(&lower.text, key)?;
        Some(self.part(lower.ends.partition_point(|end| *end <= start)))
    }

    /// Converts each part separately.
    fn in_lower_case(&self) -> Lower {
        let mut lower = Lower::default();
        let mut start = 0;
        for (end, _) in &self.parts {
            lower.text.push_str(&letters::lower(self.text.get(start..*end).unwrap_or_default()));
            lower.ends.push(lower.text.len());
            start = *end;
        }
        lower.text.push_str(&letters::lower(self.text.get(start..).unwrap_or_default()));
        lower
    }

    pub(crate) fn part_at(&self, offset: usize) -> FoundIn {
        self.part(self.parts.partition_point(|(end, _)| *end <= offset))
    }

    fn part(&self, at: usize) -> FoundIn {
        let part = self.parts.get(at).or(self.parts.last());
        part.map_or(FoundIn::Place(KeyPlace::Message(0)), |(_, found)| *found)
    }
}
