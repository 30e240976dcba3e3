//! Expands `{{macros}}` and records the source of every byte.
//!
//! Compile a text once to a [`Template`], then expand it as often as needed. Calls are evaluated from left to
//! right and can be nested. Expansion never fails: an unknown macro is left unchanged and reported as a
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
mod instant;
mod markers;
mod normalize;
pub mod number;
mod parse;
mod random;
mod registry;
mod sillytavern;
mod space_set;
mod state;
mod string_hash;
mod template;
mod tokens;
mod tree;
mod virtual_time;

pub use assets::{AgentAsset, AgentAssets};
pub use call::{Call, Failure, Value};
pub use dates::language_of_dates;
pub use definition::{Arity, Definition, ExpandFn, Topic};
pub use dialect::Dialect;
pub use env::{CardTexts, Conversation, Env, GroupMember, MacroPorts, ModelValues, SpokenText};
pub use evaluate::is_true;
pub use expansion::Expansion;
pub use instant::{InstantError, read_instant};
pub use registry::{RegisterError, Registry};
pub use space_set::SpaceSet;
pub use state::{Limits, Scope, State};
pub use template::{MacroUse, Template};
pub use virtual_time::{TimeValue, VirtualTime};
