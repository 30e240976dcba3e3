//! JavaScript regular expressions in linear time, with limits.
//!
//! Layer L0: depends on no other crate of the workspace, does no I/O and keeps no state. Presets,
//! cards and lorebooks carry patterns written for JavaScript; this crate reads them by that grammar,
//! refuses what it cannot match with a typed [`Error`], and gives matches and replacements as
//! JavaScript does.
//!
//! # Example
//!
//! ```
//! use ctx_regex::{Limits, Literal, Regex, Replacement};
//!
//! let literal = Literal::parse(r"/<think>[\s\S]*?<\/think>\s*/gi").unwrap();
//! let regex = Regex::new(literal.pattern, literal.flags, &Limits::default())?;
//! assert_eq!(regex.replace("<THINK>hm</THINK> Hello", &Replacement::parse(""))?, "Hello");
//! # Ok::<(), ctx_regex::Error>(())
//! ```
//!
//! # Where it differs from JavaScript
//!
//! Lookaround and backreferences are refused, and so are strings in classes (`\q{ab}`, `\p{RGI_Emoji}`
//! with `v`). Of what is accepted:
//!
//! - Text is characters, not UTF-16 units. Without `u`, `.` and negated classes take a whole astral
//!   character, an empty match never falls inside one, and an astral character that the pattern holds
//!   as such may be quantified and may bound a range. Patterns that spell out halves work:
//!   `\uD83D\uDE00`, `[\uD800-\uDBFF][\uDC00-\uDFFF]`; a lone half matches nothing, and a class that
//!   holds both halves of a character takes it at once.
//! - With `m`, lines end at `\n` and `\r` but not at U+2028 and U+2029. In a pattern that has `$` too,
//!   `^` does not match between `\r` and `\n`.
//! - A group inside a loop keeps what an earlier iteration matched; JavaScript forgets it.
//! - An iteration that matches the empty text is given up as in JavaScript where the body of the loop
//!   has one part that may be empty, such as `(a*)?`. With several such parts, `(a*b*)?`, the group may
//!   be empty instead of unset; a lazy one among them may match less; and where the loop requires an
//!   iteration, `(a*?)+`, it ends at the first empty one.
//! - With `i` and `u` together `\b` stays ASCII; JavaScript counts U+017F and U+212A to the words.
//! - Names of properties are compared loosely: `\p{lu}` is `\p{Lu}`.
//! - With `i` and `v`, operands of `&&` and `--` are folded first, as ECMA-262 has it and Node.js 20
//!   has not. Syntax newer than that version (`(?i:…)`, equal names in alternatives) is refused.

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
mod positions;
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
