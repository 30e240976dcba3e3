use crate::automaton::{Automaton, LiteralId};
use crate::source::{Source, SourceSet};
use crate::status::KeyPlace;

const NONE: u32 = u32::MAX;

/// First match of each plain key in each kind of text.
#[derive(Debug)]
pub(crate) struct Hits {
    all: Vec<Hit>,
}

#[derive(Clone, Copy, Debug)]
struct Hit {
    message: u32,
    injected: u32,
    /// Number of the text among those of active entries.
    piece: u32,
    sources: SourceSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct View {
    /// At 0, no text is searched at all.
    pub(crate) depth: usize,
    pub(crate) sources: u8,
    pub(crate) has_recursion: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SearchedText<'a> {
    Message(usize),
    Source(Source),
    Injected(usize),
    /// The end and the number of each text of an entry.
    Pieces(&'a [(usize, usize)]),
}

impl Hits {
    pub(crate) fn new(automaton: &Automaton) -> Self {
        let none = Hit { message: NONE, injected: NONE, piece: NONE, sources: SourceSet::default() };
        Self { all: vec![none; automaton.len()] }
    }

    /// Searches a text in lower case. Texts of one kind must come in order.
    pub(crate) fn search(&mut self, automaton: &Automaton, lower: &str, searched: SearchedText<'_>) {
        automaton.search_folded(lower, &mut |literal, end| self.note(literal, end, searched));
    }

    pub(crate) fn search_exact(&mut self, automaton: &Automaton, text: &str, searched: SearchedText<'_>) {
        automaton.search_exact(text, &mut |literal, end| self.note(literal, end, searched));
    }

    /// Returns whether the key had already matched in this kind of text.
    fn note(&mut self, literal: LiteralId, end: usize, searched: SearchedText<'_>) -> bool {
        let Some(hit) = self.all.get_mut(literal.index()) else { return true };
        match searched {
            SearchedText::Message(index) => first(&mut hit.message, index),
            SearchedText::Injected(index) => first(&mut hit.injected, index),
            SearchedText::Source(source) => {
                let is_known = hit.sources.contains(source);
                hit.sources = hit.sources.with(source);
                is_known
            }
            SearchedText::Pieces(pieces) => {
                let at = pieces.partition_point(|(piece_end, _)| *piece_end < end);
                first(&mut hit.piece, pieces.get(at).map_or(0, |(_, number)| *number))
            }
        }
    }

    pub(crate) fn place(&self, literal: LiteralId, view: View) -> Option<FoundIn> {
        let hit = self.all.get(literal.index())?;
        if view.depth == 0 {
            return None;
        }
        if hit.message != NONE && (hit.message as usize) < view.depth {
            return Some(FoundIn::Place(KeyPlace::Message(hit.message as usize)));
        }
        let source = Source::ALL.into_iter().find(|source| {
            hit.sources.contains(*source) && view.sources & SourceSet::default().with(*source).bits() != 0
        });
        if let Some(source) = source {
            return Some(FoundIn::Place(KeyPlace::Source(source)));
        }
        if hit.injected != NONE {
            return Some(FoundIn::Place(KeyPlace::Injected(hit.injected as usize)));
        }
        (view.has_recursion && hit.piece != NONE).then_some(FoundIn::Piece(hit.piece as usize))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoundIn {
    Place(KeyPlace),
    Piece(usize),
}

fn first(slot: &mut u32, index: usize) -> bool {
    let index = u32::try_from(index).unwrap_or(NONE - 1);
    let is_known = *slot <= index;
    *slot = (*slot).min(index);
    is_known
}
