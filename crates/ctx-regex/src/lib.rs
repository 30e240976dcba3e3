//! JavaScript regular expressions with limits.
//!
//! Start with [`Regex::new`]. A `Regex` returns the same matches and replacements as JavaScript, or rejects
//! the pattern with an [`Error`]. Matching is linear in the text if the pattern allows it. Otherwise it
//! backtracks for at most a given number of [`Steps`].
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
//! Class strings (`\q{ab}`, `\p{RGI_Emoji}` with `v`) are rejected. Accepted patterns differ in these points:
//!
//! - Text consists of characters, not UTF-16 units. Without `u`, `.` and negated classes match a complete
//!   astral character, empty matches never split one, and a literal astral character can be quantified and
//!   can bound a range. Surrogate pairs work: `\uD83D\uDE00`, `[\uD800-\uDBFF][\uDC00-\uDFFF]`. A lone
//!   surrogate matches nothing. A class with both surrogates of a character matches that character.
//! - Property names are matched loosely: `\p{lu}` is `\p{Lu}`.
//! - With `i` and `v`, operands of `&&` and `--` are folded first, as ECMA-262 specifies. Node.js 20 does not
//!   do this.
//! - Syntax newer than Node.js 20 is rejected, such as `(?i:…)` and equal group names in alternatives.

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
mod replacement;
mod required_literals;
mod steps;
mod surrogates;

pub use crate::error::Error;
pub use crate::expression::Regex;
pub use crate::flags::Flags;
pub use crate::limits::Limits;
pub use crate::literal::{Literal, escape};
pub use crate::matches::{Match, Matches};
pub use crate::replacement::{Replacement, ReplacementPart};
pub use crate::steps::Steps;
