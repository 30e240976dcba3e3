//! Expands `{{macros}}` and records the source of every byte.
//!
//! Start with [`Template::parse`]: compile a text once, then expand it as often as needed. Calls are evaluated from
//! left to right and can be nested. Expansion never fails: an unknown macro is left unchanged and reported as a
//! diagnostic.
//!
//! [`Env`] provides time, time zone, and names. [`State`] holds variables and limits.
//!
//! ```
//! use ctx_macros::{Dialect, Env, Limits, Registry, State, Template};
//! use ctx_types::{Source, SourceKind, Text, Trust};
//!
//! let registry = Registry::builtin();
//! let text = Text::from("{{setvar::mood::calm}}{{char}} is {{getvar::mood}}, {{usr}}.");
//! let template = Template::parse(&text, Dialect::Aio, &registry);
//! assert_eq!(template.diagnostics()[0].help.as_ref().map(ToString::to_string).as_deref(), Some("did you mean `user`?"));
//!
//! let env = Env { char: Some(Text::from("Alice")), ..Env::default() };
//! let origin = Source::new(SourceKind::Preset, Trust::Preset);
//! let expansion = template.expand(&env, &mut State::new(Limits::default()), &origin);
//! assert_eq!(expansion.text, "Alice is calm, {{usr}}.");
//! assert_eq!(expansion.segments()[0].source.to_string(), "macro:char");
//! ```
#![warn(clippy::disallowed_methods)]

mod aio;
#[doc(hidden)]
mod assets;
mod blocks;
mod builtins;
mod call;
mod check;
mod clock;
pub mod codes;
mod dates;
mod definition;
mod derived_texts;
mod diagnostic_list;
mod dialect;
mod env;
mod escape;
mod evaluate;
mod expansion;
mod head;
#[doc(hidden)]
mod instant;
mod markers;
mod normalize;
mod number;
mod parse;
mod random;
mod registry;
mod sillytavern;
#[doc(hidden)]
mod space_set;
mod state;
mod string_hash;
mod template;
mod tokens;
mod tree;
#[doc(hidden)]
mod virtual_time;

pub use call::{Call, Failure, Value};
pub use definition::{Arity, Definition, Topic};
pub use dialect::Dialect;
pub use env::{CardTexts, Conversation, Env, GroupMember, MacroPorts, ModelValues, SpokenText};
pub use expansion::Expansion;
pub use registry::{RegisterError, Registry};
pub use state::{Limits, Scope, State};
pub use template::Template;

// Not part of the API: may change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::assets::AgentAssets;
    pub use crate::dates::language_of_dates;
    pub use crate::evaluate::is_true;
    pub use crate::instant::{InstantError, read_instant};
    pub use crate::template::MacroUse;
    pub use crate::virtual_time::{TimeValue, VirtualTime};

    /// Numbers as JavaScript reads and writes them.
    pub mod number {
        pub use crate::number::{read, write};
    }
}
