//! JavaScript regular expressions in linear time, with limits.
//!
//! Layer L0: depends on no other crate of the workspace, does no I/O and keeps no state. Presets,
//! cards and lorebooks carry patterns written for JavaScript; this crate reads them by that grammar,
//! refuses what it cannot match with a typed [`Error`], and gives matches and replacements as
//! JavaScript does.
//!
//! ```
//! use ctx_regex::{Limits, Literal, Regex, Replacement};
//!
//! let literal = Literal::parse(r"/<think>[\s\S]*?<\/think>\s*/gi").unwrap();
//! let regex = Regex::new(literal.pattern, literal.flags, &Limits::default())?;
//! assert_eq!(regex.replace("<THINK>hm</THINK> Hello", &Replacement::parse(""))?, "Hello");
//! # Ok::<(), ctx_regex::Error>(())
//! ```

#![warn(clippy::disallowed_methods)]

mod ast;
mod code_set;
mod cursor;
mod emit;
mod engine;
mod error;
mod expression;
mod flags;
mod fold;
mod iteration;
mod limits;
mod literal;
mod matches;
mod parser;
mod property;
mod replacement;
mod surrogates;
mod translate;

pub use crate::error::Error;
pub use crate::expression::Regex;
pub use crate::flags::Flags;
pub use crate::limits::Limits;
pub use crate::literal::{Literal, escape};
pub use crate::matches::{Match, Matches};
pub use crate::replacement::Replacement;
