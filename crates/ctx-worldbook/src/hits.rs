use crate::automaton::{Automaton, LiteralId};
use crate::reason::KeyPlace;
use crate::source::SourceSet;

const NONE: u32 = u32::MAX;

/// First match of each plain key in each kind of text.
#[derive(Debug)]
pub(crate) struct Hits {
    all: Vec<Hit>,
}

/// Small: a large book has many keys.
#[derive(Clone, Copy, Debug)]
struct Hit {
    message: u32,
    injected: u32,
    entry: u32,
    sources: SourceSet,
}

/// The texts that an entry searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct View {
    /// At 0, no text is searched at all.
    pub(crate) depth: usize,
    pub(crate) sources: SourceSet,
    pub(crate) has_recursion: bool,
}

impl Hits {
    pub(crate) fn new(automaton: &Automaton) -> Self {
        let none = Hit { message: NONE, injected: NONE, entry: NONE, sources: SourceSet::default() };
        Self { all: vec![none; automaton.len()] }
    }

    /// Returns whether the key had already matched in this kind of text. Texts of one kind must come in order.
    pub(crate) fn record(&mut self, literal: LiteralId, place: KeyPlace) -> bool {
        let Some(hit) = self.all.get_mut(literal.index()) else { return true };
        let (first, number) = match place {
            KeyPlace::Message(number) => (&mut hit.message, number),
            KeyPlace::Injected(number) => (&mut hit.injected, number),
            KeyPlace::Entry(number) => (&mut hit.entry, number),
            KeyPlace::Source(source) => {
                let is_known = hit.sources.contains(source);
                hit.sources = hit.sources.with(source);
                return is_known;
            }
        };
        let is_known = *first != NONE;
        if !is_known {
            *first = u32::try_from(number).unwrap_or(NONE - 1);
        }
        is_known
    }

    pub(crate) fn place(&self, literal: LiteralId, view: View) -> Option<KeyPlace> {
        let hit = self.all.get(literal.index()).filter(|_| view.depth > 0)?;
        let message = known(hit.message).filter(|message| *message < view.depth);
        (message.map(KeyPlace::Message))
            .or_else(|| hit.sources.first_common(view.sources).map(KeyPlace::Source))
            .or_else(|| known(hit.injected).map(KeyPlace::Injected))
            .or_else(|| known(hit.entry).filter(|_| view.has_recursion).map(KeyPlace::Entry))
    }
}

fn known(number: u32) -> Option<usize> {
    (number != NONE).then_some(number as usize)
}
