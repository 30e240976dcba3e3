//! Injections: messages that something else than the preset wants in the context.

use std::fmt;
use std::sync::Arc;

use crate::attachment::Attachment;
use crate::message::Role;
use crate::placement::Placement;
use crate::source::{Segment, Source};
use crate::text::Text;

/// A message that a worldbook or a plug-in hands to the assembler, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Injection {
    /// Who hands it in; decides the rank at a gap.
    pub rank: Rank,
    /// The rank before [`Rank`] is compared, ascending; 0 unless an importer sets it.
    pub lane: i64,
    /// Where it goes.
    pub placement: Placement,
    /// Who speaks it.
    pub role: Role,
    /// The text; macros are expanded already.
    pub text: Text,
    /// Where each byte of the text came from; empty when all of it is from `source`.
    pub written: Vec<Segment>,
    /// Where it came from.
    pub source: Source,
    /// The name of the speaker, if any.
    pub name: Option<Arc<str>>,
    /// Files that travel with it.
    pub attachments: Vec<Attachment>,
}

impl Injection {
    /// Creates an injection of a plug-in: a system message.
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

/// Who placed something at a gap of the history; among equal order and lane, ascending.
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
