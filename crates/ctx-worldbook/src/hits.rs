use crate::automaton::{Automaton, LiteralId};
use crate::source::SourceSet;
use crate::status::KeyPlace;

/// First match of each plain key in each kind of text.
#[derive(Debug)]
pub(crate) struct Hits {
    all: Vec<Hit>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Hit {
    message: Option<usize>,
    injected: Option<usize>,
    entry: Option<usize>,
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
        Self { all: vec![Hit::default(); automaton.len()] }
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
        let is_known = first.is_some();
        first.get_or_insert(number);
        is_known
    }

    pub(crate) fn place(&self, literal: LiteralId, view: View) -> Option<KeyPlace> {
        let hit = self.all.get(literal.index()).filter(|_| view.depth > 0)?;
        let message = hit.message.filter(|message| *message < view.depth);
        let entry = hit.entry.filter(|_| view.has_recursion);
        let source = hit.sources.first_common(view.sources);
        let outside = source.map(KeyPlace::Source).or(hit.injected.map(KeyPlace::Injected));
        message.map(KeyPlace::Message).or(outside).or(entry.map(KeyPlace::Entry))
    }
}
