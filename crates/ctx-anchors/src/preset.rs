//! A compiled preset: each entry with its part, placement and switch, checked once.

use std::sync::Arc;

use ctx_types::{Attachment, CHAT_HISTORY, Content, Phrase, Placement, Role, Source, UnplacedHistory};

use crate::model_match::{ModelRule, Target};

/// A preset, ready to be assembled with any number of conversations. `Send + Sync`.
///
/// ```
/// use ctx_anchors::{AnchorRegistry, Preset};
/// use ctx_types::{Agent, Persist, Reader};
///
/// let file = serde_json::json!({ "presetMessages": [
///     { "role": "user", "content": "lost", "anchorTarget": "chat_histroy" },
/// ] });
/// let agent = Agent::read(file, &mut Reader::new());
/// let (preset, diagnostics) = Preset::compile(&agent, &AnchorRegistry::system());
/// assert_eq!(preset.entries().len(), 1);
/// assert_eq!(diagnostics[0].code.to_string(), "CTX0200");
/// ```
#[derive(Clone, Debug)]
pub struct Preset {
    pub(crate) entries: Vec<Entry>,
    pub(crate) unplaced: UnplacedHistory,
    pub(crate) omits_at_switched_off: bool,
    pub(crate) sends_white_space: bool,
    pub(crate) places_world_info: bool,
}

/// One entry of a compiled preset.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its position in the preset list, counted from 0.
    pub index: usize,
    /// What it is.
    pub part: Part,
    /// Who speaks it.
    pub role: Role,
    /// What it says, before macros are expanded.
    pub content: Content,
    /// Files that travel with it.
    pub attachments: Vec<Attachment>,
    /// Where it goes; always [`Placement::InOrder`] for an anchor, except one of world info.
    pub placement: Placement,
    /// The rank among others of the same order, before the kind of thing is compared.
    pub lane: i64,
    /// The source of the bytes that its author wrote.
    pub source: Source,
    /// For which kinds of generation it is; for all if empty.
    pub triggers: Vec<Arc<str>>,
    pub(crate) switch: Switch,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A message.
    Message,
    /// The place of the conversation.
    History,
    /// A place for other things; its own content is never sent.
    Placeholder {
        /// The id of the anchor.
        anchor: Arc<str>,
    },
    /// A place for other things whose own content is sent too, unless it is blank.
    Template {
        /// The id of the anchor.
        anchor: Arc<str>,
    },
    /// Nothing: a malformed entry, a placeholder without an id, a second place of the conversation.
    Nothing,
}

/// Whether an entry takes part.
#[derive(Clone, Debug)]
pub(crate) enum Switch {
    On,
    /// Switched off, with the reason.
    Off(Phrase),
    /// On for the targets that the rule admits.
    When(Arc<ModelRule>),
}

/// The anchors of world info.
pub(crate) const WORLD_INFO: [&str; 2] = ["world_info_before", "world_info_after"];

impl Preset {
    /// Has injections left out whose anchor takes no part in a turn; otherwise they stand somewhere near.
    ///
    /// An anchor that the preset does not have at all always has something else stand in for it.
    #[must_use]
    pub fn omitting_at_switched_off_anchors(mut self, omits: bool) -> Self {
        self.omits_at_switched_off = omits;
        self
    }

    /// Has messages sent whose text is white space alone, as `SillyTavern` sends them; otherwise they are left out.
    #[must_use]
    pub fn sending_white_space(mut self, sends: bool) -> Self {
        self.sends_white_space = sends;
        self
    }

    /// Has world info inserted with the role and the depth of its anchor's entry, as `SillyTavern` inserts it. Otherwise
    /// each injection has its own role and the entry's position in the list.
    #[must_use]
    pub fn placing_world_info(mut self, places: bool) -> Self {
        self.places_world_info = places;
        self
    }

    /// Returns the entries in list order, switched off ones included.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns whether the conversation is sent: an entry says where it goes, or it follows all of them.
    pub fn sends_history(&self) -> bool {
        self.places_history() || self.unplaced == UnplacedHistory::Append
    }

    /// Returns whether the preset says where the conversation goes.
    pub fn places_history(&self) -> bool {
        self.entries.iter().any(|entry| entry.part == Part::History)
    }
}

impl Entry {
    /// Returns the id of the anchor that the entry declares.
    pub fn anchor(&self) -> Option<&str> {
        match &self.part {
            Part::History => Some(CHAT_HISTORY),
            Part::Placeholder { anchor } | Part::Template { anchor } => Some(anchor),
            Part::Message | Part::Nothing => None,
        }
    }

    /// Returns whether the entry is an anchor of world info.
    pub fn is_world_info(&self) -> bool {
        matches!(&self.part, Part::Placeholder { anchor } if WORLD_INFO.contains(&&**anchor))
    }

    /// Returns whether the entry's own content is sent: that of a message or of a template anchor.
    pub fn has_own_content(&self) -> bool {
        matches!(self.part, Part::Message | Part::Template { .. })
    }

    /// Returns why the entry takes no part, if it is switched off whatever the target.
    pub fn off_reason(&self) -> Option<&Phrase> {
        match &self.switch {
            Switch::Off(reason) => Some(reason),
            Switch::On | Switch::When(_) => None,
        }
    }

    /// Returns whether the entry takes part for a target.
    pub fn is_active(&self, target: Target<'_>) -> bool {
        self.is_triggered(target)
            && match &self.switch {
                Switch::On => true,
                Switch::Off(_) => false,
                Switch::When(rule) => rule.admits(target),
            }
    }

    /// Returns whether the entry is for what is generated.
    pub fn is_triggered(&self, target: Target<'_>) -> bool {
        let is_meant = |kind: &str| self.triggers.iter().any(|trigger| &**trigger == kind);
        self.triggers.is_empty() || target.kind.is_none_or(is_meant)
    }
}
