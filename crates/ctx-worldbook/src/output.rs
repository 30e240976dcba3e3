use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::{Phrase, Role, phrase};

use crate::entry::Destination;
use crate::scan::Scan;
use crate::set::BookSet;

/// Active entries by destination, as indexes into [`Scan::activations`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Placed entries by ascending order. As in SillyTavern, equal entries are in reverse order of
    /// consideration.
    pub in_order: Vec<usize>,
    pub before_character: Vec<usize>,
    pub after_character: Vec<usize>,
    pub note_top: Vec<usize>,
    pub note_bottom: Vec<usize>,
    /// Around the examples; `true` is above.
    pub examples: Vec<(usize, bool)>,
    /// By depth and role, in the order of their last entries, counted from the end of `in_order`.
    pub depths: Vec<DepthTexts>,
    /// By outlet name, in the order of consideration, as in SillyTavern.
    pub outlets: BTreeMap<Arc<str>, Vec<usize>>,
    pub elsewhere: Vec<usize>,
    pub unplaced: Vec<(usize, UnplacedReason)>,
}

/// Entries with the same depth and role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthTexts {
    pub depth: u64,
    pub role: Role,
    pub entries: Vec<usize>,
}

/// Reason why an entry is not placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnplacedReason {
    Blank,
    NamelessOutlet,
}

impl UnplacedReason {
    /// Describes the reason.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::Blank => phrase!("its content is empty"),
            Self::NamelessOutlet => phrase!("its outlet has no name"),
        }
    }
}

impl BookSet {
    /// Groups active entries by destination.
    pub fn output(&self, scan: &Scan) -> Output {
        let mut order: Vec<usize> = (0..scan.activations.len()).collect();
        let entry = |at: usize| &self.members()[scan.activations[at].member].entry;
        order.sort_by_key(|at| std::cmp::Reverse(entry(*at).order));
        let mut output = Output::default();
        let mut depths = BTreeMap::new();
        for at in order {
            let entry = entry(at);
            if scan.activations[at].content.is_empty() {
                output.unplaced.push((at, UnplacedReason::Blank));
                continue;
            }
            let role = entry.role.unwrap_or(Role::System);
            if let Destination::Depth(depth) = entry.destination {
                let place = *depths.entry((depth, role)).or_insert_with(|| output.add_depth(depth, role));
                output.depths[place].entries.push(at);
            }
            output.place(at, &entry.destination);
        }
        output.turn();
        output
    }
}

impl Output {
    fn place(&mut self, at: usize, destination: &Destination) {
        match destination {
            Destination::BeforeCharacter => self.before_character.push(at),
            Destination::AfterCharacter => self.after_character.push(at),
            Destination::NoteTop => self.note_top.push(at),
            Destination::NoteBottom => self.note_bottom.push(at),
            Destination::ExamplesTop => self.examples.push((at, true)),
            Destination::ExamplesBottom => self.examples.push((at, false)),
            Destination::Depth(_) => {}
            Destination::Outlet(name) if name.is_empty() => {
                self.unplaced.push((at, UnplacedReason::NamelessOutlet));
                return;
            }
            Destination::Outlet(name) => self.outlets.entry(name.clone()).or_default().push(at),
            Destination::FromStart(_) | Destination::Personality | Destination::Scenario => {
                self.elsewhere.push(at);
            }
        }
        self.in_order.push(at);
    }

    /// Returns the index.
    fn add_depth(&mut self, depth: u64, role: Role) -> usize {
        self.depths.push(DepthTexts { depth, role, entries: Vec::new() });
        self.depths.len() - 1
    }

    /// The lists were filled in descending order.
    fn turn(&mut self) {
        self.in_order.reverse();
        self.before_character.reverse();
        self.after_character.reverse();
        self.note_top.reverse();
        self.note_bottom.reverse();
        self.examples.reverse();
        self.elsewhere.reverse();
        for texts in &mut self.depths {
            texts.entries.reverse();
        }
    }
}
