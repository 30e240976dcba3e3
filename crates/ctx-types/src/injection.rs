use std::sync::Arc;

use crate::attachment::Attachment;
use crate::message::Role;
use crate::placement::Placement;
use crate::source::{Segment, Source};
use crate::text::Text;

/// A message from a worldbook or plug-in.
#[derive(Clone, Debug, PartialEq)]
pub struct Injection {
    /// Its source, which decides the order in a slot.
    pub rank: Rank,
    /// Tie-breaker before [`Rank`], ascending; 0 unless an importer sets it.
    pub lane: i64,
    /// Its placement.
    pub placement: Placement,
    /// Its role.
    pub role: Role,
    /// Its text, with expanded macros.
    pub text: Text,
    /// The source of each byte; empty if `source` wrote all.
    pub written: Vec<Segment>,
    /// Its source.
    pub source: Source,
    /// The speaker's name.
    pub name: Option<Arc<str>>,
    /// Its attachments.
    pub attachments: Vec<Attachment>,
}

impl Injection {
    /// Creates a system message of a plug-in.
    pub fn plugin(text: impl Into<Text>, placement: Placement, source: Source) -> Self {
        Self {
            rank: Rank::Plugin,
            lane: 0,
            placement,
            role: Role::System,
            text: text.into(),
            written: Vec::new(),
            source,
            name: None,
            attachments: Vec::new(),
        }
    }
}

/// Position of an injected message among the injections of its slot.
///
/// Not sent. All ranks compare as equal, because the comparison of messages covers only sent data.
#[derive(Clone, Copy, Debug)]
pub struct SlotRank {
    /// Tie-breaker before [`Rank`].
    pub lane: i64,
    /// Kind of the source.
    pub rank: Rank,
    /// Position in the preset or in the list of injections.
    pub position: usize,
    /// Intended slot of an injection before the loaded messages, because its slot is not loaded or is beyond
    /// the conversation: before message `front` of the whole conversation, without leading system messages. 0
    /// if beyond the conversation. A decision reports it.
    pub front: Option<usize>,
}

impl PartialEq for SlotRank {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Sources in the order of their messages, if slot, order, and lane are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rank {
    /// The preset.
    Preset,
    /// A worldbook.
    Worldbook,
    /// A plug-in.
    Plugin,
}
