//! Data types of the `ctx` crates: messages, sessions, presets, worldbooks, and diagnostics.
//!
//! Start with [`Agent`]. [`Persist`] reads and writes files without losing unknown keys.
//!
//! The root has agents, messages, sources and diagnostics. Conversations are in [`session`], the results of an
//! assembly in [`report`], services of the host in [`ports`], and worldbooks in [`worldbook`]. The crate does no I/O.
//!
//! ```
//! use ctx_types::{Role, groups};
//! use ctx_types::session::{Node, Session, Window};
//!
//! let nodes = [Node::new(Role::User, "hello"), Node::new(Role::Assistant, "hi"), Node::new(Role::User, "…")];
//! let (session, _) = Session::linear("s1", nodes);
//! let messages: Vec<_> = session.path().iter().map(|node| node.to_message(&"n".into())).collect();
//! assert_eq!(groups(&messages).len(), 3);
//! assert_eq!(Window::from_messages(messages).settled_len(), 2);
//! ```
#![warn(clippy::disallowed_methods)]

mod agent;
mod attachment;
mod block;
mod cache_mark;
pub mod codes;
mod config_field;
mod content;
mod decision;
mod depth;
mod diagnostic;
mod fields;
mod fingerprint;
mod fix;
mod group;
mod injection;
mod log_line;
mod message;
mod misspelled_keys;
mod note;
mod part_owner;
mod persist;
mod phrasing;
mod placement;
mod pointer;
pub mod ports;
mod processor_id;
mod regex_config;
pub mod report;
mod request_rules;
#[cfg(feature = "schema")]
mod schema;
pub mod session;
mod source;
mod sourced_text;
pub mod space;
mod split_mix;
mod suggest;
mod text;
mod text_cache;
mod turn;
mod window;
mod wording;
mod words;
pub mod worldbook;

pub use agent::*;
pub use attachment::*;
pub use cache_mark::*;
pub use config_field::{ConfigField, FieldKind, FieldOption};
pub use content::*;
pub use depth::{DepthPoints, MAX_POINTS};
pub use diagnostic::*;
pub use fix::{Edit, Fix};
pub use group::groups;
pub use injection::Injection;
pub use message::{Message, MessageExtras, MessageFields, Place, Reasoning, Role, ToolCall};
pub use note::{Note, NoteLine, NoteLineKind, Speaker};
pub use persist::{Persist, Reader};
pub use phrasing::Phrase;
pub use placement::*;
pub use regex_config::*;
pub use source::{ListPosition, Segment, Source, SourceKind, Trust};
pub use text::*;
pub use turn::*;

// Used by other crates of `ctx`. Not part of the API: it can change in every release.
#[doc(hidden)]
pub mod internal {
    pub use crate::block::{BlockFields, BlockKind, BlockOrder};
    pub use crate::fingerprint::Fingerprint;
    pub use crate::group::each_group;
    pub use crate::injection::{Rank, SlotRank};
    pub use crate::message::JoinRule;
    pub use crate::misspelled_keys::{check_agent_keys, check_profile_keys, check_worldbook_keys, meant_key};
    pub use crate::part_owner::PartOwner;
    pub use crate::persist::UnknownKeys;
    pub use crate::phrasing::{Argument, Divider, PhrasePart, ToArgument, template_fits};
    pub use crate::pointer::{pointer_key, pointer_step};
    pub use crate::processor_id::canonical_id;
    pub use crate::request_rules::{
        CallIdRule, OutputLimit, ReasoningState, RequestRules, SamplerRule, StopRule, ThinkingRule, TopKRule,
    };
    pub use crate::session::appendix::{AppendedFact, SummaryAppendix};
    pub use crate::session::hidden::{DisplayNode, DisplayState, display_path};
    pub use crate::session::sent_messages::{OmissionReason, OmittedMessages};
    pub use crate::session::sent_record::{
        RecordEnd, SentFields, SentMessage, SentPrefix, SentRecord, fingerprint_of, has_marks, remove_marks,
        without_marks,
    };
    pub use crate::source::is_partition;
    pub use crate::sourced_text::{SourcedText, segments_in, sources_in};
    pub use crate::split_mix::SplitMix64;
    pub use crate::suggest::{NearestName, closest, nearest, nearest_key};
    pub use crate::text_cache::TextCache;
    pub use crate::wording::{excerpt, plural, thousands};
}
