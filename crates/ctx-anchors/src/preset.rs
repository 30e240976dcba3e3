use std::sync::Arc;

use ctx_types::{Attachment, CHAT_HISTORY, Content, Phrase, Placement, Role, Source, UnplacedHistory};

use crate::model_match::{ModelRule, Target};

/// A compiled preset, reusable for any number of conversations.
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

/// An entry of a compiled preset.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Index in the preset list, from 0.
    pub index: usize,
    /// Type of the entry.
    pub part: EntryPart,
    /// Role.
    pub role: Role,
    /// Content before macro expansion.
    pub content: Content,
    /// Attachments.
    pub attachments: Vec<Attachment>,
    /// Position; for an anchor [`Placement::InOrder`], except for world info.
    pub placement: Placement,
    /// Tie-breaker for equal orders, compared before the type of item.
    pub lane: i64,
    /// Source of the author's bytes.
    pub source: Source,
    /// Generation types; all if empty.
    pub triggers: Vec<Arc<str>>,
    pub(crate) switch: Switch,
}

/// Type of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryPart {
    /// Message.
    Message,
    /// Position of the history.
    History,
    /// Anchor whose own content is not sent.
    Placeholder {
        /// Anchor id.
        anchor: Arc<str>,
    },
    /// Anchor whose own content is sent unless blank.
    Template {
        /// Anchor id.
        anchor: Arc<str>,
    },
    /// Ignored: a malformed entry, a placeholder without an id, or a second history position.
    Nothing,
}

#[derive(Clone, Debug)]
pub(crate) enum Switch {
    On,
    Off(Phrase),
    When(Arc<ModelRule>),
}

pub(crate) const WORLD_INFO: [&str; 2] = ["world_info_before", "world_info_after"];

impl Preset {
    /// Sets whether injections are dropped if their anchor is inactive. By default, they are placed nearby.
    ///
    /// Injections for an anchor that the preset lacks always use a fallback position.
    #[must_use]
    pub fn omit_at_disabled_anchors(mut self, omits: bool) -> Self {
        self.omits_at_switched_off = omits;
        self
    }

    /// Sets whether messages with only white space are sent, as in `SillyTavern`. By default, they are
    /// dropped.
    #[must_use]
    pub fn send_white_space(mut self, sends: bool) -> Self {
        self.sends_white_space = sends;
        self
    }

    /// Sets whether world info uses the role and depth of its anchor's entry, as in `SillyTavern`. By
    /// default, each injection has its own role and the entry's list position.
    #[must_use]
    pub fn place_world_info(mut self, places: bool) -> Self {
        self.places_world_info = places;
        self
    }

    /// Returns all entries in list order, including disabled ones.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns whether the history is sent, at its entry or after all entries.
    pub fn sends_history(&self) -> bool {
        self.places_history() || self.unplaced == UnplacedHistory::Append
    }

    /// Returns whether an entry sets the position of the history.
    pub fn places_history(&self) -> bool {
        self.entries.iter().any(|entry| entry.part == EntryPart::History)
    }
}

impl Entry {
    /// Returns the id of the declared anchor.
    pub fn anchor(&self) -> Option<&str> {
        match &self.part {
            EntryPart::History => Some(CHAT_HISTORY),
            EntryPart::Placeholder { anchor } | EntryPart::Template { anchor } => Some(anchor),
            EntryPart::Message | EntryPart::Nothing => None,
        }
    }

    /// Returns whether the entry is a world info anchor.
    pub fn is_world_info(&self) -> bool {
        matches!(&self.part, EntryPart::Placeholder { anchor } if WORLD_INFO.contains(&&**anchor))
    }

    /// Returns whether the entry's own content is sent.
    pub fn has_own_content(&self) -> bool {
        matches!(self.part, EntryPart::Message | EntryPart::Template { .. })
    }

    /// Returns the reason if the entry is disabled for all targets.
    pub fn off_reason(&self) -> Option<&Phrase> {
        match &self.switch {
            Switch::Off(reason) => Some(reason),
            Switch::On | Switch::When(_) => None,
        }
    }

    /// Returns whether the entry is active for a target.
    pub fn is_active(&self, target: Target<'_>) -> bool {
        self.is_triggered(target)
            && match &self.switch {
                Switch::On => true,
                Switch::Off(_) => false,
                Switch::When(rule) => rule.matches_target(target),
            }
    }

    /// Returns whether the entry applies to the generation type.
    pub(crate) fn is_triggered(&self, target: Target<'_>) -> bool {
        let is_meant = |kind: &str| self.triggers.iter().any(|trigger| &**trigger == kind);
        self.triggers.is_empty() || target.kind.is_none_or(is_meant)
    }
}
