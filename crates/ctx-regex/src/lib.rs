//! JavaScript regular expressions with limits.
//!
//! Returns the matches and replacements of JavaScript, or refuses the pattern with a typed [`Error`]. Matching takes
//! linear time where the pattern allows it. Other patterns backtrack for at most a given number of [`Steps`].
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
//! # Differences from JavaScript
//!
//! Strings in classes (`\q{ab}`, `\p{RGI_Emoji}` with `v`) are refused. Accepted patterns differ in these points:
//!
//! - Text consists of characters, not of UTF-16 units. Without `u`, `.` and negated classes match a complete astral
//!   character, empty matches never split one, and a literal astral character in the pattern can be quantified and can
//!   bound a range. Patterns with surrogate halves work: `\uD83D\uDE00`, `[\uD800-\uDBFF][\uDC00-\uDFFF]`. A single
//!   half matches nothing. A class that contains both halves of a character matches that character.
//! - Property names are matched loosely: `\p{lu}` is `\p{Lu}`.
//! - With `i` and `v`, operands of `&&` and `--` are folded first. ECMA-262 specifies this; Node.js 20 does not do it.
//! - Syntax newer than Node.js 20 is refused, for example `(?i:…)` and equal group names in alternatives.

#![warn(clippy::disallowed_methods)]

mod ast;
mod backtrack;
mod code_set;
mod cursor;
mod engine;
mod error;
mod expression;
mod flags;
mod fold;
mod limits;
mod linear;
mod literal;
mod matches;
mod parser;
mod property;
mod reach;
mod replacement;
mod required_literals;
mod steps;
mod surrogates;
mod unsatisfiable;

pub use crate::error::Error;
pub use crate::expression::Regex;
pub use crate::flags::Flags;
pub use crate::limits::Limits;
pub use crate::literal::{Literal, escape};
pub use crate::matches::{Match, Matches};
pub use crate::reach::Reach;
pub use crate::replacement::{Replacement, ReplacementPart};
pub use crate::steps::Steps;
