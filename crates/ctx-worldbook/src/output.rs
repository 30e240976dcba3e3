//! Where the texts of active entries go.

use std::collections::BTreeMap;
use std::sync::Arc;

use ctx_types::{Phrase, Role, phrase};

use crate::entry::Destination;
use crate::scan::Scan;
use crate::set::BookSet;

/// The active entries by where they go; what stands in the lists are their numbers in [`Scan::activations`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// All that go somewhere, in the order in which their texts stand: ascending by order, and among equals those
    /// first that were considered last, as SillyTavern has it.
    pub in_order: Vec<usize>,
    /// Before the description of the character.
    pub before_character: Vec<usize>,
    /// After it.
    pub after_character: Vec<usize>,
    /// Above the author's note.
    pub note_top: Vec<usize>,
    /// Below it.
    pub note_bottom: Vec<usize>,
    /// Around the examples of dialogue, each with whether it goes above them.
    pub examples: Vec<(usize, bool)>,
    /// At depths of the conversation, by depth and speaker, in the order in which these first come from the end.
    pub depths: Vec<DepthTexts>,
    /// By the names of outlets; here the first to be considered come first, as SillyTavern has it.
    pub outlets: BTreeMap<Arc<str>, Vec<usize>>,
    /// Elsewhere: so many messages after the beginning, behind the personality, behind the scenario.
    pub elsewhere: Vec<usize>,
    /// What goes nowhere, and why.
    pub unplaced: Vec<(usize, Unplaced)>,
}

/// The entries at one depth that one speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DepthTexts {
    /// The depth.
    pub depth: u64,
    /// Who speaks.
    pub role: Role,
    /// The entries.
    pub entries: Vec<usize>,
}

/// Why an active entry goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unplaced {
    /// Nothing is left of its text.
    Blank,
    /// Its outlet has no name.
    NamelessOutlet,
}

impl Unplaced {
    /// Returns the words for reports.
    pub fn phrase(self) -> Phrase {
        match self {
            Self::Blank => phrase!("its content is empty"),
            Self::NamelessOutlet => phrase!("its outlet has no name"),
        }
    }
}

impl BookSet {
    /// Sorts the active entries of a scan by where they go.
    pub fn output(&self, scan: &Scan) -> Output {
        let mut order: Vec<usize> = (0..scan.activations.len()).collect();
        let entry = |at: usize| {
            let activation = scan.activations.get(at)?;
            self.members().get(activation.member).map(|member| (&member.entry, &activation.content))
        };
        order.sort_by_key(|at| entry(*at).map(|(entry, _)| std::cmp::Reverse(entry.order)));
        let mut output = Output::default();
        let mut depths = BTreeMap::new();
        for at in order {
            let Some((entry, content)) = entry(at) else { continue };
            if content.is_empty() {
                output.unplaced.push((at, Unplaced::Blank));
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
    /// Places the next entry in descending order.
    fn place(&mut self, at: usize, destination: &Destination) {
        match destination {
            Destination::BeforeCharacter => self.before_character.push(at),
            Destination::AfterCharacter => self.after_character.push(at),
            Destination::NoteTop => self.note_top.push(at),
            Destination::NoteBottom => self.note_bottom.push(at),
            Destination::ExamplesTop => self.examples.push((at, true)),
            Destination::ExamplesBottom => self.examples.push((at, false)),
            // The entry is already stored with its depth.
            Destination::Depth(_) => {}
            Destination::Outlet(name) if name.is_empty() => {
                self.unplaced.push((at, Unplaced::NamelessOutlet));
                return;
            }
            Destination::Outlet(name) => self.outlets.entry(name.clone()).or_default().push(at),
            Destination::FromStart(_) | Destination::Personality | Destination::Scenario => {
                self.elsewhere.push(at);
            }
        }
        self.in_order.push(at);
    }

    /// Adds a depth without entries. Returns its index.
    fn add_depth(&mut self, depth: u64, role: Role) -> usize {
        self.depths.push(DepthTexts { depth, role, entries: Vec::new() });
        self.depths.len() - 1
    }

    /// Turns lists around, since they were filled in descending order.
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
