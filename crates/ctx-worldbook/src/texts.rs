use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ctx_types::{Text, space};

use crate::hits::{Hits, View};
use crate::input::{ScanInput, ScanMessage};
use crate::keys::{self, PlainKey};
use crate::letters;
use crate::reason::KeyPlace;
use crate::scan::Activation;
use crate::set::BookSet;
use crate::source::Source;

/// Precedes each text, as in SillyTavern. Prevents matches across two messages.
const MARK: &str = "\u{1}";
const JOINER: &str = "\n\u{1}";

pub(crate) struct Texts<'r> {
    set: &'r BookSet,
    input: &'r ScanInput<'r>,
    pub(crate) hits: Hits,
    /// Newest first.
    messages: Vec<String>,
    /// Texts of active entries, by pass.
    passes: Vec<Haystack>,
    haystacks: BTreeMap<View, Rc<Haystack>>,
    bytes_left: usize,
    pub(crate) is_cut: bool,
}

/// Joined texts.
#[derive(Debug, Default)]
pub(crate) struct Haystack {
    pub(crate) text: String,
    parts: Vec<Part>,
    lower: OnceCell<Box<Haystack>>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    end: usize,
    place: KeyPlace,
}

impl<'r> Texts<'r> {
    pub(crate) fn new(set: &'r BookSet, input: &'r ScanInput<'r>) -> Self {
        let mut texts = Self {
            set,
            input,
            hits: Hits::new(set.automaton()),
            messages: Vec::new(),
            passes: Vec::new(),
            haystacks: BTreeMap::new(),
            bytes_left: set.limits().text_bytes,
            is_cut: false,
        };
        for source in Source::ALL {
            if let Some(text) = input.sources.get(source) {
                texts.search_outside(text, KeyPlace::Source(source));
            }
        }
        for (index, text) in input.injected.iter().enumerate() {
            texts.search_outside(text, KeyPlace::Injected(index));
        }
        texts
    }

    pub(crate) fn read_to_depth(&mut self, depth: usize) {
        let depth = depth.min(self.input.messages.len()).min(self.set.limits().messages);
        let newest_first = self.input.messages.iter().rev().enumerate();
        for (index, message) in newest_first.take(depth).skip(self.messages.len()) {
            let line = self.line(message);
            if !self.fits(&line) {
                return;
            }
            let line = Haystack::new(line, KeyPlace::Message(index));
            self.search(&line);
            self.messages.push(line.text);
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

    fn fits(&mut self, text: &str) -> bool {
        let left = self.bytes_left.checked_sub(text.len());
        self.bytes_left = left.unwrap_or(self.bytes_left);
        self.is_cut |= left.is_none();
        left.is_some()
    }

    fn search_outside(&mut self, text: &Text, place: KeyPlace) {
        self.bytes_left = self.bytes_left.saturating_sub(text.len());
        self.search(&Haystack::new(text.to_string(), place));
    }

    /// Searches for all plain keys.
    fn search(&mut self, haystack: &Haystack) {
        let (automaton, hits) = (self.set.automaton(), &mut self.hits);
        let lower = haystack.lower();
        automaton
            .search_folded(&lower.text, &mut |literal, end| hits.record(literal, lower.place_before(end)));
        if automaton.has_exact() {
            let text = &haystack.text;
            automaton
                .search_exact(text, &mut |literal, end| hits.record(literal, haystack.place_before(end)));
        }
    }

    pub(crate) fn add_entries(&mut self, activations: &[&Activation]) {
        let mut pass = Haystack::default();
        for Activation { member, content: text, .. } in activations.iter().copied() {
            if self.fits(text) {
                let separator = if pass.parts.is_empty() { "" } else { "\n" };
                pass.push(separator, text, KeyPlace::Entry(*member));
            }
        }
        self.search(&pass);
        self.passes.push(pass);
        self.haystacks.clear();
    }

    pub(crate) fn has_recursion(&self) -> bool {
        !self.passes.is_empty()
    }

    /// Returns the text for regular expressions and keys with macros.
    pub(crate) fn haystack(&mut self, view: View) -> Option<Rc<Haystack>> {
        if view.depth == 0 {
            return None;
        }
        let view = View { depth: view.depth.min(self.messages.len()), ..view };
        if let Some(known) = self.haystacks.get(&view) {
            return Some(known.clone());
        }
        let haystack = Rc::new(self.compose(view));
        self.haystacks.insert(view, haystack.clone());
        Some(haystack)
    }

    fn compose(&self, view: View) -> Haystack {
        let mut haystack = Haystack { text: MARK.to_owned(), ..Haystack::default() };
        for (index, line) in self.messages.iter().take(view.depth).enumerate() {
            let separator = if index == 0 { "" } else { JOINER };
            haystack.push(separator, line, KeyPlace::Message(index));
        }
        for source in Source::ALL.into_iter().filter(|source| view.sources.contains(*source)) {
            if let Some(text) = self.input.sources.get(source) {
                haystack.push(JOINER, text, KeyPlace::Source(source));
            }
        }
        for (index, text) in self.input.injected.iter().enumerate() {
            haystack.push(JOINER, text, KeyPlace::Injected(index));
        }
        for pass in self.passes.iter().filter(|_| view.has_recursion) {
            haystack.text.push_str(JOINER);
            let start = haystack.text.len();
            haystack.text.push_str(&pass.text);
            haystack.parts.extend(pass.parts.iter().map(|part| Part { end: start + part.end, ..*part }));
        }
        haystack
    }
}

impl Haystack {
    fn new(text: String, place: KeyPlace) -> Self {
        let parts = vec![Part { end: text.len(), place }];
        Self { text, parts, ..Self::default() }
    }

    fn push(&mut self, separator: &str, text: &str, place: KeyPlace) {
        self.text.push_str(separator);
        self.text.push_str(text);
        self.parts.push(Part { end: self.text.len(), place });
    }

    /// Returns the part where the match starts.
    pub(crate) fn find(&self, key: &PlainKey) -> Option<KeyPlace> {
        let searched = if key.matching.case_sensitive { self } else { self.lower() };
        Some(searched.place_at(keys::find(&searched.text, key)?))
    }

    /// Converts each part separately: lengths can change.
    fn lower(&self) -> &Self {
        self.lower.get_or_init(|| {
            let mut lower = Self::default();
            let mut start = 0;
            for Part { end, place } in &self.parts {
                lower.push("", &letters::lower(&self.text[start..*end]), *place);
                start = *end;
            }
            Box::new(lower)
        })
    }

    /// Returns the place of a match that starts here.
    pub(crate) fn place_at(&self, start: usize) -> KeyPlace {
        self.place(self.parts.partition_point(|part| part.end <= start))
    }

    /// Returns the place of a match that ends here.
    fn place_before(&self, end: usize) -> KeyPlace {
        self.place(self.parts.partition_point(|part| part.end < end))
    }

    fn place(&self, at: usize) -> KeyPlace {
        let part = self.parts.get(at).or(self.parts.last());
        part.map_or(KeyPlace::Message(0), |part| part.place)
    }
}
