//! Data types of the `ctx` crates: messages, sessions, presets, worldbooks, and diagnostics.
//!
//! Start with [`session::Session`] and [`Agent`].
//!
//! The root has what agents and requests consist of: [`Agent`], [`Message`], [`Source`], [`Diagnostic`]. The other
//! items are in [`session`] (conversations), [`report`] (what an assembly did), [`ports`] (services of the host) and
//! [`worldbook`]. The crate does no I/O. [`Persist`] reads and writes files without losing unknown keys.
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
pub use block::*;
pub use cache_mark::*;
pub use config_field::{ConfigField, FieldKind, FieldOption};
pub use content::*;
pub use depth::*;
pub use diagnostic::*;
pub use fix::{Edit, Fix};
pub use group::groups;
pub use injection::*;
pub use message::*;
pub use note::{Note, NoteLine, NoteLineKind, Speaker};
pub use persist::{Persist, Reader};
#[doc(hidden)]
pub use phrasing::template_fits;
pub use phrasing::{Argument, Divider, Phrase, PhrasePart, ToArgument};
pub use placement::*;
pub use regex_config::*;
pub use request_rules::*;
pub use source::{ListPosition, Segment, Source, SourceKind, Trust};
pub use sourced_text::SourcedText;
pub use text::*;
pub use turn::*;

// Used by other crates of `ctx`. Not part of the API: it can change in every release.
#[doc(hidden)]
pub mod internal {
    pub use crate::fingerprint::Fingerprint;
    pub use crate::group::each_group;
    pub use crate::misspelled_keys::{check_agent_keys, check_profile_keys, check_worldbook_keys, meant_key};
    pub use crate::part_owner::PartOwner;
    pub use crate::persist::UnknownKeys;
    pub use crate::pointer::{pointer_key, pointer_step};
    pub use crate::processor_id::canonical_id;
    pub use crate::session::sent_record::{RecordEnd, SentFields, SentMessage, SentPrefix, SentRecord};
    pub use crate::source::is_partition;
    pub use crate::sourced_text::{segments_in, sources_in};
    pub use crate::split_mix::SplitMix64;
    pub use crate::suggest::{NearestName, closest, nearest, nearest_key};
    pub use crate::text_cache::TextCache;
    pub use crate::wording::{excerpt, plural, thousands};
}
