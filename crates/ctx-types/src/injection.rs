use std::fmt;
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

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preset => "preset",
            Self::Worldbook => "worldbook",
            Self::Plugin => "plug-in",
        })
    }
}
