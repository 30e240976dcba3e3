//! From the unified form of an agent back into the document that it was read from.

use crate::imported::{Moved, Moves, relocated};

/// Places of the parts of an agent in its document.
///
/// ```
/// use ctx_anchors::AnchorRegistry;
/// use ctx_preset_import::{Document, agent_of};
///
/// let preset = Document::read(br#"[{ "role": "system", "content": "Be kind." }]"#, "kind.json")?;
/// let (_, origin) = agent_of(preset, "kind.json", &AnchorRegistry::system())?;
/// assert_eq!(origin.pointer("/presetMessages/0/content"), "/0/content");
/// # Ok::<(), ctx_preset_import::ImportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct AgentOrigin {
    form: &'static [Moved<'static>],
    /// The index of each entry in the document, where others became greetings.
    entries: Vec<usize>,
}

impl AgentOrigin {
    pub(super) fn new(moves: &Moves) -> Self {
        let entries = moves.greetings.iter().enumerate().filter(|(_, is_greeting)| !**is_greeting);
        Self { form: moves.form, entries: entries.map(|(index, _)| index).collect() }
    }

    /// Leads a JSON pointer into the unified form to the same place of the document.
    pub fn pointer(&self, pointer: &str) -> String {
        let moved = || {
            let below = pointer.strip_prefix("/presetMessages/")?;
            let (index, rest) = below.split_at(below.find('/').unwrap_or(below.len()));
            let index = self.entries.get(index.parse::<usize>().ok()?)?;
            Some(format!("/presetMessages/{index}{rest}"))
        };
        relocated(&moved().unwrap_or_else(|| pointer.to_owned()), self.form)
    }
}
